"""What a campaign on a fabric says besides scores: the gap to ideals, and the figure of merit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pandas as pd

from lcca.evaluation.bounds.summary import gap_closed
from lcca.evaluation.fabric.merit import Flows, merits_of, unpacked
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.units import block_means, mean_of_blocks
from lcca.evaluation.trials.layout import SLOWDOWNS
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.testing.groups import Group
from lcca.inputs.json_values import finite, finite_values, json_value
from lcca.remy_plus.fabric.fluid import SRPT
from lcca.remy_plus.switches.transports import Transport


def worth_at_most(
    groups: Sequence[Group], trials: Mapping[str, pd.DataFrame], required_percent: float
) -> list[dict[str, Any]]:
    """Return a row per utility and ideal among the hand-designed policies; none where there is none.

    Nor is there one where too much is unfinished under the ideal or its best rival: the difference is of bounds then.

    Scores are those of the test of selected policies, header bytes free. A signal set's is the score of the baseline's
    selected policy and the mean difference between the two sets over training seeds, each of which has trials of its
    own: so both sides of every difference have met the same flows.

    Returns:
        `utility`, `ideal`, `ideal_bits`; `rival`, the best of the baseline's selected policy and the hand-designed
        ones without a header and, of the ideal of a network that knows all flows, those of hosts alone; `rival_bits`;
        `worth_bits`, the difference, with its 95 % interval `worth_low` to
        `worth_high` over blocks; `base_bits` of the baseline's selected policy; and `policies` and `signal_sets` by
        `name` with `score_bits` and `gap_closed`, the share of that difference (null where it is less than what a
        header must bring, or counts from an ideal of hosts alone).
    """
    return [
        row
        for group in groups
        for row in _of(group, trials[group.utility.name], group.utility.difference(required_percent))
    ]


def _of(group: Group, trials: pd.DataFrame, required: float) -> list[dict[str, Any]]:
    designed = {name: each for name, each in group.hand_designed.items() if isinstance(each, Transport)}
    ideals = [name for name, each in designed.items() if each.kind.ideal]
    if not ideals:
        return []
    by_trial = common_scores(trials)
    scores = {name: mean_of_blocks(own, group.block) for name, own in by_trial.items()}
    plain = [group.base, *(name for name, each in designed.items() if not (each.kind.ideal or each.kind.header))]
    rival, base = max(plain, key=lambda name: scores[name]), scores[group.base]
    open_ = unfinished_of(trials, group.utility)
    bounds = {name for name, each in open_.items() if each.exceeds(group.rule.unfinished_percent)}
    ideals = [name for name in ideals if not bounds & {name, rival}]
    hosts = max((name for name in ideals if designed[name].kind.hosts_alone), key=lambda name: scores[name], default="")
    chosen = [*(each.learner.id for each in group.selected.values()), *designed]
    policies = {name: scores[name] for name in chosen if name not in ideals}
    sets = {name: base + fmean(gains) for name in group.selected if (gains := _gains(group, name))}
    rows = []
    plain_rival = rival
    for name in ideals:
        beyond = hosts and designed[name].name == SRPT and scores[hosts] > scores[plain_rival]
        rival = hosts if beyond else plain_rival
        worth = scores[name] - scores[rival]
        _, low, high = t_interval(block_means(by_trial[name] - by_trial[rival], group.block))
        end = scores[name] if worth > required and not beyond else None
        row = {"utility": group.utility.name, "ideal": name, "ideal_bits": scores[name]}
        row |= {"rival": rival, "rival_bits": scores[rival], "base_bits": base}
        row |= {"worth_bits": worth, "worth_low": low, "worth_high": high}
        whole = {"policies": _closed(policies, scores[rival], end), "signal_sets": _closed(sets, scores[rival], end)}
        rows.append(finite_values(row | whole))
    return rows


def _gains(group: Group, name: str) -> list[float]:
    """Return by how much a signal set's trainings are better than the baseline's, by training seed."""
    own, base = group.by_seed(name), group.by_seed(group.baseline)
    return [own[seed] - base[seed] for seed in sorted(own.keys() & base.keys())]


def _closed(scores: Mapping[str, float], rival: float, ideal: float | None) -> list[dict[str, Any]]:
    return [
        {"name": name, "score_bits": finite(score), "gap_closed": gap_closed(score, rival, ideal)}
        for name, score in scores.items()
    ]


def merit_rows(groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return the figure of merit (`lcca.evaluation.fabric.merit.merits_of`) by utility, level and contender.

    At the level "set" that is of all trainings of a signal set, bytes free and with `CHARGED` in its name charged,
    whose unit is a training seed; at the level "policy" of selected and hand-designed policies, whose unit is a trial.
    Differences are from the baseline. There are none where trials keep no flows.
    """
    rows = []
    for group in groups:
        sets, test = group.flows_by_seed, trials[group.utility.name]
        if not sets or SLOWDOWNS not in test or test[SLOWDOWNS].isna().any():
            continue
        policies: dict[str, dict[int, Flows]] = {}
        for policy, number, flows in zip(test["policy"], test["network"], test[SLOWDOWNS], strict=True):
            policies.setdefault(policy, {})[number] = unpacked([flows])
        for level, found, against in (("set", sets, group.baseline), ("policy", policies, group.base)):
            of = {"utility": group.utility.name, "level": level}
            rows += [of | {"id": name, "merit": json_value(each)} for name, each in merits_of(found, against).items()]
    return rows
