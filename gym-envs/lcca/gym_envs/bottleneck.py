"""`lcca/Bottleneck-v0`: one flow that learns, on one network (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.extras import missing
from lcca.gym_envs.lanes import FLOW_ENDED, Rules
from lcca.gym_envs.rewards import Kind, Reward
from lcca.gym_envs.sources import DEFAULT_NETWORK, NetworkSource, base_delay_us, networks_from
from lcca.gym_envs.spaces import action_space, agent_with, observation_space
from lcca.remy_plus.agents import Agent
from lcca.remy_plus.engine import Model, NetworkList
from lcca.remy_plus.errors import InputError
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies import Policy, baseline

try:
    import gymnasium
except ImportError as error:
    raise missing("gymnasium", "environments") from error

Floats = NDArray[np.float32]
_MOST_TRIES = 1000
_PICTURE = 64  # pixels high


class BottleneckEnv(gymnasium.Env[Floats, Any]):
    """One learning flow of a trial of the fast engine.

    An episode is the first flow of the first sender in a trial, from when it comes on: *terminated* when it goes off,
    *truncated* when the trial ends before. The first observation of a flow is all zeros, and the first action sets out
    from the initial window or rate. A step ends when the agent has to decide again: see `Decisions`. An observation
    comes with an acknowledgement, and the action acts at that instant on what is sent from then on; its effect is seen
    a round trip later, as it would be by a real sender.

    `reset` draws a network and a seed of the trial; with ``options={"trial_seed": s}`` the seed is s, and the
    trial is the one that the engine runs with that seed. ``info`` has the network's id, the trial's seed and `now_us`.

    Args:
        agent: what it sees and does, or the name of a signal set for once per round trip and a factor of the window.
        networks: one network, a list, or a function of (seed, count), such as ``space.draw``.
        reward: what a step is worth, or the kind of it.
        others: what drives the other senders of the network, or the name of a baseline; None for no other senders.
        duration: of a trial, µs.
        model: options of the network model.

    Raises:
        InputError: any of it is impossible.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012

    def __init__(
        self,
        agent: Agent | str = "e2e",
        networks: NetworkSource = DEFAULT_NETWORK,
        reward: Reward | Kind = "utility",
        others: Policy | str | None = None,
        duration: float = 10_000.0,
        model: Model | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"render_mode: must be rgb_array or None, got {render_mode!r:.60}")
        self.render_mode = render_mode
        self.agent = agent_with(agent) if isinstance(agent, str) else agent
        self.networks = networks
        self.rules = Rules(
            self.agent,
            Reward(reward) if isinstance(reward, str) else reward,
            baseline(others) if isinstance(others, str) else others,
            duration,
            model or Model(),
        )
        self.observation_space = cast("gymnasium.Space[Floats]", observation_space(self.agent))
        self.action_space = action_space(self.agent)
        self._core = self.rules.core(
            [1], all_senders=False, whole_rows=False, endless=False, keep_records=False, jobs=1
        )
        self._info: dict[str, Any] = {}
        self._seen: Floats = np.zeros(self.agent.inputs, dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a trial, and play it until the flow comes on.

        Raises:
            InputError: in 1,000 trials no flow came on, or none did with the seed that was asked for.
        """
        super().reset(seed=seed)
        network = self._draw()
        given = (options or {}).get("trial_seed")
        for _ in range(_MOST_TRIES if given is None else 1):
            trial_seed = int(self.np_random.integers(2**63)) if given is None else int(given)
            self._start(network, trial_seed)
            if len(self._core.ready):
                self._info = {"network": network.id, "trial_seed": trial_seed}
                self._seen = np.array(self._core.observation[0])
                return self._seen.copy(), self._told()
        raise InputError(f"network {network.id}: no flow came on within {self.rules.duration:g} µs")

    def _draw(self) -> Network:
        drawn = networks_from(self.networks, int(self.np_random.integers(2**32)), 1)
        network = drawn[int(self.np_random.integers(len(drawn)))]
        return replace(network, senders=1) if self.rules.others is None else network

    def _start(self, network: Network, trial_seed: int) -> None:
        listed = NetworkList([network])
        try:
            self._core.set_courses(listed.compiled, list(base_delay_us(listed, self.rules.model)))
            self._core.start(0, 0, trial_seed)
        except (ValueError, RuntimeError) as error:
            raise InputError(f"network {network.id}: {error}") from error

    def _told(self) -> dict[str, Any]:
        return {**self._info, "now_us": self._core.now(0)}

    def step(self, action: Any) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Decide, and play on until the next decision or the end of the flow.

        Raises:
            InputError: the episode is over, or has not begun; or the action is outside the action space's kind.
        """
        if not len(self._core.ready):
            raise InputError("step: the episode is over or has not begun; call reset first")
        try:
            self._core.step(np.asarray(action, dtype=np.float32).reshape(1, -1))
        except ValueError as error:
            raise InputError(f"step: {error}") from error
        ended = int(self._core.ended[0])
        self._seen = np.array((self._core.last_observation if ended else self._core.observation)[0])
        reward = float(self._core.reward[0])
        if ended:
            self._core.stop(0)
        return self._seen.copy(), reward, ended == FLOW_ENDED, ended > FLOW_ENDED, self._told()

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of what the agent sees: a bar per input, full at its bound."""
        if self.render_mode is None:
            return None
        tops = np.clip(self._seen / self.agent.bounds, 0, 1)[None, :] * _PICTURE
        below = np.arange(_PICTURE, 0, -1)[:, None] <= tops
        bars = np.kron(np.where(below, 40, 255), np.ones((1, 8))).astype(np.uint8)
        return np.repeat(bars[:, :, None], 3, axis=2)
