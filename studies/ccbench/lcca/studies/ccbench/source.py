"""Numbered trials of a benchmark, whose winners depend on all controls together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.source import OnPlace
from lcca.evaluation.trials.utility import TrialScores
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.record import Record
from lcca.studies.ccbench.description import Description
from lcca.studies.ccbench.scenario import Drawn, Measured, Runner, draw, megabits
from lcca.studies.ccbench.scores import Won

FEWEST = 100
"""Scenarios that a first look rests on."""


@dataclass(frozen=True)
class WinningRate:
    """The share of a scenario's intervals that a control wins; a `Utility` of a benchmark's trials alone.

    Differences and margins are in percentage points of the winning rate: 3 % is a rate of 0.41 instead of 0.38.
    """

    name: str = "winning rate"
    unit: str = "share of intervals won"
    keeps: frozenset[str] = frozenset()
    worst: float = 0.0

    def score(self, record: Record) -> TrialScores:
        """Refuse: who wins depends on the other controls.

        Raises:
            InputError: always.
        """
        raise InputError(f"{self.name}: scores the trials of a benchmark; use --on with a benchmark")

    def percent(self, difference: float) -> float:
        """Return a difference of rates in percentage points."""
        return 100 * difference

    def difference(self, percent: float) -> float:
        """Return what so many percentage points are as a difference of rates."""
        return percent / 100

    def margin(self, percent: float) -> float:
        """Return the same."""
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        """Return nothing: the benchmark says what decides who wins."""
        return {}


@dataclass(frozen=True)
class BenchTrials(OnPlace):
    """Trials of a benchmark; a `TrialSource`.

    Attributes:
        space: the benchmark: its scenarios, intervals and scores.
        seed: of the order of scenarios and of their trials.
        runner: runs them.
    """

    space: Description
    seed: int
    runner: Runner
    utility: WinningRate = field(default_factory=WinningRate)

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the benchmark."""
        return {"simulator": self.runner.name, "benchmark": self.space.name}

    @property
    def first_look(self) -> int:
        """Blocks before anything is said: a hundred scenarios, so that rare ones have come."""
        return -(-FEWEST // self.block)

    def weights(self, count: int) -> Sequence[float]:
        """Return what links carry (see `cost`, which knows each control's pace)."""
        return [megabits(self.space, each) for each in draw(self.space, self.seed, count, 0)]

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every control on a stretch of trials; the score is the share of intervals that it wins among these.

        Columns beside those of `TrialSource.rows`: scenario, repetition, and lists with a value per interval: mbps,
        delay_ms, won. Where a control's trial failed, it wins nothing, and the others are compared without it.
        """
        drawn = draw(self.space, self.seed, block.size, block.first)
        asked = [(policy, each) for policy in policies.values() for each in drawn]
        measured = dict(self.runner.measure(self.space, asked))
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
        won = np.zeros((len(found), len(self.space.intervals_s)), dtype=np.bool_)
        done = [i for i, each in enumerate(found) if not each.error]
        for interval in range(won.shape[1] if done else 0):
            mbps, delay = ([getattr(found[i], name)[interval] for i in done] for name in ("mbps", "delay_ms"))
            won[done, interval] = self.space.score.winners(mbps, delay, drawn.scenario.link_mbps)
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
