"""ACC on a fabric: every port of a switch is an agent, and all have one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.trials import require_scored
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.ecn.config import ACC, CHANCE, EXPLORING, FabricAcc
from lcca.experiments.ecn.place import AccPlace, Learnt, curve_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.experiments.summaries import Json
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.acc import read_acc_model
from lcca.remy_plus.tuners.acc_ports import NUMBERS
from lcca.remy_plus.tuners.registry import tuning
from lcca.signal_sets.load import resolve

if TYPE_CHECKING:
    from lcca.gym_envs.ecn.fabric_env import FabricEcnEnv
    from lcca.trainers.ecn.double_dqn import DoubleDqn


class OnFabric(AccPlace):
    """The scenarios of a fabric; see `AccPlace`. What is learnt is `model.json`."""

    def __init__(self, config: FabricAcc, jobs: int = 1) -> None:
        self.config = config
        self.jobs = jobs
        self._envs: dict[str, FabricEcnEnv] = {}

    def require_flows(self, tests: bool = True) -> None:
        """Check that ports have something to learn from; without any flow a training would not end."""
        seed = derive(self.config.seed, "episodes")
        for each in self.config.space.scenarios:
            require_scored(each, fabric_utility("slowdown"), _first(each, seed))
        for each in self.config.tested if tests else ():
            source = self.tests[each.name]
            require_scored(each, source.utility, _first(each, source.seed))

    def learner(self) -> DoubleDqn:
        """Return a learner that has not learnt yet."""
        from lcca.trainers.ecn.double_dqn import new_learner

        trainer = self.config.trainer
        return new_learner(trainer, NUMBERS, trainer.templates.shape, derive(self.config.seed, "learner"))

    def play(self, learner: DoubleDqn, episode: int) -> float:
        """Play an episode on the scenario whose turn it is; return the mean reward of ports that sent something."""
        from lcca.trainers.ecn.ports import play_ports

        (trial,) = self.config.space.draw(derive(self.config.seed, "episodes"), 1, episode)
        if trial.scenario.name not in self._envs:
            self._envs[trial.scenario.name] = self._env(trial.scenario)
        return play_ports(self._envs[trial.scenario.name], learner, trial.seed)

    def _env(self, scenario: FabricScenario) -> FabricEcnEnv:
        from lcca.gym_envs.ecn.fabric_env import FabricEcnEnv

        made, engine = self.config.trainer, engine_of(self.config.policy, scenario.settings())
        how = (made.interval_us, made.delay_us, made.history, made.templates, made.throughput)
        return FabricEcnEnv(scenario, engine, None, *how)

    def kept(self, folder: Path) -> Learnt | None:
        """Return the model of a training that is done."""
        file = folder / layout.MODEL
        if not file.exists():
            return None
        model = read_acc_model(file)
        return Learnt(model, model.provenance["steps"], model.provenance["curve"])

    def learnt(self, learner: DoubleDqn, returns: Sequence[float], folder: Path) -> Learnt:
        """Return the model of a learner, which is written."""
        from lcca.trainers.ecn.ports import model_of

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
        write_with_digest(folder / layout.MODEL, model_of(learner, config.trainer, provenance).dumps())
        learnt = self.kept(folder)
        assert learnt is not None
        return learnt

    def contenders(self, learnt: Learnt, run: Run[Any, None]) -> Mapping[str, Policy]:
        """Return all that meet the same flows: ACC, the transport alone, random choices and others."""
        config = self.config
        shares = {ACC: 0.0, CHANCE: 1.0, EXPLORING: config.test.explore}

        def policy(name: str) -> Policy:
            if name not in shares:
                return resolve(name, "fabric").policy
            return replace(config.policy, tuner=tuning("acc", learnt.model, explore=shares[name]))

        return {name: policy(name) for name in (ACC, *config.rivals)}

    @cached_property
    def tests(self) -> Mapping[str, FabricTrials]:
        """Fresh flows of every scenario, those that are held out too."""
        seed, utility = self.config.seed, fabric_utility(self.config.utility.name)
        return {
            each.name: FabricSpace(fabric=each).trials(
                derive(seed, "test", each.name), utility, Execution(jobs=self.jobs)
            )
            for each in self.config.tested
        }

    def origin(self, learnt: Learnt) -> Json:
        """Return scenarios, transport and the digest of the model."""
        return {
            "simulator": "fabric",
            "scenario": self.config.space.name,
            "held_out": [each.name for each in self.config.held_out],
            "transport": self.config.transport,
            "model_sha256": sha256(learnt.model.dumps()).hexdigest(),
        }

    def close(self) -> None:
        """End the episodes that go on."""
        for env in self._envs.values():
            env.close()


def _first(scenario: FabricScenario, seed: int) -> list[int]:
    """Return the seeds of a block of trials on a scenario alone."""
    space = FabricSpace(fabric=scenario)
    return [each.seed for each in space.draw(seed, space.block)]
