"""Search for a tilt by cross-entropy (CCEval Algorithm 1): draw trials, fit to what led to the tail, repeat."""

import math
from dataclasses import dataclass, replace

import numpy as np

from lcca.evaluation.estimation.importance.cycles import Bench, Cycles, Measure, arrived_by
from lcca.evaluation.estimation.importance.flows import Floats
from lcca.evaluation.estimation.importance.quantiles import quantile
from lcca.evaluation.estimation.importance.tilts import Tilt


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes:
        measure: the last update, with the last estimate of the quantile as the switching value.
        history: the measure after each epoch.
        plain: trials of the first epoch, which are not tilted.
        runs: simulations done, those of the first epoch included.
        work: sizes of all flows simulated.
    """

    measure: Measure
    history: tuple[Measure, ...]
    plain: Cycles
    runs: int
    work: float


def search(
    bench: Bench,
    start: Tilt,
    p: float,
    rng: np.random.Generator,
    *,
    epochs: int = 3,
    trials: int = 200,
    tilt_rate: bool = False,
    switching: bool = True,
    strength: float = math.inf,
) -> Search:
    """Search for a change of measure that makes values beyond the quantile p frequent.

    Args:
        bench: what is simulated.
        start: a tilt that changes nothing.
        p: the quantile to estimate.
        rng: source of randomness.
        epochs: updates; the first one is from plain trials.
        trials: per epoch (CCEval's m_ce; its 10 are too few).
        tilt_rate: whether to tilt the rate of arrivals too.
        switching: whether trials return to the true measure once beyond the quantile.
        strength: bound on ln E[L²] of a trial that each update keeps to by going only part of the way.
    """
    measure, history, runs, work = Measure(start, bench.loop.rate), [], 0, 0.0
    plain: Cycles | None = None
    for _ in range(epochs):
        cycles = bench.run(measure, trials, rng)
        runs += cycles.runs
        plain = plain or cycles
        work += cycles.work
        measure = update(bench, cycles, measure, p, tilt_rate=tilt_rate).within(bench.loop, strength)
        if not switching:
            measure = replace(measure, switch_above=math.inf)
        history.append(measure)
    if plain is None:
        raise ValueError(f"epochs must be >= 1, got {epochs}")
    return Search(measure, tuple(history), plain, runs, work)


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
