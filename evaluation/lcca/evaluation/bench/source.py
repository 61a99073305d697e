"""Numbered trials of a benchmark, whose winners depend on all controls together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.bench.ns3 import megabits
from lcca.evaluation.bench.runner import Measured, Runner
from lcca.evaluation.bench.sampling import Drawn, draw, strata
from lcca.evaluation.bench.scores import Won
from lcca.evaluation.bench.winning import WinningRate
from lcca.evaluation.trials.blocks import Block
from lcca.remy_plus.policies.policy import Policy

FEWEST = 100
"""Scenarios that a first look rests on."""


@dataclass(frozen=True)
class BenchTrials:
    """Trials of a benchmark; a `TrialSource`.

    Attributes:
        benchmark: its scenarios, intervals and scores.
        seed: of the order of scenarios and of their trials.
        runner: runs them.
    """

    benchmark: Benchmark
    seed: int
    runner: Runner
    utility: WinningRate = field(default_factory=WinningRate)
    unit: str = "scenarios"

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the benchmark."""
        return {"simulator": self.runner.name, "benchmark": self.benchmark.name}

    @property
    def block(self) -> int:
        """Scenarios in a block: one of each stratum. `benchmarks/bench_null.py` measures what that does to errors."""
        return strata(self.benchmark)

    @property
    def first_look(self) -> int:
        """Blocks before anything is said: a hundred scenarios, so that rare ones have come."""
        return -(-FEWEST // self.block)

    def whole(self, count: int) -> int:
        """Return a number of scenarios rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else self.block * -(-count // self.block)

    def weights(self, count: int) -> Sequence[float]:
        """Return what links carry (see `cost`, which knows each control's pace)."""
        return [megabits(self.benchmark, each) for each in draw(self.benchmark, self.seed, count, 0)]

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every control on a stretch of trials; the score is the share of intervals that it wins among these.

        Columns beside those of `TrialSource.rows`: scenario, repetition, and lists with a value per interval: mbps,
        delay_ms, won. Where a control's trial failed, it wins nothing, and the others are compared without it.
        """
        drawn = draw(self.benchmark, self.seed, block.size, block.first)
        asked = [(policy, each) for policy in policies.values() for each in drawn]
        measured = dict(self.runner.measure(self.benchmark, asked))
        by_control = [[measured[i + j] for j in range(len(drawn))] for i in range(0, len(asked), len(drawn))]
        won = [self._won(each, found) for each, *found in zip(drawn, *by_control, strict=True)]
        rows = [
            self._row(name, each, found, wins[which])
            for which, (name, own) in enumerate(zip(policies, by_control, strict=True))
            for each, found, wins in zip(drawn, own, won, strict=True)
        ]
        return pd.DataFrame(rows).assign(simulator=self.runner.name, utility=self.utility.name)

    def _won(self, drawn: Drawn, found: Sequence[Measured]) -> Won:
        """Return (controls, intervals) who wins what."""
        won = np.zeros((len(found), len(self.benchmark.intervals_s)), dtype=np.bool_)
        done = [i for i, each in enumerate(found) if not each.error]
        for interval in range(won.shape[1] if done else 0):
            mbps, delay = ([getattr(found[i], name)[interval] for i in done] for name in ("mbps", "delay_ms"))
            won[done, interval] = self.benchmark.score.winners(mbps, delay, drawn.scenario.link_mbps)
        return won

    def _row(self, name: str, drawn: Drawn, found: Measured, won: Won) -> dict[str, object]:
        lost = [math.nan] * len(won)
        return {
            "policy": name,
            "network": drawn.number,
            "seed": drawn.seed,
            "score_bits": float(won.mean()),
            "status": "failed" if found.error else "ok",
            "error": found.error,
            "scenario": drawn.scenario.name,
            "repetition": drawn.repetition,
            "mbps": lost if found.error else [float(each) for each in found.mbps],
            "delay_ms": lost if found.error else [float(each) for each in found.delay_ms],
            "won": [bool(each) for each in won],
        }
