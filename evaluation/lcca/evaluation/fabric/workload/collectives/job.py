"""A training job: iterations of collective operations among some of the hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from lcca.evaluation.fabric.workload.collectives.bounds import Packets, Ways, chain_ns
from lcca.evaluation.fabric.workload.collectives.operations import AnyOperation
from lcca.evaluation.fabric.workload.collectives.schedule import Ints, Schedule
from lcca.evaluation.fabric.workload.part import MOST_US, NO_HOST, Floats, Misfit, Part, Streams
from lcca.inputs.model import Model
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

STRAGGLERS = 2**48
"""Keys of the streams by which they are drawn, one an iteration."""


class Stragglers(Model):
    """Ranks that compute more slowly than the others, drawn anew for each iteration.

    Attributes:
        share: of the ranks.
        factor: how many times as long they compute.
    """

    share: float = Field(gt=0, le=1)
    factor: float = Field(ge=1, le=1000)


@dataclass(frozen=True)
class JobLook:
    """What a job takes at the least.

    Attributes:
        number: of the job, as its messages have it.
        start_ns: when it begins.
        iterations: how many.
        rest_ns: what its slowest rank does after the last message.
        bound_ns: of all iterations: the sum over their operations of the longest chain of messages, each alone, or of
            the time of the fullest cut, whichever is more. Operations of which ranks begin one while others are in the
            one before may take a little less.
        compute_ns: the same if messages took no time.
        moved_bytes: that a rank sends at least, as nccl-tests count it.
    """

    number: int
    start_ns: float
    iterations: int
    rest_ns: float
    bound_ns: float
    compute_ns: float
    moved_bytes: float

    def row(self, took_us: float, finished: bool) -> dict[str, float | bool]:
        """Return what the job is measured by (`lcca.evaluation.trials.metrics.OF_JOBS`) if it takes so long."""
        return {
            "job": self.number,
            "finished": finished,
            "took_us": took_us,
            "iteration_us": took_us / self.iterations,
            "exposed_us": (took_us - self.compute_ns / 1000) / self.iterations,
            "job_over_bound": 1000 * took_us / self.bound_ns,
            "bus_gbps": self.moved_bytes * 8 / (1000 * took_us - self.compute_ns),
        }


@dataclass(frozen=True)
class _Part:
    """Messages that begin, at each rank, once it has received all of the part before.

    Attributes:
        barrier: once all ranks have.
        delay_ns: of each rank, after that.
        groups: ranks, and the messages among them.
    """

    barrier: bool
    delay_ns: dict[int, float]
    groups: list[tuple[list[int], Schedule]]


class Job(Part):
    """A training job: iterations of collective operations; a rank begins one when it has ended the one before.

    A rank is one NIC. The collectives of several jobs, or of a job and other traffic, are parts of a `mix`.

    Attributes:
        ranks: how many hosts take part; all but those skipped if left out.
        placement: in which order hosts become ranks 0, 1, …: of their numbers (`packed`); by turns of each leaf
            (`stride`); `random`, drawn for each trial; or a list of hosts.
        skip_hosts: so many in that order are left out, for the ranks of another job.
        operations: of each iteration, in their order.
        iterations: how many.
        ranks_per_node: ranks of one server, next to each other; operations may be among these or among the rails.
        nvlink_gbps: operations among the ranks of a node take as long as their bytes at this rate, and send nothing
            over the fabric; they do if left out.
        stragglers: ranks that compute more slowly.
        start_us: when the first begins.
    """

    kind: Literal["job"]
    ranks: int | None = Field(default=None, ge=2)
    placement: Literal["packed", "stride", "random"] | tuple[int, ...] = "packed"
    skip_hosts: int = Field(default=0, ge=0)
    operations: tuple[AnyOperation, ...] = Field(min_length=1)
    iterations: int = Field(default=1, ge=1, le=100_000)
    ranks_per_node: int = Field(default=1, ge=1)
    nvlink_gbps: float | None = Field(default=None, gt=0)
    stragglers: Stragglers | None = None
    start_us: float = Field(default=0, ge=0, le=MOST_US)

    ends: ClassVar[bool] = True

    @property
    def draws(self) -> bool:
        """Whether trials differ in its messages, or in where they go."""
        return bool(self.stragglers) or self.placement == "random" or any(each.random for each in self.operations)

    def jobs(self, topology: FabricTopology) -> int:
        """Return that it is one job."""
        return 1

    def size(self, topology: FabricTopology) -> int:
        """Return how many ranks there are."""
        listed = len(self.placement) if isinstance(self.placement, tuple) else topology.hosts
        return self.ranks or listed - self.skip_hosts

    def problem(self, topology: FabricTopology) -> Misfit | None:
        """Return the key that does not fit the fabric, and why."""
        listed = topology.hosts
        if isinstance(self.placement, tuple):
            listed = len(self.placement)
            if misfit := _misplaced(self.placement, topology.hosts):
                return misfit
        ranks = self.size(topology)
        if ranks < 2 or self.skip_hosts + ranks > listed:
            return ("ranks",), f"must be from 2 to {listed - self.skip_hosts}, the hosts that are left, got {ranks}"
        if ranks % self.ranks_per_node:
            return ("ranks_per_node",), f"must divide the {ranks} ranks, got {self.ranks_per_node}"
        for number, each in enumerate(self.operations):
            members = self._members(each, ranks)[0]
            if len(members) < 2:
                return ("operations", number, "among"), f"{each.among} has one rank alone; set ranks_per_node"
            if misfit := each.problem(len(members)):
                return ("operations", number, *misfit[0]), misfit[1]
        if not self.count(topology, np.inf):
            return ("operations",), "send nothing over the fabric; let ranks of several nodes send, or more tokens"
        return None

    def count(self, topology: FabricTopology, duration_ns: float) -> float:
        """Return how many messages there are."""
        ranks = self.size(topology)
        parts = self._parts(ranks, Streams(0), 0, np.zeros(ranks))
        return self.iterations * sum(len(own) for part in parts for _, own in part.groups)

    def drawn(self, topology: FabricTopology, streams: Streams, duration_ns: float) -> FabricFlows:
        """Return the messages of all iterations."""
        ranks, found, first, rounds = self.size(topology), Schedule(), dict[int, int](), list[int]()
        before, waits = 0, np.zeros(ranks)
        for number in range(self.iterations):
            for part in self._parts(ranks, streams, number, waits):
                if part.barrier and (every := found.wait(range(before, len(found)))) >= 0:
                    first = dict.fromkeys(range(ranks), every)
                before, steps = len(found), max(found.step, default=-1) + 1
                for members, own in part.groups:
                    found.follow(own, members, first, part.delay_ns, steps)
                first.update(found.received(before, ranks))
            rounds += [number] * (len(found) - len(rounds))
        return found.flows(self.hosts(topology, streams), self.start_us * 1000, np.array(rounds))

    def look(self, ways: Ways, streams: Streams, packets: Packets) -> JobLook:
        """Return what the job takes at the least, on a fabric whose links are as they were built."""
        ranks, hosts = self.size(ways.topology), self.hosts(ways.topology, streams)
        bound_ns, compute_ns, moved, waits = 0.0, 0.0, 0.0, np.zeros(ranks)
        for number in range(self.iterations):
            for part in self._parts(ranks, streams, number, waits):
                chain = idle = 0.0
                src, dst, size = (np.empty(0, dtype=np.int64) for _ in range(3))
                for members, own in part.groups:
                    ends = (hosts[np.array(members)[own.src]], hosts[np.array(members)[own.dst]], np.array(own.size))
                    delay = {place: part.delay_ns[rank] for place, rank in enumerate(members)}
                    chain = max(chain, chain_ns(own, ways.alone_ns(*ends, packets), delay))
                    idle = max(idle, chain_ns(own, np.zeros(len(own)), delay))
                    src, dst, size = (np.append(*each) for each in zip((src, dst, size), ends, strict=True))
                bound_ns += max(chain, min(part.delay_ns.values()) + ways.cut_ns(src, dst, size, packets))
                compute_ns += idle
            moved += sum(each.moved(len(self._members(each, ranks)[0])) for each in self.operations)
        rest = float(waits.max())
        least = (float(bound_ns) + rest, float(compute_ns) + rest, float(moved))
        return JobLook(0, self.start_us * 1000, self.iterations, rest, *least)

    def hosts(self, topology: FabricTopology, streams: Streams) -> Ints:
        """Return the host of each rank."""
        if isinstance(self.placement, tuple):
            order = np.array(self.placement)
        elif self.placement == "random":
            order = streams.shuffled(NO_HOST, np.arange(topology.hosts))
        else:
            order = np.arange(topology.hosts)
        if self.placement == "stride":
            leaf = np.array([topology.neighbours[host][0] for host in order])
            place = np.array([np.count_nonzero(leaf[:host] == leaf[host]) for host in order])
            order = np.lexsort((leaf, place))
        return order[self.skip_hosts :][: self.size(topology)]

    def _members(self, operation: AnyOperation, ranks: int) -> list[list[int]]:
        """Return the groups of ranks that an operation is among."""
        node, every = self.ranks_per_node, list(range(ranks))
        if operation.among == "node":
            return [every[first : first + node] for first in range(0, ranks, node)]
        return [every[rail::node] for rail in range(node)] if operation.among == "rail" else [every]

    def _parts(self, ranks: int, streams: Streams, number: int, waits: Floats) -> Iterator[_Part]:
        """Yield the parts of an iteration; `waits` is what ranks have to do before and after it, ns."""
        slow = self._stragglers(ranks, streams, number)
        for place, operation in enumerate(self.operations):
            groups = self._members(operation, ranks)
            waits += operation.compute_us * 1000 * slow
            if self.nvlink_gbps and operation.among == "node":
                waits += operation.moved(len(groups[0])) * 8 / self.nvlink_gbps
                continue
            key = (number * len(self.operations) + place) * ranks
            steps = [operation.parts(len(each), streams, key + group) for group, each in enumerate(groups)]
            for step, own in enumerate(zip(*steps, strict=True)):
                waits += own[0][0] * 1000 * slow
                schedules = [schedule for _, schedule in own]
                delay_ns = dict(enumerate(waits.tolist()))
                yield _Part(operation.barrier and step == 0, delay_ns, list(zip(groups, schedules, strict=True)))
                waits[:] = 0

    def _stragglers(self, ranks: int, streams: Streams, number: int) -> Floats:
        """Return how many times as long each rank computes."""
        found = np.ones(ranks)
        if self.stragglers:
            count = max(round(self.stragglers.share * ranks), 1)
            found[streams.shuffled(STRAGGLERS + number, np.arange(ranks))[:count]] = self.stragglers.factor
        return found


def _misplaced(placement: tuple[int, ...], hosts: int) -> Misfit | None:
    for place, host in enumerate(placement):
        if not 0 <= host < hosts:
            return ("placement", place), f"host {host} is unknown; the fabric has hosts 0 to {hosts - 1}"
        if host in placement[:place]:
            return ("placement", place), f"host {host} is a rank already; name each once"
    return None
