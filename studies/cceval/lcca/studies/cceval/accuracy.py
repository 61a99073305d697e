"""Estimates until they are accurate enough: of one metric or several, from plain trials, perhaps with a control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, OverFlows, statistic
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.experiments.experiment import Answer, Experiment, Numbered, Reduce, Stop, Trials
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import More
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.cceval.config import ControlBlock, EstimateBlock, EstimationConfig
from lcca.studies.cceval.estimators.control import Controlled
from lcca.studies.cceval.estimators.estimate import Estimating
from lcca.studies.cceval.phases import CONTROL, ESTIMATION
from lcca.studies.cceval.places import Rows
from lcca.workers.pool import Pool

Floats = NDArray[np.float64]

CHEAP_BLOCK = 100
"""Trials of a control that are run, and kept, at a time."""

VALUE = "value"


class Accuracy:
    """A question: is each metric known as accurately as asked? Parts hold, by metric, the values of each trial.

    Args:
        config: of the estimation.
        going: the estimates of the metrics.
        first_look: whether a first look at each is enough.
    """

    def __init__(self, config: EstimationConfig, going: Sequence[Estimating], first_look: bool) -> None:
        self._problem, self._first_look = config.problem, first_look
        self._going, self._keys = going, ("estimate", "metric" if len(going) == 1 else "metrics")

    def __call__(self, trials: Trials) -> Answer:
        """Feed the last part, and return how far the estimates are.

        Raises:
            InputError: a metric has no value in any trial before the first look, or at the end; or all trials are the
                same.
        """
        for each, values in zip(self._going, trials.parts[-1], strict=True):
            each.feed(values)
            asked = each.config
            if trials.done >= asked.floor and not each.trials:
                raise self._problem(self._keys, f"{asked.metric} has no value in any of {trials.done} trials")
            if asked.ceiling is not None and trials.done >= asked.ceiling and not each.looks:
                words = f"{asked.metric} has a value in {each.trials} of {trials.done} trials"
                remedy = f"fewer than floor ({asked.floor}); raise ceiling, or the load"
                raise self._problem(("estimate", "ceiling"), f"{words}, {remedy}")
        plain = [each.values for each in self._going if each.looks]
        if any(np.any(values) for values in plain) and all(np.ptp(values) == 0 for values in plain):
            words = f"all {trials.done} trials are the same, bit for bit: they are one sample, and have no interval"
            raise self._problem(self._keys, f"{words}; `lcca evaluate --trials 1` says what it is")
        known = all(each.finished or (each.goes_on and each.first_accurate is not None) for each in self._going)
        enough = known or (self._first_look and all(each.looks for each in self._going))
        slowest = max(self._going, key=lambda each: each.looks[-1].forecast_high if each.looks else 0)
        return Answer(self._going, enough, enough, words=self._words(trials.done), more=more_trials(slowest))

    def _words(self, done: int) -> str:
        if len(self._going) > 1:
            accurate = sum(each.first_accurate is not None for each in self._going)
            return f"{done} trials; {accurate} of {len(self._going)} accurate"
        going = self._going[0]
        if not going.looks:
            return f"{done} trials; the first look is at {going.config.floor}"
        look = going.looks[-1]
        return f"{look.n} trials: {look.estimate:.4g} ± {look.half_width:.2g} (wanted ± {look.required:.2g})"


def _run(
    run: Run[EstimationConfig, Any], rows: Rows, question: Accuracy, reduce: Reduce, what: str, most: int | None
) -> None:
    """Run trials in blocks until the question is answered, keeping each block in the folder."""
    stop = Stop(most, step=run.config.estimate.block)
    title = f"estimating {what} of {run.config.policy}"
    place = Numbered(lambda contenders, block: rows(block))
    experiment = Experiment(place, {"policy": None}, [question], stop, title, reduce=reduce, each=0)
    with run.config.about("estimate"):
        experiment.run(run.phase(ESTIMATION).blocks(), run.reporter)


def rows_of(config: EstimationConfig, policy: Policy, workers: Pool, word: str = "estimate") -> Rows:
    """Return what runs a stretch of trials; those for something else than the estimate have another word."""
    return config.place.rows(config.estimate, policy, config.seed, (word,), workers)


def estimate_plainly(
    run: Run[EstimationConfig, Any],
    policy: Policy,
    workers: Pool,
    tell: Callable[[Sequence[Estimating]], None] = lambda known: None,
    first_look: bool = False,
) -> list[Estimating]:
    """Estimate one metric, or several from the same plain trials until the last of them is accurate enough.

    One of several goes on with the others once it is accurate: its estimate rests on all trials, and the look at which
    it was accurate first is shown beside it.

    Args:
        run: of the estimation.
        policy: that is estimated.
        workers: run them.
        tell: is told what is known of several after each block.
        first_look: whether to end at the first look at the last of them.

    Raises:
        InputError: a metric has no value in any trial before the first look, or a flow did not complete.
    """
    asked = run.config.estimate
    several = len(asked.each) > 1
    going = [Estimating(each, goes_on=several) for each in asked.each]

    def reduce(block: Block, found: pd.DataFrame) -> list[list[Floats]]:
        if several and block.first:
            tell(going)
        return [list(values_of(each, found)) for each in asked.each]

    what = f"{len(going)} metrics" if several else asked.each[0].metric
    rows, question = rows_of(run.config, policy, workers), Accuracy(run.config, going, first_look)
    _run(run, rows, question, reduce, what, asked.ceiling if several else None)
    for each in going:
        each.look_again()
    return going


def estimate_with_control(
    run: Run[EstimationConfig, Any], policy: Policy, workers: Pool, control: ControlBlock, first_look: bool = False
) -> Controlled:
    """Estimate one metric on a fabric with a control variate: many trials of an approximation, which cost less.

    With `first_look` it ends there.

    Raises:
        InputError: none of the trials at the first look has a value, or a flow did not complete.
    """
    config, asked = run.config, run.config.estimate
    cheap = Cheap(run, policy, workers, control)
    going = Controlled(asked, cheap.others, control.per_trial, control.cost)

    def reduce(block: Block, found: pd.DataFrame) -> list[list[Floats]]:
        pairs = np.stack([value_by_trial(asked, found, block), cheap.paired(block)], axis=1)
        return [list(pairs[~np.isnan(pairs).any(axis=1)])]

    what = f"{asked.metric} with {control.simulator}"
    _run(run, rows_of(config, policy, workers), Accuracy(config, [going], first_look), reduce, what, asked.ceiling)
    return going


class Cheap:
    """Cheap trials of an estimation, kept in its folder as a value for each: with the flows of its trials, and others.

    Args:
        run: of the estimation.
        policy: that is estimated.
        workers: run them.
        control: which simulator.
    """

    def __init__(self, run: Run[EstimationConfig, Any], policy: Policy, workers: Pool, control: ControlBlock) -> None:
        self._asked, self._keep = run.config.estimate, run.phase(CONTROL).blocks
        same = run.config.model_copy(update={"simulator": control.simulator})
        self._same, self._other = (rows_of(same, policy, workers, word) for word in ("estimate", CONTROL))
        self._found: list[Floats] = []

    def paired(self, block: Block) -> Floats:
        """Return (trials,) the values with the flows of these trials; NaN where there is none."""
        return self._values("paired", block, self._same)

    def others(self, count: int) -> Floats:
        """Return the values of the first `count` other trials that have one."""
        done = len(self._found) * CHEAP_BLOCK
        for number in range(len(self._found), -(-max(count - done, 0) // CHEAP_BLOCK) + len(self._found)):
            block = Block(number, number * CHEAP_BLOCK, CHEAP_BLOCK)
            self._found.append(self._values("others", block, self._other))
        values = np.concatenate(self._found)[:count]
        return values[~np.isnan(values)]

    def _values(self, name: str, block: Block, rows: Callable[[Block], pd.DataFrame]) -> Floats:
        def valued(block: Block) -> pd.DataFrame:
            numbers = np.arange(block.first, block.end)
            values = value_by_trial(self._asked, rows(block), block)
            return pd.DataFrame({"policy": "policy", "network": numbers, "status": "ok", VALUE: values})

        return self._keep(name)(block, valued)[VALUE].to_numpy(dtype=np.float64)


def value_by_trial(asked: EstimateBlock, rows: pd.DataFrame, block: Block) -> Floats:
    """Return (trials,) the value of each trial of a block; NaN of those without one.

    Raises:
        InputError: a flow did not complete.
    """
    numbers = np.arange(block.first, block.end)
    _require_finished(asked.metric, rows)
    if asked.metric not in FLOWS:
        return rows.set_index("network")[asked.metric].reindex(numbers).to_numpy(dtype=np.float64)
    counted = rows if asked.flows is None else asked.flows.of(rows)
    values = flow_values(counted, asked.metric)
    of_trial = [statistic(x, asked.quantile) for x in values]
    found = pd.Series(of_trial, counted["network"].unique()).reindex(numbers)
    return np.asarray(found, dtype=np.float64)


def values_of(asked: EstimateBlock, rows: pd.DataFrame) -> Iterator[Floats]:
    """Yield the value or the flows of each trial, as they were planned; one without a value is left out."""
    _require_finished(asked.metric, rows)
    if asked.metric not in FLOWS:
        yield from (np.array([v]) for v in rows[asked.metric].dropna())
        return
    for values in flow_values(rows if asked.flows is None else asked.flows.of(rows), asked.metric):
        yield values if asked.quantile is not None else np.array([values.mean()])


def _require_finished(metric: str, rows: pd.DataFrame) -> None:
    """Check that a number of trials is no bound.

    Raises:
        InputError: flows, rounds or events that it is made of did not finish.
    """
    of = FABRIC_TRIALS.get(metric)
    of_flows = of is not None and (isinstance(of.compute, OverFlows) or of.needs == "rounds")
    column = "unfinished_percent" if of_flows else unfinished_columns(metric)[1]
    if column in rows and (open_ := rows[column] > 0).any():
        raise InputError(
            f"{metric}: a bound in {open_.sum()} of {len(rows)} trials, where not all finished; raise drain_us (of "
            "networks duration)"
        )


def flow_values(rows: pd.DataFrame, metric: str) -> list[Floats]:
    """Return a metric of the flows of each trial that has any, in the order of the rows.

    Raises:
        InputError: a flow did not complete.
    """
    if rows[metric].isna().any():
        raise InputError(
            "a flow did not complete: the load is too high for this policy and duration (on a fabric, drain_us is how "
            "long flows may go on)"
        )
    return [trial.to_numpy(dtype=np.float64) for _, trial in rows.groupby("seed", sort=False)[metric]]


def more_trials(going: Estimating) -> More | None:
    """Return the trials until an estimate is as accurate as asked; None before its first look."""
    if not going.looks:
        return None
    look, ceiling = going.looks[-1], going.config.ceiling
    left = HORIZON if ceiling is None else max(ceiling - look.n, 0)
    if look.accurate:
        return More(0, 0, "trials")
    high = look.forecast_high if look.forecast_high >= HORIZON else look.forecast_high - look.n
    return More(min(max(look.forecast_low - look.n, 0), left), min(max(high, 0), left), "trials")
