"""Trainings side by side, each in a process and on a thread of its own, here or elsewhere: the same bits.

Other machines share no files with this one, so trainings there go stretch by stretch. A stretch takes a training's
files along, goes on from its checkpoint for some seconds and returns the files that it wrote. So the run folder holds
every training as it stood at the end of its last stretch: that is what a lost node, or the loss of all of them, costs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lcca.evaluation.trials import layout
from lcca.experiments.learning.cache import TrainingCache
from lcca.experiments.learning.plan import Learner, Rounds
from lcca.experiments.learning.training import advance, engine_of, note, take_from_cache, train, trainer_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.costs import Cost, Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.errors import InputError
from lcca.inputs.files import DIGEST, write_atomically
from lcca.trainers.base import LearningRow
from lcca.workers.cluster import RayCluster
from lcca.workers.pool import Failure, Pool

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.running import CampaignRun

STRETCH_S = 60.0
"""How long a stretch lasts at least, in seconds; it ends with a step."""

Files = Mapping[str, bytes]
"""Files of a run, by their path in its folder, in the order in which they must be written."""


@dataclass(frozen=True)
class Progress:
    """What a process did for a training; its files are those that it wrote where they are not shared."""

    files: Files
    cost: Cost
    last: LearningRow
    done: bool


def train_side_by_side(run: CampaignRun, plan: Sequence[Learner], cache: TrainingCache, pool: Pool) -> None:
    """Train all policies of a plan, as many at once as the pool runs; each goes on from its checkpoint.

    Those that others share a beginning with come first, one for each beginning; then one of equal trainings, which
    others take from the cache.

    Raises:
        InputError: trainings failed; the message names them and why. The others are done.
    """
    failed, first = [], dict[str, Learner]()
    for learner in plan:
        first.setdefault(learner.shared_key(run.config), learner)
    equal = {learner.key(run.config): learner for learner in reversed(plan)}
    plan = sorted(plan, key=lambda learner: (learner not in first.values(), learner not in equal.values()))
    title = f"training {len(plan)} policies, {min(pool.count, len(plan))} at once"
    with run.reporter.task(title, total=len(plan)) as task:
        for count, (at, progress) in enumerate(_trained(run, plan, cache, pool), 1):
            name = plan[at].id
            if isinstance(progress, Failure):
                failed.append(f"training {name}: {progress.reason}")
                continue
            run.costs.add("training", progress.cost)
            last = progress.last
            done = f"{name}: {last.rules} rules, score {last.score_bits:.3f} bits, {last.trials:,} trials"
            task.update(count, done)
            run.reporter.note(f"training {done}: done")
    if failed:
        raise InputError("\n".join(failed))


def _trained(
    run: CampaignRun, plan: Sequence[Learner], cache: TrainingCache, pool: Pool
) -> Iterator[tuple[int, Progress | Failure]]:
    if isinstance(pool, RayCluster):
        for learner in plan:
            take_from_cache(run, learner, f"training {learner.id}", cache)
        return RemoteTrainings(run, plan, cache).train(pool)
    return pool.run(partial(_train, run.config, run.path, cache.folder), plan)


def _train(config: CampaignConfig, path: Path, cache: Path | None, learner: Learner) -> Progress:
    run = _run_of_one(path, config)
    last = train(run, learner, cache=TrainingCache(cache))[-1]
    return Progress({}, run.costs.total("training"), last, done=True)


def _run_of_one(path: Path, config: CampaignConfig) -> CampaignRun:
    """Return a run for one training: on one thread, with costs that are returned and nothing said."""
    return Run(RunFolder(path, config), engine_of(config, 1), Costs(None), Reporter(quiet=True))


@dataclass(frozen=True)
class Stretch:
    """Some seconds of a training.

    Attributes:
        config: of the campaign.
        learner: what is trained.
        key: of the training here: it names the code too.
        folder: where files that the campaign names are looked for.
        files: of the training, and of those that it goes on from.
        seconds: how long.
    """

    config: CampaignConfig
    learner: Learner
    key: str
    folder: str
    files: Files
    seconds: float


class RemoteTrainings:
    """Trainings on other machines, of which none goes on from another, and the run to which their files are brought.

    The cache's folder has what trainings have in common; stretches last some seconds.
    """

    def __init__(
        self, run: CampaignRun, plan: Sequence[Learner], cache: TrainingCache, seconds: float = STRETCH_S
    ) -> None:
        self._run, self._plan, self._seconds = run, plan, seconds
        self._shared = cache.folder or layout.shared(run.path)

    def train(self, pool: RayCluster) -> Iterator[tuple[int, Progress | Failure]]:
        """Train all to their ends; yield (index, its last stretch or why there is none) as they end."""
        yield from pool.run(train_stretch, [self._stretch(learner) for learner in self._plan], then=self._keep)

    def _keep(self, at: int, progress: Progress) -> Stretch | None:
        """Keep what a stretch did, and return the next one if the training is not done."""
        learner = self._plan[at]
        for name, content in progress.files.items():
            file = self._file(learner, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, content)
        if progress.done:
            return None
        self._run.costs.add("training", progress.cost)  # the last one's are added by whom it is yielded to
        self._run.reporter.note(f"training {learner.id}: {note(progress.last)}")
        return self._stretch(learner)

    def _stretch(self, learner: Learner) -> Stretch:
        """Return the next stretch of a training as it stands here."""
        config = self._run.config
        needed = [each for part in (*learner.needs(config), learner) for each in _names(self._run.path, part)]
        named = {name: self._file(learner, name) for name in (_shared(learner, config), *needed)}
        files = {name: file.read_bytes() for name, file in named.items() if file.exists()}
        return Stretch(config, learner, learner.key(config), os.getcwd(), files, self._seconds)

    def _file(self, learner: Learner, name: str) -> Path:
        if name == _shared(learner, self._run.config):
            return self._shared / Path(name).name
        return self._run.path / name


def train_stretch(work: Stretch) -> Progress:
    """Train for some seconds, in a folder of its own.

    Raises:
        InputError: the code here is another one, a file that the campaign names is missing or another one, or as
            `train`.
    """
    there = chdir(work.folder) if Path(work.folder).is_dir() else nullcontext()  # files are looked for in it
    with there, TemporaryDirectory(prefix="lcca-") as folder:
        path = Path(folder)
        for name, content in work.files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
        if work.learner.key(work.config) != work.key:
            raise InputError(
                f"node {os.uname().nodename}: runs another lcca, other libraries or other files than the head; "
                "install the same wheel and libraries everywhere, and have files that the campaign names at the same "
                "path"
            )
        run = _run_of_one(path, work.config)
        trainer = trainer_of(run, work.learner)
        advance(trainer, f"training {work.learner.id}", run, work.learner, until=time.monotonic() + work.seconds)
        names = [*_names(path, work.learner), _shared(work.learner, work.config)]
        files = {name: (path / name).read_bytes() for name in names if (path / name).exists()}
        new = {name: content for name, content in files.items() if work.files.get(name) != content}
        return Progress(new, run.costs.total("training"), trainer.learning[-1], trainer.done)


def _names(run: Path, learner: Learner) -> list[str]:
    """Return the names of a training's files, its checkpoint last: a training goes on from what that says is there."""
    rounds = Rounds(run, learner)
    files = [*sorted(rounds.folder.glob("*"), key=lambda file: file.suffix != DIGEST), rounds.checkpoint]
    return [file.relative_to(run).as_posix() for file in files]


def _shared(learner: Learner, config: CampaignConfig) -> str:
    """Return the name of the file of what trainings have in common."""
    return (layout.shared(Path()) / f"{learner.shared_key(config)}.json").as_posix()
