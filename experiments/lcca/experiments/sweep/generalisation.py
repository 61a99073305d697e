"""Generalisation tests: the selected policies on networks of another kind than those they learnt on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.settling.stretches import stretches
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.layout import GENERALISATION
from lcca.evaluation.trials.running import common_scores
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group, standing
from lcca.experiments.sweep.source import source_of

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import GeneralisationConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine


def run_generalisation(
    run: Run[CampaignConfig, Engine], group: Group, condition: GeneralisationConfig
) -> dict[str, Any]:
    """Run all selected policies under a condition until their differences are known, or its pairs are used up.

    Headers have their bytes charged. All policies meet the same networks and traffic.

    Returns:
        What summary.json holds about the condition.
    """
    config, space = run.config, condition.space(run.config.networks)
    pairs = space.whole(condition.pairs)
    group = replace(group, block=space.block, rule=config.settle.ending_at(pairs // space.block))
    seed = derive(config.seed, "elsewhere", condition.name)  # a word of the seed: another one means other networks
    policies = {c.learner.id: c.charged for c in group.selected.values()} | dict(group.hand_designed)
    source = source_of(run, seed, group.utility, keep_delays=True, space=space)
    total = len(config.generalisation) * len(group.compared) * len(config.utilities)

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
    return _content(group, condition, pd.concat(parts, ignore_index=True), found)


def _content(
    group: Group, condition: GeneralisationConfig, trials: pd.DataFrame, found: list[Comparison]
) -> dict[str, Any]:
    return {
        "condition": condition.name,
        "utility": group.utility.name,
        "pairs": int(trials["network"].nunique()),
        "failed": int((trials["status"] != "ok").sum()),
        "mean_score_bits": {
            name: mean_of_blocks(scores, group.block) for name, scores in common_scores(trials).items()
        },
        "comparisons": [c.to_json() for c in found],
    }
