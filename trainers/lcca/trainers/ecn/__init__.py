"""ACC: Double DQN that tunes how a switch marks (Yan et al., SIGCOMM 2021, as in section VI-C.3 of PRED's paper).

`config` says how, `double_dqn` is the learner, `training` the loop over any environment with one discrete action,
`controllers` and `trials` what it is held against and how. PyTorch and Gymnasium are an extra
(``pip install 'lcca[drl]'``); `require_torch` tells who has not got them.
"""

from importlib.util import find_spec

from lcca.inputs.extras import missing
from lcca.trainers.ecn.config import AccConfig, DqnConfig

__all__ = ["AccConfig", "DqnConfig", "require_torch"]


def require_torch() -> None:
    """Check that what training needs is installed.

    Raises:
        MissingPackage: it is not; the message says how to install it.
    """
    for package in ("torch", "gymnasium"):
        if find_spec(package) is None:
            raise missing(package, "trainings of ACC")
