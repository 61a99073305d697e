"""What utilities of flows go by: when flows ended, and what else a trial on a fabric tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.trials.utility import Floats
from lcca.inputs.errors import InputError
from lcca.remy_plus.record import Record


@dataclass(frozen=True, eq=False)
class FlowTimes:
    """What became of flows: equally long arrays, an entry per flow, in any one unit of time.

    Attributes:
        size_bytes: payload.
        taken: from start to completion; NaN where it did not finish.
        ideal: what it would have taken alone.
        so_far: from start to the end of the trial.
        trial: index of its trial.
    """

    size_bytes: Floats
    taken: Floats
    ideal: Floats
    so_far: Floats
    trial: NDArray[np.int64]

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Tell which flows finished."""
        return ~np.isnan(self.taken)

    @property
    def at_least(self) -> Floats:
        """The completion times; of flows that did not finish what they take at least."""
        return np.where(self.finished, self.taken, np.maximum(self.so_far, self.ideal))

    @property
    def slowdown(self) -> Floats:
        """The slowdowns; of flows that did not finish a lower bound."""
        found: Floats = self.at_least / self.ideal
        return found

    def where(self, wanted: NDArray[np.bool_]) -> FlowTimes:
        """Return some of the flows."""
        return FlowTimes(**{each.name: getattr(self, each.name)[wanted] for each in fields(self)})

    def of_sizes(self, from_bytes: float, below_bytes: float) -> FlowTimes:
        """Return those of sizes from one to below another."""
        return self.where((self.size_bytes >= from_bytes) & (self.size_bytes < below_bytes))

    def by_trial(self, values: Floats, trials: int) -> list[Floats]:
        """Return values of the flows, (flows,), trial by trial."""
        order = np.argsort(self.trial, kind="stable")
        return np.split(values[order], np.cumsum(np.bincount(self.trial, minlength=trials))[:-1])


def flow_times(record: Record) -> FlowTimes:
    """Return what became of every flow of a record, in µs.

    Raises:
        InputError: flows that end by time, which have no size and no ideal time.
    """
    trial = np.repeat(np.arange(record.trials), np.diff(record["flow_begin"]))
    length, network = record.floats("flow_length"), record.network_index[trial]
    if not (length > 0).all():
        raise InputError("slowdown needs flows with sizes: use networks with `switched: bytes`, or a fabric")
    listed, start = record.networks, record.floats("flow_start_us")
    done = np.asarray(record["flow_finished"], dtype=bool) & (record.floats("flow_delivered") >= length)
    taken = np.where(done, record.floats("flow_last_arrival_us") - start, np.nan)
    ideal = listed.rtt[network] + length / listed.link_rate[network] + record.further_service_us[trial]
    return FlowTimes(length * listed.packet_bytes[network], taken, ideal, record.duration - start, trial)


class Outcome(Protocol):
    """A trial on a fabric."""

    @property
    def times(self) -> FlowTimes:
        """What became of the flows that started, in ns."""

    @property
    def round_us(self) -> Floats:
        """(rounds,) how long they took, in µs; of those that did not end at least."""

    @property
    def record(self) -> Mapping[str, Any]:
        """What the engine found: see `lcca.remy_plus.fabric.engine.FabricEngine.run`."""
