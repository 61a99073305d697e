"""All flows of a fabric in slots that an agent steers, one trial after another; nothing here needs Gymnasium."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.gym_envs.fabric.trials import SEEDS, FabricTrials, Rows
from lcca.gym_envs.interface.slots import Floats
from lcca.gym_envs.interface.turns import Turns
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import FabricRecord
from lcca.remy_plus.policies.agents import Agent, TableSteering

_MOST_TRIES = 100


class FabricSlots:
    """Slots of flows of one fabric, as `lcca.gym_envs.interface.slots.Slots`.

    A flow that begins takes the first slot that is free; where none is, it runs as the others do. Trial t has flows,
    paths and marks by the seed and t alone.

    Args:
        trials: what all have in common.
        slots: flows that are steered at once.
        seed: of `reset` unless it is given one.

    Attributes:
        record: of the trial that ended last.
        trial_seed: of the one that goes on.
    """

    whole_rows = True

    def __init__(self, trials: FabricTrials, slots: int = 64, seed: int = 0) -> None:
        self.trials, self.num_slots, self.seed = trials, slots, seed
        self.record: FabricRecord | None = None
        self.trial_seed = 0
        inputs = trials.agent.inputs
        self.observation: Floats = np.full((slots, inputs), -1, dtype=np.float32)
        self.last_observation: Floats = np.zeros((slots, inputs), dtype=np.float32)
        self.reward: Floats = np.zeros(slots, dtype=np.float32)
        self.ended: NDArray[np.uint8] = np.zeros(slots, dtype=np.uint8)
        self.acting: NDArray[np.uint8] = np.zeros(slots, dtype=np.uint8)
        self._trial = 0
        self._turns: Turns[Rows | FabricRecord, Floats] | None = None
        self._rows: Rows = {}
        self._end: weakref.finalize[Any, Any] | None = None

    @property
    def agent(self) -> Agent:
        """What the learner sees and does."""
        return self.trials.agent

    def reset(self, seed: int | None = None) -> None:
        """Begin the first trial of a seed, and run it to its first decision."""
        self.seed = self.seed if seed is None else seed
        self._trial = 0
        self._clear()
        self.observation[:] = -1
        self._go_on(self._begin())

    def step(self, actions: ArrayLike) -> None:
        """Decide, and run to the next decision.

        Args:
            actions: (slots, numbers) within [-1, 1], or (slots,) indices of a table.

        Raises:
            InputError: other shapes, or values that are not finite or no index; the trial goes on.
        """
        if self._turns is None:
            raise InputError("step: call reset first")
        numbers = self.agent.numbers
        try:
            chosen = np.asarray(actions, dtype=np.float32).reshape(self.num_slots, numbers)
        except (ValueError, TypeError) as error:
            raise InputError(f"slots: expected ({self.num_slots}, {numbers}) actions, got {actions!r:.60}") from error
        steering = self.agent.steering
        most = len(steering.actions) if isinstance(steering, TableSteering) else np.inf
        if not np.isfinite(chosen).all() or (most < np.inf and not ((chosen >= 0) & (chosen < most)).all()):
            raise InputError("slots: an action is not a finite number, or no index of the action table")
        self._clear()
        self._go_on(self._turns.after(np.ascontiguousarray(chosen[self._rows["slot"]])))

    def close(self) -> None:
        """End the trial that goes on."""
        self._turns = None
        if self._end is not None:
            self._end()

    def _clear(self) -> None:
        self.reward[:], self.ended[:], self.acting[:] = 0, 0, 0

    def _begin(self) -> Rows | FabricRecord:
        self.close()
        words = [self.seed % 2**32, self._trial, self.seed >> 32]  # no two seeds and trials have the same
        self.trial_seed = int(np.random.default_rng(words).integers(SEEDS))
        self._trial += 1
        turns = self.trials.begin(self.trial_seed, self.num_slots)
        self._end = weakref.finalize(self, turns.close)
        found = turns.first()
        self._turns = turns
        return found

    def _go_on(self, found: Rows | FabricRecord) -> None:
        """Take rows in until some slot has to decide, over the ends of trials."""
        numbers, tries = self.agent.numbers, 0
        while True:
            if "slot" not in found:
                self.record, tries = found, tries + 1
                if tries > _MOST_TRIES:
                    raise InputError(f"scenario: in {_MOST_TRIES} trials no flow was to be steered")
                found = self._begin()
                continue
            self._take(found)
            if self.acting.any():
                return
            assert self._turns is not None
            found = self._turns.after(np.zeros((len(found["slot"]), numbers), dtype=np.float32))

    def _take(self, rows: Rows) -> None:
        self._rows = rows
        slot, over, worth = rows["slot"], rows["ended"] != 0, self.trials.worth(rows)
        np.add.at(self.reward, slot, worth)
        ended = slot[over]
        self.ended[ended], self.last_observation[ended] = rows["ended"][over], rows["view"][over]
        self.observation[ended] = -1
        self.acting[slot[~over]], self.observation[slot[~over]] = 1, rows["view"][~over]
