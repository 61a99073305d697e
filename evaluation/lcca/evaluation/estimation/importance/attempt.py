"""One attempt at importance sampling, from the search for a tilt to the last test (CCEval §4.3).

The stages: a search for the tilt (its first epoch is plain), a pilot that forecasts every test and the trials needed,
the trials themselves, and the tests once more. What fails first ends the attempt and is named. The trials of search and
pilot are never part of the estimate, so that having passed by chance does not bias it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lcca.evaluation.estimation.estimate import EstimateConfig, EstimateLook, forecast_trials
from lcca.evaluation.estimation.importance.cross_entropy import search
from lcca.evaluation.estimation.importance.cycles import Bench, Cycles, Measure
from lcca.evaluation.estimation.importance.flows import Sizes
from lcca.evaluation.estimation.importance.options import ImportanceConfig
from lcca.evaluation.estimation.importance.quantiles import Interval, batches, quantile, woodruff
from lcca.evaluation.estimation.importance.refusals import (
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
from lcca.evaluation.settling.sequence import HORIZON

TAIL_MARGIN = 1.25
"""By how much more trials are run than the tail seems to need."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of it.

    Attributes:
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

    interval: Interval | None
    checks: tuple[Check, ...]
    runs: int
    spent: float
    left: float
    plain: tuple[Cycles, ...]
    variance_ratio: float | None
    looks: tuple[EstimateLook, ...]
    words: str

    @property
    def refused(self) -> tuple[Check, ...]:
        """The tests that failed; empty if the estimate can be delivered."""
        return tuple(check for check in self.checks if not check.passed)


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
    return _Attempting(bench, config, rng, model, wanted).run()


@dataclass
class _Attempting:
    bench: Bench
    config: ImportanceConfig
    rng: np.random.Generator
    model: Sizes | None
    wanted: EstimateConfig | None
    runs: int = 0
    spent: float = 0.0
    plain: tuple[Cycles, ...] = ()
    checks: tuple[Check, ...] = ()
    gain: float | None = None
    looks: list[EstimateLook] = field(default_factory=list)

    def run(self) -> Attempt:
        """Go from stage to stage; the first to refuse ends it."""
        config, bench = self.config, self.bench
        self.checks = (check_sizes(self.model, bench.loop.sizes, config.quantile),)
        if self._refused():
            return self._ended(config.budget)
        if self.model is not None:
            bench = bench.with_sizes(self.model)
        measure = self._searched(bench)
        self.checks += (check_tilt(measure, bench.loop),)
        if self._refused():
            return self._ended(self._left)
        return self._sampled(bench, measure)

    def _sampled(self, bench: Bench, measure: Measure) -> Attempt:
        before = self.checks
        pilot = bench.run(measure, self.config.pilot, self.rng)
        price = self._pay(pilot) / pilot.trials
        left = self._left
        count = self._count(pilot, 0, price)
        if count < self.config.fewest:
            self.checks = (*before, check_gain(0.0))
        else:
            self.checks = (*before, *self._judged(pilot, count, self.spent + count * price))
        if self._refused():
            return self._ended(left)
        cycles = bench.run(measure, count, self.rng)
        self._pay(cycles)
        while more := self._count(cycles, cycles.trials, price):
            added = bench.run(measure, more, self.rng)
            self._pay(added)
            cycles = cycles.joined(added)
        self.checks = (*before, *self._judged(cycles, cycles.trials, self.spent))
        if self._refused():
            return self._ended(left)
        found = self._interval(cycles)
        return self._ended(left, found, f"importance sampling, {measure.tilt.words}, {self.config.interval}")

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
        self._paid(found.runs, found.work)
        if self.model is None:
            self.plain = (found.plain,)
        return found.measure

    def _judged(self, cycles: Cycles, count: int, budget: float) -> Sequence[Check]:
        p = self.config.quantile
        above = quantile(cycles, p)
        self.gain = variance_ratio(cycles, above, p, count, budget)
        return [*check_cycles(cycles, above, count / cycles.trials), check_gain(self.gain)]

    def _refused(self) -> bool:
        return not all(check.passed for check in self.checks)

    def _interval(self, cycles: Cycles) -> Interval:
        config = self.config
        if config.interval == "batch":
            return batches(cycles, config.quantile, config.confidence, config.batch)
        return woodruff(cycles, config.quantile, config.confidence)

    def _ended(self, left: float, found: Interval | None = None, words: str = "") -> Attempt:
        known = (self.runs, self.spent, left, self.plain, self.gain, tuple(self.looks))
        return Attempt(found, self.checks, *known, f"model-based: {words}" if words else "")


def _tail_trials(cycles: Cycles, above: float) -> float:
    """Return the trials with which the tail's effective sample size is large enough, as far as these tell."""
    size = effective_size(cycles.beyond(above))
    return cycles.trials * LEAST_TAIL_ESS / size if size > 0 else float(HORIZON)
