"""Model-free estimation: plain trials until the estimate is accurate enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.estimation.estimate import Estimate, EstimateLook, Estimating
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.layout import ESTIMATION
from lcca.evaluation.trials.running import run_flows, run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.remaining import more_trials
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy

BLOCK = 10
"""Trials that are run, and kept, at a time."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What an estimation's configuration names, read and checked.

    Attributes:
        policy: what is estimated.
        network: that flows are measured on; None over a space of networks.
    """

    policy: Policy
    network: Network | None


def read_inputs(config: EstimationConfig) -> Inputs:
    """Read what a configuration names, before a folder is claimed.

    Raises:
        InputError: a file cannot be used.
    """
    policy = policyfile.load(config.policy).policy
    return Inputs(policy, config.network.build() if config.network else None)


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


def estimate_plainly(run: Run[EstimationConfig, Engine], inputs: Inputs) -> Found:
    """Run trials in blocks until the estimate is accurate enough, keeping each block in the folder."""
    config, going = run.config, Estimating(run.config.estimate)
    keep = run.phase(ESTIMATION).blocks()

    def trials(block: Block) -> list[NDArray[np.float64]]:
        return list(_trials(config, keep(block, lambda block: _run_block(config, inputs, run.engine, block))))

    def decide(parts: Sequence[list[NDArray[np.float64]]], _: int) -> Decision[Estimating]:
        going.feed(parts[-1])
        return Decision(going, going.finished)

    title = f"estimating {config.estimate.metric} of {config.policy}"
    with run.reporter.task(title, config.estimate.ceiling) as task:

        def tell(done: int, _: Estimating) -> None:
            task.update(done, _standing(going, done), more_trials(going))

        run_blocks(equal_blocks(BLOCK), trials, decide, tell=tell)
    return Found(going.state, going.looks, going.accurate, going, {})


def _run_block(config: EstimationConfig, inputs: Inputs, engine: Engine, block: Block) -> pd.DataFrame:
    if inputs.network is not None:
        seeds = [derive(config.seed, "estimate", k) for k in range(block.first, block.end)]
        return run_flows(engine, {"policy": inputs.policy}, [inputs.network], seeds)
    assert config.networks is not None
    seed = derive(config.seed, "estimate")
    networks = config.networks.draw(seed, block.size, first_id=block.first)
    return run_trials(engine, {"policy": inputs.policy}, networks, [seed], utility(config.utility))


def _trials(config: EstimationConfig, rows: pd.DataFrame) -> Iterator[NDArray[np.float64]]:
    """Yield the value or the flows of each trial, as they were planned; one without a value is left out."""
    metric = config.estimate.metric
    if config.networks is not None:
        yield from (np.array([v]) for v in rows[metric].dropna())
        return
    for values in flow_values(rows, metric):
        yield values if config.estimate.quantile is not None else np.array([values.mean()])


def flow_values(rows: pd.DataFrame, metric: str) -> list[NDArray[np.float64]]:
    """Return a metric of the flows of each trial that has any, in the order of the rows.

    Raises:
        InputError: a flow did not complete.
    """
    if rows[metric].isna().any():
        raise InputError("a flow did not complete: the load is too high for this policy and duration")
    return [trial.to_numpy(dtype=np.float64) for _, trial in rows.groupby("seed", sort=False)[metric]]


def _standing(going: Estimating, trials: int) -> str:
    if not going.looks:
        return f"{trials} trials; the first look is at {going.config.floor}"
    look = going.looks[-1]
    return f"{look.n} trials: {look.estimate:.4g} ± {look.half_width:.2g} (wanted ± {look.required:.2g})"
