"""The test phase: the selected policies on the same fresh networks, block by block, until all is known accurately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks, stretches
from lcca.evaluation.trials.layout import TEST
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group, standing
from lcca.experiments.sweep.source import source_of

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine


def run_tests(run: Run[CampaignConfig, Engine], group: Group) -> pd.DataFrame:
    """Run blocks of pairs until every selected policy's difference is known accurately, or the pairs are used up.

    A pair is a network, since each is met with one seed.
    """
    wanted, seed = run.config.test, derive(run.config.seed, "test")
    headers = [c for c in group.selected.values() if c.learner.candidate.costs]
    policies = {id: policy for c in group.selected.values() for id, policy in c.tested.items()}
    policies |= group.hand_designed
    source = source_of(run, seed, group.utility, keep_delays=True)

    def run_block(block: Block) -> pd.DataFrame:
        return source.rows(policies, block)

    def decide(parts: Sequence[pd.DataFrame], pairs: int) -> Decision[list[Comparison]]:
        trials = pd.concat(parts, ignore_index=True)
        found = group.compare_selected(trials, total=1)
        found += [group.compare(trials, group.base, c.learner.id + CHARGED, 1) for c in headers]
        return Decision(found, pairs >= wanted.at_least and bool(found) and all(c.enough for c in found))

    with run.reporter.task(f"testing on fresh networks (utility {group.utility.name})", total=wanted.pairs) as task:

        def tell(pairs: int, found: list[Comparison]) -> None:
            task.update(pairs, standing(pairs, found), more_pairs(found, pairs, wanted.at_least, wanted.pairs))

        plan = stretches(group.rule, group.block, wanted.block, wanted.pairs)
        keep = run.phase(TEST).blocks(group.utility.name)
        parts, _ = run_blocks(plan, run_block, decide, keep=keep, tell=tell)
    return pd.concat(parts, ignore_index=True)
