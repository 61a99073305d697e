"""The order in which a benchmark's scenarios are run: one of each stratum in turn, all before any comes again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.bench.scenario import Scenario

MOST_STRATA = 6
"""More would make stretches of scenarios more even, and leave fewer to choose from in each."""


@dataclass(frozen=True)
class Drawn:
    """One trial of a benchmark.

    Attributes:
        number: of the trial.
        scenario: what is run.
        repetition: how often the scenario came before.
        late_s: by how much the flow starts later, against steps of the rate and a first flow; 0 at first.
        seed: of the trial.
    """

    number: int
    scenario: Scenario
    repetition: int
    late_s: float
    seed: int


def strata(benchmark: Benchmark) -> int:
    """Return how many strata the scenarios fall into: the most, up to six, that are equally large."""
    return max(k for k in range(1, MOST_STRATA + 1) if len(benchmark.scenarios) % k == 0)


def draw(benchmark: Benchmark, seed: int, count: int, first: int) -> list[Drawn]:
    """Return trials first … first + count − 1.

    Trial k is of stratum k % strata. Strata are stretches of the scenarios in the order of the file, so that their
    scenarios are alike; each is gone through in a random order of its own, a new one for every repetition.
    """
    return [_trial(benchmark, seed, number) for number in range(first, first + count)]


def _trial(benchmark: Benchmark, seed: int, number: int) -> Drawn:
    parts = strata(benchmark)
    size = len(benchmark.scenarios) // parts
    turn, stratum = divmod(number, parts)
    repetition, place = divmod(turn, size)
    order = np.random.default_rng([seed, repetition, stratum]).permutation(size)
    rng = np.random.default_rng([seed, number])
    late = float(rng.uniform(0, benchmark.jitter_s)) if repetition else 0.0
    scenario = benchmark.scenarios[stratum * size + int(order[place])]
    return Drawn(number, scenario, repetition, late, int(rng.integers(1 << 32)))
