"""`lcca estimate` with `method: model-based`: importance sampling where it can be trusted, plain trials where not."""

from __future__ import annotations

from dataclasses import replace

from lcca.evaluation.estimation.importance import FlowMetric, ImportanceOptions, TailSample, TailSampler
from lcca.evaluation.trials.layout import IMPORTANCE
from lcca.experiments.estimation.accuracy import Found, estimate_plainly
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.estimation.places import OnLink
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy


def estimate_by_model(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> Found:
    """Estimate by importance sampling, or where a test refuses by plain trials, keeping all in the folder.

    Blocks of trials that are there already are not run again, so a stopped estimation goes on where it was; drawing
    flows and weighing them is done anew.
    """
    sample = _sample(run, policy, jobs)
    details, sizes = sample.to_json(), tuple(f"size model {fit}" for fit in sample.fits)
    if (found := sample.estimate) is not None:
        looks = list(sample.attempt.looks)
        return Found(found, looks, looks[-1].accurate, None, details, sizes)
    for check in sample.attempt.refused:
        run.reporter.say(f"importance sampling is refused by {check}")
    plain = estimate_plainly(run, policy, jobs)
    notes = (*(f"importance sampling refused by {check}" for check in sample.attempt.refused), *sizes)
    return replace(plain, estimate=sample.instead(plain.estimate), details=details, notes=notes)


def _sample(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> TailSample:
    config, asked, link = run.config, run.config.estimate, run.config.place
    assert isinstance(link, OnLink)
    title = f"importance sampling of {asked.metric} of {config.policy}"
    with run.reporter.task(title, asked.ceiling) as task, run.costs.phase(IMPORTANCE) as cost:

        def tell(trials: int) -> None:
            task.update(trials, f"{trials} trials")

        metric: FlowMetric = "slowdown" if asked.metric == "slowdown" else "fct_us"
        sampler = TailSampler(Engine(link.duration_us, jobs=jobs), policy, link.link.build(), metric, run.trials, tell)
        try:
            return sampler.sample(asked.importance or ImportanceOptions(), asked, derive(config.seed, "importance"))
        finally:
            cost.trials += sampler.simulated
