"""Training of one policy in a run, from what its folder or the training cache has to the end, and its learning curve.

Where TensorBoard is installed, each step is a point of the curves that it shows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.experiments.learning.cache import Finished, TrainingCache
from lcca.experiments.learning.plan import Learner, Rounds
from lcca.experiments.runs.remaining import More
from lcca.experiments.runs.version import version
from lcca.inputs.errors import InputError
from lcca.inputs.files import make_folder, read_checked, write_checked
from lcca.remy_plus.engine import Engine, Runner, run_here
from lcca.remy_plus.files.policyfile import PolicyFile, loads
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import LearningRow, Trainer, TrainerConfig, WarmStart
from lcca.trainers.registry import trainer_class

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.running import CampaignRun

Write = Callable[[Sequence[LearningRow]], None]
"""Takes the rows of a learning curve that are new."""

NO_CACHE = TrainingCache(None)

VALUES = ("score_bits", "rules", "round", "trials", "packets", "cpu_s")
"""Of a `LearningRow`, what TensorBoard shows."""

STEPS = "steps"
"""Beside what an algorithm logs of itself: TensorBoard reads one writer's files per folder."""


def engine_of(config: CampaignConfig, jobs: int, runner: Runner = run_here) -> Engine:
    """Return the engine that a campaign's trials run on; on a fabric its threads and runner alone count."""
    return Engine(config.networks.duration, config.model.build(), jobs, runner)


def train(
    run: CampaignRun, learner: Learner, which: str = "", cache: TrainingCache = NO_CACHE
) -> Sequence[LearningRow]:
    """Train one policy to the end, going on from its checkpoint, and return its learning curve.

    Each round's policy is written to ``policies/<id>/round-<k>.json``. `which` follows the learner's name on the
    screen. A training that the cache has is not done again; one that was finished is kept there.

    Raises:
        InputError: a checkpoint or a policy file is lost, damaged or of another training, or an extra is missing.
    """
    title = f"training {learner.id}{which}"
    take_from_cache(run, learner, title, cache)
    trainer, rounds = trainer_of(run, learner, cache.folder), Rounds(run.path, learner)
    rounds.own(trainer.learning)
    if not trainer.done:
        with _scalars(run.path, learner, learner.trained_by(run.config), trainer.learning) as write:
            advance(trainer, title, run, learner, write=write)
    checkpoint = read_checked(rounds.checkpoint, "remove it to train anew").decode()
    policies = {file.name: rounds.text(file) for file in _kept(trainer, rounds)}  # or say which is not whole
    cache.keep(learner.key(run.config), Finished(checkpoint, policies))
    return trainer.learning


def take_from_cache(run: CampaignRun, learner: Learner, title: str, cache: TrainingCache) -> None:
    """Write a training that was not begun into the run, if the cache has it."""
    rounds, key = Rounds(run.path, learner), learner.key(run.config)
    make_folder(rounds.checkpoint.parent)
    if not rounds.checkpoint.exists() and (finished := cache.take(key, run.reporter.say)) is not None:
        for name, text in finished.rounds.items():
            kept = loads(text)
            own = provenance(run.config, rounds.learner) | {"round": kept.provenance["round"]}
            mine = replace(kept, signal_set=learner.signals.name, header=learner.header, provenance=own)
            rounds.write(rounds.folder / name, mine)
        write_checked(rounds.checkpoint, finished.checkpoint.encode())  # last: with it the training counts as finished
        run.reporter.say(f"{title}: done before, taken from {cache.file(key)}")


def trainer_of(run: CampaignRun, learner: Learner, shared: Path | None = None) -> Trainer:
    """Return a learner's trainer as it stands; `shared` is the folder of what trainings have in common."""
    config, rounds = run.config, Rounds(run.path, learner)

    def keep(round_: int, policy: Policy) -> None:
        own = provenance(config, learner) | {"round": round_ + 1}
        file = PolicyFile(policy, signal_set=learner.signals.name, header=learner.header, provenance=own)
        rounds.write(rounds.file(round_), file)

    shared = (shared or layout.shared(run.path)) / f"{learner.shared_key(config)}.json"
    make_folder(shared.parent)
    task = replace(learner.task(config), warm_start=_warm_start(run, learner), rivals=_rivals(run, learner))
    how = learner.trained_by(config)
    return trainer_class(how)(task, how, run.engine, rounds.checkpoint, keep, shared)


def _warm_start(run: CampaignRun, learner: Learner) -> WarmStart | None:
    """Return what a training goes on from: a training that is done already, or a table of a file."""
    first = learner.warm_start(run.config)
    if first is None:
        table = run.config.starts.get(learner.candidate.name)
        return None if table is None else WarmStart(table, 0)
    trained = _done(run, first)
    return WarmStart(trained.policy, trained.learning[-1].step)


