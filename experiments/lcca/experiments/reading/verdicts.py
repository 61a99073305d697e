"""The verdicts of a run again, from its stored trials alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.plan import learners
from lcca.experiments.learning.training import engine_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.kinds import SWEEP
from lcca.experiments.runs.manifest import FILES, changes, listed, read_kind
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.testing.summary import all_comparisons, verdicts
from lcca.experiments.testing.trainings import seeds_done, trained_before
from lcca.inputs.errors import require


def verdicts_of(path: Path) -> dict[str, Any]:
    """Return what verdicts.json must hold, from the run's configuration, checkpoints and trials."""
    manifest, config = read_kind(path, SWEEP), read_campaign(path / layout.CONFIG)
    other = {key: each for key, each in changes(path, config, manifest).items() if key.startswith(FILES)}
    require(not other, f"{path}: {listed(other, config.content)} than when it ran; put it back as it was")
    folder = RunFolder(path, config)
    run = Run(folder, engine_of(config, 1), Costs(folder), Reporter(quiet=True))
    seeds = seeds_done(run)
    require(len(seeds) > 0, f"{path}: its trainings have not been tested yet; finish the run with lcca sweep")
    plan = learners(config, seeds)
    for learner in plan:
        require(
            folder.trials.has(layout.part_name(layout.VALIDATION, learner.id)),
            f"{path}: {learner.id} has not been validated yet; finish the run with lcca sweep",
        )
    found = trained_before(run, plan).groups(config)
    trials = {g.utility.name: folder.trials.all(layout.TEST, g.utility.name) for g in found}
    for name, rows in trials.items():
        require(len(rows) > 0, f"{path}: no test trials for utility {name}; finish the run with lcca sweep")
    return verdicts(all_comparisons(found, trials))
