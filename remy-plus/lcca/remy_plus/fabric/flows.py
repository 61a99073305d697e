"""The flows of a fabric trial."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.topology import FabricTopology

if TYPE_CHECKING:
    from lcca.inputs.tables import RowProblem

Path = tuple[int, ...]
"""Switches from sender to receiver in order; empty where ECMP chooses."""

LARGEST_FLOW = 2**53
"""Bytes; larger counts are no exact floating-point numbers."""

MOST_OFF_NS = 1e15
"""How long a flow may wait after a round."""


@dataclass(frozen=True, eq=False)
class FabricFlows:
    """Flows in the order of their starts: equally long arrays, an entry per flow.

    Attributes:
        src: int32, host that sends.
        dst: int32, host that receives.
        size_bytes: int64, payload.
        start_ns: float64, when it is handed to the sender; never falls.
        path: the switches that its data crosses, in order; empty for all flows, or of one flow, where ECMP chooses.
        ack_path: the switches that its acknowledgements cross, likewise.
        id: int64, how a trace calls it; its position unless given.
        priority: int32, its class of traffic, 0 first.
        round: int32, the round that it belongs to, numbered from 0 without gaps; −1 is none.
        after: int32, the round, before its own, that it waits for; −1 is none. It starts `off_ns` after the last flow
            of that round has ended, or as soon as hosts can know of that, which takes as long as the shortest delay of
            a link; `start_ns` is then the earliest that it may start.
        off_ns: float64, how long it waits after that.

    Raises:
        InputError: arrays of different lengths, or a flow that cannot be; names the flow.
    """

    src: NDArray[np.integer[Any]]
    dst: NDArray[np.integer[Any]]
    size_bytes: NDArray[np.integer[Any]]
    start_ns: NDArray[np.float64]
    path: Sequence[Path] = ()
    ack_path: Sequence[Path] = ()
    id: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    priority: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    round: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    after: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    off_ns: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, dtype=np.float64))

    def __post_init__(self) -> None:
        """Check the arrays."""
        for name, usual in _usual(len(self.src)).items():
            if not len(getattr(self, name)):
                object.__setattr__(self, name, usual)
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))
        lengths = {len(getattr(self, name)) for name in _KINDS} | {len(p) for p in (self.path, self.ack_path) if len(p)}
        if len(lengths) > 1:
            raise InputError(f"flows: arrays must be equally long, got {sorted(lengths)}")
        problem = next(flow_problems(self), None)
        if problem is not None:
            row, column, text = problem
            raise InputError(f"flow {self.id[row]}: {column}: {text}")

    def __len__(self) -> int:
        """Return the number of flows."""
        return len(self.src)

    @property
    def waits(self) -> bool:
        """Whether any flow waits for a round."""
        return bool((self.after >= 0).any())

    @property
    def connection(self) -> NDArray[np.int64]:
        """Position of the first flow on each one's connection (queue pair).

        Rounds of training use the connections between their hosts again and again; any other flow has its own.
        """
        found = np.arange(len(self))
        rounds = np.flatnonzero(self.round >= 0)
        ends = np.stack([self.src[rounds], self.dst[rounds], self.priority[rounds]], axis=1)
        _, first, same = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        found[rounds] = rounds[first[same.reshape(-1)]]
        return found

    def before(self, end_ns: float) -> FabricFlows:
        """Return the flows that start before a time."""
        count = int(np.searchsorted(self.start_ns, end_ns))
        return FabricFlows(**{each.name: getattr(self, each.name)[:count] for each in fields(self)})

    def require_on(self, topology: FabricTopology) -> None:
        """Check that every host is one of the fabric's and every path leads over its links.

        Raises:
            InputError: naming the first flow that does not fit.
        """
        for row, column, text in fit_problems(self, topology):
            raise InputError(f"flow {self.id[row]}: {column}: {text}")


_KINDS = {
    **{"src": np.int32, "dst": np.int32, "size_bytes": np.int64, "start_ns": np.float64, "id": np.int64},
    **{"priority": np.int32, "round": np.int32, "after": np.int32, "off_ns": np.float64},
}


def _usual(count: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that need not be given."""
    none, zero = np.full(count, -1), np.zeros(count)
    return {"id": np.arange(count), "priority": zero, "round": none, "after": none, "off_ns": zero}


