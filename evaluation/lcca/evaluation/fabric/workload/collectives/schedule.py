"""Messages among the ranks of a job, and what each waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet, Moment

Ints = NDArray[np.int64]


@dataclass
class Schedule:
    """Messages, in the order in which those of a rank that may start at once do so; it grows as they are added.

    Attributes:
        src: ranks that send.
        dst: ranks that receive.
        size: bytes.
        step: of each message, by which reports group them.
        after: number of the set in `sets` that each waits for; −1 is none.
        delay_ns: after that.
        sets: of messages that others wait for, by position.
    """

    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    delay_ns: list[float] = field(default_factory=list)
    sets: list[FlowSet] = field(default_factory=list)

    def __len__(self) -> int:
        """Count the messages."""
        return len(self.src)

    def send(self, src: int, dst: int, size: int, step: int, after: int = -1, delay_ns: float = 0.0) -> int:
        """Add a message, and return its position."""
        self.src.append(src)
        self.dst.append(dst)
        self.size.append(size)
        self.step.append(step)
        self.after.append(after)
        self.delay_ns.append(delay_ns)
        return len(self.src) - 1

    def wait(self, messages: Sequence[int], moments: Moment | Sequence[Moment] = "received") -> int:
        """Add a set of messages that others wait for, and return its number; −1 for none."""
        if not len(messages):
            return -1
        self.sets.append(FlowSet(np.array(messages, dtype=np.int64), moments))
        return len(self.sets) - 1

    def follow(
        self, other: Schedule, ranks: Iterable[int], first: Mapping[int, int], delay_ns: Mapping[int, float], step: int
    ) -> None:
        """Add another schedule, whose messages that wait for none wait for what their rank has to end before.

        Args:
            other: its ranks are positions in `ranks`.
            ranks: by its ranks, those of this one.
            first: by rank of this one, the set that it waits for.
            delay_ns: by rank of this one, after that.
            step: number of its first step here.
        """
        places, messages, sets = list(ranks), len(self), len(self.sets)
        self.sets += [FlowSet(each.flows + messages, each.over) for each in other.sets]
        columns = (other.src, other.dst, other.size, other.step, other.after, other.delay_ns)
        for src, dst, size, number, after, delay in zip(*columns, strict=True):
            own = places[src]
            waits = (after + sets, delay) if after >= 0 else (first.get(own, -1), delay + delay_ns.get(own, 0.0))
            self.send(own, places[dst], size, step + number, *waits)

    def received(self, since: int, ranks: int) -> dict[int, int]:
        """Add, for each rank, the set of the messages into it from a position on; return their numbers by rank."""
        into: list[list[int]] = [[] for _ in range(ranks)]
        for row in range(since, len(self)):
            into[self.dst[row]].append(row)
        return {rank: self.wait(rows) for rank, rows in enumerate(into) if rows}

    def flows(self, hosts: Ints, start_ns: float, round: Ints) -> FabricFlows:
        """Return the messages as flows of one job.

        Args:
            hosts: of the ranks.
            start_ns: of those that wait for none, and of nothing else before.
            round: of each message.
        """
        after, delay = np.array(self.after), np.array(self.delay_ns)
        start = start_ns + np.where(after < 0, delay, 0)
        order = np.argsort(start, kind="stable")
        at = np.empty_like(order)  # where each message is then
        at[order] = np.arange(len(order))
        columns: dict[str, Any] = {"after": after, "off_ns": delay, "round": round, "step": np.array(self.step)}
        src, dst, size = hosts[self.src], hosts[self.dst], np.array(self.size)
        return FabricFlows(
            *(src[order], dst[order], size[order], start[order]),
            **{name: each[order] for name, each in columns.items()},
            job=np.zeros(len(self), dtype=np.int64),
            sets=[FlowSet(at[each.flows], each.over) for each in self.sets],
        )
