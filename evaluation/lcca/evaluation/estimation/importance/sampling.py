"""A tail quantile of a link's flows by importance sampling in the packet engine, in trials that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcca.evaluation.estimation.estimate import Estimate, EstimateConfig
from lcca.evaluation.estimation.importance.attempt import Attempt, attempt_tail
from lcca.evaluation.estimation.importance.kept import KeptSimulator
from lcca.evaluation.estimation.importance.options import ImportanceConfig, ImportanceOptions
from lcca.evaluation.estimation.importance.packets import FlowMetric, packet_bench
from lcca.evaluation.estimation.importance.size_models import SizeFit, fit_sizes
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.store import TrialStore
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy


@dataclass(frozen=True, eq=False)
class TailSample:
    """What importance sampling found, or why it cannot be trusted.

    Attributes:
        attempt: at importance sampling.
        fits: models of flow sizes beside their table, the best first.
        confidence: of the interval.
    """

    attempt: Attempt
    fits: tuple[SizeFit, ...]
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
        """Return what estimate.json holds beside the estimate, as JSON values."""
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
            "size_models": [fit.to_json() for fit in self.fits],
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
    def simulated(self) -> int:
        """Trials that were not kept before."""
        return self._kept.simulated

    def sample(self, options: ImportanceOptions, wanted: EstimateConfig, seed: int) -> TailSample:
        """Estimate a pooled quantile to the accuracy that is wanted, at most for its ceiling in plain trials.

        Raises:
            ValueError: without a quantile.
            InputError: what is kept is damaged, or of other flows.
        """
        if wanted.quantile is None or self._flows is None:
            raise ValueError("importance sampling needs a quantile, and open flows")
        fits = fit_sizes(self._flows.sizes, wanted.quantile)
        model = next(fit for fit in fits if fit.family == "lognormal") if options.size_model == "lognormal" else None
        asked = {"quantile": wanted.quantile, "budget": wanted.ceiling, "confidence": wanted.confidence}
        config = ImportanceConfig.model_validate(options.model_dump() | asked)
        rng = np.random.default_rng(seed)
        tried = attempt_tail(self._bench, config, rng, model=model.sizes() if model else None, wanted=wanted)
        return TailSample(tried, fits, wanted.confidence)
