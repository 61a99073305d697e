"""`lcca estimate` with `method: model-based`: importance sampling where it can be trusted, plain trials where not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lcca.evaluation.estimation.estimate import Estimate
from lcca.evaluation.estimation.importance.attempt import Attempt, attempt_tail
from lcca.evaluation.estimation.importance.packets import FlowMetric, packet_bench
from lcca.evaluation.estimation.importance.size_models import SizeFit, fit_sizes
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.layout import IMPORTANCE
from lcca.experiments.estimation.config import EstimationConfig, ImportanceBlock
from lcca.experiments.estimation.flow_trace import KeptSimulator
from lcca.experiments.estimation.model_free import Found, estimate_plainly
from lcca.experiments.estimation.sources import Inputs, rows_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.remy_plus.engine import Engine


def estimate_by_model(run: Run[EstimationConfig, Engine], inputs: Inputs) -> Found:
    """Estimate by importance sampling, or where a test refuses by plain trials, keeping all in the folder.

    Blocks of trials that are there already are not run again, so a stopped estimation goes on where it was; drawing
    flows and weighing them is done anew.
    """
    asked, link = run.config.estimate, run.config.network
    if link is None or asked.quantile is None:
        raise ValueError("the model-based method needs network.traffic and a quantile")
    fits = fit_sizes(flow_sizes(link.traffic.sizes, link.traffic.packet_bytes), asked.quantile)
    tried = _attempt(run, inputs, fits)
    details, sizes = _details(tried, fits), tuple(f"size model {fit}" for fit in fits)
    if tried.interval is not None:
        found, looks = _delivered(tried, asked.confidence), list(tried.looks)
        return Found(found, looks, looks[-1].accurate, None, details, sizes)
    for check in tried.refused:
        run.reporter.say(f"importance sampling is refused by {check}")
    plain = estimate_plainly(run, rows_of(run.config, inputs, run.engine.jobs))
    notes = (*(f"importance sampling refused by {check}" for check in tried.refused), *sizes)
    return replace(plain, estimate=_fallen_back(plain.estimate, tried), details=details, notes=notes)


def _details(tried: Attempt, fits: tuple[SizeFit, ...]) -> dict[str, Any]:
    """Return what estimate.json holds beside the estimate, as JSON values."""
    return {
        "importance": {
            "delivered": tried.interval is not None,
            "checks": [check.to_json() for check in tried.checks],
            "refused": [check.to_json() for check in tried.refused],
            "variance_ratio": tried.variance_ratio,
            "simulations": tried.runs,
            "cost_in_plain_trials": tried.spent,
        },
        "size_models": [fit.to_json() for fit in fits],
    }


def _attempt(run: Run[EstimationConfig, Engine], inputs: Inputs, fits: tuple[SizeFit, ...]) -> Attempt:
    assert inputs.network is not None
    config = run.config
    metric: FlowMetric = "slowdown" if config.estimate.metric == "slowdown" else "fct_us"
    bench = packet_bench(run.engine, inputs.policy, inputs.network, metric)
    asked = config.estimate.importance or ImportanceBlock()
    model = next(fit for fit in fits if fit.family == "lognormal").sizes() if asked.size_model == "lognormal" else None
    rng = np.random.default_rng(derive(config.seed, "importance"))
    title = f"importance sampling of {config.estimate.metric} of {config.policy}"
    with run.reporter.task(title, config.estimate.ceiling) as task, run.costs.phase(IMPORTANCE) as cost:

        def tell(trials: int) -> None:
            task.update(trials, f"{trials} trials")

        kept = KeptSimulator(bench.simulate, run.trials, tell)
        try:
            return attempt_tail(
                replace(bench, simulate=kept), config.estimate.sampling(), rng, model=model, wanted=config.estimate
            )
        finally:
            cost.trials += kept.simulated


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
