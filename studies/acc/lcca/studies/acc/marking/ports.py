"""ACC: every port of a switch chooses its marking by what a network has learnt (Yan et al., SIGCOMM 2021).

Here are the ports as it sees and sets them, interval by interval; `model` has the network, `tuner` both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.switches.control import Change, Floats, Seen
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS
from lcca.remy_plus.switches.markers import Marking, marking

if TYPE_CHECKING:
    from lcca.remy_plus.fabric.topology import FabricTopology

Indices = NDArray[np.int64]
Single = NDArray[np.float32]

NUMBERS = 6
"""That an agent sees of an interval."""

LONGEST_BYTES = 6.4e6
"""Queue of a port of 100 Gb/s that is seen as 1: the largest threshold that PARALEON's tuner takes."""

Bytes = Annotated[float, Field(ge=0, le=1e9)]
Share = Annotated[float, Field(ge=0, le=1)]


class Templates(Model):
    """Settings of RED that agents choose from: all combinations of their parts, in bytes at a port of 100 Gb/s.

    Unless given they are those of PRED's re-implementation of ACC (Li et al., ToN 2025, section VI-C.3), 2 to 16 and
    20 to 100 packets of 1500 bytes at 10 Gb/s, in proportion to the rate.

    Attributes:
        kmin_bytes: none is marked up to it.
        kmax_bytes: all are marked beyond it.
        pmax: share at `kmax_bytes`.

    Raises:
        ValidationError: a `kmin_bytes` above a `kmax_bytes`.
    """

    kmin_bytes: Annotated[tuple[Bytes, ...], Field(min_length=1, max_length=100)] = (30e3, 60e3, 120e3, 240e3)
    kmax_bytes: Annotated[tuple[Bytes, ...], Field(min_length=1, max_length=100)] = (300e3, 750e3, 1500e3)
    pmax: Annotated[tuple[Share, ...], Field(min_length=1, max_length=100)] = (0.01, *(i / 20 for i in range(1, 21)))

    @model_validator(mode="after")
    def _in_order(self) -> Templates:
        if max(self.kmin_bytes) > min(self.kmax_bytes):
            raise ValueError(
                f"no kmin_bytes may be above a kmax_bytes, got {max(self.kmin_bytes):g} and {min(self.kmax_bytes):g}"
            )
        return self

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many there are of each part; the last one varies fastest in an index."""
        return len(self.kmin_bytes), len(self.kmax_bytes), len(self.pmax)

    @property
    def first(self) -> int:
        """Index of what ports are seen to have before the first choice: the middle of each part."""
        return int(np.ravel_multi_index(tuple(n // 2 for n in self.shape), self.shape))

    @cached_property
    def markers(self) -> tuple[Marking, ...]:
        """All of them."""
        combined = product(self.kmin_bytes, self.kmax_bytes, self.pmax)
        return tuple(marking("red", kmin_bytes=low, kmax_bytes=high, pmax=p) for low, high, p in combined)

    @cached_property
    def seen(self) -> Single:
        """(templates, 3) thresholds over the largest of their kind, and `pmax`."""
        low, high = max(self.kmin_bytes) or 1.0, max(self.kmax_bytes) or 1.0
        combined = product(self.kmin_bytes, self.kmax_bytes, self.pmax)
        return np.array([(a / low, b / high, p) for a, b, p in combined], dtype=np.float32)


@dataclass(frozen=True)
class Interval:
    """What counters say of some ports in an interval.

    Attributes:
        queued_bytes: (ports,) mean over time.
        rate: (ports,) data, over the link's rate.
        marked: (ports,) data in marked packets, over the link's rate.
    """

    queued_bytes: Floats
    rate: Floats
    marked: Floats


@dataclass(frozen=True, eq=False)
class Ports:
    """Ports of switches, which are agents.

    Attributes:
        number: (ports,) the engine's.
        gbps: (ports,) rates.
    """

    number: Indices
    gbps: Floats

    @classmethod
    def of(cls, topology: FabricTopology, named: Iterable[tuple[int, int]] | None = None) -> Ports:
        """Return all ports of switches, or those that are named by their node and their peer.

        Raises:
            InputError: there is no such port of a switch, or one is named twice.
        """
        node, peer, gbps = topology.ports
        number = np.flatnonzero(node >= topology.hosts)
        if named is not None:
            where = {(int(node[i]), int(peer[i])): int(i) for i in number}
            number = _named(where, list(named))
        return cls(number.astype(np.int64), gbps[number])

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.number)

    def interval(self, seen: Seen) -> Interval:
        """Return what a tuner sees of them."""
        return self.counted(
            seen.over_ns, seen.data_bytes, seen.data_packets, seen.marked_packets, seen.mean_queued_bytes
        )

    def counted(self, over_ns: float, data: Floats, packets: Floats, marked: Floats, queued: Floats) -> Interval:
        """Return an interval from counts of all ports, and the mean of their queues."""
        own = self.number
        rate = data[own] * 8 / (self.gbps * over_ns)
        return Interval(queued[own], rate, rate * marked[own] / np.maximum(packets[own], 1))


def _named(where: dict[tuple[int, int], int], named: Sequence[tuple[int, int]]) -> Indices:
    for i, each in enumerate(named):
        if tuple(each) not in where:
            raise InputError(f"ports: there is no port of a switch from node {each[0]} to {each[1]}")
        if each in named[:i]:
            raise InputError(f"ports: the one from node {each[0]} to {each[1]} is named twice")
    return np.array([where[each[0], each[1]] for each in named], dtype=np.int64)


class Agents:
    """What all agents of a run see, and what they have set.

    Args:
        ports: that they are.
        templates: that they choose from.
        history: intervals that they see.

    Attributes:
        ports: that they are.
        view: (ports, 6 · history) single precision, in [0, 1], the latest interval first: the logarithm of the queue at
            100 Gb/s, rate and marked rate over the link's, and the setting that was chosen last. Zeros where there was
            no interval yet.
    """

    def __init__(self, ports: Ports, templates: Templates, history: int) -> None:
        self.ports = ports
        self.view = np.zeros((len(ports), NUMBERS * history), dtype=np.float32)
        self._templates = templates
        self._chosen = np.full(len(ports), -1)
        idle = np.zeros(len(ports))
        self.see(Interval(idle, idle, idle))

    def see(self, interval: Interval) -> None:
        """Take what an interval showed."""
        at_reference = interval.queued_bytes * REFERENCE_GBPS / self.ports.gbps
        queue = log2(1 + at_reference / PACKET_BYTES) / math.log2(1 + LONGEST_BYTES / PACKET_BYTES)
        self.view[:, NUMBERS:] = self.view[:, :-NUMBERS].copy()
        self.view[:, :3] = np.minimum(np.stack([queue, interval.rate, interval.marked], axis=1), 1)
        chosen = np.where(self._chosen < 0, self._templates.first, self._chosen)
        self.view[:, 3:NUMBERS] = self._templates.seen[chosen]

    def choose(self, templates: Indices) -> Change:
        """Return what to set where the agents choose these templates, (ports,)."""
        new = np.flatnonzero(templates != self._chosen)
        self._chosen = np.array(templates)
        markers = self._templates.markers
        return Change(markers={int(self.ports.number[i]): markers[int(templates[i])] for i in new})
