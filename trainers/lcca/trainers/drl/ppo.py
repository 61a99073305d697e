"""Proximal policy optimisation on agent slots: Stable-Baselines3's networks and update, on decisions really taken.

SB3 collects one row of every environment at every step. Here flows come and go and decide when they like, so the
rollout is a ragged one (`collector`), advantages run flow by flow (`advantages`), and SB3's `PPO.train` gets its
batches from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from lcca.gym_envs.interface.spaces import action_space
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.trainers.drl.advantages import advantages, by_network
from lcca.trainers.drl.collector import Collector, Experience, Floats
from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.critic import PrivilegedPolicy
from lcca.trainers.drl.export import layers_of
from lcca.trainers.drl.standard import Standard
from lcca.trainers.drl.views import PRIVILEGES, privileges, with_privileges

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.type_aliases import RolloutBufferSamples
except ImportError as error:
    raise missing("stable-baselines3", "trainers by reinforcement") from error

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}

HALF_LOG_TWO_PI = 0.9189385332046727

STANDARD_ROWS = 8192
"""Decisions from which the first mean and deviation of the inputs are taken; nothing is learnt from them."""

AT_ONCE = 16_384
"""Rows that the critic values at once: they stay in the caches."""


class Rollout:
    """A rollout as `PPO.train` asks for it: shuffled batches."""

    def __init__(self, columns: RolloutBufferSamples) -> None:
        self._columns = columns
        self.values = columns.old_values.numpy()
        self.returns = columns.returns.numpy()

    def get(self, batch: int) -> Iterator[RolloutBufferSamples]:
        """Yield all rows once, in batches; a last batch of less than half is left out."""
        order = torch.randperm(len(self._columns.returns))
        for rows in torch.split(order, batch):
            if 2 * len(rows) >= min(batch, len(order)):
                yield RolloutBufferSamples(*(column[rows] for column in self._columns))


class Ppo:
    """PPO on agent slots; see `Algorithm`.

    Args:
        config: how to learn.
        agent: how the network sees and steers.
        seed: of the first weights.
        logger: of Stable-Baselines3.
    """

    def __init__(self, config: PpoConfig, agent: Agent, seed: int, logger: Logger) -> None:
        self.config, self.agent = config, agent
        self.model = self._model(seed)
        self.model.set_logger(logger)
        self._table: Floats | None = None  # privileges, by network
        self._standard = Standard(self.model.observation_space.shape[0])

    algorithm: Any = PPO
    policy_class: Any = None  # of the policy; by the configuration if left out

    def _model(self, seed: int) -> Any:
        config, seen = self.config, self.agent.inputs
        model = self.algorithm(
            self.policy_class or (PrivilegedPolicy if config.privileged else ActorCriticPolicy),
            None,
            learning_rate=(lambda left: config.learning_rate * left) if config.anneal else config.learning_rate,
            batch_size=config.batch,
            n_epochs=config.epochs,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.largest_gradient,
            policy_kwargs=self._shape(),
            seed=seed,
            device="cpu",
            _init_setup_model=False,
        )
        inputs = seen + (seen + 1 + len(PRIVILEGES) if config.privileged else 0)
        model.observation_space = spaces.Box(-np.inf, np.inf, (inputs,), dtype=np.float32)
        model.action_space = action_space(self.agent)
        model.n_envs = model.n_steps = 1
        model._setup_model()
        return model

    def _shape(self) -> dict[str, Any]:
        config = self.config
        critic = config.hidden if config.critic is None else config.critic
        return {
            "net_arch": {"pi": list(config.hidden), "vf": list(critic)},
            "activation_fn": ACTIVATIONS[config.activation],
            "log_std_init": float(np.log(config.noise)),
            **({"seen": self.agent.inputs} if config.privileged else {}),
        }

    # --- learning

    def learn(self, slots: AgentSlots, decisions: int, begin: float, end: float) -> int:
        """See `Algorithm`."""
        self._table = privileges(slots.networks) if self.config.privileged else None
        collector, learnt = self._collector(slots), 0
        if self._standard.samples == 0:
            self._standard.take_in(self._raw(self._collect(collector, min(STANDARD_ROWS, self.config.rollout))))
        while learnt < decisions:
            experience = self._collect(collector, min(self.config.rollout, decisions - learnt))
            self.model._current_progress_remaining = 1 - (begin + (end - begin) * learnt / decisions)
            self.model.rollout_buffer = self._rollout(experience)
            self.model.train()
            self._standard.take_in(self._raw(experience))
            learnt += len(experience)
            self.model.num_timesteps += len(experience)
            self._log(experience)
        return learnt

    def _collector(self, slots: AgentSlots) -> Collector:
        return Collector(slots, self.agent.numbers, 1)

    @torch.no_grad()
    def _collect(self, collector: Collector, count: int) -> Experience:
        own, layers = self._standard.first(self.agent.inputs), self.model.policy.mlp_extractor.policy_net
        return collector.collect(count, lambda view, slot, first: self._by_chance(layers(torch.from_numpy(own(view)))))

    @property
    def _discrete(self) -> bool:
        return isinstance(self.model.action_space, spaces.Discrete)

    def _by_chance(self, latent: torch.Tensor) -> tuple[Floats, Floats]:
        """Return what is said after the last hidden layer, by chance, and how likely it was."""
        policy = self.model.policy
        said = policy.action_net(latent)
        if self._discrete:
            chances = said.log_softmax(1)
            action = torch.multinomial(chances.exp(), 1)
            return action.float().numpy(), chances.gather(1, action).numpy()
        noise = torch.randn_like(said)
        spread = policy.log_std
        chance = -(noise**2 / 2 + spread + HALF_LOG_TWO_PI).sum(1, keepdim=True)
        return (said + spread.exp() * noise).numpy(), chance.numpy()

    def _raw(self, experience: Experience) -> Floats:
        return with_privileges(experience.view, experience.state, experience.network, self._table)

    def _rollout(self, experience: Experience) -> Any:
        return Rollout(self._columns(experience))

    @torch.no_grad()
    def _columns(self, experience: Experience) -> RolloutBufferSamples:
        config = self.config
        seen = torch.from_numpy(self._standard(self._raw(experience)))
        value = self._values(seen)
        later = with_privileges(experience.after, experience.state_after, experience.network, self._table)
        after = self._values(torch.from_numpy(self._standard(later)))
        reward = experience.shared(config.common) * np.float32(
            1 - config.discount
        )  # so that values are of a decision, not of a hundred
        gained = advantages(experience, reward, value, after, config.discounts(experience.elapsed), config.gae)
        scaled = by_network(gained, experience.network) if config.normalise == "network" else gained
        columns = (seen, torch.from_numpy(experience.action), value, experience.kept[:, 0], scaled, gained + value)
        return RolloutBufferSamples(*(torch.as_tensor(column) for column in columns))

    def _values(self, seen: torch.Tensor) -> Floats:
        return torch.cat([self._critic(part) for part in torch.split(seen, AT_ONCE)]).flatten().numpy()

    def _critic(self, seen: torch.Tensor) -> torch.Tensor:
        policy = self.model.policy
        value: torch.Tensor = policy.value_net(policy.mlp_extractor.forward_critic(seen))
        return value

    def _log(self, experience: Experience) -> None:
        logger = self.model.logger
        logger.record("rollout/reward_per_decision", float(experience.reward.mean()))
        logger.record("rollout/flows_ended", int((experience.ended != 0).sum()))
        logger.dump(self.model.num_timesteps)

    # --- what was learnt

    def policy(self) -> MlpPolicy:
        """See `Algorithm`."""
        policy, own = self.model.policy, self._standard.first(self.agent.inputs)
        first, *others = layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
        return MlpPolicy(self.agent, (own.before_layer(first), *others))

    def state(self) -> dict[str, Any]:
        """See `Algorithm`."""
        policy = self.model.policy
        return {
            "policy": policy.state_dict(),
            "optimiser": policy.optimizer.state_dict(),
            "standard": self._standard.state(),
            "updates": self.model._n_updates,
            "decisions": self.model.num_timesteps,
        }

    def load(self, state: dict[str, Any]) -> None:
        """See `Algorithm`."""
        self.model.policy.load_state_dict(state["policy"])
        self.model.policy.optimizer.load_state_dict(state["optimiser"])
        self._standard.load(state["standard"])
        self.model._n_updates = state["updates"]
        self.model.num_timesteps = state["decisions"]
