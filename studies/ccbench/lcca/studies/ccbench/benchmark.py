"""A benchmark as a place: numbered trials of its scenarios in a simulator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar

from lcca.evaluation.trials.executors import runner_on
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import require
from lcca.inputs.validation import named, packaged
from lcca.studies.ccbench.description import Description
from lcca.studies.ccbench.engine import EngineBench
from lcca.studies.ccbench.ns3 import Ns3Bench
from lcca.studies.ccbench.source import BenchTrials, WinningRate


class Benchmark(Description):
    """A benchmark."""

    simulators: ClassVar[tuple[str, ...]] = ("ns3", "engine")
    unit: ClassVar[str] = "scenarios"
    usual_utility: ClassVar[str] = WinningRate.name
    percent_of: ClassVar[str] = "intervals won"

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


def benchmark(name_or_path: str | os.PathLike[str]) -> Benchmark:
    """Return a packaged benchmark by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name, or a file that is wrong; the message says how to fix it.
    """
    return named("benchmark", name_or_path, Benchmark, packaged_benchmarks)


@cache
def packaged_benchmarks() -> Mapping[str, Benchmark]:
    """Return the benchmarks that come with the package, by name."""
    return packaged("lcca.studies.ccbench", "benchmarks", Benchmark)