def _rivals(run: CampaignRun, learner: Learner) -> tuple[Policy, ...]:
    """Return the tables that a training may go on from: the last one of each size of the trainings it needs."""
    tables: list[Policy] = []
    for rival in learner.rivals(run.config):
        rounds = Rounds(run.path, rival)
        kept = [rounds.read(file).policy for file in _kept(_done(run, rival), rounds)]
        tables += {len(table): table for table in kept if isinstance(table, RuleTable)}.values()
    return tuple(tables)


def _done(run: CampaignRun, learner: Learner) -> Trainer:
    trained = trainer_of(run, learner)
    if not trained.done:
        raise InputError(f"{Rounds(run.path, learner).checkpoint}: not trained to its end; resume to do that first")
    return trained


def _kept(trainer: Trainer, rounds: Rounds) -> list[Path]:
    """Return the policy files that a training which is done has left: a step may leave several."""
    return [rounds.file(round_) for round_ in range(trainer.learning[-1].round + 1)]


def advance(
    trainer: Trainer,
    title: str,
    run: CampaignRun,
    learner: Learner,
    until: float = math.inf,
    write: Write = lambda rows: None,
) -> None:
    """Train to the end, or until so many seconds of the monotonic clock; at least one step, if any is left.

    `write` gets the rows of each step.
    """
    budget = learner.trained_by(run.config).budget
    with run.reporter.task(title, total=float(budget.amount)) as task:
        task.begin(trainer.used)
        while not trainer.done:
            with run.costs.phase("training") as cost:
                rows = trainer.learning
                before, trials, packets = len(rows), *((rows[-1].trials, rows[-1].packets) if rows else (0, 0))
                trainer.step()
                last = trainer.learning[-1]
                cost.trials += last.trials - trials
                cost.packets += last.packets - packets
            write(trainer.learning[before:])
            left = max(budget.amount - trainer.used, 0)
            task.update(float(trainer.used), note(last), More(left, left, budget.unit))
            if time.monotonic() >= until:
                break
    if trainer.done:
        run.reporter.say(f"{title}: {note(trainer.learning[-1])}: done")


def note(row: LearningRow) -> str:
    """Return a step in words."""
    rules = f"{row.rules} rules, " if row.rules > 1 else "1 rule, not learnt yet, " if row.rules else ""
    return (
        f"round {row.round + 1}, step {row.step} ({row.kind}): {rules}score {row.score_bits:.3f} bits, "
        f"{row.trials:,} trials, {row.cpu_s:.1f} CPU s"
    )


def provenance(config: CampaignConfig, learner: Learner) -> dict[str, object]:
    """Return where a policy comes from; no times, so that equal runs give equal bytes."""
    return (
        {
            "campaign": config.name,
            "config_hash": config.hash,
            "seed": config.seed,
            "training_seed": learner.training_seed,
            "utility": learner.utility.name,
            "version": version(),
        }
        | learner.trained_by(config).provenance
        | config.model.provenance
    )


def learning_rows(learner: Learner, rows: Sequence[LearningRow]) -> pd.DataFrame:
    """Return a training's rows of the learning table."""
    table = pd.DataFrame([asdict(row) for row in rows])
    table.insert(0, "policy_base", learner.id)
    table.insert(1, "signal_set", learner.signals.name)
    table.insert(2, "utility", learner.utility.name)
    table.insert(3, "training_seed", learner.training_seed)
    if learner.trainer:
        table.insert(4, "trainer", learner.trainer)
    return table


def look_at_curves(run: Path, config: CampaignConfig) -> str:
    """Return how to look at the curves of a run; nothing where none are written."""
    written = any(map(_has_curves, config.named_trainers.values()))
    return f"learning curves: tensorboard --logdir {_curves(run)}" if written else ""


def _curves(run: Path) -> Path:
    return run / layout.TRAINING / layout.TENSORBOARD


def _has_curves(config: TrainerConfig) -> bool:
    return config.logs and find_spec("tensorboard") is not None


@contextmanager
def _scalars(run: Path, learner: Learner, config: TrainerConfig, before: Sequence[LearningRow]) -> Iterator[Write]:
    """Write the rows that are handed over, each as soon as it is; a training that goes on appends.

    `before` are the rows so far: they are there already, unless the training begins where others have been.
    """
    if not _has_curves(config):
        yield lambda rows: None
        return
    from tensorboard.summary import Writer as EventWriter

    place = _curves(run) / learner.id / STEPS
    begun = place.exists()
    events = EventWriter(str(place))

    def write(rows: Sequence[LearningRow]) -> None:
        for row in rows:
            values = asdict(row)
            for name in VALUES:
                events.add_scalar(name, values[name], row.step)
        events.flush()

    try:
        write(() if begun else before)
        yield write
    finally:
        events.close()
