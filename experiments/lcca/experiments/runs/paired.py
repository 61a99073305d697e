"""Paired trials on a scenario, kept block by block in a run's folder, until all comparisons are settled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.stretches import stretches
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Decision, InBlocks, RunBlock, run_blocks
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import more_pairs

Compare = Callable[[pd.DataFrame], list[Comparison]]


@dataclass(frozen=True)
class Paired:
    """How many trials there are on a scenario.

    Attributes:
        rule: of each comparison, with its part of α.
        pairs: most trials of each policy.
        block: trials that are run and kept at a time.
        stop: when comparisons are settled, or when their differences are known accurately too.
    """

    rule: Rule
    pairs: int
    block: int
    stop: Literal["settled", "accurate"] = "settled"

    def run(
        self, run: Run[Any, None], scenario: str, source: InBlocks, anew: RunBlock[pd.DataFrame], compare: Compare
    ) -> tuple[pd.DataFrame, list[Comparison]]:
        """Return the trials of a scenario and the comparisons on them; blocks that are kept already are read.

        Args:
            run: that keeps them.
            scenario: its name.
            source: says how many trials have one mean.
            anew: runs a block of trials of all policies.
            compare: compares on all trials so far.
        """
        most = source.whole(self.pairs)

        def decide(parts: Sequence[pd.DataFrame], done: int) -> Decision[list[Comparison]]:
            found = compare(pd.concat(parts, ignore_index=True))
            return Decision(found, all(map(self._enough, found)))

        with run.reporter.task(f"testing on {scenario}", most) as task:

            def tell(done: int, found: list[Comparison]) -> None:
                settled = sum(each.verdict.settled for each in found)
                ahead = more_pairs(found, done, 0, most, self.stop == "settled")
                task.update(done, f"{done} pairs: {settled} of {len(found)} comparisons settled", ahead)

            plan = stretches(self.rule, source.block, source.whole(self.block), most)
            keep = run.phase(layout.SCENARIO).blocks(scenario)
            parts, found = run_blocks(plan, anew, decide, keep=keep, tell=tell)
        return pd.concat(parts, ignore_index=True), found

    def _enough(self, found: Comparison) -> bool:
        return found.verdict.settled if self.stop == "settled" else found.enough
