"""Estimating one metric of one policy to a set accuracy: `lcca estimate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lcca.evaluation.estimation.estimate import Estimating
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
from lcca.evaluation.trials.layout import SUMMARY
from lcca.experiments.estimation.accuracy import Found, estimate_plainly, estimate_several, estimate_with_control
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.estimation.contents import heading, look_content, several_content
from lcca.experiments.estimation.model_based import estimate_by_model
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
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
            going = estimate_several(run, policy, jobs)
            content = several_content(config, going)
            _draw_several(run, going)
        else:
            found = _estimate(run, policy, jobs)
            content = _content(config, found)
            _draw(run, found)
        run.folder.write_json(SUMMARY, content)
        run.folder.set_state(COMPLETE)
    return content


def _estimate(run: Run[EstimationConfig, None], policy: Policy, jobs: int) -> Found:
    if run.config.estimate.method == "model-based":
        return estimate_by_model(run, policy, jobs)
    if run.config.estimate.control is not None:
        return estimate_with_control(run, policy, jobs)
    return estimate_plainly(run, policy, jobs)


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
    warning = found.plain.warning if found.plain else None  # the tests of importance sampling stand in for it
    row = {
        "metric": config.estimate.metric,
        "quantile": config.estimate.quantile,
        **found.estimate.to_json(),
        "accurate": found.accurate,
        "warning": str(warning) if warning else "",
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
