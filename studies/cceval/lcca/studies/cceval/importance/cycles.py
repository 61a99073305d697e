"""Trials under a change of measure that ends within the trial, weights of the flows in them, and quantiles of these.

A trial begins tilted. Once a flow has completed with a value above `switch_above`, flows are drawn from the true
measure again (the *switching time*). To do so with a simulator that takes all flows at once, the trial is simulated,
the flows after its switching time are drawn anew from the true measure, and it is simulated once more; until the
switch nothing can differ, which is checked. Both runs are counted.

The weight of a flow is the likelihood ratio of all that its value may depend on: sizes and arrivals until it
completed, or until the switch if that was earlier. Flows drawn after the switch add nothing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from lcca.evaluation.settling.intervals import t_interval, t_quantile
from lcca.studies.cceval.importance.flows import (
    Bools,
    Floats,
    Flows,
    Ints,
    Metric,
    OpenLoop,
    Simulator,
    Sizes,
    completion_time,
)
from lcca.studies.cceval.importance.tilts import Tilt


@dataclass(frozen=True)
class Measure:
    """How flows are drawn until the switch.

    Attributes:
        tilt: of the sizes.
        rate: of arrivals; that of the workload unless tilted too.
        switch_above: the value beyond which a completed flow ends the tilt; inf for never.
    """

    tilt: Tilt
    rate: float
    switch_above: float = math.inf

    def log_second_moment(self, loop: OpenLoop) -> float:
        """Return ln E[L²] of a trial that is tilted to its end, with as many flows as expected."""
        arrivals = loop.horizon * (loop.rate - self.rate) ** 2 / self.rate
        return self.rate * loop.horizon * self.tilt.log_second_moment + arrivals

    def part(self, loop: OpenLoop, share: float) -> "Measure":
        """Return the measure that goes a share of the way from the true one."""
        return replace(self, tilt=self.tilt.part(share), rate=loop.rate * (self.rate / loop.rate) ** share)

    def within(self, loop: OpenLoop, bound: float) -> "Measure":
        """Return the largest part whose ln E[L²] of a trial is within a bound."""
        if self.log_second_moment(loop) <= bound:
            return self
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            fits = self.part(loop, middle).log_second_moment(loop) <= bound
            low, high = (middle, high) if fits else (low, middle)
        return self.part(loop, low)


@dataclass(frozen=True, eq=False)
class Cycles:
    """Simulated trials (CCEval: regenerative cycles) with the weights of their flows.

    Attributes:
        flows: of all trials.
        chance: (flows,) the chance of a larger flow.
        finish: (flows,) times of completion.
        value: (flows,) what the quantile is of.
        log_weight: (flows,) ln of the likelihood ratio at completion.
        cycle_log_weight: (trials,) ln of the likelihood ratio of whole trials.
        mean_flows: expected flows of a trial under the true measure.
        runs: simulations done, those repeated after a switch included.
        work: sizes of all flows simulated, in the same way.
    """

    flows: Flows
    chance: Floats
    finish: Floats
    value: Floats
    log_weight: Floats
    cycle_log_weight: Floats
    mean_flows: float
    runs: int
    work: float

    @property
    def trials(self) -> int:
        """Number of trials."""
        return self.flows.trials

    @property
    def weight(self) -> Floats:
        """(flows,) likelihood ratios."""
        return np.exp(self.log_weight)

    def beyond(self, value: float) -> Floats:
        """Return (trials,) weighted counts of flows beyond a value; their mean is P(R > value)·λT."""
        return self.flows.sums(np.where(self.value > value, self.weight, 0.0))

    def joined(self, more: "Cycles") -> "Cycles":
        """Return these trials and further ones of the same workload."""
        return Cycles(
            self.flows.joined(more.flows),
            np.concatenate([self.chance, more.chance]),
            np.concatenate([self.finish, more.finish]),
            np.concatenate([self.value, more.value]),
            np.concatenate([self.log_weight, more.log_weight]),
            np.concatenate([self.cycle_log_weight, more.cycle_log_weight]),
            self.mean_flows,
            self.runs + more.runs,
            self.work + more.work,
        )


@dataclass(frozen=True, eq=False)
class _Drawn:
    flows: Flows
    chance: Floats
    tilted: Bools


@dataclass(frozen=True)
class Bench:
    """What is simulated, and how.

    Attributes:
        loop: the workload.
        simulate: the simulator.
        metric: what is measured of each flow.
    """

    loop: OpenLoop
    simulate: Simulator
    metric: Metric = completion_time

    def with_sizes(self, sizes: Sizes) -> "Bench":
        """Return the same with other flow sizes at the same rate of arrivals."""
        return replace(self, loop=replace(self.loop, sizes=sizes))

    def run(self, measure: Measure, trials: int, rng: np.random.Generator) -> Cycles:
        """Simulate trials under a measure.

        Raises:
            ValueError: if the simulator returns times that are not ≥ 0, too few, or not causal.
        """
        drawn = _draw(self.loop, measure, trials, rng)
        fct = self._fct(drawn.flows)
        stop = self.switch_times(drawn.flows, fct, measure.switch_above)
        again = stop < self.loop.horizon
        runs, work = trials + int(again.sum()), float(drawn.flows.size.sum())
        if again.any():
            drawn, fct = self._switched(drawn, fct, stop, rng)
            work += float(drawn.flows.size[again[drawn.flows.trial]].sum())
        return self._weighted(drawn, fct, stop, measure, runs, work)

    def switch_times(self, flows: Flows, fct: Floats, above: float) -> Floats:
        """Return (trials,) when the first flow with a value beyond `above` completed; inf where none did."""
        stop = np.full(flows.trials, np.inf)
        late = self.metric(fct, flows.size) > above
        np.minimum.at(stop, flows.trial[late], (flows.arrival + fct)[late])
        return stop

    def _fct(self, flows: Flows) -> Floats:
        fct = np.asarray(self.simulate(flows), dtype=np.float64)
        if fct.shape != flows.arrival.shape or not (np.isfinite(fct) & (fct >= 0)).all():
            raise ValueError("the simulator must return one finite completion time >= 0 for every flow")
        return fct

    def _switched(self, drawn: _Drawn, fct: Floats, stop: Floats, rng: np.random.Generator) -> tuple[_Drawn, Floats]:
        """Draw the flows after the switching times anew, and simulate those trials again."""
        again = stop < self.loop.horizon
        renewed, old = _renew(self.loop, drawn, np.where(again, stop, np.inf), rng)
        part = again[renewed.flows.trial]
        after = np.empty_like(renewed.flows.arrival)
        after[old >= 0] = fct[old[old >= 0]]
        rerun = self._fct(renewed.flows.some(again))
        settled = (old >= 0) & (renewed.flows.arrival + after <= stop[renewed.flows.trial])
        if not np.allclose(rerun[settled[part]], after[part & settled], rtol=1e-9, atol=0):
            raise ValueError("the simulator is not causal: flows that arrive later changed earlier completions")
        after[part] = rerun
        return renewed, after

    def _weighted(self, drawn: _Drawn, fct: Floats, stop: Floats, measure: Measure, runs: int, work: float) -> Cycles:
        flows, loop = drawn.flows, self.loop
        ratio = np.where(drawn.tilted, measure.tilt.log_ratio(drawn.chance), 0.0)
        total = np.concatenate([[0.0], np.cumsum(ratio)])
        finish = flows.arrival + fct
        until = np.minimum(finish, stop[flows.trial])
        seen = arrived_by(flows, until)
        own = flows.begin[:-1][flows.trial]
        log_weight = total[seen] - total[own] + _arrivals(measure, loop, seen - own, until)
        end = np.minimum(stop, loop.horizon)
        last = flows.begin[:-1] + np.bincount(flows.trial, flows.arrival <= end[flows.trial], flows.trials).astype(int)
        whole = total[last] - total[flows.begin[:-1]] + _arrivals(measure, loop, last - flows.begin[:-1], end)
        value = self.metric(fct, flows.size)
        return Cycles(flows, drawn.chance, finish, value, log_weight, whole, loop.mean_flows, runs, work)


def _arrivals(measure: Measure, loop: OpenLoop, count: Ints, until: Floats) -> Floats:
    """Return ln of the likelihood ratio of Poisson arrivals, the age since the last one included."""
    if measure.rate == loop.rate:
        return np.zeros(len(count))
    time = np.minimum(until, loop.horizon)
    return count * math.log(loop.rate / measure.rate) - (loop.rate - measure.rate) * time


def arrived_by(flows: Flows, time: Floats) -> Ints:
    """Return (flows,) the index after the last flow of the same trial that arrived by each flow's `time`."""
    latest = float(flows.arrival.max(initial=0.0))
    step = 2 * latest + 1  # trials side by side on one axis, so that one search serves all
    offset = flows.trial * step
    return np.searchsorted(offset + flows.arrival, offset + np.minimum(time, latest), side="right")


