"""A tail quantile of a link's flows by importance sampling in the packet engine, in trials that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy, compile_policy
from lcca.studies.cceval.estimators.estimate import Estimate, EstimateConfig
from lcca.studies.cceval.importance.attempt import Attempt, ImportanceConfig, ImportanceOptions, attempt_tail
from lcca.studies.cceval.importance.cycles import Bench
from lcca.studies.cceval.importance.flow_trace import flow_trace
from lcca.studies.cceval.importance.flows import (
    Floats,
    Flows,
    Metric,
    OpenLoop,
    Simulator,
    TableSizes,
    completion_time,
)
from lcca.studies.cceval.importance.size_models import SizeFit, fit_sizes

FlowMetric = Literal["fct_us", "slowdown"]

IMPORTANCE = "importance"
"""Its phase."""


def packet_engine(engine: Engine, policy: Policy, network: Network) -> Simulator:
    """Return the engine as a simulator: flows are senders under the policy, on one network with open flows.

    Sizes are rounded up to whole packets. What it returns (µs) does not depend on the engine's threads.

    Raises:
        InputError: later, if a flow does not complete.
    """
    compiled = compile_policy(policy)

    def simulate(flows: Flows) -> Floats:
        fct = flow_trace(engine, compiled, network, flows.begin, flows.arrival, whole_packets(flows.size))
        if np.isnan(fct).any():
            raise InputError("a flow did not complete: the load is too high for this policy and duration")
        return fct

    return simulate


def packet_bench(engine: Engine, policy: Policy, network: Network, metric: FlowMetric) -> Bench:
    """Return the open flows of a network, for the length of the engine's trials, as a workload with its simulator.

    Args:
        engine: whose duration is that of a trial.
        policy: of every flow.
        network: with open flows.
        metric: "fct_us", or "slowdown" over the flow alone on the link (rtt + size / link rate).

    Raises:
        InputError: a network without open flows.
    """
    flows = network.open_flows
    if flows is None:
        raise InputError(f"network {network.id}: importance sampling needs open flows")
    loop = OpenLoop(flows.arrival_rate(network.link_rate), engine.duration, TableSizes(flows.sizes))
    measured = completion_time if metric == "fct_us" else _slowdown(network)
    return Bench(loop, packet_engine(engine, policy, network), measured)


def whole_packets(size: Floats) -> Floats:
    """Return sizes rounded up to whole packets, at least one."""
    return np.maximum(np.ceil(size), 1.0)


def _slowdown(network: Network) -> Metric:
    def metric(fct: Floats, size: Floats) -> Floats:
        return fct / (network.rtt + whole_packets(size) / network.link_rate)

    return metric


BLOCK = 200
"""Trials that are simulated, and kept, at a time."""


class KeptSimulator:
    """Simulates in blocks of trials, and keeps each block in a store; blocks that are there are read.

    What is simulated is a function of the seed and of earlier results, so that a run that begins anew asks for the same
    flows in the same order until it comes to what was never simulated.

    Args:
        simulate: the simulator behind it.
        store: where blocks are kept.
        tell: is told the number of trials after each block.

    Attributes:
        trials: gone through, those that were there too.
    """

    def __init__(self, simulate: Simulator, store: TrialStore, tell: Callable[[int], None]) -> None:
        self._simulate, self._store, self._tell = simulate, store, tell
        self._blocks = 0
        self.trials = 0

    def __call__(self, flows: Flows) -> Floats:
        """Return (flows,) flow completion times.

        Raises:
            InputError: what is kept is damaged, or of other flows.
        """
        found = [np.zeros(0)]
        for first in range(0, flows.trials, BLOCK):
            part = flows.part(first, min(first + BLOCK, flows.trials))
            found.append(self._block(part))
            self.trials += part.trials
            self._tell(self.trials)
        return np.concatenate(found)

    def _block(self, flows: Flows) -> Floats:
        name = part_name(IMPORTANCE, self._blocks)
        self._blocks += 1
        if not self._store.has(name):
            self._store.add(name, _rows(flows, self._simulate(flows)))
        kept = self._store.read(name)
        asked = _rows(flows, np.zeros(len(flows.arrival)))
        if list(kept) != list(asked) or not kept.drop(columns="fct_us").equals(asked.drop(columns="fct_us")):
            raise InputError(
                f"{self._store.folder}: {name} holds other flows than this version asks for; choose another --out"
            )
        return kept["fct_us"].to_numpy(dtype=np.float64)


def _rows(flows: Flows, fct: Floats) -> pd.DataFrame:
    columns = {"trial": flows.trial, "arrival_us": flows.arrival, "size_packets": flows.size, "fct_us": fct}
    return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False)
class TailSample:
    """What importance sampling found, or why it cannot be trusted.

    Attributes:
        attempt: at importance sampling.
        fit: a lognormal of the flow sizes beside their table.
        confidence: of the interval.
    """

    attempt: Attempt
    fit: SizeFit
    confidence: float

    @property
    def estimate(self) -> Estimate | None:
        """The estimate, None if a test refused; the forecast is the pilot's if the accuracy was reached."""
        tried = self.attempt
        if tried.interval is None:
            return None
        told = tried.looks[0] if tried.looks[-1].accurate else tried.looks[-1]
        ends = (tried.interval.estimate, tried.interval.low, tried.interval.high, self.confidence, tried.runs)
        return Estimate(*ends, told.forecast_low, told.forecast_high, tried.words)

    def instead(self, found: Estimate) -> Estimate:
        """Return an estimate of plain trials with the simulations of the attempt counted and its refusals named."""
        names = ", ".join(check.test.name.lower().replace("_", " ") for check in self.attempt.refused)
        runs = self.attempt.runs
        return replace(
            found,
            trials=found.trials + runs,
            forecast_low=min(found.forecast_low + runs, HORIZON),
            forecast_high=min(found.forecast_high + runs, HORIZON),
            method=f"{found.method}; model-based refused by {names}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return what a result holds beside the estimate, as JSON values."""
        tried = self.attempt
        return {
            "importance": {
                "delivered": tried.interval is not None,
                "checks": [check.to_json() for check in tried.checks],
                "refused": [check.to_json() for check in tried.refused],
                "variance_ratio": tried.variance_ratio,
                "simulations": tried.runs,
                "cost_in_plain_trials": tried.spent,
            },
            "size_models": [self.fit.to_json()],
        }


class TailSampler:
    """Samples the open flows of one network, and keeps what it simulates: a stopped run goes on where it was.

    Args:
        engine: whose duration is that of a trial.
        policy: of every flow.
        network: with open flows.
        metric: "fct_us", or "slowdown" over the flow alone on the link.
        store: where blocks of trials are kept.
        tell: is told the number of trials after each block.

    Raises:
        InputError: a network without open flows.
    """

    def __init__(
        self,
        engine: Engine,
        policy: Policy,
        network: Network,
        metric: FlowMetric,
        store: TrialStore,
        tell: Callable[[int], None],
    ) -> None:
        bench = packet_bench(engine, policy, network, metric)
        self._kept = KeptSimulator(bench.simulate, store, tell)
        self._bench = replace(bench, simulate=self._kept)
        self._flows = network.open_flows

    @property
    def trials(self) -> int:
        """Trials gone through so far, those that were kept before too."""
        return self._kept.trials

    def sample(self, options: ImportanceOptions, wanted: EstimateConfig, seed: int) -> TailSample:
        """Estimate a pooled quantile to the accuracy that is wanted, at most for its ceiling in plain trials.

        Raises:
            ValueError: without a quantile.
            InputError: what is kept is damaged, or of other flows.
        """
        if wanted.quantile is None or self._flows is None:
            raise ValueError("importance sampling needs a quantile, and open flows")
        fit = fit_sizes(self._flows.sizes, wanted.quantile)
        model = fit.sizes() if options.size_model == "lognormal" else None
        asked = {"quantile": wanted.quantile, "budget": wanted.ceiling, "confidence": wanted.confidence}
        config = ImportanceConfig.model_validate(options.model_dump() | asked)
        rng = np.random.default_rng(seed)
        tried = attempt_tail(self._bench, config, rng, model=model, wanted=wanted)
        return TailSample(tried, fit, wanted.confidence)
