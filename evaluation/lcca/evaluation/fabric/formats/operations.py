"""Operations of ranks in traces: computations, sends and receptions that begin after others of the same rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lcca.evaluation.fabric.formats.lines import Line
from lcca.evaluation.fabric.formats.messages import Event, Messages, Ready
from lcca.evaluation.fabric.workload.collectives.schedule import Schedule


@dataclass
class Operation:
    """A rank's operation.

    Attributes:
        before: places of operations of the rank that must have ended.
        begun: places of those that must have begun.
        ns: that it computes.
        sends: numbers of messages that it begins.
        receives: numbers of messages that it waits for.
        acknowledged: whether it ends as its messages are acknowledged; else as what it waits for is received.
    """

    before: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    ns: float = 0.0
    sends: list[int] = field(default_factory=list)
    receives: list[int] = field(default_factory=list)
    acknowledged: bool = False

    def end(self, begin: Ready, messages: Messages) -> Ready:
        """Return when it ends: not before it begins, of which a message of its own tells that begins with it."""
        if self.sends and begin.after and not self.acknowledged:
            begin = Ready(0.0, {(self.sends[0], "begun"): 0.0})
        events: list[Event] = [(number, "received") for number in self.receives]
        events += [(number, "acknowledged") for number in self.sends if self.acknowledged]
        return messages.joined([begin.later(self.ns), Ready(0.0, dict.fromkeys(events, 0.0))])


def add_collective(
    group: Sequence[int], own: Sequence[Operation], schedule: Schedule, messages: Messages, step: int
) -> None:
    """Add a schedule's messages; those that wait for none wait for what their rank has to end before.

    Args:
        group: the ranks of the schedule's.
        own: the operation of each.
        schedule: whose messages.
        messages: to which they are added.
        step: of all of them.
    """
    base = len(messages.src)
    columns = zip(schedule.src, schedule.dst, schedule.size, schedule.after, schedule.delay_ns, strict=True)
    for src, dst, size, after, delay in columns:
        ready = Ready(delay)
        if after >= 0:
            waited = schedule.sets[after]
            events = zip((base + waited.flows).tolist(), waited.moments(), strict=True)
            ready = Ready(0.0, dict.fromkeys(events, delay))
        number = messages.add(group[src], group[dst], size, ready, step)
        own[dst].receives.append(number)
        if after < 0:
            own[src].sends.append(number)


def begin_all(operations: Sequence[Operation], messages: Messages) -> int:
    """Say of each message of a rank when it may begin; return the place of an operation in a circle, −1 if none is.

    What a message waits for already, besides its rank, stays; so does how long after.
    """
    left = [len(each.before) + len(each.begun) for each in operations]
    following = defaultdict[int, list[int]](list)
    for place, each in enumerate(operations):
        for other in (*each.before, *each.begun):
            following[other].append(place)
    begins, ends = dict[int, Ready](), dict[int, Ready]()
    ready = [place for place, count in enumerate(left) if not count][::-1]
    while ready:
        own = operations[place := ready.pop()]
        begins[place] = begin = messages.joined(
            [*(ends[other] for other in own.before), *(begins[other] for other in own.begun)]
        )
        for number in own.sends:
            messages.ready[number] = begin.later(messages.ready[number].at_ns)
        ends[place] = own.end(begin, messages)
        for other in following[place]:
            left[other] -= 1
            if not left[other]:
                ready.append(other)
    return next((place for place, count in enumerate(left) if count), -1)


def idle_ns(operations: Sequence[Operation]) -> float:
    """Return how long a rank computes for no message at most: after its last ones."""
    needed = {place for place, each in enumerate(operations) if each.sends}
    edge = list(needed)
    while edge:
        new = {other for place in edge for other in (*operations[place].before, *operations[place].begun)} - needed
        needed |= new
        edge = list(new)
    return max((each.ns for place, each in enumerate(operations) if place not in needed), default=0.0)


Point: TypeAlias = tuple[Line, Operation]
"""Where a send or a reception stands, and what it is."""


class Pairs:
    """Sends and receptions between two ranks with one tag: the first goes to the first, and so on."""

    def __init__(self) -> None:
        self.sent = defaultdict[tuple[int, int, int], list[tuple[Line, Operation, int]]](list)
        self.received = defaultdict[tuple[int, int, int], list[Point]](list)

    def match(self, messages: Messages, no_bytes: list[int]) -> None:
        """Add the messages; those without bytes are counted.

        Raises:
            ConfigError: one without the other; names it.
        """
        for key in dict.fromkeys([*self.sent, *self.received]):
            sent, received = self.sent.get(key, []), self.received.get(key, [])
            if len(sent) != len(received):
                alone, what = _alone(sent, received)
                src, dst, tag = key
                text = f"rank {src} sends {len(sent)} messages with tag {tag} to rank {dst}, which receives "
                raise alone.wrong(what, text + f"{len(received)}; write as many of both")
            for (_, sender, size), (_, receiver) in zip(sent, received, strict=True):
                number = messages.add(key[0], key[1], max(size, 1))
                no_bytes += [number] * (not size)
                sender.sends.append(number)
                receiver.receives.append(number)


def _alone(sent: Sequence[tuple[Line, Operation, int]], received: Sequence[Point]) -> tuple[Line, str]:
    if len(sent) > len(received):
        return sent[len(received)][0], "send"
    return received[len(sent)][0], "recv"


def assumed(ranks: Iterable[Sequence[Operation]], no_bytes: Sequence[int], nearly: Sequence[str]) -> list[str]:
    """Return what was assumed of the operations of all ranks."""
    found = ["rank r is host r; a send has ended once its sender has the acknowledgement of its last byte"]
    ranks = list(ranks)
    if any(each.ns for own in ranks for each in own):
        found.append("computations of a rank that do not wait for each other take place at once")
    if idle := max(map(idle_ns, ranks), default=0.0):
        found.append(f"computations after the last messages, of up to {idle:g} ns each, are left out")
    if no_bytes:
        found.append(f"{len(no_bytes)} messages without bytes have one")
    return [*found, *nearly]
