"""Learning curves for TensorBoard: a point for every step of every trainer, where TensorBoard is installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from lcca.evaluation.trials import layout
from lcca.experiments.campaign.plan import Learner
from lcca.trainers.base import LearningRow, TrainerConfig

VALUES = ("score_bits", "rules", "round", "trials", "packets", "cpu_s")
"""Of a `LearningRow`."""

STEPS = "steps"
"""Beside what an algorithm logs of itself: TensorBoard reads one writer's files per folder."""


class Writer(Protocol):
    """Takes the rows of a learning curve that are new."""

    def __call__(self, rows: Sequence[LearningRow]) -> None:
        """Write them."""


def folder(run: Path) -> Path:
    """Return where a run's curves for TensorBoard are."""
    return run / layout.TRAINING / layout.TENSORBOARD


def look_at(run: Path, config: TrainerConfig) -> str:
    """Return how to look at the curves of a run; nothing where none are written."""
    return f"learning curves: tensorboard --logdir {folder(run)}" if _wanted(config) else ""


@contextmanager
def scalars(run: Path, learner: Learner, config: TrainerConfig, before: Sequence[LearningRow]) -> Iterator[Writer]:
    """Write the rows that are handed over, each as soon as it is; a training that goes on appends.

    `before` are the rows so far: they are there already, unless the training begins where others have been.
    """
    if not _wanted(config):
        yield lambda rows: None
        return
    from tensorboard.summary import Writer as EventWriter

    place = folder(run) / learner.id / STEPS
    begun = place.exists()
    events = EventWriter(str(place))

    def write(rows: Sequence[LearningRow]) -> None:
        for row in rows:
            values = asdict(row)
            for name in VALUES:
                events.add_scalar(name, values[name], row.step)
        events.flush()

    try:
        write(() if begun else before)
        yield write
    finally:
        events.close()


def _wanted(config: TrainerConfig) -> bool:
    return config.logs and find_spec("tensorboard") is not None