def _draw(loop: OpenLoop, measure: Measure, trials: int, rng: np.random.Generator) -> _Drawn:
    count = rng.poisson(measure.rate * loop.horizon, trials)
    begin = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    trial = np.repeat(np.arange(trials), count)
    arrival = np.asarray((np.sort(trial + rng.random(begin[-1])) - trial) * loop.horizon, dtype=np.float64)
    chance = measure.tilt.draw(int(begin[-1]), rng)
    flows = Flows(begin, arrival, loop.sizes.beyond(chance))
    return _Drawn(flows, chance, np.ones(len(arrival), dtype=np.bool_))


def _renew(loop: OpenLoop, drawn: _Drawn, stop: Floats, rng: np.random.Generator) -> tuple[_Drawn, Ints]:
    """Return flows with those after `stop` drawn from the true measure, and where each was before (−1 if new)."""
    keep = np.flatnonzero(drawn.flows.arrival <= stop[drawn.flows.trial])
    left = np.maximum(loop.horizon - stop, 0.0)
    fresh = rng.poisson(loop.rate * left)
    fresh_trial = np.repeat(np.arange(len(stop)), fresh)
    fresh_arrival = stop[fresh_trial] + rng.random(len(fresh_trial)) * left[fresh_trial]
    fresh_chance = 1 - rng.random(len(fresh_trial))
    trial = np.concatenate([drawn.flows.trial[keep], fresh_trial])
    arrival = np.concatenate([drawn.flows.arrival[keep], fresh_arrival])
    order = np.lexsort((arrival, trial))
    chance = np.concatenate([drawn.chance[keep], fresh_chance])[order]
    tilted = np.concatenate([drawn.tilted[keep], np.zeros(len(fresh_trial), dtype=np.bool_)])[order]
    old = np.concatenate([keep, np.full(len(fresh_trial), -1)])[order]
    size = loop.sizes.beyond(chance)
    begin = np.concatenate([[0], np.cumsum(np.bincount(trial, minlength=len(stop)))]).astype(np.int64)
    return _Drawn(Flows(begin, arrival[order], size), chance, tilted), old


