"""Decisions of flows as arrays, each with what came of it.

Only decisions that were really taken are here. A decision whose outcome is still unknown waits for it, past an
update if need be; it is then learnt from with the probability with which it was taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

Decide = Callable[[Floats], tuple[Floats, Floats]]
"""From (n, inputs) views: (n, numbers) actions, and (n,) their log-probabilities."""

GoOn = Callable[["Experience"], bool]
"""From decisions that have their outcomes since a step, to whether to go on."""


@dataclass
class Experience:
    """Decisions in the order of their outcomes; rows of one step of the agent slots have one `step`.

    Attributes:
        view: (n, inputs) what was seen.
        action: (n, numbers) what was decided.
        log_probability: (n,) of the action when it was decided.
        reward: (n,) until the next decision of the flow, or its end.
        elapsed: (n,) that time, in base delays.
        common: (n,) the reward that it would be at the mean rate of all flows of its network over that time; its own
            at a flow's end.
        after: (n, inputs) what was seen then.
        state: (n, inputs + 1) the network as a whole as it was decided: log₂(1 + flows that are on), and the mean of
            what they saw last.
        state_after: (n, inputs + 1) the same then; at a flow's end, as it was decided.
        ended: (n,) 0, or `FLOW_ENDED`, `TRIAL_ENDED`.
        slot: (n,) the agent slot whose it was.
        network: (n,) on which network, as an index into the slots' networks.
        step: (n,) rises with time.
    """

    view: Floats
    action: Floats
    log_probability: Floats
    reward: Floats
    elapsed: Floats
    common: Floats
    after: Floats
    state: Floats
    state_after: Floats
    ended: NDArray[np.uint8]
    slot: Ints
    network: Ints
    step: Ints

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.reward)

    def shared(self, common: float) -> Floats:
        """Return (n,) rewards of which this share is common to all flows of a network."""
        mixed: Floats = (1 - np.float32(common)) * self.reward + np.float32(common) * self.common
        return mixed


class Collector:
    """Steps agent slots with a policy and keeps what came of it.

    Args:
        slots: the agent slots, without whole rows, reset.
        numbers: that an action has.
    """

    def __init__(self, slots: AgentSlots, numbers: int) -> None:
        self.slots = slots
        count, inputs = slots.num_slots, slots.rules.agent.inputs
        self._waits = np.zeros(count, dtype=bool)
        self._network = np.zeros(count, dtype=np.int64)
        self._view = np.zeros((count, inputs), dtype=np.float32)
        self._action = np.zeros((count, numbers), dtype=np.float32)
        self._log_probability = np.zeros(count, dtype=np.float32)
        environments = int(slots.slot_environment.max()) + 1
        self._rewards, self._time = np.zeros(environments), np.zeros(environments)  # of all flows so far, and over what
        self._many = np.zeros(environments)
        self._sum = np.zeros((environments, inputs), dtype=np.float32)
        self._state = np.zeros((count, inputs + 1), dtype=np.float32)
        self._rewards_before, self._time_before = np.zeros(count), np.zeros(count)

    def collect(self, count: int, decide: Decide, go_on: GoOn = lambda part: True) -> Experience:
        """Step until at least `count` decisions have their outcomes, or `go_on` says no."""
        parts: list[Experience] = []
        have = step = 0
        while have < count:
            ready = self.slots.ready.astype(np.int64)
            part = self._outcomes(ready, step)
            parts.append(part)
            if not go_on(part):
                break
            self._decide(ready, decide)
            have += len(part)
            step += 1
        return joined(parts)

    def _outcomes(self, ready: Ints, step: int) -> Experience:
        slots = self.slots
        had = ready[self._waits[ready]]
        ended = slots.ended[had]
        over = ended != 0
        after = slots.observation[had]
        after[over] = slots.last_observation[had[over]]
        reward, elapsed = slots.reward[had], slots.elapsed[had]
        self._see(ready)
        state_after = self._states(had)
        state_after[over] = self._state[had[over]]
        return Experience(
            self._view[had],
            self._action[had],
            self._log_probability[had],
            reward,
            elapsed,
            np.where(over, reward, elapsed * self._rate(had, reward, elapsed)),
            after,
            self._state[had],
            state_after,
            ended,
            had,
            self._network[had],
            np.full(len(had), step),
        )

    def _rate(self, had: Ints, reward: Floats, elapsed: Floats) -> Floats:
        """Return what all flows of each one's network got per base delay since it decided."""
        environment = self.slots.slot_environment[had]
        np.add.at(self._rewards, environment, reward)
        np.add.at(self._time, environment, elapsed)
        reward_sum = self._rewards[environment] - self._rewards_before[had]
        time = self._time[environment] - self._time_before[had]
        rate: Floats = (reward_sum / np.maximum(time, 1e-9)).astype(np.float32)
        return rate

    def _see(self, ready: Ints) -> None:
        """Take what these slots see now into the sums of their networks."""
        environment = self.slots.slot_environment[ready]
        new = self.slots.observation[ready]
        np.add.at(self._sum, environment, new - self._view[ready])
        np.add.at(self._many, environment, ~self._waits[ready])

    def _states(self, slots: Ints) -> Floats:
        environment = self.slots.slot_environment[slots]
        on = np.log2(1 + self.slots.active_flows[slots])[:, None]
        mean = self._sum[environment] / self._many[environment][:, None]
        return np.concatenate([on, mean], axis=1).astype(np.float32)

    def _decide(self, ready: Ints, decide: Decide) -> None:
        slots = self.slots
        view = slots.observation[ready]
        self._state[ready] = self._states(ready)
        action, log_probability = decide(view)
        self._view[ready], self._action[ready], self._log_probability[ready] = view, action, log_probability
        self._network[ready] = slots.network_index[ready]
        environment = slots.slot_environment[ready]
        self._rewards_before[ready], self._time_before[ready] = self._rewards[environment], self._time[environment]
        self._waits[ready] = True
        slots.step(action)


def joined(parts: list[Experience]) -> Experience:
    """Return all rows of all parts, in order."""
    return Experience(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Experience)))
