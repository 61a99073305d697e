"""A whole campaign: train, pick, test, say what is settled, write the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.report.report import render
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import learners, warm_starts
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter, Task
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.sweep.cache import TrainingCache
from lcca.experiments.sweep.generalisation import run_generalisation
from lcca.experiments.sweep.groups import Group, groups
from lcca.experiments.sweep.ns3_check import ns3_of
from lcca.experiments.sweep.ns3_validation import ns3_summary, run_ns3_validation
from lcca.experiments.sweep.per_network import run_per_network
from lcca.experiments.sweep.selection import choose
from lcca.experiments.sweep.side_by_side import train_side_by_side
from lcca.experiments.sweep.summary import all_comparisons, summary, verdicts
from lcca.experiments.sweep.test_phase import run_tests
from lcca.experiments.sweep.training import engine_of, learning_rows, train
from lcca.gym_envs.ns3.simulator import installed
from lcca.remy_plus.engine import Engine


@dataclass(frozen=True)
class Result:
    """Where a campaign's run lies and what it found."""

    folder: Path
    summary: dict[str, Any]


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
) -> Result:
    """Run a campaign to its end, going on from whatever its folder holds.

    Args:
        config: the campaign.
        path: its run's folder.
        jobs: threads, or workers of another place; never changes a result.
        resume: go on with a run that is there.
        quiet: say nothing.
        place: where trials run, an executor's name; never changes a result.
        cache: a folder of finished trainings, used and added to; None trains everything here.
        trainings: how many policies learn at once, each on one thread; 1 gives each in turn all the jobs.

    Raises:
        InputError: the folder cannot be used; see `RunFolder.open`.
    """
    if config.validation.ns3:
        installed()  # or say so before hours of training
    with opened(config, path, resume=resume, quiet=quiet) as begun:
        if begun.folder.complete:
            begun.reporter.show(f"{path}: complete already; nothing to do")
            return Result(path, begun.folder.read_json(layout.SUMMARY))
        with executor(place, jobs) as runner:
            return _run(begun.on(engine_of(config, jobs, runner)), TrainingCache(cache), trainings)


def _run(run: Run[CampaignConfig, Engine], cache: TrainingCache, trainings: int) -> Result:
    folder, config, engine, costs, reporter = run.folder, run.config, run.engine, run.costs, run.reporter
    plan = learners(config)
    reporter.say(f"{config.name}: {len(plan)} trainings, then tests; everything goes to {folder.path}")
    folder.set_state("training")
    first = warm_starts(config)
    if trainings > 1:
        for part in filter(None, (first, plan)):
            train_side_by_side(folder, part, costs, reporter, cache, trainings)
    for start in first:
        train(folder, start, engine, costs, reporter, " (what all go on from)", cache)
    curves = [
        learning_rows(learner, train(folder, learner, engine, costs, reporter, f" ({i} of {len(plan)})", cache))
        for i, learner in enumerate(plan, 1)
    ]
    folder.write_table(layout.LEARNING, pd.concat(curves, ignore_index=True))
    folder.set_state("testing")
    chosen = []
    with reporter.task("picking checkpoints on validation networks", total=len(plan)) as task:
        for i, learner in enumerate(plan):
            chosen.append(choose(folder, learner, engine, costs))
            task.update(i + 1, f"{learner.id}: {chosen[-1].validation_score_bits:.3f} bits")
    found_groups = groups(config, chosen)
    trials = {g.utility.name: _test(config, g, engine, run.phase(layout.TEST), reporter) for g in found_groups}
    for group in found_groups:
        run_per_network(config, group, engine, run.phase(layout.PER_NETWORK))
    ns3, generalisation = run.phase(layout.NS3_VALIDATION), run.phase(layout.GENERALISATION)
    checked = [row for g in found_groups for row in _ns3(config, g, engine, ns3, reporter)]
    general = [row for g in found_groups for row in _generalisation(config, g, engine, generalisation, reporter)]
    found = all_comparisons(found_groups, trials)
    content = summary(config, found_groups, trials, found)
    if config.validation.ns3:
        content["ns3"] = checked
    if general:
        content["generalisation"] = general
    folder.write_json(layout.SUMMARY, content)
    folder.write_json(layout.VERDICTS, verdicts(found))
    reporter.say("drawing the report")
    render(folder.path)
    folder.set_state(COMPLETE)
    return Result(folder.path, content)


def _test(config: CampaignConfig, group: Group, engine: Engine, phase: Phase, reporter: Reporter) -> pd.DataFrame:
    title, test = f"testing on fresh networks (utility {group.utility.name})", config.test
    with reporter.task(title, total=test.pairs) as task:

        def tell(pairs: int, found: list[Comparison]) -> None:
            task.update(pairs, _standing(pairs, found), more_pairs(found, pairs, test.at_least, test.pairs))

        return run_tests(config, group, engine, phase, tell)


def _generalisation(
    config: CampaignConfig, group: Group, engine: Engine, phase: Phase, reporter: Reporter
) -> list[dict[str, Any]]:
    rows = []
    for condition in config.generalisation:
        title = f"testing generalisation: {condition.name} (utility {group.utility.name})"
        with reporter.task(title, total=condition.pairs) as task:

            def tell(pairs: int, found: list[Comparison], task: Task = task) -> None:
                task.update(pairs, _standing(pairs, found))

            rows.append(run_generalisation(config, group, condition, engine, phase, tell))
    return rows


def _ns3(
    config: CampaignConfig, group: Group, engine: Engine, phase: Phase, reporter: Reporter
) -> list[dict[str, Any]]:
    wanted = config.validation.ns3
    if wanted is None:
        return []
    title = f"validating in ns-3 (utility {group.utility.name})"
    with reporter.task(title, total=wanted.networks * len(wanted.topologies)) as task:
        return ns3_summary(group, run_ns3_validation(config, group, engine, ns3_of(config, engine), phase, task.update))


def _standing(pairs: int, found: list[Comparison]) -> str:
    """Say how far the comparisons are, with a forecast for those that are open."""
    words = []
    for c in found:
        likely = f", likely {c.likely_n[0]}–{c.likely_n[1]} pairs" if c.likely_n else ""
        words.append(f"{c.B.split(f'.{c.utility.name}.')[0]} {c.verdict.name}{likely}")
    return f"{pairs} pairs: " + "; ".join(words)