@dataclass(frozen=True, eq=False)
class TailCurve:
    """P(R > γ) as weighted flows tell it (CCEval Eq. 11, with E[α] = λT exactly).

    No quantile by ranks (`lcca.evaluation.settling.quantiles`): weights are no counts, and need not add up to the flows
    that are expected. Between flows the curve is linear, each flow standing for half its weight on either side:
    CCEval's rule, which picks the first flow within the tail (Eqs. 8 and 13), lies high by several per cent where a
    tail is a few flows.

    Attributes:
        values: falling.
        beyond: P(R > γ) at them.
    """

    values: Floats
    beyond: Floats

    @classmethod
    def of(cls, values: Floats, weight: Floats, total: float) -> "TailCurve":
        """Return the curve of flows with these weights, if weights of `total` are expected in all."""
        order = np.argsort(values, kind="stable")[::-1]
        summed = np.cumsum(weight[order])
        return cls(values[order], (summed - weight[order] / 2) / total)

    def at(self, beyond: float) -> float:
        """Return γ with P(R > γ) = `beyond`; ±inf where no flow lies further out."""
        if not len(self.values) or beyond < self.beyond[0]:
            return math.inf
        if beyond > self.beyond[-1]:
            return -math.inf
        return float(np.interp(beyond, self.beyond, self.values))


@dataclass(frozen=True)
class Interval:
    """A quantile and its interval."""

    estimate: float
    low: float
    high: float


def tail_curve(cycles: Cycles) -> TailCurve:
    """Return P(R > γ) of weighted trials."""
    return TailCurve.of(cycles.value, cycles.weight, cycles.trials * cycles.mean_flows)


def quantile(cycles: Cycles, p: float) -> float:
    """Return the pooled quantile; the largest value if it lies beyond all flows."""
    found = tail_curve(cycles).at(1 - p)
    return found if math.isfinite(found) else float(cycles.value.max(initial=-math.inf))


def woodruff(cycles: Cycles, p: float, confidence: float) -> Interval:
    """Return the pooled quantile with Woodruff's interval, trials being the clusters."""
    curve, value = tail_curve(cycles), quantile(cycles, p)
    spread = float(cycles.beyond(value).std(ddof=1)) / (math.sqrt(cycles.trials) * cycles.mean_flows)
    reach = t_quantile(cycles.trials - 1, 1 - confidence) * spread
    low, high = curve.at(min(1 - p + reach, 1.0)), curve.at(1 - p - reach)
    return Interval(value, low, high)


def batches(cycles: Cycles, p: float, confidence: float, length: int = 40) -> Interval:
    """Return CCEval's batch method: Student's t over the quantiles of batches of `length` trials.

    Kept for comparison: a quantile of few trials is biased, and the interval does not know it. Trials that do not
    fill a batch are left out.

    Raises:
        ValueError: with fewer than two batches.
    """
    count = cycles.trials // length
    if count < 2:
        raise ValueError(f"the batch method needs at least {2 * length} trials, got {cycles.trials}")
    begin, weight, total = cycles.flows.begin, cycles.weight, length * cycles.mean_flows
    found = []
    for first in range(0, count * length, length):
        part = slice(begin[first], begin[first + length])
        curve = TailCurve.of(cycles.value[part], weight[part], total)
        value = curve.at(1 - p)
        found.append(value if math.isfinite(value) else float(cycles.value[part].max(initial=0.0)))
    return Interval(*t_interval(found, 1 - confidence))
