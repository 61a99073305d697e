"""Hand-designed policies against what was learnt from the signals that they use: did the learner find that use?

A signal set that is equivalent to the baseline is worth nothing, or its worth was not found. Where a policy made by
hand does better with the same signals, it was not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.experiments.sweep.groups import Group
from lcca.remy_plus.policies.explicit import Explicit
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.experiments.sweep.selection import Chosen


def against_learnt(groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return what summary.json holds: a comparison for each hand-designed policy and selected one that has its signals.

    Args:
        groups: policies by utility.
        trials: of the test, by the utility's name.

    Returns:
        Records of comparisons, `A` learnt and `B` made by hand, with `candidate` and the `signals` in common. There are
        none of policies that declare no signals, or whose hops have gains of their own; nor with headers, which may
        tell less of a signal than the policy sees.
    """
    pairs = [
        (group, name, signals, chosen)
        for group in groups
        for name, policy in group.hand_designed.items()
        if (signals := _signals(policy))
        for chosen in group.selected.values()
        if chosen.learner.candidate.header is None and set(signals) <= set(chosen.learner.signals.signals)
    ]
    return [_record(*each, trials[each[0].utility.name], len(pairs)) for each in pairs]


def _signals(policy: Policy) -> tuple[str, ...]:
    """Return the signals that a hand-designed policy declares, where they are those that a learner sees."""
    if isinstance(policy, Explicit) and policy.gains != type(policy)().gains:
        return ()
    return tuple(getattr(policy, "signals", ()))


def _record(
    group: Group, name: str, signals: tuple[str, ...], chosen: Chosen, trials: pd.DataFrame, total: int
) -> dict[str, Any]:
    found = group.compare(trials, chosen.learner.id, name, total)
    return found.to_json() | {"candidate": chosen.learner.signals.name, "signals": list(signals)}
