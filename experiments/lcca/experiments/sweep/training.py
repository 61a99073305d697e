"""The training phase of a campaign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.campaign.plan import Learner, policy_folder
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.version import version
from lcca.experiments.sweep.cache import CellStore
from lcca.remy_plus.engine import Engine, Runner, run_here
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.headers.stamping import described
from lcca.trainers.drl import DrlConfig, DrlTrainer
from lcca.trainers.rplus import RplusConfig, RplusTrainer
from lcca.trainers.rplus.state import LearningRow, SearchState
from lcca.trainers.rplus.trainer import Start, Task

NO_CELLS = CellStore(None)

Keeper = Callable[[int, RuleTable | MlpPolicy], None]


def engine_of(config: CampaignConfig, jobs: int, runner: Runner = run_here) -> Engine:
    """Return the engine that a campaign's trials run on."""
    return Engine(config.networks.duration, config.model.build(), jobs, runner)


def train(
    folder: RunFolder,
    learner: Learner,
    engine: Engine,
    costs: Costs,
    reporter: Reporter,
    place: str = "",
    cells: CellStore = NO_CELLS,
) -> list[LearningRow]:
    """Train one policy to the end, going on from its checkpoint, and return its learning curve.

    Each round's table is written to ``policies/<id>/round-<k>.json``. `place` follows the learner's name on the screen.
    A training that `cells` has is not done again; one that was finished is kept there.
    """
    config = folder.config
    rounds = policy_folder(folder.path, learner)
    title = f"training {learner.id}{place}"

    header = None if learner.candidate.header is None else described(learner.candidate.header)

    def keep(round_: int, table: RuleTable | MlpPolicy) -> None:
        file = PolicyFile(
            table,
            signal_set=learner.signals.name,
            header=header,
            provenance=provenance(config, learner) | {"round": round_ + 1},
        )
        rounds.mkdir(parents=True, exist_ok=True)
        policyfile.write(rounds / f"round-{round_ + 1:02d}.json", file)

    checkpoint = folder.path / "training" / f"{learner.id}.json"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    cell = learner.cell(config)
    if not checkpoint.exists() and cells.take(cell, checkpoint, rounds, lambda: _own(rounds, config, learner)):
        reporter.say(f"{title}: done before, taken from {cells.root}/{cell}")
    opening = (cells.root or checkpoint.parent / "openings") / f"{learner.opening(config)}.json"
    opening.parent.mkdir(parents=True, exist_ok=True)
    task = replace(learner.task(config), start=_start(folder, learner))
    trainer = trainer_of(config, task, engine, checkpoint, keep, opening)
    if not trainer.done:
        _train_to_end(trainer, title, config, costs, reporter)
    cells.keep(cell, checkpoint, rounds)
    return trainer.state.learning


def _start(folder: RunFolder, learner: Learner) -> Start | None:
    """Return the rules that a training goes on from, which are trained already."""
    root = learner.root_of(folder.config)
    if root is None:
        return None
    state = SearchState.load(folder.path / "training" / f"{root.id}.json", root.cell(folder.config))
    return Start(state.table, state.step)


def trainer_of(
    config: CampaignConfig, task: Task, engine: Engine, checkpoint: Path, keep: Keeper, opening: Path
) -> RplusTrainer | DrlTrainer:
    """Return the trainer that a campaign's file names; `opening` is what searches on different signals share.

    Raises:
        InputError: a checkpoint of another training, or an extra that is not installed.
    """
    if isinstance(config.trainer, DrlConfig):
        return DrlTrainer(task, config.trainer, engine, checkpoint, keep=keep)
    return RplusTrainer(task, config.trainer, engine, checkpoint, keep=keep, opening=opening)


def _train_to_end(
    trainer: RplusTrainer | DrlTrainer, title: str, config: CampaignConfig, costs: Costs, reporter: Reporter
) -> None:
    with reporter.task(title, total=_total(config)) as task:
        while not trainer.done:
            with costs.phase("training") as cost:
                trials, packets = trainer.state.trials, trainer.state.packets
                trainer.step()
                cost.trials += trainer.state.trials - trials
                cost.packets += trainer.state.packets - packets
            row = trainer.state.learning[-1]
            task.update(_done(config, row), _note(row))
    reporter.say(f"{title}: {_note(trainer.state.learning[-1])}: done")


def _own(rounds: Path, config: CampaignConfig, learner: Learner) -> None:
    """Write this campaign into the provenance of checkpoints: they are what it would have trained."""
    for file in sorted(rounds.glob("round-*.json")):
        kept = policyfile.read(file)
        own = replace(
            kept,
            signal_set=learner.signals.name,
            provenance=provenance(config, learner) | {"round": kept.provenance["round"]},
        )
        policyfile.write(file, own)


def provenance(config: CampaignConfig, learner: Learner) -> dict[str, object]:
    """Return where a policy comes from; no times, so that equal runs give equal bytes."""
    return {
        "campaign": config.name,
        "config_hash": config.hash,
        "seed": config.seed,
        "training_seed": learner.training_seed,
        "utility": learner.utility.name,
        "trainer": config.trainer.kind,
        "version": version(),
    } | ({"mode": config.trainer.mode} if isinstance(config.trainer, RplusConfig) else {})


def learning_rows(learner: Learner, rows: list[LearningRow]) -> pd.DataFrame:
    """Return a training's rows of the learning table."""
    table = pd.DataFrame([asdict(row) for row in rows])
    table.insert(0, "policy_base", learner.id)
    table.insert(1, "signal_set", learner.signals.name)
    table.insert(2, "utility", learner.utility.name)
    table.insert(3, "training_seed", learner.training_seed)
    return table


def _budget(config: CampaignConfig) -> int | None:
    return config.trainer.budget_trials if isinstance(config.trainer, RplusConfig) else None


def _total(config: CampaignConfig) -> float:
    return float(_budget(config) or config.trainer.rounds)


def _done(config: CampaignConfig, row: LearningRow) -> float:
    if _budget(config):
        return float(row.trials)
    return float(row.round + (row.kind not in ("improve", "split")))


def _note(row: LearningRow) -> str:
    rules = f"{row.rules} rules, " if row.rules else ""
    return (
        f"round {row.round + 1}, step {row.step} ({row.kind}): {rules}score {row.score_bits:.3f} bits, "
        f"{row.trials:,} trials, {row.cpu_s:.1f} CPU s"
    )
