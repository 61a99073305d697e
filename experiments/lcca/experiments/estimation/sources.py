"""What an estimation runs: trials by number, and what each of them is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.space import FabricSpace, NumberedTrial
from lcca.evaluation.fabric.splitting import SplitTrial, split_trial
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import FLOWS
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.running import run_flows
from lcca.evaluation.trials.source import NetworkTrials
from lcca.evaluation.trials.utilities import fabric_utility, utility
from lcca.experiments.estimation.config import EstimateBlock, EstimationConfig, SplittingBlock
from lcca.experiments.runs.seeds import derive
from lcca.gym_envs.processes.pool import Threads
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What an estimation's configuration names, read and checked.

    Attributes:
        policy: what is estimated.
        network: that flows are measured on; None over a space of networks or on a fabric.
    """

    policy: Policy
    network: Network | None


def read_inputs(config: EstimationConfig) -> Inputs:
    """Read what a configuration names, before a folder is claimed.

    Raises:
        InputError: a file cannot be used, or the policy cannot run on a fabric.
    """
    if config.fabric is not None:
        policy = resolve(config.policy, "fabric").policy
        engine_of(policy, config.fabric.settings())
        return Inputs(policy, None)
    policy = resolve(config.policy, "engine").policy
    return Inputs(policy, config.network.build() if config.network else None)


def rows_of(
    config: EstimationConfig, inputs: Inputs, jobs: int, seeds: str = "estimate"
) -> Callable[[Block], pd.DataFrame]:
    """Return what runs a stretch of trials: a row per flow where flows are measured, else one per trial.

    Args:
        config: of the estimation.
        inputs: what it names.
        jobs: threads.
        seeds: what they are for, on a fabric or a space: trials for something else have others.
    """
    policies, seed = {"policy": inputs.policy}, derive(config.seed, seeds)
    if config.fabric is not None:
        space, scored = FabricSpace(fabric=config.fabric), fabric_utility(config.utility)
        fabric = space.trials(seed, scored, Execution(config.simulator, jobs))
        if config.estimate.method == "splitting":
            return rows_by_splitting(config, inputs.policy, seed, jobs)
        if (above := config.estimate.above_bytes) is not None:
            return lambda block: fabric.rows(policies, block).assign(
                queue_above=lambda rows: (rows["queue_max_bytes"] > above).astype(float)
            )
        run = fabric.flow_rows if config.estimate.each[0].metric in FLOWS else fabric.rows
        return lambda block: run(policies, block)
    engine = Engine(config.trial_us, jobs=jobs)
    if (network := inputs.network) is not None:
        return lambda block: run_flows(engine, policies, [network], _seeds(config, block))
    assert config.networks is not None
    source = NetworkTrials(engine, config.networks, seed, [seed], utility(config.utility), keep_delays=True)
    return lambda block: source.rows(policies, block)


def rows_by_splitting(
    config: EstimationConfig, policy: Policy, seed: int, jobs: int
) -> Callable[[Block], pd.DataFrame]:
    """Return what runs a stretch of trials, each of which splits its runs; a row per trial."""
    asked, scenario = config.estimate, config.fabric
    assert scenario is not None and asked.above_bytes is not None
    options, engine = asked.splitting or SplittingBlock(), engine_of(policy, scenario.settings())
    scenario.require_telemetry(engine.telemetry_bytes, config.policy)
    levels = np.linspace(0, asked.above_bytes, options.levels + 1)[1:].tolist()

    def rows(block: Block) -> pd.DataFrame:
        drawn = FabricSpace(fabric=scenario).draw(seed, block.size, block.first)
        calls = [partial(split_trial, scenario, engine, each.seed, levels, options.runs) for each in drawn]
        found = zip(drawn, Threads(jobs).calls(calls), strict=True)
        return pd.DataFrame([_split_row(each, split) for each, split in found])

    return rows


def _split_row(trial: NumberedTrial, found: SplitTrial) -> dict[str, object]:
    named = {"policy": "policy", "network": trial.number, "seed": trial.seed}
    return named | {"queue_above": found.probability, "runs": found.runs, "packets": found.packets}


def _seeds(config: EstimationConfig, block: Block) -> list[int]:
    return [derive(config.seed, "estimate", k) for k in range(block.first, block.end)]


def values_of(asked: EstimateBlock, rows: pd.DataFrame) -> Iterator[Floats]:
    """Yield the value or the flows of each trial, as they were planned; one without a value is left out."""
    if asked.metric not in FLOWS:
        yield from (np.array([v]) for v in rows[asked.metric].dropna())
        return
    for values in flow_values(rows if asked.flows is None else asked.flows.of(rows), asked.metric):
        yield values if asked.quantile is not None else np.array([values.mean()])


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
