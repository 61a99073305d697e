"""ACC on a fabric: every port of a switch is an agent, and all have one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.experiments.summaries import Json
from lcca.inputs.extras import require_libraries
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.registry import tuning
from lcca.signal_sets.load import resolve
from lcca.studies.acc.config import ACC, CHANCE, EXPLORING, MODEL, FabricAcc
from lcca.studies.acc.learner.config import FabricAccConfig
from lcca.studies.acc.marking.model import AccModel, read_acc_model
from lcca.studies.acc.marking.ports import NUMBERS
from lcca.workers.pool import Pool, Threads

if TYPE_CHECKING:
    from lcca.studies.acc.learner.double_dqn import DoubleDqn
    from lcca.studies.acc.marking.fabric_env import FabricEcnEnv


class OnFabric:
    """Where ACC learns and is tested: scenarios of a fabric."""

    def __init__(self, config: FabricAcc, workers: Pool) -> None:
        self.config = config
        self.workers = workers
        self._seed = derive(config.seed, "episodes")

    def require_flows(self, tests: bool = True) -> None:
        """Check that there is something to learn from, and in the tests to score; a training would not end without.

        Raises:
            InputError: there is not.
        """
        FabricTrials(self.config.space, self._seed, fabric_utility("slowdown")).require_scored()
        for each in self.tests.values() if tests else ():
            each.require_scored()

    def learner(self) -> DoubleDqn:
        """Return a learner that has not learnt yet."""
        from lcca.studies.acc.learner.double_dqn import new_learner

        trainer = self.config.trainer
        return new_learner(trainer, NUMBERS, trainer.templates.shape, derive(self.config.seed, "learner"))

    @cached_property
    def _envs(self) -> Mapping[str, FabricEcnEnv]:
        from lcca.studies.acc.marking.fabric_env import FabricEcnEnv

        made, policy = self.config.trainer, self.config.policy
        how = (made.interval_us, made.delay_us, made.history, made.templates, made.throughput)
        return {
            each.name: FabricEcnEnv(each, engine_of(policy, each.settings()), None, *how)
            for each in self.config.space.scenarios
        }

    def play(self, learner: DoubleDqn, episode: int) -> float:
        """Play an episode on the scenario whose turn it is; return the mean reward of ports that sent something."""
        from lcca.studies.acc.learner.ports import play_ports

        (trial,) = self.config.space.draw(self._seed, 1, episode)
        return play_ports(self._envs[trial.scenario.name], learner, trial.seed)

    def kept(self, folder: Path) -> AccModel | None:
        """Return the model of a training in a folder; None where it is not done."""
        return read_acc_model(folder / MODEL) if (folder / MODEL).exists() else None

    def learnt(self, learner: DoubleDqn, returns: Sequence[float], folder: Path) -> AccModel:
        """Return the model of a learner, which is written."""
        from lcca.studies.acc.learner.ports import model_of
        from lcca.studies.acc.learner.training import curve_of

        config = self.config
        provenance = {
            "campaign": config.name,
            "config_hash": config.hash,
            "seed": config.seed,
            "version": version(),
            "scenarios": [each.name for each in config.space.scenarios],
            "transport": config.transport,
            "steps": learner.steps,
            "episodes": len(returns),
            "curve": curve_of(returns),
        }
        model = model_of(learner, config.trainer, provenance)
        write_with_digest(folder / MODEL, model.dumps())
        return model

    def stand_ins(self, learner: DoubleDqn) -> Mapping[str, Policy]:
        """Return what costs as much as the contenders, with a learner that has hardly learnt."""
        from lcca.studies.acc.learner.ports import model_of

        return self.contenders(model_of(learner, self.config.trainer, {}))

    def contenders(self, model: AccModel) -> Mapping[str, Policy]:
        """Return all that meet the same flows, ACC first."""
        config = self.config
        shares = {ACC: 0.0, CHANCE: 1.0, EXPLORING: config.test.explore}

        def policy(name: str) -> Policy:
            if name not in shares:
                return resolve(name, "fabric").policy
            return replace(config.policy, tuner=tuning("acc", model, explore=shares[name]))

        return {name: policy(name) for name in (ACC, *config.rivals)}

    @cached_property
    def tests(self) -> Mapping[str, FabricTrials]:
        """Fresh trials by condition: on every scenario, those that are held out too."""
        seed, utility = self.config.seed, fabric_utility(self.config.utility.name)
        return {
            each.name: FabricSpace(fabric=each).trials(
                derive(seed, "test", each.name), utility, Execution.on(self.workers)
            )
            for each in self.config.tested
        }

    def origin(self, model: AccModel) -> Json:
        """Return what the summary says of the place, the training and what was learnt."""
        return {
            "simulator": "fabric",
            "scenario": self.config.space.name,
            "held_out": [each.name for each in self.config.held_out],
            "transport": self.config.transport,
            "steps": model.provenance["steps"],
            "curve": model.provenance["curve"],
            "model_sha256": sha256(model.dumps()).hexdigest(),
        }


def require_installed() -> None:
    """Check that what a training needs is installed.

    Raises:
        MissingPackage: something is not.
    """
    require_libraries(FabricAccConfig.libraries, "trainings of ACC")


def learn(run: Run[Any, None], place: OnFabric) -> AccModel:
    """Return what was learnt; trained unless it is in the folder."""
    if (known := place.kept(run.path)) is not None:
        return known
    from lcca.studies.acc.learner.training import train

    config, learner = run.config, place.learner()
    steps = config.trainer.dqn.steps
    run.folder.set_state("training")
    with run.reporter.task(f"training {config.name}", steps) as task, run.costs.phase("training"):

        def tell(learner: DoubleDqn, returns: list[float]) -> None:
            recent = returns[-50:]
            note = f"{learner.steps:,} of {steps:,} steps, reward {sum(recent) / len(recent):.4f} of late"
            task.update(min(learner.steps, steps), note)

        returns = train(learner, place.play, folder=run.path, every=config.trainer.checkpoint_every, tell=tell)
        learnt = place.learnt(learner, returns, run.path)
    run.folder.set_state("trained")
    return learnt


def train_acc(config: FabricAcc, path: Path, *, resume: bool, quiet: bool = False) -> Path:
    """Train, and return the file of the model, as ``dcqcn@acc:FILE`` takes it; go on where a run was stopped.

    Args:
        config: of the run; what it says of the test is not done.
        path: of its folder.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: PyTorch or Gymnasium is not installed, or the folder is not free.
    """
    require_installed()
    place = OnFabric(config, Threads(1))
    if not (path / layout.MANIFEST).exists():
        place.require_flows(tests=False)
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if not run.folder.complete:
            learn(run, place)
        return path / MODEL


def contender(config: FabricAcc, folder: Path, quiet: bool) -> tuple[Policy, Json]:
    """Train a contender of a study; return its transport under ACC, and what that was found from."""
    model = read_acc_model(train_acc(config, folder, resume=True, quiet=quiet))
    found = {"policy": f"{config.transport}@acc", "trained_on": config.space.name}
    return replace(config.policy, tuner=tuning("acc", model)), found
