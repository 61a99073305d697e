"""`lcca/Ns3Bottleneck-v0`: one flow that learns, in ns-3 (``pip install 'lcca[drl]'`` and ``make ns3``)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from lcca.gym_envs.flow.env import Floats, FlowEnv
from lcca.gym_envs.interface.episode import DEFAULT_NETWORK, Kind, NetworkSource, Own, Reward, base_delay_us
from lcca.gym_envs.ns3.host import BOTTLENECK
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import UNUSED, Compiled, Ns3
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.stamping import PLAIN, raw_stamping
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.policy import Policy
from lcca.workers.session import Session


class Ns3BottleneckEnv(FlowEnv):
    """One learning flow of a trial of ns-3: `BottleneckEnv` in every way, but for the simulator.

    The trial runs in a process of its own, one per environment. Where ns-3 aborts or does not answer, `reset` or
    `step` raises `SimulationLost`, which names the network and the trial's seed; the next `reset` begins afresh.

    Args:
        agent: what it sees and does, or the name of a signal set for once per round trip and a factor of the window.
        networks: one network, a list, a function of (seed, count), such as ``space.draw``, or the file of a space.
        reward: what a step is worth, or the kind of it, or a function of what the agent sees after the step, its action
            and `info`.
        others: what drives the other senders of the network, or the name of a baseline, those of ns-3 included; None
            for no other senders.
        duration: of a trial, µs.
        model: options of the network model.
        render_mode: None, or "rgb_array" for `render` to return a picture.
        options: of ns-3; signals cost the bytes that `header_bytes` says.
        timeout: seconds within which ns-3 must come to the next decision.

    Raises:
        InputError: any of it is impossible, or ns-3 is not installed.
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
        options: Ns3Options | None = None,
        timeout: float = 60.0,
    ) -> None:
        super().__init__(agent, networks, reward, others, duration, model, render_mode)
        if raw_stamping(self.agent.looked_at) is not None:
            raise InputError(f"agent: of the network ns-3 tells agents {', '.join(PLAIN)} alone; leave the others out")
        self._simulator = Ns3(duration, self.model, 1, options or Ns3Options())
        self._others: Compiled = UNUSED if self.others is None else self._simulator.compile(self.others)
        self._session = Session(BOTTLENECK, timeout)
        self._about = ""
        self._time = 0.0

    def _begin(self, network: Network, trial_seed: int) -> Floats | None:
        self._about = f"network {network.id}, seed {trial_seed}"
        plan = self._simulator.plan(self._others, network, trial_seed)
        (base_delay,) = base_delay_us(NetworkList([network]), self.model)
        due, seen, _, _, self._time = self._session.call(
            "begin", plan, self.agent.parts(), asdict(self.reward), float(base_delay), about=self._about
        )
        return np.array(seen, dtype=np.float32) if due else None

    def _act(self, action: Floats) -> tuple[Floats, float, int]:
        self._due = False  # unless an answer comes
        _, seen, reward, ended, self._time = self._session.call("act", action.tolist(), about=f"step, {self._about}")
        return np.array(seen, dtype=np.float32), float(np.float32(reward)), int(ended)

    def _now(self) -> float:
        return float(self._time)

    def close(self) -> None:
        """End ns-3's process."""
        self._session.close()
