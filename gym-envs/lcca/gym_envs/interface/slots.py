"""What agent slots offer to vector environments, whatever simulates them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.remy_plus.policies.agents import Agent

Floats = NDArray[np.float32]


class Slots(Protocol):
    """Places of flows that an agent steers, one after another; arrays have a row per slot.

    Arrays may be overwritten by the next `step`: copy what must last.
    """

    seed: int

    @property
    def agent(self) -> Agent:
        """What the learner sees and does."""

    @property
    def whole_rows(self) -> bool:
        """Whether every slot has a row in every step."""

    @property
    def num_slots(self) -> int:
        """Rows of the arrays."""

    @property
    def observation(self) -> Floats:
        """(slots, inputs) what each slot sees now; −1 where no flow is on."""

    @property
    def last_observation(self) -> Floats:
        """(slots, inputs) what a slot saw last of a flow that `ended`."""

    @property
    def reward(self) -> Floats:
        """(slots,) since the slot's previous row; of the flow that ended, where one did."""

    @property
    def ended(self) -> NDArray[np.uint8]:
        """(slots,) whether the flow that the slot's last action was for has ended: 0, FLOW_ENDED or TRIAL_ENDED."""

    @property
    def acting(self) -> NDArray[np.uint8]:
        """(slots,) 1 where the slot has to decide now."""

    def reset(self, seed: int | None = None) -> None:
        """Begin anew."""

    def step(self, actions: ArrayLike) -> Any:
        """Decide, and go on to the next decision."""
