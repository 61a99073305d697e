"""Blocks of trials in a run folder: those that are there are read, the others are run, kept and accounted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from lcca.evaluation.trials.blocks import Block, RunBlock
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.costs import Cost, Costs

PACKETS = ("packets_delivered", "packets")
"""Columns that count what was delivered: of networks, and of a fabric."""


@dataclass(frozen=True)
class Phase:
    """The trials of one phase of a run.

    Attributes:
        name: of the phase, in costs.json, in the trials' column ``phase`` and at the beginning of its parts' names.
        store: the run's trials.
        costs: the run's costs.
    """

    name: str
    store: TrialStore
    costs: Costs

    def has(self, *words: str | int) -> bool:
        """Tell whether the part that the words name has been run."""
        return self.store.has(part_name(self.name, *words))

    def part(self, *words: str | int, run: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return the part that the words name, having run its trials unless they are there."""
        part = part_name(self.name, *words)
        if not self.store.has(part):
            with self.costs.phase(self.name):
                rows = run().assign(phase=self.name)
                trials = len(rows.drop_duplicates(["policy", "network", "seed"])) if "flow" in rows else len(rows)
                packets = sum(int(rows[name].sum()) for name in PACKETS if name in rows)
                self.costs.note_part(part, Cost(self.name, trials=trials, packets=packets))
                self.store.add(part, rows)
        return self.store.read(part)

    def blocks(self, *words: str) -> Callable[[Block, RunBlock[pd.DataFrame]], pd.DataFrame]:
        """Return the keeper of the blocks whose parts' names begin with the words (see `run_blocks`)."""

        def keep(block: Block, run: RunBlock[pd.DataFrame]) -> pd.DataFrame:
            return self.part(*words, block.number, run=lambda: run(block))

        return keep
