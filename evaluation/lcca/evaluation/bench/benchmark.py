"""A benchmark as its file gives it: a grid of scenarios, the intervals that are scored, and how."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import product
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from lcca.evaluation.bench.engine import EngineBench
from lcca.evaluation.bench.ns3 import Ns3Bench
from lcca.evaluation.bench.scenario import Scenario, strata
from lcca.evaluation.bench.scores import Score
from lcca.evaluation.bench.source import BenchTrials, WinningRate
from lcca.evaluation.trials.executors import runner_on
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utility import Utility
from lcca.gym_envs.ns3.baselines import LEAST_MARK_THRESHOLD
from lcca.inputs.errors import require
from lcca.inputs.model import Model
from lcca.inputs.validation import named, packaged

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


class Benchmark(Model):
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

    simulators: ClassVar[tuple[str, ...]] = ("ns3", "engine")
    unit: ClassVar[str] = "scenarios"
    usual_utility: ClassVar[str] = WinningRate.name
    percent_of: ClassVar[str] = "intervals won"

    @field_validator("intervals_s")
    @classmethod
    def _in_order(cls, intervals: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        for start, end in intervals:
            if start >= end:
                raise ValueError(f"an interval must end after it starts, got {start:g} to {end:g}")
        return intervals

    @model_validator(mode="after")
    def _fits(self) -> Benchmark:
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
        """Scenarios in a block: one of each stratum. `benchmarks/settling/bench_null.py` measures its errors."""
        return strata(self)

    def whole(self, count: int) -> int:
        """Return a number of scenarios rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else self.block * -(-count // self.block)

    def utility(self, name: str) -> WinningRate:
        """Return the winning rate: nothing else scores a benchmark."""
        require(name == WinningRate.name, f"{name}: not with a benchmark, which has a {WinningRate.name}")
        return WinningRate()

    def trials(
        self,
        seed: int,
        utility: Utility,
        execution: Execution,
        seeds: Sequence[int] = (),
        keep_delays: bool = False,
    ) -> BenchTrials:
        """See `Place.trials`."""
        if execution.simulator == "engine":
            return BenchTrials(self, seed, EngineBench(execution.jobs, runner_on(execution.workers)))
        return BenchTrials(self, seed, Ns3Bench(execution.jobs, execution.pool))

    def content(self) -> dict[str, Any]:
        """Return everything that decides results, as JSON values."""
        return self.model_dump(mode="json", exclude={"name", "source"})


def benchmark(name_or_path: str | os.PathLike[str]) -> Benchmark:
    """Return a packaged benchmark by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name, or a file that is wrong; the message says how to fix it.
    """
    return named("benchmark", name_or_path, Benchmark, packaged_benchmarks)


@cache
def packaged_benchmarks() -> Mapping[str, Benchmark]:
    """Return the benchmarks that come with the package, by name."""
    return packaged("lcca.evaluation.bench", "benchmarks", Benchmark)
