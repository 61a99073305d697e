"""Many networks at once, an agent slot for every competing flow: arrays in, arrays out, stepped by C++ threads.

An *environment* is one network in simulation; an *agent slot* is one sender of it that the agent steers. The flows of a
slot, one after another and trial after trial, are its episodes. Nothing here needs Gymnasium; `vec_env` and
`vector_env` give it the shape that Stable-Baselines3 and Gymnasium expect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.gym_envs.interface.episode import NetworkSource, Reward, base_delay_us, networks_from
from lcca.gym_envs.interface.slots import Floats
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import Stamping, raw_stamping
from lcca.remy_plus.engine import Model, available_jobs
from lcca.remy_plus.network import NetworkList, compile_network
from lcca.remy_plus.policies.agents import Agent, TableSteering
from lcca.remy_plus.policies.policy import Policy, WithHeader, compile_policy, seen
from lcca.remy_plus.policies.simple import Simple


@dataclass(frozen=True)
class Rules:
    """What all environments have in common.

    Attributes:
        agent: what the learner sees and does.
        reward: what a step is worth.
        others: what drives the senders that the agent does not steer; None where it steers all.
        duration: of a trial, µs.
        model: options of the network model.
        patience: how long a flow that is due to decide waits for the other flows of its network, in base delays. At 0
            one flow decides at a time, just when its acknowledgement arrives. Otherwise the network stops when all of
            its flows are due or the first has waited that long; until then they go on as they did, and then all that
            are due decide at once.
        late: decide at late packets of earlier flows too, as rule tables do: for replaying them.
        header: of all packets: its bytes are charged, and its signals are all that agent and others see of the network;
            that of the others if left out. Without any, signals of the network are exact and free.
    """

    agent: Agent
    reward: Reward = field(default_factory=Reward)
    others: Policy | None = None
    duration: float = 10_000.0
    model: Model = field(default_factory=Model)
    patience: float = 0.0
    late: bool = False
    header: Stamping | None = None

    @property
    def stamping(self) -> Stamping | None:
        """What brings the signals of the network; None where they are those that need nothing.

        Raises:
            InputError: a header that does not carry them, or signals that only a header can define.
        """
        others, own = self.others, self.header
        if isinstance(others, WithHeader):
            if own not in (None, others.stamping):
                raise InputError(f"header {own.name}: others have {others.stamping.name}; packets have one header")
            own = others.stamping
            others = others.policy
        looked_at = (*self.agent.looked_at, *(() if others is None else seen(others)))
        if own is None:
            own = raw_stamping(looked_at)
        elif own.ranks:
            raise InputError(f"header {own.name}: rank is for fabrics: senders of networks do not know what is left")
        else:
            own.require(looked_at)
        return others.equipped(own) if own and isinstance(others, Simple) else own

    def core(
        self, slots: Sequence[int], *, all_senders: bool, whole_rows: bool, endless: bool, keep_records: bool, jobs: int
    ) -> _core.AgentSlots:
        """Return the engine's slots: `slots[g]` of them in environment g.

        Raises:
            InputError: a duration, a patience or numbers of slots that are impossible.
        """
        stamping = self.stamping
        others = self.others.policy if isinstance(self.others, WithHeader) else self.others
        try:
            return _core.AgentSlots(
                self.agent.compile(self.late),
                self.reward.compile(),
                None if others is None else compile_policy(others),
                duration=self.duration,
                model=self.model.parts(),
                patience=self.patience,
                slots=list(slots),
                all_senders=all_senders,
                whole_rows=whole_rows,
                endless=endless,
                keep_records=keep_records,
                jobs=jobs,
                header=None if stamping is None else stamping.content(),
            )
        except (ValueError, TypeError) as error:
            raise InputError(f"slots: {str(error).splitlines()[0]}") from error


class AgentSlots:
    """A batch of environments that is stepped as one.

    Arrays have a row per slot. They are views of memory that the next `step` overwrites: copy what must last.
    With `whole_rows` every slot has a row in every step; slots without a flow see −1 everywhere, and the action of a
    slot that need not decide is ignored. Without, only the rows of `ready` count, and actions have a row for each of
    these; the reward of a slot's row is for the time since its last row.

    Environments keep their number of slots: environment g has networks with as many senders as the g-th of the first
    draw. Trial t of environment g depends on the seed, g and t alone: not on threads, nor on actions elsewhere.

    Args:
        rules: what all environments have in common.
        networks: one network, a list, a function of (seed, count) such as ``space.draw``, or the file of a space.
        environments: how many networks are simulated at once.
        slots: senders of each network that the agent steers, the first ones; None for all.
        whole_rows: see above.
        pool: how many networks are drawn where they are drawn.
        seed: of the draw, and of `reset` unless it is given one.
        jobs: threads; they do not change any result.
        keep_records: keep the flows of each environment's latest finished trial.

    Raises:
        InputError: networks or rules that do not fit.
    """

    def __init__(
        self,
        rules: Rules,
        networks: NetworkSource,
        *,
        environments: int = 64,
        slots: int | None = None,
        whole_rows: bool = False,
        pool: int = 1024,
        seed: int = 0,
        jobs: int | None = None,
        keep_records: bool = False,
    ) -> None:
        self.rules = rules
        self.seed = seed
        self._pool = max(pool, environments)
        drawn = networks_from(networks, seed, self._pool)
        shape = [drawn[g % len(drawn)].senders if slots is None else slots for g in range(environments)]
        self.slot_environment: NDArray[np.int64] = np.repeat(np.arange(environments), shape)
        self.core = rules.core(
            shape,
            all_senders=slots is None,
            whole_rows=whole_rows,
            endless=True,
            keep_records=keep_records,
            jobs=available_jobs() if jobs is None else jobs,
        )
        self.whole_rows = whole_rows
        self.networks = self._set(drawn)

    def set_networks(self, networks: NetworkSource, seed: int | None = None) -> None:
        """Play on these from each environment's next trial on (a curriculum, or a fresh draw).

        Raises:
            InputError: none of them has as many senders as some environment has slots.
        """
        self.networks = self._set(networks_from(networks, self.seed if seed is None else seed, self._pool))

    def _set(self, networks: list[Any]) -> NetworkList:
        listed = NetworkList(networks)
        try:
            self.core.set_networks(listed.compiled(compile_network), list(base_delay_us(listed, self.rules.model)))
        except ValueError as error:
            raise InputError(f"networks: {error}") from error
        return listed

    @property
    def agent(self) -> Agent:
        """What the learner sees and does."""
        return self.rules.agent

    @property
    def num_slots(self) -> int:
        """Rows of the arrays."""
        return int(self.core.slots)

    def reset(self, seed: int | None = None) -> None:
        """Begin every environment anew with its first trial."""
        self.seed = self.seed if seed is None else seed
        self.core.reset(self.seed)

    def step(self, actions: ArrayLike) -> None:
        """Decide, and run every environment to its next decision.

        Args:
            actions: (rows, numbers) within [-1, 1], or (rows,) indices of a table; see the class for the rows.

        Raises:
            InputError: other shapes, or values that are not finite or no index.
        """
        try:
            given = np.ascontiguousarray(actions, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise InputError(f"step: expected numbers, got {actions!r:.60}") from error
        if given.ndim == 1:
            given = given.reshape(-1, 1) if isinstance(self.rules.agent.steering, TableSteering) else given[None, :]
        try:
            self.core.step(given)
        except (ValueError, RuntimeError) as error:
            raise InputError(f"slots: {error}") from error

    @property
    def observation(self) -> Floats:
        """(slots, inputs) what each slot sees now."""
        return np.asarray(self.core.observation)

    @property
    def last_observation(self) -> Floats:
        """(slots, inputs) what a slot saw last of a flow that `ended`."""
        return np.asarray(self.core.last_observation)

    @property
    def reward(self) -> Floats:
        """(slots,) since the slot's previous row; of the flow that ended, where one did."""
        return np.asarray(self.core.reward)

    @property
    def elapsed(self) -> Floats:
        """(slots,) base delays that the reward is for: from the slot's last action to its row, or its flow's end."""
        return np.asarray(self.core.elapsed)

    @property
    def active_flows(self) -> NDArray[np.uint32]:
        """(slots,) how many steered flows were on in the slot's network at its row, its own too."""
        return np.asarray(self.core.rivals)

    @property
    def trials(self) -> int:
        """Trials begun since the latest `reset`."""
        return int(np.asarray(self.core.trials).sum())

    @property
    def packets(self) -> int:
        """Packets delivered since the latest `reset`, in trials that came to their end."""
        return int(np.asarray(self.core.packets).sum())

    @property
    def ended(self) -> NDArray[np.uint8]:
        """(slots,) whether the flow that the slot's last action was for has ended: 0, FLOW_ENDED or TRIAL_ENDED."""
        return np.asarray(self.core.ended)

    @property
    def acting(self) -> NDArray[np.uint8]:
        """(slots,) 1 where the slot has to decide now (whole rows only)."""
        return np.asarray(self.core.acting)

    @property
    def ready(self) -> NDArray[np.uint32]:
        """The slots that have to decide now, in order."""
        return np.asarray(self.core.ready)

    @property
    def network_index(self) -> NDArray[np.int64]:
        """(slots,) the network of each slot's running trial, as an index into those set last."""
        return np.asarray(self.core.network)[self.slot_environment].astype(np.int64)
