"""Messages of traces, and when each may begin: at a time, and so long after moments of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet, Moment

Event: TypeAlias = tuple[int, Moment]
"""A message's number, and what becomes of it."""


@dataclass(frozen=True)
class Ready:
    """When something may begin: no sooner than a time, and so many ns after each of some events."""

    at_ns: float = 0.0
    after: Mapping[Event, float] = field(default_factory=dict)

    def later(self, ns: float) -> Ready:
        """Return when it may begin after a computation."""
        return Ready(self.at_ns + ns, {event: delay + ns for event, delay in self.after.items()}) if ns else self

    @property
    def uneven_ns(self) -> float:
        """How much the delays after its events differ."""
        return max(self.after.values()) - min(self.after.values()) if self.after else 0.0


@dataclass
class Messages:
    """Messages in the order of a file; those that begin at one instant do so in it.

    Attributes:
        src: hosts that send.
        dst: hosts that receive.
        size: bytes.
        step: of each; −1 is none.
        ready: when each may begin.
    """

    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    ready: list[Ready] = field(default_factory=list)

    def add(self, src: int, dst: int, size: int, ready: Ready | None = None, step: int = -1) -> int:
        """Add a message, and return its number."""
        for column, value in zip((self.src, self.dst, self.size, self.step), (src, dst, size, step), strict=True):
            column.append(value)
        self.ready.append(ready or Ready())
        return len(self.src) - 1

    def joined(self, before: Iterable[Ready]) -> Ready:
        """Return when all of these are so far; an event that another one follows anyway is left out."""
        after, at_ns = dict[Event, float](), 0.0
        for each in before:
            at_ns = max(at_ns, each.at_ns)
            for event, delay in each.after.items():
                after[event] = max(delay, after.get(event, 0.0))
        for (number, _), delay in list(after.items()):
            for event, own in self.ready[number].after.items() if len(after) > 1 else ():
                if event in after and after[event] <= own + delay:
                    del after[event]
        return Ready(at_ns, after)

    def flows(self, ids: Sequence[int] = (), priority: Sequence[int] = ()) -> tuple[FabricFlows, list[str]]:
        """Return the messages as flows, and what of their waiting is only nearly so."""
        sets: list[FlowSet] = []
        numbers: dict[tuple[Event, ...], int] = {(): -1}
        start = np.array([each.at_ns for each in self.ready])
        order = np.argsort(start, kind="stable")
        at = np.empty_like(order)
        at[order] = np.arange(len(order))
        for each in self.ready:
            if (events := tuple(sorted(each.after))) not in numbers:
                numbers[events] = len(sets)
                moments = [moment for _, moment in events]
                over = moments[0] if len(set(moments)) == 1 else moments
                sets.append(FlowSet(at[[number for number, _ in events]], over))
        columns: dict[str, Sequence[float]] = {
            "after": [numbers[tuple(sorted(each.after))] for each in self.ready],
            "off_ns": [max(each.after.values(), default=0.0) for each in self.ready],
            "step": self.step,
            "id": ids or range(len(order)),
            "priority": priority or [0] * len(order),
            "job": [0 if each >= 0 else -1 for each in self.step],
        }
        arrays: dict[str, Any] = {name: np.array(values)[order] for name, values in columns.items()}
        src, dst, size = (np.array(each)[order] for each in (self.src, self.dst, self.size))
        return FabricFlows(src, dst, size, start[order], **arrays, sets=sets), self._nearly()

    def _nearly(self) -> list[str]:
        uneven = [each.uneven_ns for each in self.ready if each.uneven_ns]
        if not uneven:
            return []
        text = f"{len(uneven)} of {len(self.ready)} messages wait for others after which they compute for different "
        text += "times: they begin the longest of these after the last, which is late by at most "
        return [text + f"{max(uneven):g} ns"]
