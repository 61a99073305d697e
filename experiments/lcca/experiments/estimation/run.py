"""Estimating one metric of one policy to a set accuracy: `lcca estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lcca.evaluation.estimation.accuracy import accuracy_rows, spread
from lcca.evaluation.estimation.estimate import EstimateLook, Estimating
from lcca.evaluation.estimation.importance import FlowMetric, ImportanceOptions, TailSample, TailSampler
from lcca.evaluation.report.figures.estimates import (
    draw_accuracy,
    draw_convergence,
    draw_shrinking,
    draw_spread,
    draw_violins,
    grouped,
    trial_counts,
    violin_data,
)
from lcca.evaluation.report.figures.saving import save
from lcca.evaluation.trials.layout import IMPORTANCE, SUMMARY
from lcca.experiments.estimation.accuracy import Found, estimate_plainly, estimate_several, estimate_with_control
from lcca.experiments.estimation.config import EstimateBlock, EstimationConfig
from lcca.experiments.estimation.places import OnLink
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import head
from lcca.inputs.json_values import finite, finite_values
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy


def estimate(config: EstimationConfig, path: Path, *, jobs: int, resume: bool, quiet: bool = False) -> dict[str, Any]:
    """Estimate, write the result and its figures, and return the result; go on where a run was stopped, if `resume`.

    Blocks of trials that are there already are not run again; all else is computed anew, to the same bytes.

    Args:
        config: what to estimate.
        path: of the run's folder.
        jobs: threads; never changes a result.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: a file cannot be used, or the folder is not free.
    """
    policy = config.place.policy(config.policy)
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if run.folder.complete:
            return run.folder.read_json(SUMMARY)
        if config.estimate.metrics:
            content = _several(run, policy, jobs)
        else:
            found = _estimate(run, policy, jobs)
            content = _content(config, found)
            _draw(run, found)
        run.folder.write_json(SUMMARY, content)
        run.folder.set_state(COMPLETE)
    return content


def _estimate(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> Found:
    if run.config.estimate.method == "model-based":
        return _by_model(run, policy, jobs)
    if run.config.estimate.control is not None:
        return estimate_with_control(run, policy, jobs)
    return estimate_plainly(run, policy, jobs)


def _by_model(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> Found:
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


def heading(config: EstimationConfig) -> dict[str, Any]:
    """Return what says of which estimation a result is."""
    place, named = config.place, {"policy": config.policy, "simulator": config.simulator}
    return head(config) | named | dict(place.named) | {"duration_us": place.duration_us}


def look_content(look: EstimateLook) -> dict[str, Any]:
    """Return one look as JSON values."""
    return {"n": look.n} | {key: finite(getattr(look, key)) for key in ("estimate", "low", "high", "required")}


def _several(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> dict[str, Any]:
    """Estimate several metrics and return the result; what is known is written after each block."""
    config = run.config

    def content(going: Sequence[Estimating]) -> dict[str, Any]:
        rows = [_metric(asked, each) for asked, each in zip(config.estimate.each, going, strict=True)]
        return heading(config) | {"trials": max(each.trials for each in going), "estimates": rows, "notes": []}

    going = estimate_several(run, policy, jobs, lambda known: run.folder.write_json(SUMMARY, content(known)))
    _draw_several(run, going)
    return content(going)


def _metric(asked: EstimateBlock, going: Estimating) -> dict[str, Any]:
    """Return one metric: what was asked, its estimate from all trials, when it was accurate, and its looks."""
    first = going.first_accurate
    row = {
        "metric": asked.metric,
        "quantile": asked.quantile,
        "flows": asked.flows.model_dump() if asked.flows else None,
        "target": asked.target,
        "accuracy_percent": asked.accuracy_percent,
    }
    row |= going.state.to_json() | finite_values(asdict(spread(going)))
    if going.looks:
        row |= {key: getattr(going.looks[0], key) for key in ("forecast_low", "forecast_high")}
    return row | {
        "accurate": going.accurate,
        "accurate_first": look_content(first) if first else None,
        "warning": going.warning,
        "by_accuracy": [finite_values(asdict(row)) for row in accuracy_rows(going)],
        "looks": [look_content(look) for look in going.looks],
    }


def _draw_several(run: Run[EstimationConfig, None], going: list[Estimating]) -> None:
    """Draw convergence, trials by accuracy, and spread against interval."""
    asked, figures = run.config.estimate.each, run.folder.figures
    titles = [each.metric + (f", {each.flows}" if each.flows else "") for each in asked]
    labels = [f"p{100 * each.quantile:g}" if each.quantile else "mean" for each in asked]
    groups = grouped(titles, labels, going)
    save(draw_shrinking(groups), figures, "convergence")
    save(draw_accuracy(groups), figures, "accuracy")
    save(draw_spread(groups), figures, "spread")


def _content(config: EstimationConfig, found: Found) -> dict[str, Any]:
    warning = found.plain.warning if found.plain else ""  # the tests of importance sampling stand in for it
    row = {
        "metric": config.estimate.metric,
        "quantile": config.estimate.quantile,
        **found.estimate.to_json(),
        "accurate": found.accurate,
        "warning": warning,
        "looks": [look_content(each) for each in found.looks],
    }
    content = heading(config) | {"trials": row["trials"], "estimates": [row], "notes": list(found.notes)}
    return content | dict(found.details)


def _draw(run: Run[EstimationConfig, None], found: Found) -> None:
    """Draw how the estimate converged, and the plain trials' own values by their number."""
    asked, figures = run.config.estimate, run.folder.figures
    looks = [(look.n, look.half_width, look.required) for look in found.looks]
    save(draw_convergence(looks, asked.metric), figures, "convergence")
    if found.plain is None:
        return
    values, p = found.plain.values, asked.quantile
    metric = asked.metric + (f", p{100 * p:g} of a trial" if p else " of a trial")
    counts = trial_counts(len(values), asked.floor)
    line = ("pooled quantile" if p and asked.target == "pooled" else "estimate", found.plain.state.estimate)
    save(
        draw_violins(violin_data({Path(run.config.policy).name: values}, counts), metric, line=line), figures, "violins"
    )
