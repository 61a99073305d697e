"""summary.json and verdicts.json: the findings of a run. No times, hosts or paths, so equal runs give equal bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import beside_fair_share, beside_ideals, ideal_summary
from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.sets import BEST_OF, FIRST_SEEDS, best_of, best_of_difference
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.layout import TEST
from lcca.evaluation.trials.loaded_run import FORMAT
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, means
from lcca.evaluation.trials.policy_names import at_rules
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import compared, head
from lcca.experiments.testing.groups import Group, mean_and_spread
from lcca.experiments.testing.net_benefit import benefits_content, compare_all
from lcca.experiments.testing.worth import merit_rows, worth_at_most
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import finite, finite_values
from lcca.remy_plus.policies.explicit import Explicit
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.testing.chosen import Chosen


def all_comparisons(groups: Sequence[Group], trials: dict[str, pd.DataFrame]) -> list[Comparison]:
    """Return every comparison of a campaign, α of the adjusted verdicts shared among all of one level."""
    total = sum(len(group.compared) for group in groups)
    selected = [c for group in groups for c in group.compare_selected(trials[group.utility.name], total)]
    return [*compare_all(groups), *selected]


def summary(
    config: CampaignConfig, groups: Sequence[Group], trials: dict[str, pd.DataFrame], comparisons: list[Comparison]
) -> dict[str, Any]:
    """Return the content of summary.json."""
    content = _over_seeds(config, groups, comparisons) | {
        "block": config.networks.block,
        "policies": [
            _policy(chosen, trials[group.utility.name], group)
            for group in groups
            for part in group.single_trainers
            for chosen in part.policies
        ],
    }
    if possible := ideals(config, groups, trials):
        content["ideal"] = possible
    if possible := worth_at_most(groups, trials, config.required_percent):
        content["worth_at_most"] = possible
    if rows := merit_rows(groups, trials):
        content["merit"] = rows
    if by_hand := against_learnt(groups, trials):
        content["hand_designed"] = by_hand
    return content | _headers(config, groups, trials)


def so_far(config: CampaignConfig, groups: Sequence[Group]) -> dict[str, Any]:
    """Return the content of so-far.json: what the training seeds that are done say of signal sets and headers."""
    return _over_seeds(config, groups, compare_all(groups)) | _headers(config, groups, None)


def _headers(
    config: CampaignConfig, groups: Sequence[Group], trials: Mapping[str, pd.DataFrame] | None
) -> dict[str, Any]:
    if all(c.header is None for c in config.candidates):
        return {}
    return {"net_benefit": benefits_content(groups, trials, config)}


def _over_seeds(config: CampaignConfig, groups: Sequence[Group], comparisons: list[Comparison]) -> dict[str, Any]:
    content = head(config) | {
        "signal_sets": [row for group in groups for row in _sets(group)],
        "comparisons": compared(comparisons, TEST),
    }
    if rows := trainers_content(groups):
        content["trainers"] = rows
    if rows := strata_content(groups):
        content["strata"] = rows
    if rows := capacity_content([part for group in groups for part in group.single_trainers]):
        content["capacity"] = rows
    return content


def verdicts(comparisons: list[Comparison]) -> dict[str, Any]:
    """Return the content of verdicts.json: the comparisons with every look."""
    return {"format": FORMAT, "comparisons": compared(comparisons, TEST, history=True)}


def _sets(group: Group) -> list[dict[str, Any]]:
    """Return a row per candidate: what its trainings score, each on the networks of its training seed."""
    base, rows = group.by_seed(group.baseline), []
    for name in (group.baseline, *group.others):
        own = group.by_seed(name)
        scores = [own[seed] for seed in sorted(own)]
        difference, error = best_of_difference([base[seed] for seed in sorted(own)], scores)
        rows.append(
            {
                "name": name,
                "utility": group.utility.name,
                **_named(group.selected[name].learner.trainer),
                **group.over_seeds(name),
                "best_of": BEST_OF,
                "best_of_score_bits": finite(best_of(scores)),
                "best_of_difference_bits": finite(difference),
                "best_of_difference_bits_se": finite(error),
            }
        )
    return rows


def _named(trainer: str) -> dict[str, str]:
    """Return what rows say of the trainer: nothing where there is one only."""
    return {"trainer": trainer} if trainer else {}


def trainers_content(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return a row per utility, candidate and trainer of several: what its trainings score, as in `signal_sets`.

    With its mean score on the validation networks, whether it is the candidate's `best` one by that, and the comparison
    with the baseline as the same trainer learns it. α is shared as among the comparisons of the best ones.
    """
    total, rows = sum(len(group.others) for group in groups), []
    for group in groups:
        alone = [
            (name, part, {each.B: each for each in part.compare_all_candidates(total)})
            for name, part in group.by_trainer.items()
        ]
        for candidate in (group.baseline, *group.others):
            for name, part, by_candidate in alone:
                rows.append(
                    {
                        "name": candidate,
                        "utility": group.utility.name,
                        "trainer": name,
                        "best": group.selected[candidate].learner.trainer == name,
                        "validation_score_bits": part.validated(candidate),
                        **part.over_seeds(candidate),
                        "comparison": by_candidate[candidate].to_json() if candidate in by_candidate else None,
                    }
                )
    return rows


