"""The samplers of a study: Optuna's, a grid of what fits together, and the paper's greedy search. Needs Optuna.

A sampler is made anew for every candidate, with a seed of its own. What it proposes is then a function of that seed and
of the candidates so far: not of how often the study was stopped, nor of who evaluated them.
"""

from __future__ import annotations

import hashlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from lcca.remy_plus.policies.tunables import Value
from lcca.trainers.tune.config import AnySampler, Greedy, Grid, Tpe, TuneConfig
from lcca.trainers.tune.space import Params, Range, Space, key


def sampler_of(config: TuneConfig, space: Space, seed: int, start_value: float) -> BaseSampler:
    """Return the sampler of a search.

    Args:
        config: names it.
        space: to be searched.
        seed: for this candidate; grid and greedy do not depend on it.
        start_value: score of the policy's own parameters, in bits.
    """
    wanted: AnySampler = config.sampler
    match wanted:
        case Tpe():
            return tpe(seed, wanted.startup)
        case Grid():
            return GridSearch(space)
        case Greedy():
            return GreedySearch(space, wanted.reach, start_value)
        case _:
            return RandomSampler(seed=seed)


def tpe(seed: int, startup: int, multivariate: bool | None = None) -> BaseSampler:
    """Return Optuna's estimator, whose first candidates are drawn at random; None: as Optuna usually has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # of Optuna before 5
        return TPESampler(n_startup_trials=startup, seed=seed, constant_liar=True, multivariate=multivariate)


def seed_of(seed: int, number: int) -> int:
    """Return the seed of a candidate's sampler: 32 bits, as NumPy's old generator takes."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=4).digest(), "big")


def proposal(sampler: BaseSampler, trials: Iterable[FrozenTrial], space: Mapping[str, BaseDistribution]) -> FrozenTrial:
    """Return what a sampler proposes after these trials, which are all that it sees; it is to make values large."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    replica = optuna.create_study(sampler=sampler, direction="maximize")
    replica.add_trials(trials)
    replica.ask(dict(space))
    return replica.get_trials(deepcopy=False)[-1]


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return the space as Optuna writes it."""
    return {name: _distribution(space, name) for name in space.axes}


def _distribution(space: Space, name: str) -> BaseDistribution:
    axis, levels = space.axes[name], space.levels(name)
    if not isinstance(axis, Range):
        return CategoricalDistribution(list(axis))
    low, high = (axis.min, axis.max) if levels is None else (levels[0], levels[-1])
    assert not isinstance(low, str) and not isinstance(high, str)
    step = space.step(name) if levels is not None else None
    if space.is_whole(name):
        return IntDistribution(int(low), int(high), log=axis.log, step=1 if step is None else int(step))
    return FloatDistribution(low, high, log=axis.log, step=step if low < high else None)


def loose_distributions(space: Space) -> dict[str, BaseDistribution]:
    """Return the space without its steps and with its start, for samplers that list what they propose.

    A search may begin off the levels, as BBR's gain of 2.89 is, and vary one parameter while that one stays.
    """
    return {name: _loose(each, space.start[name]) for name, each in distributions(space).items()}


def _loose(found: BaseDistribution, start: Value) -> BaseDistribution:
    if isinstance(found, CategoricalDistribution):
        return found if start in found.choices else CategoricalDistribution([*found.choices, start])
    assert isinstance(found, IntDistribution | FloatDistribution) and not isinstance(start, str)
    low, high = min(found.low, start), max(found.high, start)
    if isinstance(found, IntDistribution) and int(start) == start:
        return IntDistribution(int(low), int(high))
    return FloatDistribution(float(low), float(high))


class ListedSearch(BaseSampler, ABC):
    """A sampler that runs out of candidates, for good or until results are in."""

    def __init__(self, space: Space) -> None:
        self.space = space

    @abstractmethod
    def untried(self, trials: list[FrozenTrial]) -> list[Params]:
        """Return what can be proposed now, in order: empty if results must come first, or if the search is over.

        Args:
            trials: so far, by number; those that run have no value yet.
        """

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the whole space."""
        return loose_distributions(self.space)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the next candidate; the start of the search, and the study's stop, where there is none."""
        before = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        waiting = self.untried(before)
        if not waiting:
            study.stop()
        return dict(waiting[0] if waiting else before[-1].params)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Refuse a parameter that is not of the space."""
        raise ValueError(f"{param_name}: not a parameter of the space")


class GridSearch(ListedSearch):
    """Every point whose values go together, shuffled, the same way every time."""

    @cached_property
    def _points(self) -> list[Params]:
        points = list(self.space.grid())
        return [points[i] for i in np.random.default_rng(len(points)).permutation(len(points))]

    def untried(self, trials: list[FrozenTrial]) -> list[Params]:
        """Return the points that nobody has proposed."""
        seen = {key(self.space.point(t.params)) for t in trials}
        return [point for point in self._points if key(point) not in seen]


class GreedySearch(ListedSearch):
    """The paper's search (A.3): from the start, all neighbours; then from the best of them; until none is better.

    Where the search stands follows from the trials, so it needs no memory of its own.

    Args:
        space: with a step on every range; its policy's own values are the start, and need not be levels.
        reach: levels up and down that each parameter is varied by.
        start_value: score of the start in bits; without one the first step goes to the best neighbour in any case.
    """

    def __init__(self, space: Space, reach: int = 1, start_value: float = -np.inf) -> None:
        super().__init__(space)
        self.reach = reach
        self.start_value = start_value

    def untried(self, trials: list[FrozenTrial]) -> list[Params]:
        """Return the neighbours of the best point so far that nobody has proposed."""
        values = {key(self.space.point(t.params)): _value(t) for t in trials}
        center, best = self.space.start, self.start_value
        while True:
            around = self.space.neighbours(center, self.reach)
            missing = [p for p in around if key(p) not in values]
            if missing:
                return missing
            results = [values[key(p)] for p in around]
            if not around or any(value is None for value in results):
                return []
            at = int(np.argmax([-np.inf if value is None else value for value in results]))
            found = results[at]
            if found is None or not found > best:
                return []
            center, best = around[at], found


def _value(trial: FrozenTrial) -> float | None:
    """Return what is known of a candidate's score: None while it runs, −inf if it was stopped or cannot be."""
    if not trial.state.is_finished():
        return None
    return trial.value if trial.state == TrialState.COMPLETE and trial.value is not None else -np.inf
