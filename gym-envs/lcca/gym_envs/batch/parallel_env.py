"""Agent slots as a `ParallelEnv` of PettingZoo: every sender is an agent (``pip install 'lcca[pettingzoo]'``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import DEFAULT_NETWORK, Kind, NetworkSource, Reward, reward_of
from lcca.gym_envs.interface.slots import Floats
from lcca.gym_envs.interface.spaces import action_space, agent_with, observation_space
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus.policies.agents import Agent

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise missing("pettingzoo", "parallel environments", "pettingzoo") from error

Each = dict[str, Any]


class BottleneckParallelEnv(ParallelEnv[str, Floats, Any]):  # type: ignore[misc, unused-ignore]
    """All senders of a network, each an agent: one trial is an episode, at whose end all are truncated.

    All agents are there all the time. One whose sender is off sees −1 everywhere, and what it says is not looked at,
    as where ``infos[agent]["acting"]`` is false; one whose flow ended in the step has that flow's reward, and
    ``infos[agent]["flow_ended"]``.

    Args:
        agent: what each sees and does, or the name of a signal set for once per round trip and a factor of the window.
        networks: one network, a list, a function of (seed, count), or the file of a space; those are played that have
            as many senders as the first.
        reward: what a step is worth, or the kind of it.
        duration: of a trial, µs.
        patience: base delays for which an agent that is due waits for the others; see `Rules`.
        render_mode: None; there is nothing to draw.

    Raises:
        InputError: any of it is impossible.
    """

    metadata: dict[str, Any] = {"name": "lcca_bottleneck_v0", "render_modes": [], "is_parallelizable": True}  # noqa: RUF012

    def __init__(
        self,
        agent: Agent | str = "e2e",
        networks: NetworkSource = DEFAULT_NETWORK,
        reward: Reward | Kind = "power",
        duration: float = 10_000.0,
        patience: float = 8.0,
        render_mode: None = None,
    ) -> None:
        self.render_mode = render_mode
        rules = Rules(
            agent_with(agent) if isinstance(agent, str) else agent,
            reward_of(reward),
            duration=duration,
            patience=patience,
        )
        self.slots = AgentSlots(rules, networks, environments=1, whole_rows=True, jobs=1)
        self.possible_agents = [f"sender_{i}" for i in range(self.slots.num_slots)]
        self.agents: list[str] = []
        self._observation, self._action = observation_space(rules.agent), action_space(rules.agent)
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:
        """Return what an agent can see: the same for all."""
        return self._observation

    def action_space(self, agent: str) -> Any:
        """Return what an agent can say: the same for all."""
        return self._action

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Each, Each]:
        """Begin a trial."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.slots.reset(int(self._random.integers(2**32)))
        self.agents = list(self.possible_agents)
        return self._each(self.slots.observation.copy()), self._infos()

    def step(self, actions: Each) -> tuple[Each, Each, Each, Each, Each]:
        """Decide, and go on until flows have to decide again, or to the end of the trial.

        Raises:
            InputError: an agent is missing, or an action is none.
        """
        if missed := [name for name in self.agents if name not in actions]:
            raise InputError(f"step: no action of {', '.join(missed)}")
        trials = self.slots.trials
        self.slots.step(np.stack([np.asarray(actions[name], dtype=np.float32) for name in self.possible_agents]))
        over = self.slots.trials > trials
        ended = self.slots.ended != 0
        seen = np.where((over & ended)[:, None], self.slots.last_observation, -1 if over else self.slots.observation)
        result = (
            self._each(seen.astype(np.float32)),
            self._each(self.slots.reward.astype(float).tolist()),
            self._each([False] * len(ended)),
            self._each([over] * len(ended)),
            self._infos(),
        )
        self.agents = [] if over else self.agents
        return result

    def _each(self, rows: Any) -> Each:
        return dict(zip(self.possible_agents, rows, strict=True))

    def _infos(self) -> Each:
        rows = zip(self.slots.acting.tolist(), self.slots.ended.tolist(), strict=True)
        return self._each([{"acting": bool(acting), "flow_ended": bool(ended)} for acting, ended in rows])
