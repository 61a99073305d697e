"""Training by reinforcement in rounds: each plays fresh networks, learns, and brings forth a policy file.

A round follows from the state before it, its number and the training seed. So a training that was stopped goes on
from its last whole round with the same bits as an unbroken one.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.evaluation.scenarios.networks import DrawnNetworks
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import Reward
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.agents import Agent, MlpPolicy
from lcca.trainers.base import Keeper, LearningRow, Task, first_network
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint
from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.monitor import Monitor

if TYPE_CHECKING:
    from stable_baselines3.common.logger import Logger

    from lcca.trainers.drl.ppo import Ppo


@dataclass
class TrainingState:
    """A training between two rounds.

    Attributes:
        round: rounds that are done.
        decisions: learnt from so far.
        trials: begun so far, those of the learning curve's scores too.
        packets: delivered in those that came to their end.
        cpu_s: CPU seconds of this process.
        learner: what the algorithm needs to go on, base64; empty before the first round.
        learning: one row per round.
        stopped: whether a callback has ended the training.
    """

    round: int = 0
    decisions: int = 0
    trials: int = 0
    packets: int = 0
    cpu_s: float = 0.0
    learner: str = ""
    learning: list[LearningRow] = field(default_factory=list)
    stopped: bool = False

    def save(self, path: Path, identity: str) -> None:
        """Write the state as the checkpoint of a task."""
        write_checkpoint(path, identity, vars(self) | {"learning": [asdict(row) for row in self.learning]})

    @classmethod
    def load(cls, path: Path, identity: str) -> TrainingState:
        """Read a state back; see `read_checkpoint`."""
        state = read_checkpoint(path, identity)
        return cls(**state | {"learning": [LearningRow(**row) for row in state["learning"]]})


class DrlTrainer:
    """A training whose steps are its rounds; see `lcca.trainers.base.Trainer`."""

    def __init__(
        self,
        task: Task,
        config: PpoConfig,
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
        self.state = TrainingState()
        if checkpoint is not None and checkpoint.exists():
            self.state = TrainingState.load(checkpoint, task.identity)
        self._algorithm: Ppo | None = None
        if not self.done:
            require_libraries(config.libraries, "trainers by reinforcement")

    @property
    def done(self) -> bool:
        """Whether the training has ended."""
        return self.state.stopped or self.state.round >= self.config.rounds

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
    def algorithm(self) -> Ppo:
        """The algorithm as it stands."""
        if self._algorithm is None:
            from lcca.trainers.drl.ppo import Ppo, seeded

            seed = derived_seed(self.task.seed, "weights")
            with seeded(seed):
                algorithm = Ppo(self.config, self.agent, seed, self.logger(), self._monitor())
            if self.state.learner:
                algorithm.load(self.state.learner)
            self._algorithm = algorithm
        return self._algorithm

    def step(self) -> None:
        """Take one round and checkpoint it. Stopped anywhere inside, the training repeats it with the same bits."""
        from lcca.trainers.drl.ppo import seeded

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
        state.stopped = algorithm.stopped
        state.decisions += learnt
        state.trials += slots.trials + config.scores
        state.packets += slots.packets + packets
        state.cpu_s += time.process_time() - began
        cost = (state.trials, state.packets, round(state.cpu_s, 3))
        state.learning.append(LearningRow(state.round, round_, config.kind, 0, score, *cost))
        state.learner = algorithm.state()
        self.keep(round_, policy)
        algorithm.monitor.write()
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    def _score(self, policy: MlpPolicy, round_: int) -> tuple[float, int]:
        """Return the policy's mean score on networks that nothing is learnt from, and the packets that this took."""
        first = first_network(self.task.networks, round_ + 0.5)
        networks = self.task.networks.draw(self.task.seed, self.config.scores, first_id=first)
        rows = run_trials(self.engine, {"it": policy}, networks, [self.task.seed], self.task.utility, keep_delays=False)
        return float(rows["score_bits"].mean()), int(rows["packets_delivered"].sum())

    def _monitor(self) -> Monitor:
        """Return what writes the episodes beside the checkpoint."""
        checkpoint = self.checkpoint
        path = checkpoint and checkpoint.parent / "monitor" / f"{checkpoint.stem}.monitor.csv"
        return Monitor(path, self.config.kind)

    def logger(self) -> Logger:
        """Return what takes the algorithm's logs: TensorBoard's files beside the checkpoint, or nothing."""
        from stable_baselines3.common.logger import Logger, configure

        if not self.config.tensorboard or self.checkpoint is None or find_spec("tensorboard") is None:
            return Logger(None, [])
        return configure(str(self.checkpoint.parent / "tensorboard" / self.checkpoint.stem), ["tensorboard"])


POOL = 1024
"""Networks that are drawn for a round; an environment has in turn those with as many senders as its first."""


def space_at(space: DrawnNetworks, config: PpoConfig, share: float) -> DrawnNetworks:
    """Return the networks to learn on when this share of all steps is done.

    Raises:
        InputError: a stage names a parameter that networks do not have, or impossible values.
    """
    changes = next((stage.networks for stage in config.curriculum if share < stage.until), {})
    alone = {"senders": 1} if config.flows == "one" else {}
    if not changes and not alone:
        return space
    try:
        return space.changed({**changes, **alone})
    except ValueError as error:
        raise InputError(f"curriculum: {error}") from error


def slots_of(task: Task, config: PpoConfig, agent: Agent, engine: Engine, round_: int, seed: int) -> AgentSlots:
    """Return the agent slots of a round, reset; the number of threads changes nothing."""
    objective = task.utility
    if not isinstance(objective, ThroughputDelay):
        raise InputError(f"utility {objective.name}: agents learn throughput and delay alone; use trainer.kind rplus")
    reward = Reward(
        throughput_weight=objective.throughput_weight, delay_weight=objective.delay_weight, **config.reward.model_dump()
    )
    rules = Rules(agent, reward, duration=engine.duration, model=engine.model, patience=config.patience)
    space = space_at(task.networks, config, round_ / config.rounds)
    networks = space.draw(task.seed, POOL, first_id=first_network(space, round_))
    slots = AgentSlots(rules, networks, environments=config.environments, seed=seed, jobs=engine.jobs)
    slots.reset()
    return slots


def derived_seed(seed: int, *words: object) -> int:
    """Return a seed below 2³² that depends on all of these."""
    text = "/".join(str(word) for word in (seed, *words))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4, person=b"lcca-drl").digest(), "big")
