"""Proximal policy optimisation on lanes: Stable-Baselines3's networks and update, on decisions that were really taken.

SB3 collects one row of every environment at every step. Here flows come and go and decide when they like, so the rollout
is a ragged one (`collector`), advantages run flow by flow (`advantages`), and SB3's `PPO.train` gets its batches from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from lcca.gym_envs.extras import missing
from lcca.gym_envs.lanes import Lanes
from lcca.gym_envs.spaces import action_space
from lcca.remy_plus.agents import Agent
from lcca.remy_plus.mlp import MlpPolicy
from lcca.trainers.drl.advantages import advantages, by_network
from lcca.trainers.drl.collector import Collector, Experience, Floats, Ints
from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.critic import PrivilegedPolicy
from lcca.trainers.drl.export import layers_of
from lcca.trainers.drl.standard import Standard
from lcca.trainers.drl.views import PRIVILEGES, privileges, with_privileges

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.buffers import RolloutBufferSamples
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.policies import ActorCriticPolicy
except ImportError as error:
    raise missing("stable-baselines3", "trainers by reinforcement") from error

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}

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
        for rows in order.split(batch):
            if 2 * len(rows) >= min(batch, len(order)):
                yield RolloutBufferSamples(*(column[rows] for column in self._columns if column is not None))


class Ppo:
    """PPO on lanes; see `Algorithm`.

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
        self._standard = Standard(self.model.observation_space.shape[0])  # type: ignore[index]

    def _model(self, seed: int) -> PPO:
        config, seen = self.config, self.agent.inputs
        more = {"seen": seen} if config.privileged else {}
        model = PPO(
            PrivilegedPolicy if config.privileged else ActorCriticPolicy,
            None,  # type: ignore[arg-type]
            learning_rate=(lambda left: config.learning_rate * left) if config.anneal else config.learning_rate,
            batch_size=config.batch,
            n_epochs=config.epochs,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.largest_gradient,
            policy_kwargs={**self._shape(), **more},
            seed=seed,
            device="cpu",
            _init_setup_model=False,
        )
        inputs = seen + (len(PRIVILEGES) + seen + 1 if config.privileged else 0)
        model.observation_space = spaces.Box(-np.inf, np.inf, (inputs,), dtype=np.float32)
        model.action_space = action_space(self.agent)
        model.n_envs, model.n_steps = 1, 1
        model._setup_model()
        return model

    def _shape(self) -> dict[str, Any]:
        config = self.config
        critic = config.hidden if config.critic is None else config.critic
        return {
            "net_arch": {"pi": list(config.hidden), "vf": list(critic)},
            "activation_fn": ACTIVATIONS[config.activation],
            "log_std_init": float(np.log(config.noise)),
        }

    # --- learning

    def learn(self, lanes: Lanes, decisions: int, begin: float, end: float) -> int:
        """See `Algorithm`."""
        self._table = privileges(lanes.networks) if self.config.privileged else None
        collector, learnt = Collector(lanes, self._numbers, 1), 0
        while learnt < decisions:
            wanted = min(self.config.rollout, decisions - learnt)
            with torch.no_grad():
                lived = collector.collect(wanted, self._decide)
                rollout = self._rollout(lived)
            if rollout is None: continue
            self.model._current_progress_remaining = 1 - (begin + (end - begin) * learnt / decisions)
            self.model.rollout_buffer = rollout  # type: ignore[assignment]
            self.model.train()
            self._standard.take_in(with_privileges(lived.view, lived.state, lived.network, self._table))
            learnt += len(lived)
            self.model.num_timesteps += len(lived)
            self._log(lived)
        return learnt

    @property
    def _numbers(self) -> int:
        return self.agent.numbers

    @property
    def _discrete(self) -> bool:
        return isinstance(self.model.action_space, spaces.Discrete)

    def _decide(self, view: Floats, lane: Ints, first: Any) -> tuple[Floats, Floats]:
        """Say something by chance, and how likely it was."""
        policy, standard = self.model.policy, self._standard
        own = ((view - standard.mean[: view.shape[1]]) / standard.deviation[: view.shape[1]]).astype(np.float32)
        said = policy.action_net(policy.mlp_extractor.policy_net(torch.from_numpy(own)))
        if self._discrete:
            chances = said.log_softmax(1)
            action = torch.multinomial(chances.exp(), 1)
            return action.float().numpy(), chances.gather(1, action).numpy()
        noise = torch.randn_like(said)
        spread = policy.log_std
        chance = -(noise**2 / 2 + spread + 0.9189385332046727).sum(1, keepdim=True)
        return (said + spread.exp() * noise).numpy(), chance.numpy()

    def _rollout(self, lived: Experience) -> Rollout:
        config = self.config
        raw = with_privileges(lived.view, lived.state, lived.network, self._table)
        if self._standard.samples == 0: self._standard.take_in(raw); return None
        seen = torch.from_numpy(self._standard(raw))
        value = self._values(seen)
        after = self._values(torch.from_numpy(self._standard(with_privileges(lived.after, lived.state_after, lived.network, self._table))))
        reward = lived.shared(config.common) * np.float32(1 - config.discount)  # so that values are of a decision, not of a hundred
        gained = advantages(lived, reward, value, after, config.discounts(lived.elapsed), config.gae)
        scaled = by_network(gained, lived.network) if config.normalise == "network" else gained
        columns = (seen, torch.from_numpy(lived.action), value, lived.kept[:, 0], scaled, gained + value)
        return Rollout(RolloutBufferSamples(*(torch.as_tensor(column) for column in columns)))

    def _values(self, seen: torch.Tensor) -> Floats:
        policy = self.model.policy
        parts = [policy.value_net(policy.mlp_extractor.forward_critic(part)) for part in seen.split(AT_ONCE)]
        return torch.cat(parts).flatten().numpy()

    def _log(self, lived: Experience) -> None:
        logger = self.model.logger
        logger.record("rollout/reward_per_decision", float(lived.reward.mean()))
        logger.record("rollout/flows_ended", int((lived.ended != 0).sum()))
        logger.dump(self.model.num_timesteps)

    # --- what was learnt

    def policy(self) -> MlpPolicy:
        """See `Algorithm`."""
        policy = self.model.policy
        layers = layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
        st = Standard(self.agent.inputs)
        st.mean, st.variance = self._standard.mean[:st.width], self._standard.variance[:st.width]
        return MlpPolicy(self.agent, (st.before_layer(layers[0]), *layers[1:]))

    def state(self) -> dict[str, Any]:
        """See `Algorithm`."""
        policy = self.model.policy
        return {
            "policy": policy.state_dict(),
            "optimiser": policy.optimizer.state_dict(),
            "updates": self.model._n_updates,
            "decisions": self.model.num_timesteps,
        }

    def load(self, state: dict[str, Any]) -> None:
        """See `Algorithm`."""
        self.model.policy.load_state_dict(state["policy"])
        self.model.policy.optimizer.load_state_dict(state["optimiser"])
        self.model._n_updates = state["updates"]
        self.model.num_timesteps = state["decisions"]
