"""Model-free estimation: plain trials until the estimate is accurate enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.estimation.estimate import Estimate, EstimateLook, Estimating
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.layout import ESTIMATION
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.estimation.sources import values_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import more_trials
from lcca.inputs.errors import InputError


@dataclass(frozen=True, eq=False)
class Found:
    """What an estimation found.

    Attributes:
        estimate: the estimate.
        looks: at the estimate, on the way.
        accurate: whether the accuracy was reached.
        plain: the plain trials; None where importance sampling was delivered.
        details: what estimate.json holds besides, as JSON values.
        notes: what the user should read besides.
    """

    estimate: Estimate
    looks: list[EstimateLook]
    accurate: bool
    plain: Estimating | None
    details: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def estimate_plainly(run: Run[EstimationConfig, Any], rows: Callable[[Block], pd.DataFrame]) -> Found:
    """Run trials in blocks until the estimate is accurate enough, keeping each block in the folder.

    Args:
        run: of the estimation.
        rows: runs a block of trials.

    Raises:
        InputError: none of the trials at the first look has a value, or a flow did not complete.
    """
    config, going = run.config, Estimating(run.config.estimate)
    keep = run.phase(ESTIMATION).blocks()

    def trials(block: Block) -> list[NDArray[np.float64]]:
        return list(values_of(config.estimate, keep(block, rows)))

    def decide(parts: Sequence[list[NDArray[np.float64]]], done: int) -> Decision[Estimating]:
        if done >= config.estimate.floor and not any(parts):
            raise InputError(f"estimate.metric: {config.estimate.metric} has no value in any of {done} trials")
        going.feed(parts[-1])
        return Decision(going, going.finished)

    title = f"estimating {config.estimate.metric} of {config.policy}"
    with run.reporter.task(title, config.estimate.ceiling) as task:

        def tell(done: int, _: Estimating) -> None:
            task.update(done, standing(going, done), more_trials(going))

        run_blocks(equal_blocks(config.estimate.block), trials, decide, tell=tell)
    return Found(going.state, going.looks, going.accurate, going, {})


def standing(going: Estimating, trials: int) -> str:
    """Return how far an estimation is, in words."""
    if not going.looks:
        return f"{trials} trials; the first look is at {going.config.floor}"
    look = going.looks[-1]
    return f"{look.n} trials: {look.estimate:.4g} ± {look.half_width:.2g} (wanted ± {look.required:.2g})"
