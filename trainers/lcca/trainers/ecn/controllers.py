"""What may set a switch's marking: something static, chance, or what ACC has learnt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.ecn.settings import GRID, MarkSetting
from lcca.trainers.ecn.double_dqn import DoubleDqn

Choose: TypeAlias = Callable[[NDArray[np.float32]], MarkSetting]
"""From (6 × history,) the state of `lcca/Ns3Ecn-v0` to the setting of the next interval."""


class Controller(ABC):
    """Chooses a setting for each interval; it may serve several trials at a time."""

    @abstractmethod
    def begin(self, seed: int) -> Choose:
        """Return what chooses in one trial; the seed is of anything random in it."""


@dataclass(frozen=True)
class Static(Controller):
    """One setting for ever."""

    setting: MarkSetting

    def begin(self, seed: int) -> Choose:
        """Return what always chooses it."""
        return lambda seen: self.setting


@dataclass(frozen=True)
class Learnt(Controller):
    """The best action of a trained learner; with `explore`, a random one as often.

    PRED's paper leaves exploration on when ACC is deployed, and finds the queue unstable for it (section VI-C.3).

    Attributes:
        learner: trained; None where `explore` is 1 and nothing has to be known.
        explore: share of random settings.
    """

    learner: DoubleDqn | None
    explore: float = 0.0

    def begin(self, seed: int) -> Choose:
        """Return what chooses, with a stream of random settings of its own."""
        draws = np.random.default_rng(seed)

        def choose(seen: NDArray[np.float32]) -> MarkSetting:
            if self.learner is None or draws.random() < self.explore:
                return GRID[int(draws.integers(len(GRID)))]
            return GRID[self.learner.best(seen)]

        return choose


CHANCE = Learnt(None, 1.0)
"""Every setting at random: what a learner does before it has learnt."""
