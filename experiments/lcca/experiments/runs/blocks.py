"""Blocks of trials in a run folder: those that are there are read, the others are run, kept and accounted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from lcca.evaluation.trials.blocks import Block, RunBlock
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.costs import Costs

PACKETS = ("packets_delivered", "packets")
"""Columns that count what was delivered: of networks, and of a fabric."""


def of_trainings(phase: str) -> str:
    """Return the phase that does with all trainings what another does with the selected policies."""
    return f"{phase}-trainings"


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
            with self.costs.phase(self.name) as cost:
                rows = run().assign(phase=self.name)
                self.store.add(part, rows)
                cost.trials += _trials(rows)
                cost.packets += sum(int(rows[name].sum()) for name in PACKETS if name in rows)
        return self.store.read(part)

    def pieces(
        self,
        *words: str | int,
        block: Block,
        size: int,
        run: RunBlock[pd.DataFrame],
        tell: Callable[[int], None] = lambda done: None,
    ) -> pd.DataFrame:
        """Return the rows of a block, run and kept in pieces; one that is kept whole is read, as of earlier versions.

        Args:
            words: that name the block; pieces have their numbers besides, where there are several.
            block: of trials.
            size: of a piece.
            run: returns the rows of a piece, policy by policy.
            tell: told after every piece how many trials of the block there are.
        """
        if block.size <= size or self.has(*words):
            return self.part(*words, run=lambda: run(block))
        parts = []
        for piece in _pieces(block, size):
            parts.append(self.part(*words, piece.number, run=partial(run, piece)))
            tell(piece.end - block.first)
        rows = pd.concat(parts, ignore_index=True)
        order = rows["policy"].map({name: i for i, name in enumerate(dict.fromkeys(rows["policy"]))})
        return rows.iloc[np.argsort(order.to_numpy(), kind="stable")].reset_index(drop=True)

    def has_pieces(self, *words: str | int, block: Block, size: int) -> bool:
        """Tell whether all of a block has been run; see `pieces`."""
        return self.has(*words) or (
            block.size > size and all(self.has(*words, piece.number) for piece in _pieces(block, size))
        )

    def blocks(self, *words: str) -> Callable[[Block, RunBlock[pd.DataFrame]], pd.DataFrame]:
        """Return the keeper of the blocks whose parts' names begin with the words (see `run_blocks`)."""

        def keep(block: Block, run: RunBlock[pd.DataFrame]) -> pd.DataFrame:
            return self.part(*words, block.number, run=lambda: run(block))

        return keep


def _pieces(block: Block, size: int) -> list[Block]:
    starts = range(block.first, block.end, size)
    return [Block(i, first, min(size, block.end - first)) for i, first in enumerate(starts)]


def _trials(rows: pd.DataFrame) -> int:
    """Return how many trials the rows are of: one each, or one for all flows of a trial."""
    return len(rows.drop_duplicates(["policy", "network", "seed"])) if "flow" in rows else len(rows)
