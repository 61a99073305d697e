"""A whole campaign: train, pick, test, say what is settled, write the report; or a grid of campaigns."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor as executor_named
from lcca.evaluation.trials.executors.pool import Pool
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.grid import Grid, Point, read_grid
from lcca.experiments.learning.cache import TrainingCache
from lcca.experiments.learning.plan import learners
from lcca.experiments.learning.training import CampaignRun, check_libraries, engine_of, look_at_curves
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.context import opened
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.testing.forecast import Forecast, forecast
from lcca.experiments.testing.ns3 import validate_in_ns3
from lcca.experiments.testing.per_network import run_per_network
from lcca.experiments.testing.selected import run_generalisation, run_tests
from lcca.experiments.testing.summary import all_comparisons, summary, verdicts
from lcca.experiments.testing.trainings import run_trainings, train_first
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import InputError, require
from lcca.inputs.files import write_atomically

CACHE = Path("results") / "training-cache"

Campaign: TypeAlias = str | os.PathLike[str] | CampaignConfig | Grid
"""A campaign, many of them, or the YAML file with it."""


def sweep(
    campaign: Campaign,
    *,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    quiet: bool = True,
    jobs: int = 1,
    executor: str = "local",
    trainings: int = 1,
    training_cache: str | os.PathLike[str] | None = None,
    until: Literal["trained"] | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
) -> Result:
    """Run a campaign to its end, or each of a grid, going on from whatever the folder holds.

    Args:
        campaign: it, or its file.
        out: the run's folder, of a grid with a folder for each point; ``results/<name>/<config hash>`` if left out.
        resume: whether to go on with a run that is there.
        quiet: whether to leave progress out.
        jobs: threads, or workers of another executor; never changes a result.
        executor: where trials run; never changes a result.
        trainings: how many policies learn at once, each on one thread; 1 gives each in turn all the jobs. On a cluster
            they learn there.
        training_cache: folder of finished trainings, used and added to; without `out` the usual one, else none.
        until: where to end before; after the trainings of the first training seeds the content is their `rows`.
        overrides: of keys of the file, as in ``trainer.rounds=2``.
        seed: in place of the file's.

    Returns:
        The content of summary.json and the trials of the selected policies, or the content of grid.json.

    Raises:
        InputError: the campaign cannot be, the folder or the cache cannot be used (`RunFolder.open`), or an extra is
            missing.
    """
    grid = _grid(campaign, overrides, seed)
    cache = Path(training_cache) if training_cache else None if out else CACHE
    run = partial(
        _sweep, resume=resume, quiet=quiet, jobs=jobs, place=executor, trainings=trainings, cache=cache, until=until
    )
    if grid.single:
        config = grid.points[0].config
        folder = Path(out) if out else default_folder(config)
        content = run(config, folder)
        return Result(content, TrialStore(folder / layout.TRIALS).all(layout.TEST), folder=folder)
    require(until is None, "--until: not for a grid; give the campaign of one point")
    folder, rows = Path(out) if out else grid.folder, []
    for number, point in enumerate(grid.points, 1):
        Reporter(quiet=quiet).say(f"point {number} of {len(grid.points)}: {point.name}")
        rows.append(_row(point, run(point.config, folder / point.name)))
    content = {"format": 1, "grid": grid.name, "hash": grid.hash, "points": rows}
    write_atomically(folder / layout.GRID, (json.dumps(content, sort_keys=True, indent=1) + "\n").encode())
    render_grid(folder)
    return Result(content, pd.DataFrame(), folder=folder)


def forecasts(
    campaign: Campaign,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    executor: str = "local",
    trainings: int = 1,
    training_cache: str | os.PathLike[str] | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
) -> tuple[str, dict[str, Forecast]]:
    """Return the name of a campaign or a grid and, by point, what remains to be done; arguments as of `sweep`."""
    grid, cache = _grid(campaign, overrides, seed), training_cache or (None if out else CACHE)
    for point in grid.points:
        check_executor(point.config, executor, trainings)
    shared, away = TrainingCache(Path(cache) if cache else None), executor == "ray"
    return grid.name, {each.name: forecast(each.config, shared, jobs, trainings, away) for each in grid.points}


def _grid(campaign: Campaign, overrides: Sequence[str], seed: int | None) -> Grid:
    if isinstance(campaign, CampaignConfig):
        return Grid(campaign.name, (Point("", campaign),))
    return campaign if isinstance(campaign, Grid) else read_grid(campaign, overrides, seed)


def _row(point: Point, summary: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("comparisons", "net_benefit", "policies", "generalisation", "ns3", "per_network")
    return {"name": point.name, "config_hash": point.config.hash} | {k: summary[k] for k in kept if k in summary}


def _sweep(
    config: CampaignConfig,
    path: Path,
    *,
    resume: bool,
    quiet: bool,
    jobs: int,
    place: str,
    trainings: int,
    cache: Path | None,
    until: Literal["trained"] | None,
) -> dict[str, Any]:
    """Run one campaign and return the content of its summary.json, or of its first trainings; see `sweep`."""
    if config.validation.ns3:
        installed()  # or say so before hours of training
    check_executor(config, place, trainings)
    shared = TrainingCache(cache)
    check_libraries(config, path)
    with executor_named(place, jobs) as runner, opened(config, path, resume=resume, quiet=quiet) as begun:
        if begun.folder.complete:
            begun.reporter.show(f"{path}: complete already; nothing to do")
            return begun.folder.read_json(layout.SUMMARY)
        runner.report_to(begun.reporter.say)
        with closing(runner.pool(trainings)) as pool:
            run = begun.on(engine_of(config, jobs, runner))
            if words := look_at_curves(path, config.trainer):
                run.reporter.say(words)
            return _run(run, shared, pool) if until is None else {"rows": train_first(run, shared, pool)}


def check_executor(config: CampaignConfig, place: str, trainings: int) -> None:
    """Check that a campaign's trials can run on an executor.

    Raises:
        InputError: they cannot.
    """
    if not config.networks.anywhere and place != "local" and (place != "ray" or trainings == 1):
        raise InputError(
            f"executor {place}: trials on a fabric run on threads here; use local, or ray with --trainings"
        )


def render(folder: Path) -> None:
    """Draw the report. What draws takes as long to load as all the rest, and a run needs it at its end alone."""
    from lcca.evaluation.report.report import render as draw

    draw(folder)


def render_grid(folder: Path) -> None:
    """Draw the report of a grid."""
    from lcca.evaluation.report.grid import render_grid as draw

    draw(folder)


def _run(run: CampaignRun, cache: TrainingCache, pool: Pool) -> dict[str, Any]:
    folder, config, reporter = run.folder, run.config, run.reporter
    counts = dict.fromkeys(f"{len(learners(config, seeds))}" for seeds in (config.seed_steps[0], config.seeds))
    reporter.say(f"{config.name}: {' to '.join(counts)} trainings, then tests; everything goes to {folder.path}")
    trained = run_trainings(run, cache, pool)
    folder.write_table(layout.LEARNING, pd.concat(trained.learning, ignore_index=True))
    groups = trained.groups(config)
    trials = {g.utility.name: run_tests(run, g) for g in groups}
    others = {
        "per_network": [row for g in groups for row in run_per_network(run, g)],
        "ns3": [row for g in groups for row in validate_in_ns3(run, g)],
        "generalisation": [run_generalisation(run, g, each) for g in groups for each in config.generalisation],
    }
    comparisons = all_comparisons(groups, trials)
    content = summary(config, groups, trials, comparisons) | {key: rows for key, rows in others.items() if rows}
    folder.write_json(layout.SUMMARY, content)
    folder.write_json(layout.VERDICTS, verdicts(comparisons))
    folder.remove(layout.SO_FAR)
    reporter.say("drawing the report")
    render(folder.path)
    folder.set_state(COMPLETE)
    return content
