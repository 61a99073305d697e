"""One attempt at importance sampling, from the search for a tilt to the last test (CCEval §4.3).

The stages: a search for the tilt (its first epoch is plain), a pilot that forecasts every test and the trials needed,
the trials themselves, and the tests once more. What fails first ends the attempt and is named. The trials of search and
pilot are never part of the estimate, so that having passed by chance does not bias it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from lcca.evaluation.settling.sequence import HORIZON
from lcca.inputs.model import Model
from lcca.studies.cceval.estimators.estimate import EstimateConfig, EstimateLook, forecast_trials
from lcca.studies.cceval.importance.cycles import (
    Bench,
    Cycles,
    Interval,
    Measure,
    arrived_by,
    batches,
    quantile,
    woodruff,
)
from lcca.studies.cceval.importance.flows import Floats, Sizes
from lcca.studies.cceval.importance.refusals import (
    LEAST_TAIL_ESS,
    MOST_TILT,
    Check,
    check_cycles,
    check_gain,
    check_sizes,
    check_tilt,
    effective_size,
    variance_ratio,
)
from lcca.studies.cceval.importance.tilts import NormalTilt, TailBoost, Tilt

TAIL_MARGIN = 1.25
"""By how much more trials are run than the tail seems to need."""


class ImportanceOptions(Model):
    """How importance sampling is done, whatever is estimated; see `studies/cceval/page.md`.

    The cost of what is simulated is told in plain trials. Tilted ones have more and larger flows: by "work" a trial
    counts as its sizes, or as 1 if that is more; by "trials" every simulation counts as 1.

    Attributes:
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
        size_model: what flow sizes are drawn from: their table, or CCEval's lognormal fitted to it (§5), which is
            refused where it misses the target quantile by more than 1 %.
    """

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
    size_model: Literal["table", "lognormal"] = "table"

    @property
    def overhead(self) -> int:
        """Trials of search and pilot."""
        return self.epochs * self.cycles + self.pilot

    @property
    def fewest(self) -> int:
        """Weighted trials without which there is no interval."""
        return 2 * self.batch if self.interval == "batch" else 2


class ImportanceConfig(ImportanceOptions):
    """What to estimate with importance sampling, and how.

    Attributes:
        quantile: which quantile, pooled over flows.
        budget: plain trials that may be spent in all, search and pilot included. A refusal after the last stage
            spends up to twice as much.
        confidence: of the interval.
    """

    quantile: float = Field(gt=0, lt=1)
    budget: int = Field(default=10_000, ge=1)
    confidence: float = Field(default=0.95, gt=0, lt=1)

    @model_validator(mode="after")
    def _budget_suffices(self) -> Self:
        if self.budget <= self.overhead:
            raise ValueError(
                f"budget must be more than the {self.overhead} trials of search and pilot, got {self.budget}"
            )
        return self

    def start(self) -> Tilt:
        """Return the tilt that changes nothing."""
        return NormalTilt() if self.tilt == "normal" else TailBoost.of(self.quantile)


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes:
        measure: the last update, with the last estimate of the quantile as the switching value.
        plain: trials of the first epoch, which are not tilted.
        runs: simulations done, those of the first epoch included.
        work: sizes of all flows simulated.
    """

    measure: Measure
    plain: Cycles
    runs: int
    work: float


def search(bench: Bench, config: ImportanceConfig, rng: np.random.Generator) -> Search:
    """Search for a change of measure that makes values beyond the quantile frequent, by cross-entropy.

    CCEval's Algorithm 1: draw trials, fit to what led to the tail, repeat. The first update is from plain trials.
    """
    measure, epochs = Measure(config.start(), bench.loop.rate), list[Cycles]()
    for _ in range(config.epochs):
        epochs.append(bench.run(measure, config.cycles, rng))
        found = update(bench, epochs[-1], measure, config.quantile, tilt_rate=config.tilt_rate)
        measure = found.within(bench.loop, MOST_TILT) if config.bounded else found
        if not config.switching:
            measure = replace(measure, switch_above=math.inf)
    return Search(measure, epochs[0], sum(each.runs for each in epochs), sum(each.work for each in epochs))


