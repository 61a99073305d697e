"""Trials under a change of measure that ends within the trial, and the weight of every flow in them.

A trial begins tilted. Once a flow has completed with a value above `switch_above`, flows are drawn from the true
measure again (the *switching time*). To do so with a simulator that takes all flows at once, the trial is simulated,
the flows after its switching time are drawn anew from the true measure, and it is simulated once more; until the
switch nothing can differ, which is checked. Both runs are counted.

The weight of a flow is the likelihood ratio of all that its value may depend on: sizes and arrivals until it
completed, or until the switch if that was earlier. Flows drawn after the switch add nothing.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from lcca.evaluation.estimation.importance.flows import (
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
from lcca.evaluation.estimation.importance.tilts import Tilt

Depends: TypeAlias = Literal["arrived", "started"]
"""What a flow's value may depend on: all flows that arrived until it completed (any simulator), or only those that
started before it (service in order of arrival)."""


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
        depends: what a flow's value may depend on.
    """

    loop: OpenLoop
    simulate: Simulator
    metric: Metric = completion_time
    depends: Depends = "arrived"

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
        until = np.minimum(flows.arrival if self.depends == "started" else finish, stop[flows.trial])
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
