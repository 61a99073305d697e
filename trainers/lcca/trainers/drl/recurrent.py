"""PPO with a long short-term memory: sb3-contrib's update, on sequences of decisions that were really taken.

A sequence is a part of one flow. It begins with the state that the memory had then, so that none has to be replayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lcca.inputs.extras import missing
from lcca.remy_plus.policies.mlp import MlpPolicy
from lcca.trainers.drl.collector import Collector, Experience, Floats, Ints
from lcca.trainers.drl.export import layers_of, lstm_of
from lcca.trainers.drl.ppo import Ppo

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

try:
    import torch
    from sb3_contrib import RecurrentPPO
    from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
    from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples, RNNStates
    from stable_baselines3.common.type_aliases import RolloutBufferSamples
except ImportError as error:
    raise missing("sb3-contrib", "trainers by reinforcement") from error

LONGEST = 32
"""Decisions of a sequence; gradients reach no further back."""


class MemoryPolicy(RecurrentActorCriticPolicy):
    """An actor with a memory that sees the first `seen` numbers, and a critic without one.

    The critic sees the others; where there are none, it sees what the actor sees.
    """

    def __init__(self, *arguments: Any, seen: int, **more: Any) -> None:
        super().__init__(*arguments, **{**more, "enable_critic_lstm": False})
        self._seen = seen
        self.lstm_actor = torch.nn.LSTM(seen, self.lstm_output_dim)
        others = self.features_dim - seen or seen
        self.critic: Any = torch.nn.Sequential(torch.nn.Linear(others, self.lstm_output_dim), torch.nn.Tanh())
        self.optimizer = self.optimizer_class(self.parameters(), **{"lr": 1e-3, **self.optimizer_kwargs})

    def values(self, seen: torch.Tensor) -> torch.Tensor:
        """Return (n, 1) the critic's values."""
        others = seen[:, self._seen :] if seen.shape[1] > self._seen else seen
        value: torch.Tensor = self.value_net(self.mlp_extractor.forward_critic(self.critic(others)))
        return value

    def evaluate_actions(  # type: ignore[override]
        self, obs: Any, actions: Any, lstm_states: Any, episode_starts: Any
    ) -> Any:
        """Return values, log-probabilities and entropy of padded sequences; see sb3-contrib."""
        own = obs[:, : self._seen]
        latent, _ = self._process_sequence(own, lstm_states.pi, episode_starts, self.lstm_actor)
        said = self._get_action_dist_from_latent(self.mlp_extractor.forward_actor(latent))
        return self.values(obs), said.log_prob(actions), said.entropy()


class Sequences:
    """A rollout as `RecurrentPPO.train` asks for it: shuffled batches of padded sequences.

    Args:
        columns: decisions, one flow after another, each in the order of time.
        states: (n, 2 · cells) of the memory before each decision, hidden first.
        begins: (sequences,) rows at which sequences begin, in order; the first is 0.
    """

    def __init__(self, columns: RolloutBufferSamples, states: torch.Tensor, begins: Ints) -> None:
        self._columns, self._states, self._begins = columns, states, begins
        self._lengths = np.diff(np.append(begins, len(states)))
        self.values = columns.old_values.numpy()
        self.returns = columns.returns.numpy()

    def get(self, batch: int) -> Iterator[RecurrentRolloutBufferSamples]:
        """Yield all sequences once, in batches of about so many decisions."""
        order = torch.randperm(len(self._begins)).numpy()
        count = max(1, round(len(self._states) / batch))
        for part in np.array_split(order, min(count, len(order))):
            yield self._padded(part)

    def _padded(self, which: Ints) -> RecurrentRolloutBufferSamples:
        lengths = self._lengths[which]
        place = np.arange(lengths.max())
        mask = place < lengths[:, None]
        rows = torch.from_numpy(np.where(mask, self._begins[which][:, None] + place, 0).ravel())
        hidden, cell = self._states[self._begins[which]].chunk(2, dim=1)
        state = (hidden.unsqueeze(0).contiguous(), cell.unsqueeze(0).contiguous())
        columns = RolloutBufferSamples(*(column[rows] for column in self._columns))
        return RecurrentRolloutBufferSamples(
            **columns._asdict(),
            lstm_states=RNNStates(state, state),
            episode_starts=torch.zeros(len(rows)),
            mask=torch.from_numpy(mask.ravel()).float(),
        )


class RecurrentPpo(Ppo):
    """Recurrent PPO on agent slots; see `Algorithm`."""

    algorithm = RecurrentPPO
    policy_class = MemoryPolicy

    def _shape(self) -> dict[str, Any]:
        return {**super()._shape(), "lstm_hidden_size": self.cells, "seen": self.agent.inputs}

    @property
    def cells(self) -> int:
        """Of the memory."""
        return int(getattr(self.config, "cells", 0))

    def _collector(self, slots: AgentSlots) -> Collector:
        self._state = np.zeros((slots.num_slots, 2 * self.cells), dtype=np.float32)
        return Collector(slots, self.agent.numbers, 1 + 2 * self.cells)

    @torch.no_grad()
    def _collect(self, collector: Collector, count: int) -> Experience:
        own = self._standard.first(self.agent.inputs)

        def decide(view: Floats, slot: Ints, first: Any) -> tuple[Floats, Floats]:
            before = np.where(first[:, None], 0, self._state[slot]).astype(np.float32)
            hidden, cell = torch.from_numpy(before).unsqueeze(0).chunk(2, dim=2)
            seen = torch.from_numpy(own(view)).unsqueeze(0)
            latent, (hidden, cell) = self.model.policy.lstm_actor(seen, (hidden.contiguous(), cell.contiguous()))
            self._state[slot] = torch.cat([hidden, cell], dim=2)[0].numpy()
            action, chance = self._by_chance(self.model.policy.mlp_extractor.policy_net(latent[0]))
            return action, np.concatenate([chance, before], axis=1)

        return collector.collect(count, decide)

    def _rollout(self, experience: Experience) -> Sequences:
        order = np.lexsort((experience.step, experience.slot))
        slot, first = experience.slot[order], experience.first[order]
        begins = first | np.append(True, slot[1:] != slot[:-1])
        starts = np.flatnonzero(begins)
        place = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        cuts = np.flatnonzero(place % LONGEST == 0)
        rows = torch.from_numpy(order)
        columns = RolloutBufferSamples(*(column[rows] for column in self._columns(experience)))
        return Sequences(columns, torch.from_numpy(experience.kept[order, 1:]), cuts)

    def _critic(self, seen: torch.Tensor) -> torch.Tensor:
        value: torch.Tensor = self.model.policy.values(seen)
        return value

    def policy(self) -> MlpPolicy:
        """See `Algorithm`."""
        policy, own = self.model.policy, self._standard.first(self.agent.inputs)
        layers = layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
        return MlpPolicy(self.agent, layers, own.before_memory(lstm_of(policy.lstm_actor)))
