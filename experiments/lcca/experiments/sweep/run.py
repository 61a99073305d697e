"""A whole campaign: train, pick, test, say what is settled, write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor, runner_on
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import learners
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.sweep.generalisation import run_generalisation
from lcca.experiments.sweep.learning.cache import TrainingCache
from lcca.experiments.sweep.learning.scalars import look_at
from lcca.experiments.sweep.learning.training import check_libraries, engine_of
from lcca.experiments.sweep.learning.trainings import run_trainings, train_first
from lcca.experiments.sweep.ns3.validation import validate_in_ns3
from lcca.experiments.sweep.per_network import run_per_network
from lcca.experiments.sweep.summary import all_comparisons, summary, verdicts
from lcca.experiments.sweep.testing import run_tests
from lcca.gym_envs.ns3.simulator import installed
from lcca.gym_envs.processes.pool import Pool
from lcca.remy_plus.engine import Engine


def sweep(
    config: CampaignConfig,
    path: Path,
    *,
    jobs: int,
    resume: bool,
    quiet: bool = False,
    place: str = "local",
    cache: Path | None = None,
    trainings: int = 1,
    until: Literal["trained"] | None = None,
) -> dict[str, Any]:
    """Run a campaign to its end, going on from whatever its folder holds, and return its summary.

    Args:
        config: the campaign.
        path: its run's folder.
        jobs: threads, or workers of another place; never changes a result.
        resume: go on with a run that is there.
        quiet: say nothing.
        place: where trials run, an executor's name; never changes a result.
        cache: a folder of finished trainings, used and added to; None trains everything here.
        trainings: how many policies learn at once, each on one thread; 1 gives each in turn all the jobs. On a cluster
            they learn there.
        until: where to end before; after the trainings of the first training seeds what is returned are their `rows`.

    Raises:
        InputError: the folder or the cache cannot be used, see `RunFolder.open`, or an extra is missing.
    """
    if config.validation.ns3:
        installed()  # or say so before hours of training
    shared = TrainingCache(cache)
    check_libraries(config, path)
    with executor(place, jobs) as workers, opened(config, path, resume=resume, quiet=quiet) as begun:
        if begun.folder.complete:
            begun.reporter.show(f"{path}: complete already; nothing to do")
            return begun.folder.read_json(layout.SUMMARY)
        with executor("ray" if workers.away else "processes", trainings) as pool:
            workers.tell = pool.tell = begun.reporter.say
            run = begun.on(engine_of(config, jobs, runner_on(workers)))
            if words := look_at(path, config.trainer):
                run.reporter.say(words)
            return _run(run, shared, pool) if until is None else {"rows": train_first(run, shared, pool)}


def render(folder: Path) -> None:
    """Draw the report. What draws takes as long to load as all the rest, and a run needs it at its end alone."""
    from lcca.evaluation.report.report import render as draw

    draw(folder)


def _run(run: Run[CampaignConfig, Engine], cache: TrainingCache, pool: Pool) -> dict[str, Any]:
    folder, config, reporter = run.folder, run.config, run.reporter
    reporter.say(f"{config.name}: {_plan(config)}, then tests; everything goes to {folder.path}")
    trained = run_trainings(run, cache, pool)
    folder.write_table(layout.LEARNING, pd.concat(trained.learning, ignore_index=True))
    found_groups = trained.groups(config)
    trials = {g.utility.name: run_tests(run, g) for g in found_groups}
    repeated = [row for g in found_groups for row in run_per_network(run, g)]
    checked = [row for g in found_groups for row in validate_in_ns3(run, g)]
    general = [run_generalisation(run, g, condition) for g in found_groups for condition in config.generalisation]
    found = all_comparisons(found_groups, trials)
    content = summary(config, found_groups, trials, found)
    if repeated:
        content["per_network"] = repeated
    if config.validation.ns3:
        content["ns3"] = checked
    if general:
        content["generalisation"] = general
    folder.write_json(layout.SUMMARY, content)
    folder.write_json(layout.VERDICTS, verdicts(found))
    folder.remove(layout.SO_FAR)
    reporter.say("drawing the report")
    render(folder.path)
    folder.set_state(COMPLETE)
    return content


def _plan(config: CampaignConfig) -> str:
    """Return how many trainings there will be."""
    least, most = (len(learners(config, seeds)) for seeds in (config.seed_steps[0], config.seeds))
    return f"{least} trainings" if least == most else f"{least} to {most} trainings"
