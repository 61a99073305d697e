"""The training loop of Double DQN over episodes of any kind, safe against kills."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.inputs.files import make_folder, read_checked, write_checked
from lcca.studies.acc.learner.double_dqn import DoubleDqn

try:
    import torch
except ImportError as error:
    raise missing("torch", "trainings of ACC") from error

CHECKPOINT = "checkpoint.pt"
"""In the folder of a training: what it goes on from."""

FORMAT = 3
CURVE_PARTS = 10


def curve_of(returns: Sequence[float]) -> list[float]:
    """Return the learning curve: means over tenths of the episodes, or each episode where there are fewer."""
    part = max(len(returns) // CURVE_PARTS, 1)
    parts = [returns[at : at + part] for at in range(0, len(returns), part)]
    return [sum(each) / len(each) for each in parts]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread: for networks this small more are slower, and sums keep their order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(
    learner: DoubleDqn,
    play: Callable[[DoubleDqn, int], float],
    *,
    folder: Path | None = None,
    every: int = 50,
    tell: Callable[[DoubleDqn, list[float]], None] = lambda learner, returns: None,
) -> list[float]:
    """Train until the learner has had its steps; go on from the folder's checkpoint if there is one.

    A training that was stopped anywhere gives the same bits as one that was not: episodes since the last checkpoint are
    played again.

    Args:
        learner: that has not learnt yet.
        play: plays an episode, by its number, lets the learner learn from it, and returns its mean reward per step.
        folder: of the checkpoint; None keeps none.
        every: episodes between checkpoints.
        tell: called after each episode, with the mean rewards of all.

    Returns:
        The mean reward per step of each episode.

    Raises:
        InputError: the checkpoint is another training's or damaged.
    """
    file = None if folder is None else folder / CHECKPOINT
    returns = load(learner, file) if file is not None and file.exists() else []
    with one_thread():
        while learner.steps < learner.config.steps:
            returns.append(play(learner, len(returns)))
            if file is not None and len(returns) % every == 0:
                save(learner, returns, file)
            tell(learner, returns)
    if file is not None:
        save(learner, returns, file)
    return returns


def save(learner: DoubleDqn, returns: Sequence[float], file: Path) -> None:
    """Write the checkpoint, whole or not at all."""
    content = {
        "format": FORMAT,
        "config": learner.config.model_dump_json(),
        "learner": learner.state(),
        "returns": torch.tensor(returns, dtype=torch.float64),
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    make_folder(file.parent)
    write_checked(file, buffer.getvalue())


def load(learner: DoubleDqn, file: Path) -> list[float]:
    """Take a checkpoint's learner on; return the mean rewards of its episodes.

    Raises:
        InputError: it is another training's or damaged.
    """
    content = torch.load(io.BytesIO(read_checked(file, "delete it to begin again")), weights_only=True)
    if (content["format"], content["config"]) != (FORMAT, learner.config.model_dump_json()):
        raise InputError(f"{file}: a training with another configuration or version; choose another folder")
    learner.restore(content["learner"])
    returns: list[float] = content["returns"].tolist()
    return returns