def strata_content(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return a row per utility, part of the place and candidate: what its trainings score there, as in `signal_sets`.

    With the comparison with the baseline there; α is shared among all of these. Parts are those of several spaces, or
    several scenarios of a fabric; there are no rows where there is one.
    """
    total = sum(len(group.others) * len(group.by_scenario) for group in groups)
    parts = [(group, *each) for group in groups if len(group.by_scenario) > 1 for each in group.by_scenario.items()]
    rows: list[dict[str, Any]] = []
    for group, stratum, part in parts:
        against = {each.B: each.to_json() | {"condition": stratum} for each in part.compare_all_candidates(total)}
        of = {"stratum": stratum, "utility": group.utility.name}
        names = (group.baseline, *group.others)
        rows += [{"name": name, **of, **part.over_seeds(name), "comparison": against.get(name)} for name in names]
    return rows


def _policy(chosen: Chosen, trials: pd.DataFrame, group: Group) -> dict[str, Any]:
    """Return a policy's row: `trained` on the networks of its training seed, `test` on those of selected policies."""
    learner, selected = chosen.learner, group.selected[chosen.learner.signals.name] is chosen
    score = {}
    if selected:  # that of its comparisons, so that differences add up
        score = {"score_bits": finite(mean_of_blocks(common_scores(trials)[learner.id], group.block))}
    return {
        "id": learner.id,
        "signal_set": learner.signals.name,
        "utility": learner.utility.name,
        "training_seed": learner.training_seed,
        **_named(learner.trainer),
        "selected": selected,
        "checkpoint": chosen.checkpoint,
        "rules": chosen.rules,
        "validation_score_bits": chosen.validation_score_bits,
        "trained": test_summary(group.trained[group.trained["policy"] == learner.id]),
        "test": test_summary(trials[trials["policy"] == learner.id]) | score if selected else None,
    }


def test_summary(rows: pd.DataFrame) -> dict[str, Any]:
    """Return means over networks with standard errors; null where nothing was measured."""
    good = rows[rows["status"] == "ok"]
    measured = [each for each in (NETWORK_TRIALS | FABRIC_TRIALS).values() if each.name in good]
    averaged = [each for each in measured if each.in_summary and each.together == "mean"]
    sums = {each.name: int(good[each.name].sum()) for each in measured if each.together == "sum"}
    return {"trials": len(rows), "failed": len(rows) - len(good)} | finite_values(means(good, averaged)) | sums


def capacity_content(groups: Sequence[Group]) -> list[dict[str, Any]]:
    """Return candidates at equal numbers of rules: a row per utility, trainer, number of rules and candidate.

    A table with more rules can say more, whatever its signals are: a set whose searches end with more rules can look
    better for that reason alone. So every size that a training and the baseline's with the same seed passed through is
    tested beside the selected one. α is shared among all of these comparisons.
    """
    cells = [
        (group, rules, name)
        for group in groups
        for rules in sorted({rules for chosen in group.policies for rules in chosen.by_rules})
        if group.by_seed(at_rules(group.baseline, rules))
        for name in (group.baseline, *group.others)
        if len(group.by_seed(at_rules(name, rules))) >= min(FIRST_SEEDS, len(group.training_seeds))  # or no interval
    ]
    total = sum(name != group.baseline for group, _, name in cells)
    return [_at_rules(*each, total) for each in cells]


def _at_rules(group: Group, rules: int, name: str, total: int) -> dict[str, Any]:
    own, base = at_rules(name, rules), at_rules(group.baseline, rules)
    scores = list(group.by_seed(own).values())
    of = {"utility": group.utility.name, "name": name} | _named(group.trainer)
    named = of | {"rules": rules, "training_seeds": len(scores)}
    compared = None if name == group.baseline else group.compare_candidates(base, own, total).to_json()
    return named | mean_and_spread(scores) | {"comparison": compared}


def against_learnt(groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return a comparison for each hand-designed policy and selected one that has its signals.

    A signal set that is equivalent to the baseline is worth nothing, or its worth was not found. Where a hand-designed
    policy does better with the same signals, the learner did not find it.

    Args:
        groups: policies by utility.
        trials: of the test, by the utility's name.

    Returns:
        Records of comparisons, `A` learnt and `B` hand-designed, with `candidate` and the `signals` in common. There
        are none of policies that declare no signals, or whose hops have gains of their own; nor with headers, which may
        tell less of a signal than the policy sees.
    """
    pairs = [
        (group, name, signals, chosen.learner)
        for group in groups
        for name, policy in group.hand_designed.items()
        if (signals := _declared(policy))
        for chosen in group.selected.values()
        if chosen.learner.candidate.header is None and set(signals) <= set(chosen.learner.signals.signals)
    ]
    return [
        group.compare(trials[group.utility.name], learner.id, name, len(pairs)).to_json()
        | {"candidate": learner.signals.name, "signals": list(signals)}
        for group, name, signals, learner in pairs
    ]


def _declared(policy: Policy) -> tuple[str, ...]:
    """Return the signals that a hand-designed policy declares, where they are those that a learner sees."""
    if isinstance(policy, Explicit) and policy.gains != type(policy)().gains:
        return ()
    return tuple(getattr(policy, "signals", ()))


def ideals(config: CampaignConfig, groups: Sequence[Group], trials: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """Return what is possible, a row per utility for which there are ideals on the campaign's networks.

    That of `beside_ideals` on the networks of the selected policies; with several training seeds also `signal_sets`:
    means over them with header bytes free, each on networks of its own, beside the fair share on the selected
    policies' networks, which are draws of the same space.
    """
    rows: list[dict[str, Any]] = []
    for group in groups:
        try:
            rows.append({"utility": group.utility.name} | _ideal(config, group, trials[group.utility.name]))
        except InputError:  # a fabric, other utilities, or a topology without bounds
            continue
    return rows


def _ideal(config: CampaignConfig, group: Group, trials: pd.DataFrame) -> dict[str, Any]:
    space, seed = config.network_space, derive(config.seed, "test")
    networks = space.draw(seed, int(trials["network"].max()) + 1)
    possible = ideal_summary(ideal_scores(networks, [seed], group.utility, space.duration), space.block)
    means = trials[trials["status"] == "ok"].groupby("policy")["score_bits"].mean()
    names = [*(c.learner.id for c in group.selected.values()), *group.hand_designed]
    scores = {name: float(means.get(name, math.nan)) for name in names}
    beside = beside_ideals(possible, scores, group.base)
    return beside | over_seeds(group, beside["fair_bits"])


def over_seeds(group: Group, fair: float | None) -> dict[str, Any]:
    """Return `signal_sets` beside a fair share in bits; nothing for one training seed, which is no signal set."""
    if len(group.training_seeds) < 2:
        return {}
    scores = {name: list(group.by_seed(name).values()) for name in group.selected}
    means = {name: float(np.mean(own)) if own else math.nan for name, own in scores.items()}
    return {"signal_sets": beside_fair_share("name", fair, means, group.baseline)}
