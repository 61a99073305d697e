"""A run's folder: created once, never taken over by another configuration, safe against kills.

Everything in it is written whole or not at all. What a run needs to go on after a kill is here; what it computes from
that is written anew at the end, with the same bytes.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
from pathlib import Path
from typing import IO, Any, Generic, Literal, Protocol, Self, TypeVar

from lcca.experiments.campaign.config import CampaignConfig, require
from lcca.experiments.runs.version import commit, version
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_limited, write_atomically
from lcca.inputs.yaml_text import dump

SPACE_NEEDED = 50 * 2**20
"""Bytes that must be free when a run starts."""

LOCK = ".lock"

COMPLETE = "complete"
"""State of a run that has nothing left to do."""


class RunConfig(Protocol):
    """The configuration of a run: what its folder must know of it."""

    @property
    def name(self) -> str:
        """Name of the folder of its runs."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""

    @property
    def hash(self) -> str:
        """Names everything in the configuration."""

    def model_dump(self, *, mode: Literal["json"]) -> dict[str, Any]:
        """Return it as JSON values."""


C = TypeVar("C", bound=RunConfig)


class LockedFolder(Generic[C]):
    """The folder of one run, locked against a second process.

    Attributes:
        path: of the folder.
        config: of the run.
        results: files without which a run is not complete.
        first_state: of a new run.
        again: what to do about a run that is there and complete.
    """

    results: tuple[str, ...] = ("summary.json",)
    first_state = "begun"
    again = "look at it with `lcca report FOLDER`"

    def __init__(self, path: Path, config: C) -> None:
        self.path = path
        self.config = config
        self._lock: IO[str] | None = None

    @classmethod
    def open(cls, path: Path, config: C, resume: bool) -> Self:
        """Create the folder, or go on with the one that is there if `resume`.

        Raises:
            InputError: there is a run and `resume` is not asked for, it is another configuration's, another process
                works in it, the disk is full, or the folder cannot be written.
        """
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
        self.path.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        self._remove_halves()
        if not self._look(resume):
            self._create()
        if not (self.path / "config.yaml").exists():
            self.write("config.yaml", resolved_yaml(self.config))

    def _look(self, resume: bool) -> bool:
        """Tell whether a run of ours is here that may be gone on with; refuse anything else."""
        manifest = self.manifest()
        if manifest is None:
            self._check_new()
            return False
        self._check(manifest, resume)
        return True

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest, or None where there is no run."""
        return read_manifest(self.path)

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file into the folder: sorted keys, so equal content gives equal bytes."""
        self.write(name, json.dumps(content, sort_keys=True, indent=1, allow_nan=False) + "\n")

    def write(self, name: str, text: str) -> None:
        """Write a text file into the folder, whole or not at all."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode())

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        finished = (self.manifest() or {}).get("state") == COMPLETE
        return finished and all((self.path / name).exists() for name in self.results)

    def set_state(self, state: str) -> None:
        """Note in the manifest how far the run is: training, testing or complete."""
        manifest = self.manifest() or {}
        self.write_json("manifest.json", manifest | {"state": state})

    def close(self) -> None:
        """Let another process have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_new(self) -> None:
        """Refuse to start where there is anything but what a run that was killed at once leaves behind."""
        free = not self.path.exists() or (self.path.is_dir() and all(map(_is_beginning, self.path.iterdir())))
        require(free, f"{self.path}: there already, and not a run; choose another --out")

    def _create(self) -> None:
        free = shutil.disk_usage(self.path).free
        require(
            free >= SPACE_NEEDED,
            f"{self.path}: only {free // 2**20} MiB left on the disk; free {SPACE_NEEDED // 2**20} MiB at least",
        )
        self.write_json("manifest.json", self._new_manifest())

    def _new_manifest(self) -> dict[str, Any]:
        return {
            "format": 1,
            "campaign": self.config.name,
            "config_hash": self.config.hash,
            "version": version(),
            "commit": commit(),
            "seed": self.config.seed,
            "machine": {
                "system": platform.system(),
                "processor": platform.machine(),
                "python": platform.python_version(),
            },
            "state": self.first_state,
        }

    def _remove_halves(self) -> None:
        """Remove what a killed process was writing and never finished."""
        for file in self.path.rglob(".*.part"):
            file.unlink(missing_ok=True)

    def _check(self, manifest: dict[str, Any], resume: bool) -> None:
        theirs = manifest["config_hash"]
        require(
            theirs == self.config.hash,
            f"{self.path}: a run of another configuration ({theirs}, not {self.config.hash}); choose another --out",
        )
        require(
            manifest["version"] == version(),
            f"{self.path}: begun by version {manifest['version']}, this is {version()}: "
            "results could differ; finish it with that version or choose another --out",
        )
        done = manifest["state"] == COMPLETE
        mend = self.again.replace("FOLDER", str(self.path)) if done else "add --resume to go on with it"
        require(resume, f"{self.path}: there already{' and complete' if done else ''}; {mend}, or choose another --out")

    def _take_lock(self) -> None:
        self._lock = (self.path / LOCK).open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            owner = self._lock.read(100).strip() or "another process"
            raise InputError(f"{self.path}: {owner} is working on this run; wait for it or stop it") from None
        self._lock.truncate(0)
        self._lock.write(f"process {os.getpid()}\n")
        self._lock.flush()


class RunFolder(LockedFolder[CampaignConfig]):
    """The folder of one run of a campaign."""

    results = ("summary.json", "verdicts.json", "report.html")
    first_state = "training"

    def _new_manifest(self) -> dict[str, Any]:
        return super()._new_manifest() | {"training_seeds": list(self.config.training_seeds)}


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return the manifest of the run in a folder, or None where there is no run.

    Raises:
        InputError: it is damaged.
    """
    file = path / "manifest.json"
    if not file.exists():
        return None
    found = read_json(file, "choose another --out")
    require({"config_hash", "version", "state"} <= found.keys(), f"{file}: damaged; choose another --out")
    return found


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary of a finished run.

    Raises:
        InputError: there is no run in this folder, it is not finished, or the summary is damaged.
    """
    manifest = read_manifest(path)
    require(manifest is not None, f"{path}: no run here; name a run's folder, as in results/quickstart/<run-id>")
    assert manifest is not None
    file = path / "summary.json"
    require(file.is_file(), f"{path}: still {manifest['state']}; finish it with lcca sweep CONFIG --resume")
    found = read_json(file, "delete it and resume")
    require("policies" in found, f"{path}: not a campaign's run; look at {file}")
    return found


def read_json(file: Path, mend: str) -> dict[str, Any]:
    """Return the object in a JSON file of a run.

    Raises:
        InputError: it cannot be read or is damaged; the message ends with the mend.
    """
    try:
        found = json.loads(read_limited(file))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: damaged ({error}); {mend}") from None
    require(isinstance(found, dict), f"{file}: damaged (not an object); {mend}")
    return dict(found)


def _is_beginning(file: Path) -> bool:
    return file.name == LOCK or (file.name.startswith(".manifest.json.") and file.suffix == ".part")


def default_folder(config: RunConfig) -> Path:
    """Return where a run goes unless told otherwise: the configuration decides, so a run finds itself again."""
    return Path("results") / config.name / config.hash


def resolved_yaml(config: RunConfig) -> str:
    """Return the configuration with everything filled in, as YAML that `lcca` reads again."""
    return dump(config.model_dump(mode="json"))
