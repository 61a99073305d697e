"""Environments to learn in, over the fast engine and ns-3; and ns-3 as a simulator of trials.

Importing this registers the environments' ids with Gymnasium where that is installed (``pip install 'lcca[drl]'``).
"""

from importlib.util import find_spec

if find_spec("gymnasium") is not None:
    from lcca.gym_envs.registration import register_all

    register_all()
