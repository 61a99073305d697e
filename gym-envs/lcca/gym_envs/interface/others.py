"""What drives the senders that a learner does not steer."""

from __future__ import annotations

from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve


def policy_of(others: Policy | str | None) -> Policy | None:
    """Return the policy of a name: of a baseline, a policy file, or a class in Python as in ``my_cca.py:Mine``.

    Raises:
        InputError: no such name, or a bad file.
    """
    return resolve(others, "engine").policy if isinstance(others, str) else others
