"""Finished trainings, kept by what they are: a campaign that asks for one again has it at once.

A *cell* is one training. Its key names all that its result depends on, down to the code; equal keys mean equal bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lcca.experiments.runs.version import version
from lcca.inputs.errors import InputError

FORMAT = 1

CODE = (
    "lcca.remy_plus",
    "lcca.signal_sets",
    "lcca.trainers",
    "lcca.evaluation.scenarios.networks",
    "lcca.evaluation.trials.utility",
    "lcca.evaluation.trials.scoring",
    "lcca.evaluation.settling.verdict",
    "lcca.evaluation.settling.base",
    "lcca.evaluation.settling.sequence",
)
"""What a training runs, beside the engine itself."""


def cell_key(**content: Any) -> str:
    """Return 24 hex digits that name a training: its content (JSON values), this version and its code."""
    said = {"format": FORMAT, "version": version(), "code": code_hash(), **content}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:24]


@cache
def code_hash() -> str:
    """Return a hash of the code that trains, the engine's binary included."""
    digest = hashlib.sha256()
    for file in (_engine(), *(file for name in CODE for file in _sources(name))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def _engine() -> Path:
    spec = find_spec("lcca.remy_plus._core")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin)


def _sources(module: str) -> list[Path]:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


class CellStore:
    """A folder of cells, which several campaigns may share, at once too.

    Attributes:
        root: the folder; None keeps nothing and has nothing.
    """

    def __init__(self, root: Path | None) -> None:
        self.root = root

    def has(self, key: str) -> bool:
        """Tell whether a training is there, finished."""
        return self.root is not None and (self.root / key).is_dir()

    def take(self, key: str, state: Path, rounds: Path, own: Callable[[], None] = lambda: None) -> bool:
        """Copy a finished training into a run; False if there is none.

        Args:
            key: of the training.
            state: where the run keeps its state.
            rounds: the folder where it keeps its checkpoints.
            own: called when the checkpoints are there, before the training counts as finished.
        """
        if self.root is None or not self.has(key):
            return False
        cell = self.root / key
        try:
            rounds.parent.mkdir(parents=True, exist_ok=True)
            state.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(cell / "rounds", rounds, dirs_exist_ok=True)
            own()
            _copy(cell / "state", state)  # last: with it the training counts as finished
        except OSError as error:
            raise InputError(
                f"{cell}: cannot be copied ({error.strerror or error}); remove it to train it anew"
            ) from None
        return True

    def keep(self, key: str, state: Path, rounds: Path) -> None:
        """Keep a finished training, unless it is there."""
        if self.root is None or self.has(key):
            return
        self.root.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(prefix=".", suffix=".part", dir=self.root))
        _copy(state, half / "state")
        shutil.copytree(rounds, half / "rounds")
        half.chmod(0o755)
        try:
            half.rename(self.root / key)
        except OSError:  # another campaign was faster
            shutil.rmtree(half)


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, so that a file is there whole or not at all."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
        return
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(source, part)
    os.replace(part, target)