_PATHS = ("path", "ack_path")


def in_order(flows: Sequence[FabricFlows]) -> FabricFlows:
    """Return the flows of several workloads as one, by start; those of one workload keep their order."""
    start = np.concatenate([each.start_ns for each in flows])
    order = np.argsort(start, kind="stable")
    paths = [[path for each in flows for path in (getattr(each, name) or ((),) * len(each))] for name in _PATHS]
    path, ack_path = ([column[i] for i in order] if any(column) else () for column in paths)
    names = ("src", "dst", "size_bytes", "priority", "off_ns")
    src, dst, size, priority, off = (np.concatenate([getattr(each, name) for each in flows])[order] for name in names)
    first = np.cumsum([0, *(int(each.round.max(initial=-1)) + 1 for each in flows)])  # number of a round of each
    round, after = (
        np.concatenate(
            [np.where(numbers < 0, -1, numbers + shift) for numbers, shift in zip(column, first, strict=False)]
        )
        for column in ([each.round for each in flows], [each.after for each in flows])
    )
    rest = {"priority": priority, "round": round[order], "after": after[order], "off_ns": off}
    return FabricFlows(src, dst, size, start[order], path, ack_path, **rest)


def flow_problems(flows: FabricFlows) -> Iterator[RowProblem]:
    """Yield what is wrong with flows whatever the fabric: row, column and how to fix it."""
    checks = (
        ("src", flows.src < 0, "must be a host"),
        ("dst", flows.dst < 0, "must be a host"),
        ("dst", flows.dst == flows.src, "is the sender; name another host"),
        ("size_bytes", (flows.size_bytes < 1) | (flows.size_bytes > LARGEST_FLOW), "must be from 1 to 2^53 bytes"),
        ("start_ns", ~((flows.start_ns >= 0) & (flows.start_ns < math.inf)), "must be >= 0 and finite"),
        ("priority", flows.priority < 0, "must be 0 or above"),
        ("after", (flows.after >= 0) & (flows.after >= flows.round), "must be a round before its own"),
        ("off_ns", ~((flows.off_ns >= 0) & (flows.off_ns <= MOST_OFF_NS)), f"must be from 0 to {MOST_OFF_NS:g} ns"),
        ("start_ns", np.diff(flows.start_ns, prepend=0) < 0, "is before the flow in front of it; sort flows by start"),
    )
    for column, bad, text in checks:
        yield from ((row, column, text) for row in np.flatnonzero(bad).tolist())


def few_classes(priority: int, priorities: int) -> str:
    """Return what is wrong with a class that there is not."""
    return f"must be below switch.priorities ({priorities}), got {priority}; 0 is the first class that is served"


def fit_problems(flows: FabricFlows, topology: FabricTopology) -> Iterator[RowProblem]:
    """Yield which flows do not fit a fabric: row, column and how to fix it."""
    for column, hosts in (("src", flows.src), ("dst", flows.dst)):
        for row in np.flatnonzero(hosts >= topology.hosts).tolist():
            yield row, column, f"host {hosts[row]} is unknown; the fabric has hosts 0 to {topology.hosts - 1}"
    for column, paths, first, last in (
        ("path", flows.path, flows.src, flows.dst),
        ("ack_path", flows.ack_path, flows.dst, flows.src),
    ):
        for row, path in enumerate(paths):
            if path and (text := _path_problem(topology, (int(first[row]), *path, int(last[row])))):
                yield row, column, text


def _path_problem(topology: FabricTopology, nodes: Path) -> str:
    hosts = [node for node in nodes[1:-1] if node < topology.hosts]
    if hosts:
        return f"{hosts[0]} is a host; a path names switches ({topology.hosts} to {topology.nodes - 1})"
    if len(set(nodes)) < len(nodes):
        return f"crosses a node twice ({'-'.join(map(str, nodes))})"
    gap = next((pair for pair in pairwise(nodes) if not topology.link_between(*pair)), None)
    return f"there is no link between {gap[0]} and {gap[1]}" if gap else ""
