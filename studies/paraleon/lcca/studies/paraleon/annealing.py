"""Simulated annealing that is guided by the traffic (PARALEON, ICNP 2025, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Step:
    """A parameter that is annealed.

    Attributes:
        start: its first value.
        low, high: ends.
        size: of a step, of which a share between a half and all is taken.
        towards: 1 where more of it is good for throughput, -1 where less is.
    """

    start: float
    low: float
    high: float
    size: float
    towards: int


@dataclass(frozen=True)
class Schedule:
    """How an annealing cools: so many trials at each temperature, from the first to the last."""

    first: float
    last: float
    cooling: float
    trials: int


@dataclass
class Annealing:
    """Maximises a utility by trying one set of values after the other.

    Attributes:
        steps: what is varied, by name.
        schedule: how it cools.
        exploit: most likely move towards what the traffic asks for, η.
        guided: moves go where the traffic asks for with the chance of its share; else either way is as likely.
        random: where it draws from.
        current: what was last taken.
        best: what was best, where it ends.
        tried: what is being tried.
    """

    steps: Mapping[str, Step]
    schedule: Schedule
    exploit: float
    guided: bool
    random: np.random.Generator
    current: dict[str, float] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    tried: dict[str, float] = field(default_factory=dict)
    _current_utility: float = -math.inf
    _best_utility: float = -math.inf
    _temperature: float = -math.inf
    _trials: int = 0

    def __post_init__(self) -> None:
        """Begin with the first values."""
        self.tried = {name: step.start for name, step in self.steps.items()}
        self.current, self.best = dict(self.tried), dict(self.tried)

    @property
    def cold(self) -> bool:
        """Whether it has ended, or not begun."""
        return self._temperature <= self.schedule.last

    def heat(self) -> None:
        """Begin anew, with what holds now."""
        self._temperature, self._trials = self.schedule.first, 0
        self._current_utility = self._best_utility = -math.inf

    def move(self, utility: float, throughput_share: float) -> dict[str, float]:
        """Take the utility of what was tried; return what to try next, or the best as it ends.

        Args:
            utility: that `tried` had.
            throughput_share: of the traffic that asks for throughput rather than short delays.
        """
        gain = utility - self._current_utility
        if gain > 0 or math.exp(gain / self._temperature) > self.random.random():
            self._current_utility, self.current = utility, dict(self.tried)
        if self._current_utility > self._best_utility:
            self._best_utility, self.best = self._current_utility, dict(self.current)
        self._trials += 1
        if self._trials == self.schedule.trials:
            self._trials = 0
            self._temperature *= self.schedule.cooling
        self.tried = dict(self.best) if self.cold else self._mutated(throughput_share)
        return self.tried

    def _mutated(self, throughput_share: float) -> dict[str, float]:
        dominant = 1 if throughput_share >= 0.5 else -1
        chance = min(max(throughput_share, 1 - throughput_share), self.exploit) if self.guided else 0.5
        return {name: self._moved(step, self.current[name], dominant, chance) for name, step in self.steps.items()}

    def _moved(self, step: Step, value: float, dominant: int, chance: float) -> float:
        size = step.size * self.random.uniform(0.5, 1)
        way = dominant if self.random.random() < chance else -dominant
        return min(max(value + way * step.towards * size, step.low), step.high)
