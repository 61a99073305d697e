"""A simulator of flow traces that keeps what it simulated: a run that was stopped goes on where it was."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from lcca.evaluation.estimation.importance.flows import Floats, Flows, Simulator
from lcca.evaluation.trials.layout import IMPORTANCE, part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.inputs.errors import InputError

BLOCK = 200
"""Trials that are simulated, and kept, at a time."""


class KeptSimulator:
    """Simulates in blocks of trials, and keeps each block in a store; blocks that are there are read.

    What is simulated is a function of the seed and of earlier results, so that a run that begins anew asks for the same
    flows in the same order until it comes to what was never simulated.

    Args:
        simulate: the simulator behind it.
        store: where blocks are kept.
        tell: is told the number of trials after each block.

    Attributes:
        simulated: trials that were not there.
    """

    def __init__(self, simulate: Simulator, store: TrialStore, tell: Callable[[int], None]) -> None:
        self._simulate, self._store, self._tell = simulate, store, tell
        self._blocks = 0
        self._trials = 0
        self.simulated = 0

    def __call__(self, flows: Flows) -> Floats:
        """Return (flows,) flow completion times.

        Raises:
            InputError: what is kept is damaged, or of other flows.
        """
        found = [np.zeros(0)]
        for first in range(0, flows.trials, BLOCK):
            part = flows.part(first, min(first + BLOCK, flows.trials))
            found.append(self._block(part))
            self._trials += part.trials
            self._tell(self._trials)
        return np.concatenate(found)

    def _block(self, flows: Flows) -> Floats:
        name = part_name(IMPORTANCE, self._blocks)
        self._blocks += 1
        if not self._store.has(name):
            self._store.add(name, _rows(flows, self._simulate(flows)))
            self.simulated += flows.trials
        kept = self._store.read(name)
        asked = _rows(flows, np.zeros(len(flows.arrival)))
        if list(kept) != list(asked) or not kept.drop(columns="fct_us").equals(asked.drop(columns="fct_us")):
            raise InputError(
                f"{self._store.folder}: {name} holds other flows than this version asks for; choose another --out"
            )
        return kept["fct_us"].to_numpy(dtype=np.float64)


def _rows(flows: Flows, fct: Floats) -> pd.DataFrame:
    columns = {"trial": flows.trial, "arrival_us": flows.arrival, "size_packets": flows.size, "fct_us": fct}
    return pd.DataFrame(columns)
