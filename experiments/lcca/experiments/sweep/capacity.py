"""Candidates at equal numbers of rules: the curve of their scores over the capacity of their tables.

A table with more rules can say more, whatever its signals are: a set whose searches end with more rules can look better
for that reason alone. So every size that a training and the baseline's with the same seed passed through is tested
beside the selected one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.experiments.runs.policy_names import at_rules
from lcca.experiments.sweep.groups import Group
from lcca.inputs.json_values import finite


def capacity_content(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return what summary.json holds: a row per utility, number of rules and candidate, α shared among all of them."""
    found = [
        (group, rules, name)
        for group in groups
        for rules in _sizes(group)
        for name in (group.baseline, *group.others)
        if _seeds(group, name, rules) >= min(FIRST_SEEDS, len(group.training_seeds))
    ]
    total = sum(name != group.baseline for group, _, name in found)
    return [_row(*each, total) for each in found]


def _seeds(group: Group, name: str, rules: int) -> int:
    """Return on how many training seeds; with too few for an interval a row would only take α from the others."""
    return len(group.by_seed(at_rules(name, rules)))


def _sizes(group: Group) -> list[int]:
    tried = sorted({rules for chosen in group.policies for rules in chosen.by_rules})
    return [rules for rules in tried if group.by_seed(at_rules(group.baseline, rules))]


def _row(group: Group, rules: int, name: str, total: int) -> dict[str, Any]:
    own, base = at_rules(name, rules), at_rules(group.baseline, rules)
    scores = list(group.by_seed(own).values())
    compared = None if name == group.baseline else group.compare_candidates(base, own, total).to_json()
    return {
        "utility": group.utility.name,
        "name": name,
        "rules": rules,
        "training_seeds": len(scores),
        "score_bits": float(np.mean(scores)),
        "score_bits_sd": finite(float(np.std(scores, ddof=1))) if len(scores) > 1 else None,
        "comparison": compared,
    }
