"""What a header can be worth at most on a fabric: from the best policy without one to ideals among the contenders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from lcca.evaluation.bounds.summary import gap_closed
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.testing.groups import Group
from lcca.inputs.json_values import finite
from lcca.remy_plus.switches.transports import Transport


def worth_at_most(groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return a row per utility and ideal among the hand-designed policies; none where there is none.

    Scores are those of the test of selected policies, header bytes free. A signal set's is the score of the baseline's
    selected policy and the mean difference between the two sets over training seeds, each of which has trials of its
    own: so both sides of every difference have met the same flows.

    Returns:
        `utility`, `ideal`, `ideal_bits`; `rival`, the best of the baseline's selected policy and the hand-designed
        ones without a header, and `rival_bits`; `worth_bits`, the difference; `base_bits` of the baseline's selected
        policy; and `policies` and `signal_sets` by `name` with `score_bits` and `gap_closed`, the share of that
        difference (null where the ideal is not above the rival).
    """
    return [row for group in groups for row in _of(group, trials[group.utility.name])]


def _of(group: Group, trials: pd.DataFrame) -> list[dict[str, Any]]:
    designed = {name: each for name, each in group.hand_designed.items() if isinstance(each, Transport)}
    ideals = [name for name, each in designed.items() if each.kind.ideal]
    if not ideals:
        return []
    scores = {name: mean_of_blocks(own, group.block) for name, own in common_scores(trials).items()}
    plain = [group.base, *(name for name, each in designed.items() if not (each.kind.ideal or each.kind.header))]
    rival, base = max(plain, key=lambda name: scores[name]), scores[group.base]
    chosen = [*(each.learner.id for each in group.selected.values()), *designed]
    policies = {name: scores[name] for name in chosen if name not in ideals}
    sets = {name: base + fmean(gains) for name in group.selected if (gains := _gains(group, name))}
    return [
        {
            "utility": group.utility.name,
            "ideal": name,
            "ideal_bits": finite(scores[name]),
            "rival": rival,
            "rival_bits": finite(scores[rival]),
            "worth_bits": finite(scores[name] - scores[rival]),
            "base_bits": finite(base),
            "policies": _closed(policies, scores[rival], scores[name]),
            "signal_sets": _closed(sets, scores[rival], scores[name]),
        }
        for name in ideals
    ]


def _gains(group: Group, name: str) -> list[float]:
    """Return by how much a signal set's trainings are better than the baseline's, by training seed."""
    own, base = group.by_seed(name), group.by_seed(group.baseline)
    return [own[seed] - base[seed] for seed in sorted(own.keys() & base.keys())]


def _closed(scores: Mapping[str, float], rival: float, ideal: float) -> list[dict[str, Any]]:
    return [
        {"name": name, "score_bits": finite(score), "gap_closed": gap_closed(score, rival, ideal)}
        for name, score in scores.items()
    ]
