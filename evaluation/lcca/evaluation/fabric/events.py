"""What happens to the links of a fabric, as a scenario's file gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Annotated

from pydantic import Field, model_validator

from lcca.inputs.errors import Keys
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.topology import FabricTopology

Ends = tuple[int, int]
Duration = Annotated[float, Field(gt=0, le=1e9)]

MOST_CHANGES = 200_000
"""Of links, by all events of a trial: some seconds to read."""


class EventModel(Model):
    """A link slows down or fails, or a switch restarts: all of its links fail. At the end all is as it was.

    Attributes:
        at_us: when it begins.
        link: the two nodes that it joins.
        switch: in place of a link.
        down: whether the link fails.
        gbps: in place of that, its rate in both directions.
        for_us: how long it lasts; to the end of the trial if left out.
        times: how often it happens.
        every_us: from one begin to the next.
    """

    at_us: float = Field(ge=0, le=1e9)
    link: Ends | None = None
    switch: int | None = None
    down: bool | None = None
    gbps: Annotated[float, Field(ge=1e-6, le=1e9)] | None = None
    for_us: Duration | None = None
    times: int = Field(default=1, ge=1, le=10_000)
    every_us: Annotated[float, Field(gt=0, le=1e6)] | None = None

    @model_validator(mode="after")
    def _goes_together(self) -> EventModel:
        if problem := next(self._problems(), None):
            raise_problems("event", [problem_at(*problem)])
        return self

    def _problems(self) -> Iterator[tuple[Keys, str]]:
        """Yield keys that do not fit the others, and why."""
        if (self.link is None) == (self.switch is None):
            yield ("link",), "name the two nodes of a link, or in its place a switch"
        elif self.switch is not None and (self.down is not None or self.gbps is not None):
            yield (
                ("down" if self.gbps is None else "gbps",),
                "is of a link; all links of a switch are down: leave it out",
            )
        elif self.link is not None and bool(self.down) == (self.gbps is not None):
            yield ("down" if self.gbps is None else "gbps",), "say down: true, or in its place the rate, gbps"
        if (self.times > 1) != (self.every_us is not None):
            yield ("every_us",), "goes with times above 1"
        elif self.every_us is not None and (self.for_us is None or self.for_us >= self.every_us):
            yield ("for_us",), f"must be below every_us ({self.every_us:g}), so that it ends before it happens again"

    def problem(self, topology: FabricTopology, before_us: float) -> tuple[Keys, str] | None:
        """Return the key that does not fit the fabric, where events must begin before some time, and why."""
        if self.at_us >= before_us:
            return ("at_us",), f"must be less than duration_us ({before_us:g})"
        if self.link and not topology.link_between(*self.link):
            a, b = self.link
            return ("link",), f"nodes {a} and {b} have no link{_peers(topology, a)}"
        if self.switch is not None and not topology.hosts <= self.switch < topology.nodes:
            return ("switch",), f"must be a switch, {topology.hosts} to {topology.nodes - 1}, got {self.switch}"
        return None

    @property
    def spans_us(self) -> list[tuple[float, float]]:
        """From when to when it happens, each time; infinite where it does not end."""
        begins = [self.at_us + k * (self.every_us or 0.0) for k in range(self.times)]
        return [(begin, inf if self.for_us is None else begin + self.for_us) for begin in begins]

    def links(self, topology: FabricTopology) -> list[Ends]:
        """Return the links that it changes, lower nodes first."""
        if self.link is not None:
            return [(min(self.link), max(self.link))]
        assert self.switch is not None
        return [(min(each, self.switch), max(each, self.switch)) for each in topology.neighbours[self.switch]]


def _peers(topology: FabricTopology, node: int) -> str:
    if not 0 <= node < topology.nodes:
        return f"; nodes are 0 to {topology.nodes - 1}"
    return f"; node {node} has links to {', '.join(map(str, topology.neighbours[node]))}"


def overlap(events: Sequence[EventModel], topology: FabricTopology) -> tuple[Keys, str] | None:
    """Return where an event changes a link that another one has not given back, and which."""
    spans: dict[Ends, list[tuple[float, float, int]]] = {}
    for number, each in enumerate(events):
        for ends in each.links(topology):
            spans.setdefault(ends, []).extend((*span, number) for span in each.spans_us)
    for (a, b), found in spans.items():
        for (_, end, first), (begin, _, second) in pairwise(sorted(found)):
            if begin < end:
                until = "to the end; give it for_us" if end == inf else f"until {end:g} µs"
                return (second, "at_us"), f"changes link {a}–{b} at {begin:g} µs, which events[{first}] holds {until}"
    return None


def link_events(events: Sequence[EventModel], convergence_us: float, topology: FabricTopology) -> LinkEvents:
    """Return what the engine makes of events, which it numbers by their begins."""
    begins, ends = [], []
    for number, each in enumerate(sorted(events, key=lambda event: event.at_us)):
        for begin, end in each.spans_us:
            for a, b in each.links(topology):
                begins.append(LinkChange(begin * 1000, a, b, each.gbps or 0.0, number))
                ends.append(LinkChange(end * 1000, a, b, None, number))
    ended = [each for each in ends if each.at_ns < inf]
    changes = sorted(ended + begins, key=lambda each: each.at_ns)  # stable: what ends at a moment comes first
    return LinkEvents(tuple(changes), convergence_us * 1000)
