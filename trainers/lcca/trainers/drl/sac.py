"""Soft actor-critic on agent slots: SB3's networks and update, on a memory of decisions that were really taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from lcca.gym_envs.interface.spaces import action_space
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.trainers.drl.collector import Collector, Experience, Floats
from lcca.trainers.drl.config import SacConfig
from lcca.trainers.drl.export import layers_of
from lcca.trainers.drl.standard import Standard

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

try:
    import torch
    from stable_baselines3 import SAC
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.type_aliases import ReplayBufferSamples
except ImportError as error:
    raise missing("stable-baselines3", "trainers by reinforcement") from error

COLUMNS = ("view", "action", "after", "reward", "discount")


class Replay:
    """The latest decisions, as `SAC.train` asks for them.

    Args:
        size: how many are kept.
        inputs: numbers of a view.
        numbers: of an action.
        standard: what brings views to mean 0 and deviation 1; as they are now, not as they came.
    """

    def __init__(self, size: int, inputs: int, numbers: int, standard: Standard) -> None:
        widths = (inputs, numbers, inputs, 1, 1)
        self.columns = {name: np.zeros((size, w), np.float32) for name, w in zip(COLUMNS, widths, strict=True)}
        self.size, self.added, self._standard = size, 0, standard

    def __len__(self) -> int:
        """Return how many decisions there are."""
        return min(self.added, self.size)

    def add(self, **columns: Floats) -> None:
        """Add decisions; the oldest make room."""
        count = len(columns["reward"])
        rows = np.arange(self.added, self.added + count) % self.size
        for name, values in columns.items():
            self.columns[name][rows] = values.reshape(count, -1)
        self.added += count

    def sample(self, batch: int, env: Any = None) -> ReplayBufferSamples:
        """Return decisions by chance."""
        rows = torch.randint(len(self), (batch,)).numpy()
        taken = {name: column[rows] for name, column in self.columns.items()}
        tensors = {name: torch.from_numpy(values) for name, values in taken.items()}
        return ReplayBufferSamples(
            torch.from_numpy(self._standard(taken["view"])),
            tensors["action"],
            torch.from_numpy(self._standard(taken["after"])),
            torch.zeros(batch, 1),  # no end is worth nothing: see `advantages`
            tensors["reward"],
            tensors["discount"],
        )

    def state(self) -> dict[str, Any]:
        """Return all that `load` needs."""
        kept = {name: torch.from_numpy(column[: len(self)].copy()) for name, column in self.columns.items()}
        return {"added": self.added, "columns": kept}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.added = int(state["added"])
        for name, values in state["columns"].items():
            self.columns[name][: len(values)] = values.numpy()


class Sac:
    """SAC on agent slots; see `Algorithm`.

    Args:
        config: how to learn.
        agent: how the network sees and steers.
        seed: of the first weights.
        logger: of Stable-Baselines3.
    """

    def __init__(self, config: SacConfig, agent: Agent, seed: int, logger: Logger) -> None:
        self.config, self.agent = config, agent
        self._standard = Standard(agent.inputs)
        self._replay = Replay(config.buffer, agent.inputs, agent.numbers, self._standard)
        self.model = self._model(seed)
        self.model.replay_buffer = self._replay
        self.model.set_logger(logger)

    def _model(self, seed: int) -> Any:
        config = self.config
        critic = config.hidden if config.critic is None else config.critic
        model: Any = SAC(
            "MlpPolicy",
            None,  # type: ignore[arg-type]
            learning_rate=(lambda left: config.learning_rate * left) if config.anneal else config.learning_rate,
            buffer_size=1,
            tau=config.tau,
            gamma=config.discount,
            ent_coef=config.entropy,
            target_entropy=-float(self.agent.numbers),
            policy_kwargs={
                "net_arch": {"pi": list(config.hidden), "qf": list(critic)},
                "activation_fn": {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[config.activation],
            },
            seed=seed,
            device="cpu",
            _init_setup_model=False,
        )
        model.observation_space = spaces.Box(-np.inf, np.inf, (self.agent.inputs,), dtype=np.float32)
        model.action_space, model.n_envs = action_space(self.agent), 1
        model._setup_model()
        return model

    # --- learning

    def learn(self, slots: AgentSlots, decisions: int, begin: float, end: float) -> int:
        """See `Algorithm`."""
        collector, learnt = Collector(slots, self.agent.numbers, 0), 0
        while learnt < decisions:
            experience = self._collect(collector, min(self.config.every * UPDATES, decisions - learnt))
            self._remember(experience)
            learnt += len(experience)
            self.model.num_timesteps += len(experience)
            self.model._current_progress_remaining = 1 - (begin + (end - begin) * min(1.0, learnt / decisions))
            if self.model.num_timesteps >= self.config.begin:
                self.model.train(max(1, len(experience) // self.config.every), self.config.batch)
            self._log(experience)
        return learnt

    @torch.no_grad()
    def _collect(self, collector: Collector, count: int) -> Experience:
        actor, by_chance = self.model.actor, self.model.num_timesteps < self.config.begin

        def decide(view: Floats, slot: Any, first: Any) -> tuple[Floats, Floats]:
            if by_chance:
                action = 2 * torch.rand(len(view), self.agent.numbers) - 1
            else:
                action = actor(torch.from_numpy(self._standard(view)))
            return action.numpy(), np.zeros((len(view), 0), np.float32)

        return collector.collect(count, decide)

    def _remember(self, experience: Experience) -> None:
        self._standard.take_in(experience.view)
        reward = experience.shared(self.config.common) * np.float32(1 - self.config.discount)
        self._replay.add(
            view=experience.view,
            action=experience.action,
            after=experience.after,
            reward=reward,
            discount=self.config.discounts(experience.elapsed),
        )

    def _log(self, experience: Experience) -> None:
        logger = self.model.logger
        logger.record("rollout/reward_per_decision", float(experience.reward.mean()))
        logger.record("rollout/flows_ended", int((experience.ended != 0).sum()))
        logger.dump(self.model.num_timesteps)

    # --- what was learnt

    def policy(self) -> MlpPolicy:
        """See `Algorithm`."""
        actor = self.model.actor
        first, *others = layers_of([*actor.latent_pi, actor.mu], end="tanh")
        return MlpPolicy(self.agent, (self._standard.before_layer(first), *others))

    def state(self) -> dict[str, Any]:
        """See `Algorithm`."""
        model = self.model
        free = model.ent_coef_optimizer is not None
        return {
            "policy": model.policy.state_dict(),
            "optimisers": [each.state_dict() for each in self._optimisers()],
            "temperature": model.log_ent_coef.detach() if free else None,
            "standard": self._standard.state(),
            "replay": self._replay.state(),
            "updates": model._n_updates,
            "decisions": model.num_timesteps,
        }

    def load(self, state: dict[str, Any]) -> None:
        """See `Algorithm`."""
        model = self.model
        model.policy.load_state_dict(state["policy"])
        for optimiser, kept in zip(self._optimisers(), state["optimisers"], strict=True):
            optimiser.load_state_dict(kept)
        if state["temperature"] is not None:
            model.log_ent_coef.data.copy_(state["temperature"])
        self._standard.load(state["standard"])
        self._replay.load(state["replay"])
        model._n_updates, model.num_timesteps = state["updates"], state["decisions"]

    def _optimisers(self) -> list[Any]:
        model = self.model
        found = [model.actor.optimizer, model.critic.optimizer]
        return [*found, model.ent_coef_optimizer] if model.ent_coef_optimizer is not None else found


UPDATES = 32
"""Gradient steps at a time: agent slots are stepped on between."""
