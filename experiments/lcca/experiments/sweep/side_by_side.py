"""Trainings side by side, each in a process and on a thread of its own: the same bits, and no core is idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.costs import Cost, Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.sweep.cache import TrainingCache
from lcca.experiments.sweep.training import engine_of, train
from lcca.gym_envs.processes.workers import Failure, run_all
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine


@dataclass(frozen=True)
class _Work:
    """One training, for another process."""

    config: CampaignConfig
    path: Path
    learner: Learner
    cache: Path | None


@dataclass(frozen=True)
class _Done:
    """What a training cost and where it ended."""

    cost: Cost
    rules: int
    score_bits: float
    trials: int


def train_side_by_side(
    run: Run[CampaignConfig, Engine], plan: Sequence[Learner], cache: TrainingCache, processes: int
) -> None:
    """Train all policies of a plan, `processes` at once; each goes on from its checkpoint.

    Raises:
        InputError: trainings failed; the message names them and why. The others are done.
    """
    work = [_Work(run.config, run.path, learner, cache.folder) for learner in plan]
    failed = []
    title = f"training {len(plan)} policies, {min(processes, len(plan))} at once"
    with run.reporter.task(title, total=len(plan)) as task:
        for count, (at, found) in enumerate(run_all(_train, work, processes), 1):
            name = plan[at].id
            if isinstance(found, Failure):
                failed.append(f"training {name}: {found.reason}")
                continue
            run.costs.add("training", found.cost)
            done = f"{name}: {found.rules} rules, score {found.score_bits:.3f} bits, {found.trials:,} trials"
            task.update(count, done)
            run.reporter.note(f"training {done}: done")
    if failed:
        raise InputError("\n".join(failed))


def _train(work: _Work) -> _Done:
    run = Run(RunFolder(work.path, work.config), engine_of(work.config, 1), Costs(None), Reporter(quiet=True))
    last = train(run, work.learner, cache=TrainingCache(work.cache))[-1]
    return _Done(run.costs.total("training"), last.rules, last.score_bits, last.trials)
