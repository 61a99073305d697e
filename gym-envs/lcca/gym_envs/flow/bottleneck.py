"""`lcca/Bottleneck-v0`: one flow that learns, in the fast engine (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import numpy as np

from lcca.gym_envs.batch.agent_slots import Rules
from lcca.gym_envs.flow.env import Floats, FlowEnv
from lcca.gym_envs.interface.episode import DEFAULT_NETWORK, Kind, NetworkSource, Own, Reward, base_delay_us
from lcca.gym_envs.interface.spaces import header_with
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import stamping


class BottleneckEnv(FlowEnv):
    """One learning flow of a trial of the fast engine; see `FlowEnv` for episodes and steps.

    Args:
        agent: what it sees and does, or the name of a signal set for once per round trip and a factor of the window.
        networks: one network, a list, a function of (seed, count), such as ``space.draw``, or the file of a space.
        reward: what a step is worth, or the kind of it, or a function of what the agent sees after the step, its action
            and `info`.
        others: what drives the other senders of the network, or its name as `lcca evaluate` takes it; None for
            no other senders.
        duration: of a trial, µs.
        model: options of the network model.
        render_mode: None, or "rgb_array" for `render` to return a picture.
        header: of all packets, or its name or file; without one, signals of the network are exact and free.

    Raises:
        InputError: any of it is impossible.
    """

    def __init__(
        self,
        agent: Agent | str = "e2e",
        networks: NetworkSource = DEFAULT_NETWORK,
        reward: Reward | Kind | Own = "power",
        others: Policy | str | None = None,
        duration: float = 10_000.0,
        model: Model | None = None,
        render_mode: str | None = None,
        header: Header | str | None = None,
    ) -> None:
        super().__init__(agent, networks, reward, others, duration, model, render_mode)
        self.header = header_with(header)
        stamped = None if self.header is None else stamping(self.header)
        self.rules = Rules(self.agent, self.reward, self.others, duration, self.model, header=stamped)
        self._core = self.rules.core(
            [1], all_senders=False, whole_rows=False, endless=False, keep_records=False, jobs=1
        )

    def _begin(self, network: Network, trial_seed: int) -> Floats | None:
        listed = NetworkList([network])
        try:
            self._core.set_networks(listed.compiled(compile_network), list(base_delay_us(listed, self.model)))
            self._core.start(0, 0, trial_seed)
        except (ValueError, RuntimeError) as error:
            raise InputError(f"network {network.id}: {error}") from error
        return np.array(self._core.observation[0]) if len(self._core.ready) else None

    def _act(self, action: Floats) -> tuple[Floats, float, int]:
        try:
            self._core.step(action.reshape(1, -1))
        except ValueError as error:
            raise InputError(f"step: {error}") from error
        ended = int(self._core.ended[0])
        seen = np.array((self._core.last_observation if ended else self._core.observation)[0])
        reward = float(self._core.reward[0])
        if ended:
            self._core.stop(0)
        return seen, reward, ended

    def _now(self) -> float:
        return float(self._core.now(0))