def update(bench: Bench, cycles: Cycles, measure: Measure, p: float, *, tilt_rate: bool) -> Measure:
    """Return the measure that is closest to what led to values beyond the quantile (Eqs. 14 to 17).

    Each flow beyond the quantile γ counts with its own weight L(F_n), for the flows that arrived until it completed
    or until the trial's first such completion, where the tilt would end.
    """
    above = quantile(cycles, p)
    flows = cycles.flows
    stop = bench.switch_times(flows, cycles.finish - flows.arrival, above)
    until = np.minimum(cycles.finish, stop[flows.trial])
    credit = np.where(cycles.value > above, cycles.weight, 0.0)
    tilt = measure.tilt.fitted(cycles.chance, _credit_before(cycles, credit, until))
    rate = _rate(bench, cycles, credit, until) if tilt_rate else measure.rate
    return Measure(tilt, rate, above)


def _credit_before(cycles: Cycles, credit: Floats, until: Floats) -> Floats:
    """Return for each flow the credit of all flows of its trial whose `until` is not before its arrival."""
    flows = cycles.flows
    steps = np.zeros(len(credit) + 1)
    np.add.at(steps, flows.begin[:-1][flows.trial], credit)
    np.add.at(steps, arrived_by(flows, until), -credit)
    return np.maximum(np.cumsum(steps)[:-1], 0.0)


def _rate(bench: Bench, cycles: Cycles, credit: Floats, until: Floats) -> float:
    flows = cycles.flows
    arrived = arrived_by(flows, until) - flows.begin[:-1][flows.trial]
    time = float(credit @ np.minimum(until, bench.loop.horizon))
    rate = float(credit @ arrived) / time if time > 0 else math.nan
    return rate if 0 < rate < math.inf else bench.loop.rate


