"""Trainings side by side, each in a process and on a thread of its own, here or elsewhere: the same bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.sweep.learning.cache import TrainingCache
from lcca.experiments.sweep.learning.remote import Progress, RemoteTrainings
from lcca.experiments.sweep.learning.training import engine_of, take_from_cache, train
from lcca.gym_envs.processes.cluster import RayCluster
from lcca.gym_envs.processes.pool import Failure, Pool
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine


@dataclass(frozen=True)
class _Work:
    """One training, for another process."""

    config: CampaignConfig
    path: Path
    learner: Learner
    cache: Path | None


def train_side_by_side(
    run: Run[CampaignConfig, Engine], plan: Sequence[Learner], cache: TrainingCache, pool: Pool
) -> None:
    """Train all policies of a plan, as many at once as the pool runs; each goes on from its checkpoint.

    Raises:
        InputError: trainings failed; the message names them and why. The others are done.
    """
    failed = []
    title = f"training {len(plan)} policies, {min(pool.count, len(plan))} at once"
    with run.reporter.task(title, total=len(plan)) as task:
        for count, (at, found) in enumerate(_trained(run, plan, cache, pool), 1):
            name = plan[at].id
            if isinstance(found, Failure):
                failed.append(f"training {name}: {found.reason}")
                continue
            run.costs.add("training", found.cost)
            last = found.last
            done = f"{name}: {last.rules} rules, score {last.score_bits:.3f} bits, {last.trials:,} trials"
            task.update(count, done)
            run.reporter.note(f"training {done}: done")
    if failed:
        raise InputError("\n".join(failed))


def _trained(
    run: Run[CampaignConfig, Engine], plan: Sequence[Learner], cache: TrainingCache, pool: Pool
) -> Iterator[tuple[int, Progress | Failure]]:
    if isinstance(pool, RayCluster):
        for learner in plan:
            take_from_cache(run, learner, f"training {learner.id}", cache)
        return RemoteTrainings(run, plan, cache).train(pool)
    return pool.run(_train, [_Work(run.config, run.path, learner, cache.folder) for learner in plan])


def _train(work: _Work) -> Progress:
    run = Run(RunFolder(work.path, work.config), engine_of(work.config, 1), Costs(None), Reporter(quiet=True))
    last = train(run, work.learner, cache=TrainingCache(work.cache))[-1]
    return Progress({}, run.costs.total("training"), last, done=True)
