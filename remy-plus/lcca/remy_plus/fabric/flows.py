"""The flows of a fabric trial."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

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
"""How long a flow may wait after others."""

Moment = Literal["begun", "ended", "received", "acknowledged"]
"""What flows wait for of others: that they begin; end, for their completion time (`FabricSettings.fct_at_ack`); that
their last byte is received; or that their sender knows of that."""


@dataclass(frozen=True, eq=False)
class FlowSet:
    """Flows that others wait for, all of them.

    Attributes:
        flows: positions, int64.
        over: until when: one for all, or one for each.
    """

    flows: NDArray[np.int64]
    over: Moment | Sequence[Moment] = "ended"

    def moments(self) -> Sequence[Moment]:
        """Return one for each."""
        return [self.over] * len(self.flows) if isinstance(self.over, str) else self.over


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
        after: int32, the number of the set that it waits for; −1 is none. It starts `off_ns` after the last flow of
            that set is over, or as soon as its host can know of that: at once where all of them are over at that host,
            else after as long as the shortest delay of a link. `start_ns` is then the earliest that it may start.
        off_ns: float64, how long it waits after that.
        sets: that flows wait for; unless given, those of the rounds, each after rounds before its own.
        job: int32, what it belongs to, such as one training job; −1 is none.
        step: int32, of its job; −1 is none.

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
    sets: Sequence[FlowSet] = ()
    job: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    step: NDArray[np.integer[Any]] = field(default_factory=lambda: np.empty(0, dtype=np.int32))

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
        if problem is None and self.waits and not self.sets:
            object.__setattr__(self, "sets", _rounds_as_sets(self.round))
        problem = problem or next(circle_problems(self.after, self.sets), None)
        if problem is not None:
            row, column, text = problem
            raise InputError(f"flow {self.id[row]}: {column}: {text}")

    def __len__(self) -> int:
        """Return the number of flows."""
        return len(self.src)

    @property
    def waits(self) -> bool:
        """Whether any flow waits for others."""
        return bool((self.after >= 0).any())

    @property
    def connection(self) -> NDArray[np.int64]:
        """Position of the first flow on each one's connection (queue pair).

        Rounds of training use the connections between their hosts again and again; any other flow has its own.
        """
        found = np.arange(len(self))
        rounds = np.flatnonzero(self.round >= 0)
        found[rounds] = rounds[self.pair_of(rounds)]
        return found

    def pair_of(self, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.int64]:
        """Return, for each of some flows, which of them is the first between the same hosts in the same class."""
        ends = np.stack([self.src[rows], self.dst[rows], self.priority[rows]], axis=1)
        _, first, same = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        found: NDArray[np.int64] = first[same.reshape(-1)]
        return found

    def before(self, end_ns: float) -> FabricFlows:
        """Return the flows that start, or may, before a time.

        Raises:
            InputError: one of them waits for one that starts later; names it.
        """
        count = int(np.searchsorted(self.start_ns, end_ns))
        for row, _, text in late_problems(self, end_ns):
            raise InputError(f"flow {self.id[row]}: {text}")
        kept = {each.name: getattr(self, each.name)[:count] for each in fields(self) if each.name != "sets"}
        used = int(kept["after"].max(initial=-1)) + 1
        waited = [
            each if (each.flows < count).all() else FlowSet(np.array([0]), each.over) for each in self.sets[:used]
        ]
        return FabricFlows(**kept, sets=waited)

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
    **{"job": np.int32, "step": np.int32},
}


def _usual(count: int) -> dict[str, NDArray[Any]]:
    """Return the arrays that need not be given."""
    none, zero = np.full(count, -1), np.zeros(count)
    labels = dict.fromkeys(("round", "after", "job", "step"), none)
    return {"id": np.arange(count), "priority": zero, "off_ns": zero, **labels}


def _rounds_as_sets(round: NDArray[np.integer[Any]]) -> list[FlowSet]:
    order = np.argsort(round, kind="stable")
    order = order[np.searchsorted(round[order], 0) :]
    ends = np.cumsum(np.bincount(round[order]))
    return [FlowSet(np.sort(each).astype(np.int64)) for each in np.split(order, ends[:-1])]


_PATHS = ("path", "ack_path")


def in_order(flows: Sequence[FabricFlows]) -> FabricFlows:
    """Return the flows of several workloads as one, by start; those of one workload keep their order."""
    start = np.concatenate([each.start_ns for each in flows])
    order = np.argsort(start, kind="stable")
    paths = [[path for each in flows for path in (getattr(each, name) or ((),) * len(each))] for name in _PATHS]
    path, ack_path = ([column[i] for i in order] if any(column) else () for column in paths)
    names = ("src", "dst", "size_bytes", "priority", "off_ns", "step")
    src, dst, size, *rest = (np.concatenate([getattr(each, name) for each in flows])[order] for name in names)
    labels: dict[str, Any] = {name: _numbered(flows, name)[order] for name in ("round", "job")}
    at = np.empty(len(order), dtype=np.int64)  # where each flow is now
    at[order] = np.arange(len(order))
    behind = np.cumsum([0, *(len(each) for each in flows)])
    sets = [
        FlowSet(at[one.flows + shift], one.over)
        for each, shift in zip(flows, behind, strict=False)
        for one in each.sets
    ]
    numbers = np.cumsum([0, *(len(each.sets) for each in flows)])
    after = [np.where(each.after < 0, -1, each.after + shift) for each, shift in zip(flows, numbers, strict=False)]
    labels |= dict(zip(names[3:], rest, strict=True)) | {"after": np.concatenate(after)[order]}
    return FabricFlows(src, dst, size, start[order], path, ack_path, **labels, sets=sets)


def _numbered(flows: Sequence[FabricFlows], name: str) -> NDArray[np.integer[Any]]:
    """Return a label of the flows of several workloads, numbered on from one to the next."""
    first = np.cumsum([0, *(int(getattr(each, name).max(initial=-1)) + 1 for each in flows)])
    columns = ((getattr(each, name), shift) for each, shift in zip(flows, first, strict=False))
    return np.concatenate([np.where(label < 0, -1, label + shift) for label, shift in columns])


def flow_problems(flows: FabricFlows) -> Iterator[RowProblem]:
    """Yield what is wrong with flows whatever the fabric: row, column and how to fix it."""
    checks = (
        ("src", flows.src < 0, "must be a host"),
        ("dst", flows.dst < 0, "must be a host"),
        ("dst", flows.dst == flows.src, "is the sender; name another host"),
        ("size_bytes", (flows.size_bytes < 1) | (flows.size_bytes > LARGEST_FLOW), "must be from 1 to 2^53 bytes"),
        ("start_ns", ~((flows.start_ns >= 0) & (flows.start_ns < math.inf)), "must be >= 0 and finite"),
        ("priority", flows.priority < 0, "must be 0 or above"),
        ("after", (flows.after >= 0) & _too_late(flows), "must be a round before its own"),
        ("off_ns", ~((flows.off_ns >= 0) & (flows.off_ns <= MOST_OFF_NS)), f"must be from 0 to {MOST_OFF_NS:g} ns"),
        ("start_ns", np.diff(flows.start_ns, prepend=0) < 0, "is before the flow in front of it; sort flows by start"),
    )
    for column, bad, text in checks:
        yield from ((row, column, text) for row in np.flatnonzero(bad).tolist())


def _too_late(flows: FabricFlows) -> NDArray[np.bool_]:
    """Tell which flows wait for what there is not: a set, or a round before their own."""
    return flows.after >= (len(flows.sets) if flows.sets else flows.round)


def circle_problems(after: NDArray[np.integer[Any]], sets: Sequence[FlowSet]) -> Iterator[RowProblem]:
    """Yield which flows can never start: they wait for what there is not or, by way of others, for themselves."""
    rows = np.flatnonzero(after >= 0)
    last = np.array([each.flows.max(initial=-1) for each in sets] or [0], dtype=np.int64)
    missing = (last < 0) | (last >= len(after))
    if missing.any():
        yield from ((row, "after", "waits for flows that there are not") for row in rows[missing[after[rows]]].tolist())
    elif (last[after[rows]] >= rows).any():  # else each waits for flows before it
        circles = np.flatnonzero(~_started(after, sets)).tolist()
        yield from ((row, "after", "waits for itself, perhaps by way of others") for row in circles)


def late_problems(flows: FabricFlows, end_ns: float) -> Iterator[RowProblem]:
    """Yield which flows that start before a time, or may, wait for one that does not."""
    count = int(np.searchsorted(flows.start_ns, end_ns))
    for row in np.flatnonzero(flows.after[:count] >= 0).tolist():
        if (first := flows.sets[flows.after[row]].flows.max()) >= count:
            text = f"waits for flow {flows.id[first]}, which starts at {flows.start_ns[first] / 1000:g} µs, not within"
            yield row, "after", f"{text} duration_us ({end_ns / 1000:g}); raise that, or leave both flows out"


def _started(after: NDArray[np.integer[Any]], sets: Sequence[FlowSet]) -> NDArray[np.bool_]:
    """Tell which flows start at all (Kahn's algorithm)."""
    left, started = [len(each.flows) for each in sets], np.zeros(len(after), dtype=bool)
    waiting, waited_by = defaultdict(list), defaultdict(list)
    for row in np.flatnonzero(after >= 0).tolist():
        waiting[int(after[row])].append(row)
    for number, each in enumerate(sets):
        for row in each.flows.tolist():
            waited_by[row].append(number)
    ready = np.flatnonzero(after < 0).tolist()
    while ready:
        row = ready.pop()
        started[row] = True
        for number in waited_by[row]:
            left[number] -= 1
            if left[number] == 0:
                ready += waiting[number]
    return started


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