@dataclass(eq=False)
class Attempt:
    """An attempt at a pooled tail quantile, stage by stage; see `attempt_tail`.

    Attributes:
        bench: workload, simulator and metric.
        config: quantile, budget and options.
        rng: source of randomness.
        model: sizes that flows are drawn from in place of the workload's.
        wanted: the accuracy at which to stop.
        interval: the quantile; None if a test refused.
        checks: all tests that were made, as of the last stage reached.
        runs: simulations, those repeated after a switch included.
        spent: what they cost, in plain trials.
        left: plain trials of the budget that a fall-back may spend: those before the last stage.
        plain: trials of the search that were not tilted.
        variance_ratio: how many times smaller the variance is than that of plain trials for the same cost in all;
            None before the pilot.
        looks: where the accuracy was asked for, the pilot's forecast and what the trials said, `n` and the forecasts
            in simulations of the whole attempt.
        words: the method.
    """

    bench: Bench
    config: ImportanceConfig
    rng: np.random.Generator
    model: Sizes | None
    wanted: EstimateConfig | None
    interval: Interval | None = None
    checks: tuple[Check, ...] = ()
    runs: int = 0
    spent: float = 0.0
    left: float = 0.0
    plain: tuple[Cycles, ...] = ()
    variance_ratio: float | None = None
    looks: list[EstimateLook] = field(default_factory=list)
    words: str = ""

    @property
    def refused(self) -> tuple[Check, ...]:
        """The tests that failed; empty if the estimate can be delivered."""
        return tuple(check for check in self.checks if not check.passed)

    def run(self) -> Attempt:
        """Go from stage to stage; the first to refuse ends it."""
        config, bench = self.config, self.bench
        self.left, self.checks = config.budget, (check_sizes(self.model, bench.loop.sizes, config.quantile),)
        if self.refused:
            return self
        if self.model is not None:
            bench = bench.with_sizes(self.model)
        found = search(bench, config, self.rng)
        self._paid(found.runs, found.work)
        self.left, self.plain = self._left, (found.plain,) if self.model is None else ()
        self.checks += (check_tilt(found.measure, bench.loop),)
        if not self.refused:
            self._sample(bench, found.measure)
        return self

    def _sample(self, bench: Bench, measure: Measure) -> None:
        before, pilot = self.checks, bench.run(measure, self.config.pilot, self.rng)
        price = self._pay(pilot) / pilot.trials
        self.left = self._left
        count = self._count(pilot, 0, price)
        if count < self.config.fewest:
            self.checks = (*before, check_gain(0.0))
        else:
            self.checks = (*before, *self._judged(pilot, count, self.spent + count * price))
        if self.refused:
            return
        cycles = bench.run(measure, count, self.rng)
        self._pay(cycles)
        while more := self._count(cycles, cycles.trials, price):
            added = bench.run(measure, more, self.rng)
            self._pay(added)
            cycles = cycles.joined(added)
        self.checks = (*before, *self._judged(cycles, cycles.trials, self.spent))
        if not self.refused:
            self.interval = self._interval(cycles)
            self.words = f"model-based: importance sampling, {measure.tilt.words}, {self.config.interval}"

    @property
    def _left(self) -> float:
        return self.config.budget - self.spent

    def _pay(self, cycles: Cycles) -> float:
        """Count what was simulated and return its cost in plain trials."""
        return self._paid(cycles.runs, cycles.work)

    def _paid(self, runs: int, work: float) -> float:
        cost = float(runs)
        if self.config.cost == "work":
            cost = max(cost, work / self.bench.loop.mean_work)
        self.runs += runs
        self.spent += cost
        return cost

    def _count(self, cycles: Cycles, part: int, price: float) -> int:
        """Return how many trials to run next.

        Args:
            cycles: what is known.
            part: how many of those trials are part of the estimate.
            price: of a trial, in plain ones.
        """
        afforded = int(max(self._left, 0) / price)
        if self.wanted is None:
            return 0 if part else afforded
        look = self._look(cycles, part, self.wanted)
        self.looks.append(look)
        if part and look.accurate and _tail_trials(cycles, look.estimate) <= part:
            return 0
        needed = math.ceil((look.forecast_high - self.runs) * cycles.trials / cycles.runs)
        return min(max(needed, part // 4, self.config.fewest), afforded)

    def _look(self, cycles: Cycles, part: int, wanted: EstimateConfig) -> EstimateLook:
        """Return what weighted trials say, and forecast the simulations of the whole attempt.

        As many trials as the test of the tail's sample size needs are run even where the accuracy takes fewer.
        """
        found = self._interval(cycles) if part else woodruff(cycles, self.config.quantile, self.config.confidence)
        half = (found.high - found.low) / 2
        ahead = forecast_trials(cycles.beyond(found.estimate), found.estimate, half, wanted)
        least = _tail_trials(cycles, found.estimate)
        goals = (max(ahead[0], least), max(ahead[1], TAIL_MARGIN * least))
        each = cycles.runs / cycles.trials
        low, high = (min(self.runs + math.ceil(max(n - part, 0) * each), HORIZON) for n in goals)
        required = wanted.required(found.estimate)
        return EstimateLook(self.runs, found.estimate, found.low, found.high, required, low, high)

    def _judged(self, cycles: Cycles, count: int, budget: float) -> Sequence[Check]:
        p = self.config.quantile
        above = quantile(cycles, p)
        self.variance_ratio = variance_ratio(cycles, above, p, count, budget)
        return [*check_cycles(cycles, above, count / cycles.trials), check_gain(self.variance_ratio)]

    def _interval(self, cycles: Cycles) -> Interval:
        config = self.config
        if config.interval == "batch":
            return batches(cycles, config.quantile, config.confidence, config.batch)
        return woodruff(cycles, config.quantile, config.confidence)


def _tail_trials(cycles: Cycles, above: float) -> float:
    """Return the trials with which the tail's effective sample size is large enough, as far as these tell."""
    size = effective_size(cycles.beyond(above))
    return cycles.trials * LEAST_TAIL_ESS / size if size > 0 else float(HORIZON)


def attempt_tail(
    bench: Bench,
    config: ImportanceConfig,
    rng: np.random.Generator,
    model: Sizes | None = None,
    wanted: EstimateConfig | None = None,
) -> Attempt:
    """Try to estimate a pooled tail quantile of open-loop trials by importance sampling.

    Args:
        bench: workload, simulator and metric.
        config: quantile, budget and options.
        rng: source of randomness; the result is a function of it and the simulator.
        model: sizes to draw from in place of the workload's, such as a fitted lognormal; the rate of arrivals stays.
        wanted: the accuracy at which to stop; the whole budget is spent without it.

    Raises:
        ValueError: if the simulator cannot be used.
    """
    return Attempt(bench, config, rng, model, wanted).run()
