"""A whole campaign: train, pick, test, say what is settled, write the report; or a grid of campaigns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor, runner_on
from lcca.evaluation.trials.loaded_run import read_manifest
from lcca.evaluation.trials.records import renamed
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.running import CampaignRun
from lcca.experiments.learning.cache import TrainingCache
from lcca.experiments.learning.plan import learners
from lcca.experiments.learning.training import engine_of, look_at_curves
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import render
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.context import opened
from lcca.experiments.runs.grid import Grid, read_grid, single
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.testing.forecast import Forecast, forecast
from lcca.experiments.testing.net_benefit import too_few_seeds
from lcca.experiments.testing.ns3 import validate_in_ns3
from lcca.experiments.testing.per_network import run_per_network
from lcca.experiments.testing.selected import run_generalisation, run_tests
from lcca.experiments.testing.summary import all_comparisons, summary, verdicts
from lcca.experiments.testing.trainings import run_trainings, train_first
from lcca.experiments.verbs.options import File
from lcca.experiments.verbs.sweeping import TRAINING_CACHE, Sweep
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.errors import require
from lcca.inputs.files import write_atomically
from lcca.workers.pool import Pool

ROWS = ("comparisons", "net_benefit", "trainers", "strata", "policies", "generalisation", "ns3", "per_network")
"""What grid.json has of the summary of each point."""


@dataclass(frozen=True)
class Sweeping:
    """A campaign, or a grid of them, ready to run."""

    verb: Sweep
    grid: Grid[CampaignConfig]

    def run(self, out: File | None = None, *, resume: bool = False, quiet: bool = True) -> Result:
        """Run it, as `Prepared.run` does.

        Returns:
            The content of summary.json and the trials of the selected policies, or the content of grid.json; `until`
            the first trainings are done, their `rows`.
        """
        run = partial(_sweep, verb=self.verb, cache=self.cache, resume=resume, quiet=quiet)
        if self.grid.single:
            ((config, folder),) = self.grid.runs(out)
            content = run(config, folder)
            return Result(content, TrialStore(folder / layout.TRIALS).all(layout.TEST), folder=folder)
        require(self.verb.until is None, "--until: not for a grid; give the campaign of one point")
        return _sweep_grid(self.grid, Path(out) if out else self.grid.folder, run, quiet)

    def costs(self) -> dict[str, Forecast]:
        """Return, by point, what remains to be done."""
        verb, away = self.verb, self.verb.executor == "ray"
        points = self.grid.points.items()
        return {name: forecast(config, self.cache, verb.jobs, verb.trainings, away) for name, config in points}

    @property
    def cache(self) -> TrainingCache:
        """The finished trainings."""
        folder = self.verb.training_cache or (None if self.verb.out else TRAINING_CACHE)
        return TrainingCache(None if folder is None else Path(folder))


def sweeping(verb: Sweep) -> Sweeping:
    """Run a campaign to its end, or each of a grid, going on from whatever the folder holds."""
    campaign = verb.campaign
    if isinstance(campaign, CampaignConfig):
        campaign = single(campaign)
    elif not isinstance(campaign, Grid):
        campaign = read_grid(campaign, CampaignConfig, verb.overrides)
    return Sweeping(verb, campaign)


sweep = function("sweep", Sweep, sweeping)


def _sweep_grid(
    grid: Grid[CampaignConfig], folder: Path, run: Callable[[CampaignConfig, Path], Mapping[str, Any]], quiet: bool
) -> Result:
    """Run every campaign of a grid in a folder of its own, and put what they say side by side."""
    rows = []
    for number, (name, (config, path)) in enumerate(zip(grid.points, grid.runs(folder), strict=True), 1):
        Reporter(quiet=quiet).say(f"point {number} of {len(grid.points)}: {name}")
        summary = run(config, path)
        rows.append({"name": name, "config_hash": config.hash} | {key: summary[key] for key in ROWS if key in summary})
    content = {"format": 1, "grid": grid.name, "hash": grid.hash, "points": rows}
    write_atomically(folder / layout.GRID, (json.dumps(content, sort_keys=True, indent=1) + "\n").encode())
    from lcca.evaluation.report.report import render_grid  # what draws takes long to load; see `render`

    render_grid(folder)
    return Result(content, pd.DataFrame(), folder=folder)


def _sweep(
    config: CampaignConfig, path: Path, *, verb: Sweep, cache: TrainingCache, resume: bool, quiet: bool
) -> dict[str, Any]:
    """Run one campaign and return the content of its summary.json, or of its first trainings; see `Sweeping.run`."""
    if config.validation.ns3:
        installed()  # or say so before hours of training
    if read_manifest(path) is None:  # else its trainings may be done, which then need nothing
        for trainer in config.named_trainers.values():
            trainer.require_installed()
    with executor(verb.executor, verb.jobs) as workers, opened(config, path, resume=resume, quiet=quiet) as begun:
        if begun.folder.complete:
            return renamed(begun.folder.read_json(layout.SUMMARY))
        with executor("ray" if workers.away else "processes", verb.trainings) as pool:
            workers.tell = pool.tell = begun.reporter.say
            run = begun.on(engine_of(config, verb.jobs, runner_on(workers)))
            if words := look_at_curves(path, config):
                run.reporter.say(words)
            return _run(run, cache, pool) if verb.until is None else {"rows": train_first(run, cache, pool)}


def _run(run: CampaignRun, cache: TrainingCache, pool: Pool) -> dict[str, Any]:
    folder, config, reporter = run.folder, run.config, run.reporter
    counts = dict.fromkeys(f"{len(learners(config, seeds))}" for seeds in (config.seed_steps[0], config.seeds))
    reporter.say(f"{config.name}: {' to '.join(counts)} trainings, then tests; everything goes to {folder.path}")
    if note := too_few_seeds(config):
        reporter.say(f"warning: {note}")
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
    render(folder.path, run.costs)
    folder.set_state(COMPLETE)
    return content
