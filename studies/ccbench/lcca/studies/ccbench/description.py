"""A benchmark as its file describes it: a grid of scenarios, the intervals that are scored, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from lcca.gym_envs.ns3.baselines import LEAST_MARK_THRESHOLD
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.studies.ccbench.scores import Score

PACKET_BITS = 8 * PACKET_BYTES

MOST_STRATA = 6
"""More would make stretches of scenarios more even, and leave fewer to choose from in each."""


@dataclass(frozen=True)
class Scenario:
    """One link with a drop-tail buffer.

    Attributes:
        link_mbps: its rate at first.
        factor: by which the rate is multiplied in every other step; 1 for a rate that stays.
        rtt_ms: smallest round-trip time.
        buffer_bdp: of the buffer, in bandwidth-delay products of the first rate.
        loss: share of data packets that are lost behind the link, at random.
    """

    link_mbps: float
    factor: float
    rtt_ms: float
    buffer_bdp: float
    loss: float = 0.0

    @property
    def name(self) -> str:
        """Its parameters, as in ``48mbps-x2-40ms-1bdp``, and its loss if there is any: ``…-0.01loss``."""
        change = "flat" if self.factor == 1 else f"x{self.factor:g}"
        lost = f"-{self.loss:g}loss" if self.loss else ""
        return f"{self.link_mbps:g}mbps-{change}-{self.rtt_ms:g}ms-{self.buffer_bdp:g}bdp{lost}"

    @cached_property
    def bdp_packets(self) -> int:
        """Whole packets of 1,500 bytes in a bandwidth-delay product."""
        return int(self.link_mbps * self.rtt_ms * 1000 / PACKET_BITS)

    @property
    def buffer_packets(self) -> int:
        """Size of the buffer, in whole packets, at least one."""
        return max(int(self.buffer_bdp * self.bdp_packets), 1)

    def rates(self, first_s: float, every_s: float, end_s: float) -> tuple[tuple[float, float], ...]:
        """Return (from s, Mb/s) from time 0 on: the first rate, then the other one, and so on in turn.

        Args:
            first_s: when the rate changes for the first time.
            every_s: how long each rate then lasts.
            end_s: of the trial.
        """
        found = [(0.0, self.link_mbps)]
        while self.factor != 1 and (at := first_s + (len(found) - 1) * every_s) < end_s:
            found.append((at, self.link_mbps * (self.factor if len(found) % 2 else 1)))
        return tuple(found)


Positive = Annotated[float, Field(gt=0)]
Listed = Annotated[tuple[Positive, ...], Field(min_length=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class Grid(Model):
    """All combinations of some values; see `Scenario`.

    Attributes:
        link_mbps: the link's first rate.
        factor: by which the rate is multiplied in every other step; 1 for a rate that stays.
        rtt_ms: smallest round-trip time.
        buffer_bdp: of the buffer, in bandwidth-delay products of the first rate.
        loss: share of data packets that are lost behind the link, at random.
    """

    link_mbps: Listed
    factor: Listed = (1.0,)
    rtt_ms: Listed
    buffer_bdp: Listed
    loss: Annotated[tuple[Share, ...], Field(min_length=1)] = (0.0,)

    def scenarios(self) -> list[Scenario]:
        """Return them in the order of the keys, the last one changing fastest."""
        values = (self.link_mbps, self.factor, self.rtt_ms, self.buffer_bdp, self.loss)
        return [Scenario(*each) for each in product(*values)]


class Steps(Model):
    """When a rate that changes does so.

    Attributes:
        first_s: s after the start of the control's flow.
        every_s: s from then on.
    """

    first_s: Positive = 7.0
    every_s: Positive = 7.0


class FirstFlow(Model):
    """A flow of another control that is there before.

    Attributes:
        policy: its control.
        lead_s: by how much it starts earlier.
    """

    policy: str = "cubic"
    lead_s: Annotated[float, Field(ge=0)] = 5.0


class Ecn(Model):
    """Marks for controls that heed them (ECN); others meet the same drop-tail buffer as without.

    Attributes:
        threshold_bdp: a packet is marked if so much is left waiting as it leaves, in bandwidth-delay products of the
            first rate; at least 10 packets, and at most half the buffer.
    """

    threshold_bdp: Positive = 0.17


class Description(Model):
    """A benchmark.

    Attributes:
        name: of it.
        source: where it comes from.
        grid: scenarios; none is in two parts.
        duration_s: of the control's flow; a trial ends with its last interval, since nothing later is scored.
        intervals_s: from and to, after the flow's start; each has a score and winners of its own (a "game").
        score: what an interval scores, and who wins it.
        steps: when rates change.
        first: another flow; none if left out.
        ecn: when the link marks; never if left out.
        jitter_s: a scenario's further repetitions start their flow up to so much later, against steps and first flow.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
    source: str = ""
    grid: Annotated[tuple[Grid, ...], Field(min_length=1)]
    duration_s: Positive
    intervals_s: Annotated[tuple[tuple[Annotated[float, Field(ge=0)], Positive], ...], Field(min_length=1)]
    score: Score
    steps: Steps = Steps()
    first: FirstFlow | None = None
    ecn: Ecn | None = None
    jitter_s: Annotated[float, Field(ge=0)] = 1.0

    @field_validator("intervals_s")
    @classmethod
    def _in_order(cls, intervals: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        for start, end in intervals:
            if start >= end:
                raise ValueError(f"an interval must end after it starts, got {start:g} to {end:g}")
        return intervals

    @model_validator(mode="after")
    def _fits(self) -> Description:
        latest = max(end for _, end in self.intervals_s)
        if latest > self.duration_s:
            raise ValueError(f"intervals_s: the flow ends at {self.duration_s:g} s, an interval at {latest:g} s")
        names = [each.name for each in self.scenarios]
        if twice := [name for i, name in enumerate(names) if name in set(names[:i])]:
            raise ValueError(f"grid: {twice[0]} is there twice")
        return self

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """All scenarios, in the order of the file."""
        return tuple(each for part in self.grid for each in part.scenarios())

    def mark_packets(self, scenario: Scenario) -> int | None:
        """Return how many packets are left waiting behind one that is marked; None where nothing is."""
        if self.ecn is None:
            return None
        wanted = max(math.ceil(self.ecn.threshold_bdp * scenario.bdp_packets), LEAST_MARK_THRESHOLD)
        return max(min(wanted, scenario.buffer_packets // 2), 1)

    @property
    def length(self) -> int:
        """How many scenarios there are; they come again, with other seeds, after that."""
        return len(self.scenarios)

    @property
    def block(self) -> int:
        """Scenarios in a block: one of each stratum, of which there are the most, up to six, that are equally large.

        `studies/ccbench/benchmark.py` measures the errors.
        """
        return max(k for k in range(1, MOST_STRATA + 1) if self.length % k == 0)

    def whole(self, count: int) -> int:
        """Return a number of scenarios rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else self.block * -(-count // self.block)

    def content(self) -> dict[str, Any]:
        """Return everything that decides results, as JSON values."""
        return self.model_dump(mode="json", exclude={"name", "source"})
