"""Training by reinforcement in rounds: each plays fresh networks, learns, and brings forth a policy file.

A round follows from the state before it, its number and the training seed. So a training that was stopped goes on
from its last whole round with the same bits as an unbroken one.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from lcca.evaluation.trials.running import run_trials
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.trainers.base import Keeper, LearningRow, Task, first_network
from lcca.trainers.drl.config import DrlConfig
from lcca.trainers.drl.curriculum import slots_of
from lcca.trainers.drl.state import TrainingState

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

    from lcca.trainers.drl.algorithm import Algorithm


class DrlTrainer:
    """A training whose steps are its rounds; see `lcca.trainers.base.Trainer`."""

    def __init__(
        self,
        task: Task,
        config: DrlConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = lambda round_, policy: None,
        shared: Path | None = None,
    ) -> None:
        if task.header is not None or task.warm_start is not None:
            raise InputError(f"trainer.kind: {config.kind} has neither headers nor warm starts; use rplus")
        self.task = task
        self.config = config
        self.engine = engine
        self.checkpoint = checkpoint
        self.keep = keep
        self.agent = config.agent(task.signals)
        self.state = self._begin()
        self._algorithm: Algorithm | None = None
        if not self.done:
            require_libraries(config.libraries, "trainers by reinforcement")

    def _begin(self) -> TrainingState:
        if self.checkpoint is not None and self.checkpoint.exists():
            return TrainingState.load(self.checkpoint, self.task.identity)
        return TrainingState()

    @property
    def done(self) -> bool:
        """Whether the training has ended."""
        return self.state.round >= self.config.rounds

    @property
    def used(self) -> int:
        """Decisions that were learnt from."""
        return self.state.decisions

    @property
    def learning(self) -> list[LearningRow]:
        """One row per round."""
        return self.state.learning

    @property
    def policy(self) -> MlpPolicy:
        """What is learnt so far, without noise."""
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
        slots = slots_of(self.task, config, self.agent, self.engine, round_, seed)
        wanted = config.steps * (round_ + 1) // config.rounds - config.steps * round_ // config.rounds
        with seeded(seed):
            learnt = algorithm.learn(slots, wanted, round_ / config.rounds, (round_ + 1) / config.rounds)
        policy = algorithm.policy()
        score, packets = self._score(policy, round_)
        state.round += 1
        state.decisions += learnt
        state.trials += slots.trials + config.scores
        state.packets += slots.packets + packets
        state.cpu_s += time.process_time() - began
        cost = (state.trials, state.packets, round(state.cpu_s, 3))
        state.learning.append(LearningRow(state.round, round_, config.kind, 0, score, *cost))
        state.learner = packed(algorithm.state())
        self.keep(round_, policy)
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    def _score(self, policy: MlpPolicy, round_: int) -> tuple[float, int]:
        """Return the policy's mean score on networks that nothing is learnt from, and the packets that this took."""
        first = first_network(self.task.networks, round_ + 0.5)
        networks = self.task.networks.draw(self.task.seed, self.config.scores, first_id=first)
        rows = run_trials(self.engine, {"it": policy}, networks, [self.task.seed], self.task.utility, keep_delays=False)
        return float(rows["score_bits"].mean()), int(rows["packets_delivered"].sum())

    # --- the algorithm

    def _made(self) -> Algorithm:
        from lcca.trainers.drl.algorithm import derived_seed, seeded, unpacked

        seed = derived_seed(self.task.seed, "weights")
        with seeded(seed):
            algorithm: Algorithm = resolve_name(self.config.algorithm)(self.config, self.agent, seed, self.logger())
        if self.state.learner:
            algorithm.load(unpacked(self.state.learner))
        return algorithm

    def logger(self) -> Logger:
        """Return what takes the algorithm's logs: TensorBoard's files beside the checkpoint, or nothing."""
        from stable_baselines3.common.logger import Logger, configure

        if not self.config.tensorboard or self.checkpoint is None or find_spec("tensorboard") is None:
            return Logger(None, [])
        return configure(str(self.checkpoint.parent / "tensorboard" / self.checkpoint.stem), ["tensorboard"])
