"""Decisions of flows as arrays, each with what came of it.

Only decisions that were really taken are here. A decision whose outcome is still unknown waits for it, past an
update if need be; it is then learnt from with the probability with which it was taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.remy_plus.policies.policy import compile_policy

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

GoOn = Callable[["Experience"], bool]
"""From the latest decisions that have their outcomes to whether to go on."""


@dataclass
class Experience:
    """Decisions, environment by environment, each one's in the order of their outcomes.

    Attributes:
        seen: (n, width) what was seen: the flow's view; and for a privileged critic behind it the network as a whole,
            log₂(1 + flows that are on) and the mean of what they saw last, and the network's parameters.
        action: (n, numbers) what was decided.
        log_probability: (n,) of the action when it was decided.
        reward: (n,) until the next decision of the flow, or its end.
        elapsed: (n,) that time, in base delays.
        common: (n,) the reward that it would be at the mean rate of all flows of its network over that time; its own
            at a flow's end.
        ended: (n,) 0, or `FLOW_ENDED`, `TRIAL_ENDED`.
        slot: (n,) the agent slot whose it was.
        network: (n,) on which network, as an index into the slots' networks.
        next: (n,) the row of the flow's next decision; below 0 at its end, and where that is not here.
        after: (m, width) what was seen afterwards where `next` is below 0; at a flow's end its last view, the rest as
            of the decision.
        after_of: (m,) rows of these.
    """

    seen: Floats
    action: Floats
    log_probability: Floats
    reward: Floats
    elapsed: Floats
    common: Floats
    ended: NDArray[np.uint8]
    slot: Ints
    network: Ints
    next: Ints
    after: Floats
    after_of: Ints

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.reward)

    def shared(self, common: float) -> Floats:
        """Return (n,) rewards of which this share is common to all flows of a network."""
        mixed: Floats = (1 - np.float32(common)) * self.reward + np.float32(common) * self.common
        return mixed


class Collector:
    """Plays agent slots with a network and noise, and keeps what came of it; the engine does all of that.

    Args:
        slots: the agent slots, without whole rows, just reset; after another reset they need another collector.
        privileges: (networks, numbers) what a critic sees of each network; None for none.
        seed: of the noise.
    """

    def __init__(self, slots: AgentSlots, privileges: Floats | None, seed: int) -> None:
        flat = [] if privileges is None else privileges.ravel().tolist()
        self._agent = slots.agent
        self._rollouts = _core.Rollouts(slots.core, flat, seed)

    def collect(
        self, count: int, actor: MlpPolicy, deviations: list[float], go_on: GoOn = lambda part: True, often: int = 0
    ) -> Experience:
        """Play until at least `count` decisions have their outcomes, or `go_on` says no.

        Args:
            count: decisions.
            actor: decides; it has the slots' agent.
            deviations: of the noise on each number; empty where an entry of a table is drawn by its probability.
            go_on: gets decisions without `next` and `after`, but where it is called at the end.
            often: decisions between two calls of it, which changes no bits; 0 for one call with all at the end.

        Raises:
            InputError: the actor has another agent, or what it says is no finite number.
        """
        if actor.agent != self._agent:
            raise InputError("trainer: the slots are of another agent than the actor")
        policy = compile_policy(actor)
        self._rollouts.begin()
        for rows in (*range(often, count, often), count) if often else (count,):
            try:
                self._rollouts.play(rows, policy, deviations)
            except OverflowError as error:
                raise InputError(f"trainer: {error}; try a smaller learning_rate") from error
            except (ValueError, RuntimeError) as error:
                raise InputError(f"slots: {error}") from error
            if often and not go_on(Experience(**self._rollouts.experience(latest=True))):
                break
        experience = Experience(**self._rollouts.experience())
        if not often:
            go_on(experience)
        return experience
