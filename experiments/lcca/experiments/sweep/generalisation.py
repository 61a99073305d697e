"""Generalisation tests: policies on networks of another kind than those they learnt on.

Selected policies meet the same networks until their differences are known; those of all trainings meet networks of
their training seed, for what signal sets and headers are worth there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks, stretches
from lcca.evaluation.trials.layout import GENERALISATION
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group, standing
from lcca.experiments.sweep.own_networks import trials_on_own_networks
from lcca.experiments.sweep.source import source_of

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import GeneralisationConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine


def run_generalisation(
    run: Run[CampaignConfig, Engine], group: Group, condition: GeneralisationConfig
) -> dict[str, Any]:
    """Run all policies under a condition, headers with their bytes charged; all meet the same networks and traffic.

    Returns:
        What summary.json holds about the condition: signal sets and headers over training seeds first.
    """
    config, trained = run.config, _trained(run, group, condition)
    conditions = len(config.generalisation) * len(config.utilities)
    trials, found = _run_selected(run, group, condition, conditions * len(group.compared))
    block = condition.space(config.networks).block
    means = {name: mean_of_blocks(scores, block) for name, scores in common_scores(trials).items()}
    told: dict[str, Any] = {
        "condition": condition.name,
        "utility": group.utility.name,
        "pairs": int(trials["network"].nunique()),
        "failed": failures(trials),
        "mean_score_bits": means,
        "comparisons": [c.to_json() for c in found],
    }
    if trained is None:
        return told
    with_sets = [each for each in config.generalisation if of_each_seed(config, each)]
    sets = trained.compare_all_candidates(len(with_sets) * len(config.utilities) * len(group.others))
    return told | {
        "failed_trainings": failures(trained.trained),
        "mean_score_bits_over_seeds": _means(trained),
        "comparisons": [*(c.to_json() for c in sets), *told["comparisons"]],
    }


def failures(trials: pd.DataFrame) -> int:
    """Return how many trials failed."""
    return int((trials["status"] != "ok").sum())


def of_each_seed(config: CampaignConfig, condition: GeneralisationConfig) -> int:
    """Return how many networks each training seed meets under a condition; 0 for none."""
    return condition.of_each_seed(config.test, condition.space(config.networks))


def _trained(run: Run[CampaignConfig, Engine], group: Group, condition: GeneralisationConfig) -> Group | None:
    """Return the group with the trials of all trainings under a condition; None where none are wanted."""
    config, space = run.config, condition.space(run.config.networks)
    networks = of_each_seed(config, condition)
    if not networks:
        return None
    source = source_of(run, derive(config.seed, "elsewhere trainings", condition.name), group.utility, space=space)
    part = (GENERALISATION, group.utility.name, condition.name)
    title = f"testing the trainings' generalisation: {condition.name} (utility {group.utility.name})"
    trials = trials_on_own_networks(run, group, part, space, networks, group.charged, source.rows, title)
    return replace(group, trained=trials)


def _run_selected(
    run: Run[CampaignConfig, Engine], group: Group, condition: GeneralisationConfig, total: int
) -> tuple[pd.DataFrame, list[Comparison]]:
    """Run the selected policies until their differences are known, or the condition's pairs are used up.

    Returns:
        The trials and the comparisons; `total` of them share α.
    """
    config, space = run.config, condition.space(run.config.networks)
    pairs = space.whole(condition.pairs)
    group = replace(group, block=space.block, rule=config.settle.ending_at(pairs // space.block))
    seed = derive(config.seed, "elsewhere", condition.name)  # a word of the seed: another one means other networks
    policies = {c.learner.id: c.charged for c in group.selected.values()} | dict(group.hand_designed)
    source = source_of(run, seed, group.utility, keep_delays=True, space=space)

    def run_block(block: Block) -> pd.DataFrame:
        return source.rows(policies, block)

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[list[Comparison]]:
        found = group.compare_selected(pd.concat(parts, ignore_index=True), total)
        return Decision(found, bool(found) and all(c.enough for c in found))

    title = f"testing generalisation: {condition.name} (utility {group.utility.name})"
    with run.reporter.task(title, total=pairs) as task:

        def tell(done: int, found: list[Comparison]) -> None:
            task.update(done, standing(done, found))

        plan = stretches(group.rule, space.block, space.block * -(-config.test.block // space.block), pairs)
        keep = run.phase(GENERALISATION).blocks(group.utility.name, condition.name)
        parts, found = run_blocks(plan, run_block, decide, keep=keep, tell=tell)
    return pd.concat(parts, ignore_index=True), found


def _means(group: Group) -> dict[str, float]:
    """Return each candidate's mean over its training seeds, by its name; without those that have none."""
    by_name = {name: group.by_seed(name).values() for name in (group.baseline, *group.others)}
    return {name: fmean(scores) for name, scores in by_name.items() if scores}
