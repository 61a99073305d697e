"""Several metrics of one policy from the same trials, until the last of them is accurate enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.estimation.estimate import Estimating
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.layout import ESTIMATE, ESTIMATION
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.estimation.contents import several_content
from lcca.experiments.estimation.sources import values_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import more_trials
from lcca.inputs.errors import InputError

Values = list[list[NDArray[np.float64]]]
"""Of a block: per metric and trial, its values."""


def estimate_several(run: Run[EstimationConfig, Any], rows: Callable[[Block], pd.DataFrame]) -> list[Estimating]:
    """Run trials in blocks until all metrics are accurate enough, or to the ceiling; what is known is kept each time.

    A metric goes on with the others once it is accurate: its estimate rests on all trials, and the look at which it was
    accurate first is told beside it.

    Args:
        run: of the estimation.
        rows: runs a block of trials.

    Raises:
        InputError: a metric has no value in any trial before the first look, or a flow did not complete.
    """
    config, keep = run.config, run.phase(ESTIMATION).blocks()
    asked = config.estimate
    going = [Estimating(each, goes_on=True) for each in asked.each]

    def trials(block: Block) -> Values:
        found = keep(block, rows)
        return [list(values_of(each.config, found)) for each in going]  # type: ignore[arg-type]

    def decide(parts: Sequence[Values], done: int) -> Decision[list[Estimating]]:
        _feed(going, parts[-1], done)
        return Decision(going, all(each.first_accurate for each in going))

    with run.reporter.task(f"estimating {len(going)} metrics of {config.policy}", asked.ceiling) as task:

        def tell(done: int, _: object) -> None:
            slowest = max(going, key=lambda each: each.looks[-1].forecast_high if each.looks else 0)
            accurate = sum(each.first_accurate is not None for each in going)
            task.update(done, f"{done} trials; {accurate} of {len(going)} accurate", more_trials(slowest))
            run.folder.write_json(ESTIMATE, several_content(config, going))

        run_blocks(equal_blocks(asked.block, asked.ceiling), trials, decide, tell=tell)
    for each in going:
        each.look_again()
    return going


def _feed(going: Sequence[Estimating], values: Values, done: int) -> None:
    for each, trials in zip(going, values, strict=True):
        each.feed(trials)
        if done >= each.config.floor and not each.trials:
            raise InputError(f"estimate.metrics: {each.config.metric} has no value in any of {done} trials")
