"""Where ACC learns and is held against others: what its training and its test ask of such a place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.trials.source import TrialSource
from lcca.experiments.runs.context import Run
from lcca.experiments.summaries import Json, measured

if TYPE_CHECKING:
    from lcca.trainers.ecn.double_dqn import DoubleDqn

CURVE_PARTS = 10


@dataclass(frozen=True)
class Learnt:
    """What a training has learnt.

    Attributes:
        model: that chooses how to mark.
        steps: of the training.
        curve: mean reward over tenths of the training.
    """

    model: Any
    steps: int
    curve: Sequence[float]


def curve_of(returns: Sequence[float]) -> list[float]:
    """Return the learning curve: the mean over tenths of a training, or of each episode where there are fewer."""
    part = max(len(returns) // CURVE_PARTS, 1)
    parts = [returns[at : at + part] for at in range(0, len(returns), part)]
    return [sum(each) / len(each) for each in parts]


class AccPlace(ABC):
    """Where ACC learns, and is held against others.

    Attributes:
        scored: column of the trials by which ACC is compared.
    """

    scored = "score_bits"

    @abstractmethod
    def require_flows(self, tests: bool = True) -> None:
        """Check that there is something to learn from, and in the tests to score; before a folder is made.

        Raises:
            InputError: there is not.
        """

    @abstractmethod
    def learner(self) -> DoubleDqn:
        """Return a learner that has not learnt yet."""

    @abstractmethod
    def play(self, learner: DoubleDqn, episode: int) -> float:
        """Play an episode, by its number, and learn from it; return its mean reward."""

    def kept(self, folder: Path) -> Learnt | None:
        """Return what a training in the folder has learnt; None where it is not done, or its checkpoint alone says."""
        return None

    @abstractmethod
    def learnt(self, learner: DoubleDqn, returns: Sequence[float], folder: Path) -> Learnt:
        """Return what a learner has learnt in episodes with these rewards, and keep it if there is a file for it."""

    @abstractmethod
    def contenders(self, learnt: Learnt, run: Run[Any, None]) -> Mapping[str, Any]:
        """Return all that meet the same trials, ACC first."""

    @property
    @abstractmethod
    def tests(self) -> Mapping[str, TrialSource[Any]]:
        """The trials of each condition of the test."""

    def measured(self, rows: pd.DataFrame, names: Iterable[str], condition: str) -> list[Json]:
        """Return what was measured under a condition, a record for each contender."""
        return measured(rows, names, condition)

    @abstractmethod
    def origin(self, learnt: Learnt) -> Json:
        """Return what the summary says of the place and of what was learnt there."""

    @abstractmethod
    def close(self) -> None:
        """End what simulates."""
