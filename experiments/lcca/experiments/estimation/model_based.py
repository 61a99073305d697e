"""`lcca estimate` with `method: model-based`: importance sampling where it can be trusted, plain trials where not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.estimation.estimate import Estimate, EstimateLook, Estimating
from lcca.evaluation.estimation.importance import Attempt, SizeFit, attempt_tail, fit_sizes
from lcca.evaluation.estimation.importance.packets import FlowMetric, packet_bench
from lcca.evaluation.estimation.tails import TailWarning
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.estimation.config import ImportanceBlock
from lcca.experiments.estimation.flow_trace import KeptSimulator
from lcca.experiments.estimation.run import EstimationConfig, claim, estimate_policy
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.seeds import derive
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile


@dataclass(frozen=True, eq=False)
class ModelBased:
    """What a model-based estimation found.

    Attributes:
        estimate: of importance sampling, or of the plain trials that it fell back to; simulations of both are counted.
        attempt: at importance sampling.
        fallback: the model-free estimation; None if importance sampling was delivered.
        fits: models of the flow sizes, the best fit first.
    """

    estimate: Estimate
    attempt: Attempt
    fallback: Estimating | None
    fits: tuple[SizeFit, ...]

    @property
    def looks(self) -> list[EstimateLook]:
        """Looks of the method that was delivered."""
        return self.fallback.looks if self.fallback else list(self.attempt.looks)

    @property
    def accurate(self) -> bool:
        """Whether the accuracy was reached."""
        return self.fallback.accurate if self.fallback else self.attempt.looks[-1].accurate

    @property
    def warning(self) -> TailWarning | None:
        """Of too few tail flows; the tests of importance sampling stand in for it."""
        return self.fallback.warning if self.fallback else None

    @property
    def refusals(self) -> list[str]:
        """The tests that refused, with what they measured."""
        return [str(check) for check in self.attempt.refused]

    def details(self) -> dict[str, Any]:
        """Return what estimate.json holds beside the estimate, as JSON values."""
        tried = self.attempt
        return {
            "importance": {
                "delivered": self.fallback is None,
                "checks": [check.to_json() for check in tried.checks],
                "refused": [check.to_json() for check in tried.refused],
                "variance_ratio": tried.variance_ratio,
                "simulations": tried.runs,
                "cost_in_plain_trials": tried.spent,
            },
            "size_models": [fit.to_json() for fit in self.fits],
        }


def estimate_by_model(config: EstimationConfig, folder: Path, engine: Engine, reporter: Reporter) -> ModelBased:
    """Estimate by importance sampling, or where a test refuses by plain trials, keeping all in the folder.

    Blocks of trials that are there already are not run again, so a stopped estimation goes on where it was; drawing
    flows and weighing them is done anew.
    """
    asked, link = config.estimate, config.network
    if link is None or asked.quantile is None:
        raise ValueError("the model-based method needs network.traffic and a quantile")
    claim(folder, config)
    fits = fit_sizes(flow_sizes(link.traffic.sizes, link.traffic.packet_bytes), asked.quantile)
    tried = _attempt(config, folder, engine, reporter, fits)
    if tried.interval is not None:
        return ModelBased(_delivered(tried, asked.confidence), tried, None, fits)
    for check in tried.refused:
        reporter.say(f"importance sampling is refused by {check}")
    found, going = estimate_policy(config, folder, engine, reporter)
    return ModelBased(_fallen_back(found, tried), tried, going, fits)


def _attempt(
    config: EstimationConfig, folder: Path, engine: Engine, reporter: Reporter, fits: tuple[SizeFit, ...]
) -> Attempt:
    assert config.network is not None
    policy = policyfile.load(config.policy).policy
    metric: FlowMetric = "slowdown" if config.estimate.metric == "slowdown" else "fct_us"
    bench = packet_bench(engine, policy, config.network.build(), metric)
    asked = config.estimate.importance or ImportanceBlock()
    model = next(fit for fit in fits if fit.family == "lognormal").sizes() if asked.size_model == "lognormal" else None
    rng = np.random.default_rng(derive(config.seed, "importance"))
    title = f"importance sampling of {config.estimate.metric} of {config.policy}"
    with reporter.task(title, config.estimate.ceiling) as task:
        kept = KeptSimulator(
            bench.simulate, TrialStore(folder / "trials"), lambda trials: task.update(trials, f"{trials} trials")
        )
        return attempt_tail(
            replace(bench, simulate=kept), config.estimate.sampling(), rng, model=model, wanted=config.estimate
        )


def _delivered(tried: Attempt, confidence: float) -> Estimate:
    """Return the estimate of importance sampling; the forecast is the pilot's if the accuracy was reached."""
    assert tried.interval is not None
    told = tried.looks[0] if tried.looks[-1].accurate else tried.looks[-1]
    ends = (tried.interval.estimate, tried.interval.low, tried.interval.high, confidence, tried.runs)
    return Estimate(*ends, told.forecast_low, told.forecast_high, tried.words)


def _fallen_back(found: Estimate, tried: Attempt) -> Estimate:
    """Return the model-free estimate with the simulations of the attempt counted and its refusals named."""
    names = ", ".join(check.test.name.lower().replace("_", " ") for check in tried.refused)
    return replace(
        found,
        trials=found.trials + tried.runs,
        forecast_low=min(found.forecast_low + tried.runs, HORIZON),
        forecast_high=min(found.forecast_high + tried.runs, HORIZON),
        method=f"{found.method}; model-based refused by {names}",
    )
