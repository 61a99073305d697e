"""The training cache: finished trainings by what they are, so that a campaign that asks for one again has it at once.

A training's key (`Learner.key`) names all that its result depends on, down to the code; equal keys mean equal bits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lcca.evaluation.trials import layout
from lcca.inputs.errors import InputError
from lcca.inputs.files import check_writable, make_folder, read_checked, write_checked

_REMEDY = "it is removed from the training cache and trained anew"


@dataclass(frozen=True)
class Finished:
    """A finished training.

    Attributes:
        checkpoint: the payload of its last one.
        rounds: the content of its policy files, by their names.
    """

    checkpoint: str
    rounds: Mapping[str, str]


class TrainingCache:
    """A folder of finished trainings, one file each, which several campaigns may share, at once too.

    Attributes:
        folder: None keeps nothing and has nothing.

    Raises:
        InputError: it cannot be written.
    """

    def __init__(self, folder: Path | None) -> None:
        if folder is not None:
            check_writable(folder, "choose another one for the training cache")
        self.folder = folder

    def file(self, key: str) -> Path | None:
        """Return the file of a training, or None where it is not there."""
        file = None if self.folder is None else self.folder / f"{key}.training"
        return file if file is not None and file.exists() else None

    def take(self, key: str, tell: Callable[[str], None]) -> Finished | None:
        """Return a finished training, None if there is none. A damaged one is removed, and `tell` gets to know."""
        if (file := self.file(key)) is None:
            return None
        try:
            return _finished(read_checked(file, _REMEDY), file, key)
        except InputError as error:
            tell(str(error))
            file.unlink(missing_ok=True)
            return None

    def keep(self, key: str, training: Finished) -> None:
        """Keep a finished training, unless it is there."""
        if self.folder is None or self.file(key) is not None:
            return
        make_folder(self.folder)
        content = {"key": key, "checkpoint": training.checkpoint, "rounds": dict(training.rounds)}
        write_checked(self.folder / f"{key}.training", json.dumps(content, sort_keys=True).encode())


def _finished(payload: bytes, file: Path, key: str) -> Finished:
    """Return what a cache's file holds. Its digest is no secret: whoever can write there can forge one.

    Raises:
        InputError: it is another training's, or no training: its policies' names, which become paths, are others.
    """
    try:
        content = json.loads(payload)
        own, checkpoint, rounds = (content[name] for name in ("key", "checkpoint", "rounds"))
        names = {layout.checkpoint_file(Path(), "", i + 1).name for i in range(len(rounds))}
        texts = all(isinstance(text, str) for text in (checkpoint, *rounds.values()))
    except (ValueError, KeyError, TypeError, AttributeError):
        own, names, texts = key, set(), False
    if own != key:
        raise InputError(f"{file}: another training's; {_REMEDY}")
    if not texts or set(rounds) != names:
        raise InputError(f"{file}: no training; {_REMEDY}")
    return Finished(checkpoint, rounds)
