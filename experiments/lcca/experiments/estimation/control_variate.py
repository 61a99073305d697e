"""`lcca estimate` on a fabric with `control`: cheap trials, of what stands in for the fabric, help the dear ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.estimation.control import Controlled
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.layout import CONTROL, ESTIMATION
from lcca.experiments.estimation.config import FLOW_METRICS, ControlBlock, EstimateBlock, EstimationConfig
from lcca.experiments.estimation.model_free import Found, standing
from lcca.experiments.estimation.sources import Floats, Inputs, flow_values, rows_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import more_trials
from lcca.inputs.errors import InputError

CHEAP_BLOCK = 100
"""Cheap trials that are run, and kept, at a time."""

VALUE = "value"


def estimate_with_control(run: Run[EstimationConfig, Any], inputs: Inputs, jobs: int) -> Found:
    """Run trials in blocks until the estimate is accurate enough, keeping each block in the folder.

    Raises:
        InputError: none of the trials at the first look has a value, or a flow did not complete.
    """
    config, asked, control = run.config, run.config.estimate, run.config.estimate.control
    if control is None:
        raise ValueError("needs a control")
    cheap = Cheap(run, inputs, jobs, control)
    going = Controlled(asked, cheap.others, control.per_trial, control.cost)
    keep, rows = run.phase(ESTIMATION).blocks(), rows_of(config, inputs, jobs)

    def trials(block: Block) -> list[Floats]:
        full, same = value_by_trial(asked, keep(block, rows), block), cheap.paired(block)
        pairs = np.stack([full, same], axis=1)
        return list(pairs[~np.isnan(pairs).any(axis=1)])

    def decide(parts: Sequence[list[Floats]], done: int) -> Decision[Controlled]:
        if done >= asked.floor and not any(parts):
            raise InputError(f"estimate.metric: {asked.metric} has no value in any of {done} trials")
        going.feed(parts[-1])
        ended = going.finished or (asked.ceiling is not None and done >= asked.ceiling)
        if ended and not going.looks:
            raise InputError(
                f"estimate.ceiling: {asked.metric} has a value in {going.trials} of {done} trials, fewer than "
                f"floor ({asked.floor}); raise ceiling, or the load"
            )
        return Decision(going, ended)

    title = f"estimating {asked.metric} of {config.policy} with {control.simulator}"
    with run.reporter.task(title, asked.ceiling) as task:

        def tell(done: int, _: Controlled) -> None:
            task.update(done, standing(going, done), more_trials(going))

        run_blocks(equal_blocks(asked.block), trials, decide, tell=tell)
    details = {"control": _content(control, going)}
    return Found(going.state, going.looks, going.accurate, None, details, _notes(control, going))


def _content(control: ControlBlock, going: Controlled) -> dict[str, Any]:
    return {"simulator": control.simulator, "cost": control.cost} | going.to_json()


def _notes(control: ControlBlock, going: Controlled) -> tuple[str, ...]:
    """Return what the control did, in words."""
    told = going.to_json()
    if not told or told["variance_ratio"] is None:
        return ()
    narrower = f"variance {told['variance_ratio']:.2g} of the plain mean's"
    return (f"{told['cheap_trials']:,} cheap trials of {control.simulator}: ρ {told['correlation']:.2f}, {narrower}",)


class Cheap:
    """Cheap trials of an estimation, kept in its folder as a value for each: with the flows of its trials, and others.

    Args:
        run: of the estimation.
        inputs: what it names.
        jobs: threads.
        control: which simulator.
    """

    def __init__(self, run: Run[EstimationConfig, Any], inputs: Inputs, jobs: int, control: ControlBlock) -> None:
        self._asked, self._keep = run.config.estimate, run.phase(CONTROL).blocks
        same = run.config.model_copy(update={"simulator": control.simulator})
        self._same, self._other = (rows_of(same, inputs, jobs, seeds) for seeds in ("estimate", CONTROL))
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
        def told(block: Block) -> pd.DataFrame:
            numbers = np.arange(block.first, block.end)
            values = value_by_trial(self._asked, rows(block), block)
            return pd.DataFrame({"policy": "policy", "network": numbers, "status": "ok", VALUE: values})

        return self._keep(name)(block, told)[VALUE].to_numpy(dtype=np.float64)


def value_by_trial(asked: EstimateBlock, rows: pd.DataFrame, block: Block) -> Floats:
    """Return (trials,) the value of each trial of a block; NaN of those without one.

    Raises:
        InputError: a flow did not complete.
    """
    numbers = np.arange(block.first, block.end)
    if asked.metric not in FLOW_METRICS:
        return rows.set_index("network")[asked.metric].reindex(numbers).to_numpy(dtype=np.float64)
    counted = rows if asked.flows is None else asked.flows.of(rows)
    values = flow_values(counted, asked.metric)
    of_trial = [x.mean() if asked.quantile is None else np.quantile(x, asked.quantile) for x in values]
    return pd.Series(of_trial, counted["network"].unique()).reindex(numbers).to_numpy(dtype=np.float64)
