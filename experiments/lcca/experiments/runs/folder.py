"""A run's folder: created once, never taken over by another configuration or version, safe against kills.

Everything in it is written whole or not at all. What a run needs to go on after a kill is here; what it computes from
that is written anew at the end, with the same bytes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeVar

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import missing_files, read_manifest
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, write_json, write_state, write_table
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.manifest import COMPLETE, check_same, grown, new_manifest
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.inputs.files import (
    DIGEST,
    digest_file,
    make_folder,
    open_own,
    open_regular,
    read_with_digest,
    write_with_digest,
)
from lcca.inputs.yaml_text import dump

SPACE_NEEDED = 50 * 2**20
"""Bytes that must be free when a run starts."""

C = TypeVar("C", bound=RunConfig)


class RunFolder(Generic[C]):
    """The folder of one run, locked against a second process.

    Attributes:
        path: of the folder.
        config: of the run.
        warnings: what the user should know of a run that goes on.
        goes_on: whether the run was there before.
    """

    def __init__(self, path: Path, config: C) -> None:
        self.path = path
        self.config = config
        self.warnings: list[str] = []
        self.goes_on = False
        self._lock: IO[str] | None = None

    @classmethod
    def open(cls, path: Path, config: C, resume: bool) -> Self:
        """Create the folder, or go on with the one that is there if `resume`.

        Raises:
            InputError: there is a run and `resume` is not asked for, it is another configuration's, version's or
                commit's, another process works in it, the disk is full, or the folder cannot be written.
        """
        require_libraries({"pyarrow": "pyarrow", "matplotlib": "matplotlib", "jinja2": "jinja2"}, "run folders", "runs")
        folder = cls(path, config)
        try:
            folder._prepare(resume)
        except OSError as error:
            folder.close()
            raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
        except BaseException:
            folder.close()
            raise
        return folder

    def _prepare(self, resume: bool) -> None:
        """Look before touching anything; then look again, alone in the folder."""
        self._look(resume)
        make_folder(self.path)
        self._take_lock()
        self._remove_halves()
        self.goes_on = self._look(resume)
        if not self.goes_on:
            free = shutil.disk_usage(self.path).free
            if free < SPACE_NEEDED:
                raise InputError(
                    f"{self.path}: only {free // 2**20} MiB left on the disk; free {SPACE_NEEDED // 2**20} MiB at least"
                )
            write_state(self.path / layout.MANIFEST, new_manifest(self.config))
        elif (manifest := self.manifest() or {}).get("config_hash") != self.config.hash:
            write_state(self.path / layout.MANIFEST, grown(self.path, manifest, self.config))
        text, file = resolved_yaml(self.config).encode(), self.path / layout.CONFIG
        if not file.exists() or file.read_bytes() != text or not digest_file(file).exists():
            write_with_digest(file, text)

    def _look(self, resume: bool) -> bool:
        """Tell whether a run of ours is here that may be gone on with; refuse anything else."""
        manifest = self.manifest()
        if manifest is None:
            free = not self.path.exists() or (self.path.is_dir() and all(map(_is_beginning, self.path.iterdir())))
            if not free:
                raise InputError(f"{self.path}: there already, and not a run; choose another --out")
            return False
        self.warnings = check_same(self.path, self.config, manifest)
        if not resume:
            done = " and complete" if manifest["state"] == COMPLETE else ""
            raise InputError(f"{self.path}: there already{done}; go on with it by resume=True, or choose another --out")
        return True

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, or None where there is no run."""
        return read_manifest(self.path)

    @property
    def trials(self) -> TrialStore:
        """The parts of the run's trials."""
        return TrialStore(self.path / layout.TRIALS)

    @property
    def figures(self) -> Path:
        """The folder of the run's figures, which is made."""
        folder = self.path / layout.FIGURES
        folder.mkdir(exist_ok=True)
        return folder

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a result into the folder: sorted keys, so equal content gives equal bytes."""
        write_json(self.path / name, content)

    def read_json(self, name: str) -> dict[str, Any]:
        """Return a result of the folder."""
        return read_json(self.path / name, "delete it and resume")

    def remove(self, name: str) -> None:
        """Remove a result that another one has replaced, if it is there."""
        for path in (digest_file(self.path / name), self.path / name):
            path.unlink(missing_ok=True)

    def write_table(self, name: str, table: pd.DataFrame) -> None:
        """Write a table into the folder."""
        write_table(self.path / name, table)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do, and nothing of it is missing.

        Raises:
            InputError: a file of a complete run is damaged.
        """
        manifest = self.manifest() or {}
        files = manifest.get("files", ())
        if manifest.get("state") != COMPLETE:
            return False
        if missing_files(self.path, {"files": [*self.config.run_kind.results, *files]}):
            return False
        for name in files:
            read_with_digest(self.path / name, "delete it and resume")
        return True

    def set_state(self, state: str) -> None:
        """Note in the manifest how far the run is, and when it is complete which files belong to it."""
        manifest = (self.manifest() or {}) | {"state": state}
        manifest.pop("files", None)
        if state == COMPLETE:
            found = (file.relative_to(self.path).as_posix() for file in self.path.rglob(f"*{DIGEST}"))
            manifest["files"] = sorted(name.removesuffix(DIGEST) for name in found)
        write_state(self.path / layout.MANIFEST, manifest)

    def close(self) -> None:
        """Let another process have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _remove_halves(self) -> None:
        """Remove what a killed process was writing and never finished."""
        for file in self.path.rglob(".*.part"):
            file.unlink(missing_ok=True)

    def check_same(self) -> None:
        """Check that the run that is there is this configuration's, and of this code.

        Raises:
            InputError: there is none, or it is not.
        """
        manifest = self.manifest()
        if manifest is None:
            raise InputError(f"{self.path}: no run here; start it first")
        self.warnings = check_same(self.path, self.config, manifest)

    def _take_lock(self) -> None:
        self._lock = open(self.path / layout.LOCK, "a+", encoding="utf-8", opener=open_own)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            owner = self._lock.read(100).strip() or "another process"
            raise InputError(f"{self.path}: {owner} is working on this run; wait for it or stop it") from None
        self._lock.truncate(0)
        self._lock.write(f"process {os.getpid()}\n")
        self._lock.flush()


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the folder of a run.

    Raises:
        InputError: what should be the lock is something else.
    """
    try:
        with open_regular(path / layout.LOCK, links=False) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (FileNotFoundError, PermissionError):
        return False
    return False


def _is_beginning(file: Path) -> bool:
    return file.name == layout.LOCK or (file.name.startswith(f".{layout.MANIFEST}.") and file.suffix == ".part")


def default_folder(config: RunConfig) -> Path:
    """Return where a run goes unless told otherwise: the configuration decides, so a run finds itself again."""
    return Path("results") / config.name / config.hash


def resolved_yaml(config: RunConfig) -> str:
    """Return the configuration with everything filled in, as YAML that `lcca` reads again."""
    return dump(config.model_dump(mode="json"))
