"""Estimating one metric of one policy to a set accuracy: `lcca estimate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lcca.evaluation.report.figures.saving import save
from lcca.evaluation.settling.sequence import HORIZON
from lcca.evaluation.trials.layout import SUMMARY
from lcca.evaluation.trials.place import Execution
from lcca.experiments.experiment import Costs
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.forecast import Cost
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import Json, head
from lcca.experiments.verbs.options import WrittenAlone
from lcca.inputs.json_values import finite, finite_values
from lcca.remy_plus.fabric.settings import FABRIC
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.cceval.accuracy import estimate_plainly, estimate_with_control
from lcca.studies.cceval.config import ControlBlock, EstimateBlock, EstimationConfig
from lcca.studies.cceval.estimators.accuracy import accuracy_rows, spread
from lcca.studies.cceval.estimators.estimate import Estimate, EstimateLook, Estimating
from lcca.studies.cceval.importance import IMPORTANCE, FlowMetric, ImportanceOptions, TailSample, TailSampler
from lcca.studies.cceval.phases import CONTROL, ESTIMATION
from lcca.studies.cceval.places import OnLink
from lcca.studies.cceval.report.figures import (
    draw_accuracy,
    draw_convergence,
    draw_shrinking,
    draw_spread,
    draw_violins,
    grouped,
    trial_counts,
    violin_data,
)
from lcca.workers.pool import Pool, Threads


def estimating(verb: WrittenAlone) -> Described[EstimationConfig]:
    """Estimate one metric of one policy, or several from the same trials, until all are accurate enough.

    Blocks of trials that are there already are not run again; all else is computed anew, to the same bytes.
    """
    config = config_of(verb.config, EstimationConfig, verb.overrides)
    policy = config.read_policy()

    def begin(workers: Pool) -> Callable[[Run[EstimationConfig, None]], Json]:
        return partial(_estimated, policy=policy, workers=workers)

    return Described(config, verb, begin, partial(costs, config))


estimate = function("estimate", WrittenAlone, estimating)


def costs(config: EstimationConfig, jobs: int = 1) -> Costs:
    """Run the trials until the first look, keep none, and return what those that it forecasts cost, and the ceiling.

    Of the model-based method these are plain trials, which it falls back to; its ceiling is of all trials.

    Args:
        config: what to estimate.
        jobs: threads.

    Raises:
        InputError: a file cannot be used, or the trials say nothing of a metric.
    """
    policy, asked, workers = config.read_policy(), config.estimate, Threads(jobs)
    with TemporaryDirectory() as folder, opened(config, Path(folder) / "run", resume=False, quiet=True) as run:
        if asked.control is not None:
            known: list[Any] = [estimate_with_control(run, policy, workers, asked.control, first_look=True)]
        else:
            known = estimate_plainly(run, policy, workers, first_look=True)
        tried = run.costs.total(ESTIMATION).trials
        pace = sum(run.costs.total(phase).cpu_s for phase in (ESTIMATION, CONTROL)) / tried
    most = HORIZON if asked.ceiling is None else asked.ceiling
    looks = [each.looks[0] for each in known]
    forecast = (max(each.forecast_low for each in looks), max(each.forecast_high for each in looks))
    low, high = (min(max(each, tried), most) for each in forecast)
    counts = {"first look": tried, "forecast, at least": low, "forecast, at most": high, "ceiling": most}
    accurate = next(name for name in ("metrics", "accuracy_percent", "accuracy") if getattr(asked, name))
    keys = {"forecast, at most": f"estimate.{accurate}", "ceiling": "estimate.ceiling"}
    ends = {words: Cost(n, "trials", pace * n, jobs, keys.get(words, "")) for words, n in counts.items() if n < HORIZON}
    return Costs(ends, tried)


def _estimated(run: Run[EstimationConfig, None], policy: Policy, workers: Pool) -> dict[str, Any]:
    """Return the result by the method that is asked for, its figures drawn."""
    config, asked = run.config, run.config.estimate
    if asked.control is not None:
        return _controlled(run, policy, workers, asked.control)
    if asked.method == "model-based":
        return _by_model(run, policy, workers)
    stands_in = config.simulator != FABRIC
    notes = (f"by {config.simulator}, which stands in for the fabric",) if stands_in else ()

    def tell(known: Sequence[Estimating]) -> None:
        run.folder.write_json(SUMMARY, _content(config, known, notes))

    going = estimate_plainly(run, policy, workers, tell)
    _draw(run, going)
    return _content(config, going, notes)


def _controlled(
    run: Run[EstimationConfig, None], policy: Policy, workers: Pool, control: ControlBlock
) -> dict[str, Any]:
    going = estimate_with_control(run, policy, workers, control)
    _draw(run, [going])
    known, notes = going.to_json(), []
    if known and known["variance_ratio"] is not None:
        what = f"{known['cheap_trials']:,} cheap trials of {control.simulator}: ρ {known['correlation']:.2f}"
        notes.append(f"{what}, variance {known['variance_ratio']:.2g} of the plain mean's")
    found = {"simulator": control.simulator, "cost": control.cost} | known
    return _content(run.config, [going], notes) | {"control": found}


def _by_model(run: Run[EstimationConfig, None], policy: Policy, workers: Pool) -> dict[str, Any]:
    """Estimate by importance sampling, or where a test refuses by plain trials, keeping all in the folder.

    Blocks of trials that are there already are not run again, so a stopped estimation goes on where it was; drawing
    flows and weighing them is done anew.
    """
    sample = _sample(run, policy, workers)
    sizes, refused = [f"size model {sample.fit}"], sample.attempt.refused
    if (found := sample.estimate) is not None:
        looks = sample.attempt.looks
        row = _row(run.config.estimate, found, looks) | {"accurate": looks[-1].accurate, "warning": ""}
        _draw_looks(run, looks)
    else:
        for check in refused:
            run.reporter.say(f"importance sampling is refused by {check}")
        (going,) = estimate_plainly(run, policy, workers)
        row = _metric(run.config.estimate, going) | sample.instead(going.state).to_json()
        _draw(run, [going])
    notes = [*(f"importance sampling refused by {check}" for check in refused), *sizes]
    return heading(run.config) | {"trials": row["trials"], "estimates": [row], "notes": notes} | sample.to_json()


def _sample(run: Run[EstimationConfig, None], policy: Policy, workers: Pool) -> TailSample:
    config, asked, link = run.config, run.config.estimate, run.config.place
    assert isinstance(link, OnLink)
    title = f"importance sampling of {asked.metric} of {config.policy}"
    with run.reporter.task(title, asked.ceiling) as task, run.costs.phase(IMPORTANCE) as cost:

        def tell(trials: int) -> None:
            task.update(trials, f"{trials} trials")

        engine = Execution.on(workers).engine(link.duration_us)
        metric: FlowMetric = "slowdown" if asked.metric == "slowdown" else "fct_us"
        sampler = TailSampler(engine, policy, link.link.build(), metric, run.trials, tell)
        try:
            return sampler.sample(asked.importance or ImportanceOptions(), asked, derive(config.seed, "importance"))
        finally:
            cost.trials = sampler.trials


def heading(config: EstimationConfig) -> dict[str, Any]:
    """Return what says of which estimation a result is."""
    place, named = config.place, {"policy": config.policy, "simulator": config.simulator}
    return head(config) | named | dict(place.named) | {"duration_us": place.duration_us}


def look_content(look: EstimateLook) -> dict[str, Any]:
    """Return one look as JSON values."""
    return {"n": look.n} | {key: finite(getattr(look, key)) for key in ("estimate", "low", "high", "required")}


def _content(config: EstimationConfig, going: Sequence[Estimating], notes: Sequence[str]) -> dict[str, Any]:
    """Return the result, as far as it is known."""
    rows = [_metric(asked, each) for asked, each in zip(config.estimate.each, going, strict=True)]
    return heading(config) | {"trials": max(each.trials for each in going), "estimates": rows, "notes": list(notes)}


def _metric(asked: EstimateBlock, going: Estimating) -> dict[str, Any]:
    """Return one metric: what was asked, its estimate from all trials, when it was accurate, and its looks."""
    first = going.first_accurate
    return _row(asked, going.state, going.looks) | {
        **finite_values(asdict(spread(going))),
        "accurate": going.accurate,
        "accurate_first": look_content(first) if first else None,
        "warning": going.warning,
        "by_accuracy": [finite_values(asdict(row)) for row in accuracy_rows(going)],
    }


def _row(asked: EstimateBlock, found: Estimate, looks: Sequence[EstimateLook]) -> dict[str, Any]:
    """Return what was asked, what was found, and the looks."""
    what = {
        "metric": asked.metric,
        "quantile": asked.quantile,
        "flows": asked.flows.model_dump() if asked.flows else None,
        "target": asked.target,
        "accuracy_percent": asked.accuracy_percent,
    }
    return what | found.to_json() | {"looks": [look_content(look) for look in looks]}


def _draw(run: Run[EstimationConfig, None], going: Sequence[Estimating]) -> None:
    """Draw of one metric how it converged, and the trials' own values by their number.

    Of several draw convergence, trials by accuracy, and spread against interval.
    """
    asked, figures = run.config.estimate, run.folder.figures
    if len(going) > 1:
        titles = [each.metric + (f", {each.flows}" if each.flows else "") for each in asked.each]
        labels = [f"p{100 * each.quantile:g}" if each.quantile else "mean" for each in asked.each]
        groups = grouped(titles, labels, going)
        save(draw_shrinking(groups), figures, "convergence")
        save(draw_accuracy(groups), figures, "accuracy")
        save(draw_spread(groups), figures, "spread")
        return
    (found,), (one,) = going, asked.each
    _draw_looks(run, found.looks)
    values, p = found.values, one.quantile
    metric = one.metric + (f", p{100 * p:g} of a trial" if p else " of a trial")
    shown = violin_data({Path(run.config.policy).name: values}, trial_counts(len(values), one.floor))
    line = ("pooled quantile" if p and one.target == "pooled" else "estimate", found.state.estimate)
    save(draw_violins(shown, metric, line=line), figures, "violins")


def _draw_looks(run: Run[EstimationConfig, None], looks: Sequence[EstimateLook]) -> None:
    points = [(look.n, look.half_width, look.required) for look in looks]
    save(draw_convergence(points, run.config.estimate.each[0].metric), run.folder.figures, "convergence")
