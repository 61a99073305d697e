"""The runs below a folder, a line each, without reading their trials."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lcca.evaluation.report.words.headline import headline
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.runs.folder import is_locked
from lcca.inputs.errors import InputError


@dataclass(frozen=True)
class RunLine:
    """A run in a list.

    Attributes:
        folder: of the run.
        kind: the command's name; empty where the manifest is damaged.
        name: of its configuration.
        state: of its manifest; "running" where a process works on it, "damaged" where that cannot be read.
        changed: when its manifest was last written, in seconds since 1970.
        cpu_s: CPU time so far.
        wall_s: time so far.
        trials: so far.
        headline: what it has found, or why that cannot be read.
    """

    folder: Path
    kind: str
    name: str
    state: str
    changed: float
    cpu_s: float
    wall_s: float
    trials: int
    headline: str

    def words(self) -> tuple[str, ...]:
        """Return its cells in a list, as `HEADS` names them."""
        changed = ""
        with suppress(ValueError, OverflowError, OSError):  # a file system takes any number
            changed = datetime.fromtimestamp(self.changed).strftime("%Y-%m-%d %H:%M")
        cost = (changed, cpu_time(self.cpu_s), f"{self.trials:,}")
        return (str(self.folder), self.kind, self.name, self.state, *cost, self.headline)


HEADS = ("folder", "kind", "name", "state", "changed", "CPU time", "trials", "found")


def cpu_time(seconds: float) -> str:
    """Return seconds in a unit that suits them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def runs_in(folder: Path) -> list[RunLine]:
    """Return the runs in a folder and below it, the last changed first; not those that belong to another run.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; run folders go to results/ unless --out says otherwise")
    lines = [line for line in map(_line, _folders(folder)) if line is not None]
    return sorted(lines, key=lambda line: (-line.changed, line.folder))


def _folders(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs, at any depth; links lead nowhere."""
    waiting = [folder]
    while waiting:
        path, below = waiting.pop(), []
        with suppress(OSError):  # removed meanwhile, or not for us
            below = list(os.scandir(path))
        if any(each.name == layout.MANIFEST for each in below):
            yield path
        else:
            waiting += [Path(each) for each in below if each.is_dir(follow_symlinks=False)]


def _line(folder: Path) -> RunLine | None:
    """Return a run; None if it was removed meanwhile."""
    try:
        changed = os.lstat(folder / layout.MANIFEST).st_mtime
        with damage(folder):
            str(folder).encode()
            run = LoadedRun(folder)
            cost = {name: sum(run.costs.get(name, ())) for name in ("cpu_s", "wall_s", "trials")}
            words, state = run.manifest, "running" if is_locked(folder) else run.manifest["state"]
            return RunLine(folder, words["kind"], words["name"], state, changed, headline=_found(run), **cost)
    except (InputError, FileNotFoundError) as error:
        there = os.path.lexists(folder / layout.MANIFEST)
        return RunLine(folder, "", "", "damaged", changed, 0.0, 0.0, 0, str(error)) if there else None


def _found(run: LoadedRun) -> str:
    try:
        with damage(run.path / layout.SUMMARY):
            return headline(run.result)
    except InputError as error:
        return str(error)


@contextmanager
def damage(what: str | os.PathLike[str]) -> Iterator[None]:
    """Say in words what is wrong with files of runs: anything may have been written into them.

    Raises:
        InputError: whatever goes wrong inside but that a file is gone.
    """
    try:
        yield
    except (InputError, FileNotFoundError):
        raise
    except UnicodeEncodeError:
        raise InputError(f"{os.fspath(what)}: damaged (a name in it is not UTF-8); rename it") from None
    except Exception as error:
        kind = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{os.fspath(what)}: damaged ({kind}); its run cannot be read") from None
