"""Training by reinforcement in rounds: each plays fresh networks, learns, and brings forth a policy file.

A round follows from the state before it, its number and the training seed. So a training that was stopped goes on
from its last whole round with the same bits as an unbroken one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.evaluation.trials.running import run_trials
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.trainers.drl.config import DrlConfig, PpoConfig, RecurrentPpoConfig, SacConfig
from lcca.trainers.drl.curriculum import lanes_of
from lcca.trainers.drl.state import TrainingState
from lcca.trainers.rplus.state import LearningRow
from lcca.trainers.rplus.trainer import NETWORKS_PER_STEP, Task

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

    from lcca.trainers.drl.algorithm import Algorithm

Watcher = Callable[[LearningRow], None]
Keeper = Callable[[int, MlpPolicy], None]

PACKAGES = {"torch": "torch", "stable_baselines3": "stable-baselines3", "gymnasium": "gymnasium"}


def require_drl(config: DrlConfig) -> None:
    """Check that what training needs is installed.

    Raises:
        MissingPackage: it is not; the message says how to install it.
    """
    needed = PACKAGES | ({"sb3_contrib": "sb3-contrib"} if isinstance(config, RecurrentPpoConfig) else {})
    for module, package in needed.items():
        if find_spec(module) is None:
            raise missing(package, "trainers by reinforcement")


class DrlTrainer:
    """A training that checkpoints after every round; the shape is that of `lcca.trainers.rplus.RplusTrainer`.

    Args:
        task: what to learn.
        config: how.
        engine: its duration, model and threads; the number of threads changes no result.
        checkpoint: file of the training's state; a training that finds one goes on from there.
        watch: called after every round with what it brought.
        keep: called with (round, policy) after every round; may be called again for a round after a kill.

    Raises:
        InputError: a checkpoint of another training, or a task with a header, which environments do not have.
        MissingPackage: the extra `drl` is not installed.
    """

    def __init__(
        self,
        task: Task,
        config: DrlConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        watch: Watcher = lambda row: None,
        keep: Keeper = lambda round_, policy: None,
    ) -> None:
        if task.header is not None:
            raise InputError(f"trainer.kind: {kind_of(config)} has no headers to learn with; use rplus, or signal_sets")
        self.task = task
        self.config = config
        self.engine = engine
        self.checkpoint = checkpoint
        self.watch = watch
        self.keep = keep
        self.agent = config.agent(task.signals)
        self.state = self._begin()
        self._algorithm: Algorithm | None = None
        if not self.done:
            require_drl(config)

    def _begin(self) -> TrainingState:
        if self.checkpoint is not None and self.checkpoint.exists():
            return TrainingState.load(self.checkpoint, self.task.identity)
        return TrainingState()

    @property
    def done(self) -> bool:
        """Whether the training has ended."""
        return self.state.round >= self.config.rounds

    def run(self) -> MlpPolicy:
        """Train to the end and return the last round's policy."""
        while not self.done:
            self.step()
        return self.algorithm.policy()

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm as it stands."""
        if self._algorithm is None:
            self._algorithm = self._made()
        return self._algorithm

    def step(self) -> None:
        """Take one round and checkpoint it. Stopped anywhere inside, the training repeats it with the same bits."""
        from lcca.trainers.drl.algorithm import derived_seed, packed, seeded

        began, state, config = time.process_time(), self.state, self.config
        algorithm, round_ = self.algorithm, state.round
        seed = derived_seed(self.task.seed, "round", round_)
        lanes = lanes_of(self.task, config, self.agent, self.engine, round_, seed)
        wanted = config.steps * (round_ + 1) // config.rounds - config.steps * round_ // config.rounds
        with seeded(seed):
            learnt = algorithm.learn(lanes, wanted, round_ / config.rounds, (round_ + 1) / config.rounds)
        policy = algorithm.policy()
        score, packets = self._score(policy, round_)
        state.round += 1
        state.decisions += learnt
        state.trials += lanes.trials + config.scores
        state.packets += lanes.packets + packets
        state.cpu_s += time.process_time() - began
        row = LearningRow(
            state.round, round_, kind_of(config), 0, score, state.trials, state.packets, round(state.cpu_s, 3)
        )
        state.learning.append(row)
        state.learner = packed(algorithm.state())
        self.keep(round_, policy)
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)
        self.watch(row)

    def _score(self, policy: MlpPolicy, round_: int) -> tuple[float, int]:
        """Return the policy's mean score on networks that nothing is learnt from, and the packets that this took."""
        first = round_ * NETWORKS_PER_STEP + NETWORKS_PER_STEP // 2
        networks = self.task.space.draw(self.task.seed, self.config.scores, first_id=first)
        rows = run_trials(self.engine, {"it": policy}, networks, [self.task.seed], self.task.utility, keep_delays=False)
        return float(rows["score_bits"].mean()), int(rows["packets_delivered"].sum())

    # --- the algorithm

    def _made(self) -> Algorithm:
        from lcca.trainers.drl.algorithm import derived_seed, seeded, unpacked

        seed = derived_seed(self.task.seed, "weights")
        with seeded(seed):
            algorithm = made(self.config, self, seed)
        if self.state.learner:
            algorithm.load(unpacked(self.state.learner))
        return algorithm

    def logger(self) -> Logger:
        """Return what takes the algorithm's logs: TensorBoard's files beside the checkpoint, or nothing."""
        from stable_baselines3.common.logger import Logger, configure

        if not self.config.tensorboard or self.checkpoint is None or find_spec("tensorboard") is None:
            return Logger(None, [])
        return configure(str(self.checkpoint.parent / "tensorboard" / self.checkpoint.stem), ["tensorboard"])


def made(config: DrlConfig, trainer: DrlTrainer, seed: int) -> Algorithm:
    """Return the algorithm that a configuration means."""
    if isinstance(config, RecurrentPpoConfig):
        from lcca.trainers.drl.recurrent import RecurrentPpo

        return RecurrentPpo(config, trainer.agent, seed, trainer.logger())
    if isinstance(config, PpoConfig):
        from lcca.trainers.drl.ppo import Ppo

        return Ppo(config, trainer.agent, seed, trainer.logger())
    if isinstance(config, SacConfig):
        from lcca.trainers.drl.sac import Sac

        return Sac(config, trainer.agent, seed, trainer.logger())
    raise InputError(f"trainer: no algorithm for {type(config).__name__}")


def kind_of(config: DrlConfig) -> str:
    """Return the kind that a configuration file names."""
    return str(getattr(config, "kind", "drl"))
