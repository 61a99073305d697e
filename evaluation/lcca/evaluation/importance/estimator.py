"""A pooled tail quantile by importance sampling where that can be trusted, by plain trials where not (CCEval §4.3).

The stages: a search for the tilt (its first epoch is plain), a pilot that forecasts every test, the trials themselves,
and the tests once more. What fails first is named, and the pooled quantile of plain trials with its cluster-Woodruff
interval is delivered instead. The trials of search and pilot are never part of a weighted estimate, so that having
passed by chance does not bias it; the plain ones are part of the pooled one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from lcca.evaluation.importance.cross_entropy import search
from lcca.evaluation.importance.cycles import Bench, Cycles, Measure
from lcca.evaluation.importance.flows import Floats, Sizes
from lcca.evaluation.importance.quantiles import Interval, batches, quantile, woodruff
from lcca.evaluation.importance.refusals import (
    MOST_TILT,
    Check,
    check_cycles,
    check_gain,
    check_sizes,
    check_tilt,
    variance_ratio,
)
from lcca.evaluation.importance.tilts import NormalTilt, TailBoost, Tilt
from lcca.evaluation.tails import tail_quantile
from lcca.signal_sets.model import Model


class ImportanceConfig(Model):
    """How to estimate a tail quantile with importance sampling.

    The cost of what is simulated is told in plain trials. Tilted ones have more and larger flows: by "work" a trial
    counts as its sizes, or as 1 if that is more; by "trials" every simulation counts as 1.

    Attributes:
        quantile: which quantile, pooled over flows.
        budget: plain trials that may be spent in all, search and pilot included. A refusal after the last stage
            spends up to twice as much.
        confidence: of the interval.
        tilt: "tail-boost", or "normal" for CCEval's family.
        tilt_rate: whether to tilt the rate of arrivals too; CCEval does not.
        bounded: whether the search stops where ln E[L²] of a trial reaches 1; CCEval's does not, and is mostly refused.
        switching: whether a trial returns to the true measure once a flow was beyond the quantile, as CCEval's do.
            Such trials are simulated twice.
        epochs: updates of the search; CCEval has 10, the first three do nearly all.
        cycles: trials per epoch (CCEval's m_ce).
        pilot: trials that forecast the tests.
        interval: cluster-Woodruff, or Student's t over batches, which is CCEval's.
        batch: trials of a batch (CCEval's K).
        cost: what a trial counts as.
    """

    quantile: float = Field(gt=0, lt=1)
    budget: int = Field(default=10_000, ge=1)
    confidence: float = Field(default=0.95, gt=0, lt=1)
    tilt: Literal["tail-boost", "normal"] = "tail-boost"
    tilt_rate: bool = True
    bounded: bool = True
    switching: bool = False
    epochs: int = Field(default=3, ge=1)
    cycles: int = Field(default=200, ge=20)
    pilot: int = Field(default=200, ge=20)
    interval: Literal["woodruff", "batch"] = "woodruff"
    batch: int = Field(default=40, ge=2)
    cost: Literal["work", "trials"] = "work"

    @classmethod
    def cceval(cls, quantile: float, budget: int = 10_000) -> Self:
        """Return the options of CCEval's own estimator (§4.3, §6.1), but with 200 trials per epoch."""
        options = {"tilt": "normal", "tilt_rate": False, "bounded": False, "switching": True, "interval": "batch"}
        return cls.model_validate(options | {"quantile": quantile, "budget": budget, "epochs": 10})

    @model_validator(mode="after")
    def _budget_suffices(self) -> Self:
        overhead = self.epochs * self.cycles + self.pilot
        if self.budget <= overhead:
            raise ValueError(f"budget must be more than the {overhead} trials of search and pilot, got {self.budget}")
        return self

    @property
    def fewest(self) -> int:
        """Weighted trials without which there is no interval."""
        return 2 * self.batch if self.interval == "batch" else 2

    def start(self) -> Tilt:
        """Return the tilt that changes nothing."""
        return NormalTilt() if self.tilt == "normal" else TailBoost.of(self.quantile)


@dataclass(frozen=True)
class TailEstimate:
    """A tail quantile, by whichever method was found fit.

    Attributes:
        estimate: pooled quantile, in the metric's unit.
        low: lower end of the interval.
        high: upper end; inf if the trials do not bound it.
        confidence: of the interval.
        trials: simulations in all: search, pilot, repetitions after a switch and refused trials included.
        cost: what they cost, in plain trials.
        method: in a few words.
        refused: the tests that importance sampling failed; empty if its estimate is delivered.
        checks: all tests that were made, as of the last stage reached.
        variance_ratio: how many times smaller the variance is than that of plain trials for the same cost in all;
            None before the pilot.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    trials: int
    cost: float
    method: str
    refused: tuple[Check, ...]
    checks: tuple[Check, ...]
    variance_ratio: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; what is unknown or infinite becomes null."""
        names = ("estimate", "low", "high", "confidence", "trials", "cost", "variance_ratio")
        numbers = {name: getattr(self, name) for name in names}
        told: dict[str, Any] = {k: v if v is not None and math.isfinite(v) else None for k, v in numbers.items()}
        tests = {name: [check.to_json() for check in getattr(self, name)] for name in ("refused", "checks")}
        return told | {"method": self.method} | tests


def estimate_tail(
    bench: Bench, config: ImportanceConfig, rng: np.random.Generator, model: Sizes | None = None
) -> TailEstimate:
    """Estimate a pooled tail quantile of open-loop trials.

    Args:
        bench: workload, simulator and metric.
        config: quantile, budget and options.
        rng: source of randomness; the result is a function of it and the simulator.
        model: sizes to draw from in place of the workload's, such as a fitted lognormal; the rate of arrivals stays.

    Raises:
        ValueError: if the simulator cannot be used.
    """
    return _Estimation(bench, config, rng, model).run()


@dataclass
class _Estimation:
    bench: Bench
    config: ImportanceConfig
    rng: np.random.Generator
    model: Sizes | None
    runs: int = 0
    spent: float = 0.0
    plain: list[Cycles] = field(default_factory=list)
    checks: tuple[Check, ...] = ()
    gain: float | None = None

    def run(self) -> TailEstimate:
        """Go from stage to stage; the first to refuse ends it."""
        config, bench = self.config, self.bench
        self.checks = (check_sizes(self.model, bench.loop.sizes, config.quantile),)
        if self._refused():
            return self._pooled(config.budget)
        if self.model is not None:
            bench = bench.with_sizes(self.model)
        measure = self._searched(bench)
        self.checks += (check_tilt(measure, bench.loop),)
        if self._refused():
            return self._pooled(self._left)
        return self._sampled(bench, measure)

    def _sampled(self, bench: Bench, measure: Measure) -> TailEstimate:
        before = self.checks
        pilot = bench.run(measure, self.config.pilot, self.rng)
        per_trial = self._pay(pilot.runs, pilot.work) / pilot.trials
        left = self._left
        count = int(left / per_trial)
        if count < self.config.fewest:
            self.checks = (*before, check_gain(0.0))
        else:
            self.checks = (*before, *self._judged(pilot, count, self.config.budget))
        if self._refused():
            return self._pooled(left)
        cycles = bench.run(measure, count, self.rng)
        self._pay(cycles.runs, cycles.work)
        self.checks = (*before, *self._judged(cycles, count, self.spent))
        if self._refused():
            return self._pooled(left)
        return self._weighted(cycles, measure)

    @property
    def _left(self) -> float:
        return self.config.budget - self.spent

    def _pay(self, runs: int, work: float) -> float:
        """Count what was simulated and return its cost in plain trials."""
        cost = float(runs)
        if self.config.cost == "work":
            cost = max(cost, work / self.bench.loop.mean_work)
        self.runs += runs
        self.spent += cost
        return cost

    def _searched(self, bench: Bench) -> Measure:
        config = self.config
        found = search(
            bench,
            config.start(),
            config.quantile,
            self.rng,
            epochs=config.epochs,
            trials=config.cycles,
            tilt_rate=config.tilt_rate,
            switching=config.switching,
            strength=MOST_TILT if config.bounded else math.inf,
        )
        self._pay(found.runs, found.work)
        if self.model is None:
            self.plain.append(found.plain)
        return found.measure

    def _judged(self, cycles: Cycles, count: int, budget: float) -> Sequence[Check]:
        p = self.config.quantile
        above = quantile(cycles, p)
        self.gain = variance_ratio(cycles, above, p, count, budget)
        return [*check_cycles(cycles, above, count / cycles.trials), check_gain(self.gain)]

    def _refused(self) -> bool:
        return not all(check.passed for check in self.checks)

    def _weighted(self, cycles: Cycles, measure: Measure) -> TailEstimate:
        config = self.config
        if config.interval == "batch":
            found = batches(cycles, config.quantile, config.confidence, config.batch)
        else:
            found = woodruff(cycles, config.quantile, config.confidence)
        return self._told(found, f"model-based: importance sampling, {measure.tilt.words}, {config.interval}")

    def _pooled(self, left: float) -> TailEstimate:
        """Return the estimate of plain trials: those of the search, and as many more as are left."""
        config, bench = self.config, self.bench
        count = int(left)
        if count > 0:
            self.plain.append(bench.run(Measure(NormalTilt(), bench.loop.rate), count, self.rng))
            self.runs, self.spent = self.runs + count, self.spent + count
        found = tail_quantile(_by_trial(self.plain), config.quantile, confidence=config.confidence)
        interval = Interval(found.value, found.low, found.high)
        return self._told(interval, "model-free: pooled quantile, cluster-Woodruff")

    def _told(self, found: Interval, method: str) -> TailEstimate:
        refused = tuple(check for check in self.checks if not check.passed)
        ends = (found.estimate, found.low, found.high, self.config.confidence)
        return TailEstimate(*ends, self.runs, self.spent, method, refused, self.checks, self.gain)


def _by_trial(runs: Sequence[Cycles]) -> list[Floats]:
    return [values for cycles in runs for values in np.split(cycles.value, cycles.flows.begin[1:-1])]
