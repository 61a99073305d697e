"""Numbered trials of a benchmark, whose winners depend on all controls together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.bench.sampling import Drawn, draw, strata
from lcca.evaluation.bench.winning import WinningRate
from lcca.evaluation.trials.blocks import Block
from lcca.remy_plus.policies.policy import Policy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """What a control did in each interval of a scenario.

    Attributes:
        mbps: (intervals,) throughput: what left the link, over the time from the first to the last departure.
        delay_ms: (intervals,) mean one-way delay of packets; NaN where none left.
        error: why the trial failed; nothing where it did not.
    """

    mbps: Floats
    delay_ms: Floats
    error: str = ""


class Runner(Protocol):
    """Runs trials of a benchmark in a simulator."""

    @property
    def name(self) -> str:
        """Of the simulator."""

    def run(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> list[Measured]:
        """Return what each control did in its trial, in the order in which they were asked for."""


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
        """Scenarios in a block."""
        return strata(self.benchmark)

    def whole(self, count: int) -> int:
        """Return a number of scenarios rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else self.block * -(-count // self.block)

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every control on a stretch of trials; the score is the share of intervals that it wins among these."""
        found = self.interval_rows(policies, block)
        keys = ["policy", "network"]
        rest = {name: (name, "first") for name in ("seed", "scenario", "repetition", "status", "error")}
        rows = found.groupby(keys, sort=False).agg(score_bits=("won", "mean"), **rest).reset_index()
        return rows.assign(simulator=self.runner.name, utility=self.utility.name)

    def interval_rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every control on a stretch of trials.

        Returns:
            A row per control, trial and interval: policy, network (number of the trial), scenario, repetition, seed,
            interval, mbps, delay_ms, score, won, status, error; policy by policy. Where a control's trial failed,
            it wins nothing, and the others are compared without it.
        """
        drawn = draw(self.benchmark, self.seed, block.size, block.first)
        named = [(name, each) for name in policies for each in drawn]
        measured = self.runner.run(self.benchmark, [(policies[name], each) for name, each in named])
        rows = [self._row(*asked, found) for asked, found in zip(named, measured, strict=True)]
        table = pd.DataFrame(rows).explode(["interval", "mbps", "delay_ms"], ignore_index=True)
        table = table.astype({"interval": int, "mbps": float, "delay_ms": float})
        return self._judged(table)

    def _row(self, name: str, drawn: Drawn, found: Measured) -> dict[str, object]:
        count = len(self.benchmark.intervals_s)
        return {
            "policy": name,
            "network": drawn.number,
            "scenario": drawn.scenario.name,
            "repetition": drawn.repetition,
            "seed": drawn.seed,
            "link_mbps": drawn.scenario.link_mbps,
            "interval": list(range(count)),
            "mbps": list(found.mbps) if not found.error else [np.nan] * count,
            "delay_ms": list(found.delay_ms) if not found.error else [np.nan] * count,
            "status": "failed" if found.error else "ok",
            "error": found.error,
        }

    def _judged(self, table: pd.DataFrame) -> pd.DataFrame:
        score, done = self.benchmark.score, table["status"] == "ok"
        table = table.assign(score=np.nan, won=False)
        for _, part in table[done].groupby(["network", "interval"], sort=False):
            asked = part["mbps"].to_numpy(), part["delay_ms"].to_numpy(), float(part["link_mbps"].iloc[0])
            table.loc[part.index, "score"] = score.scores(*asked)
            table.loc[part.index, "won"] = score.winners(*asked)
        return table
