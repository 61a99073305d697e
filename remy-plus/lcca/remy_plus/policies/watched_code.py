"""What a user's code in Python may not do wherever it runs, since nobody could tell it from the result.

It may not read a file whose content is not among what results are kept by, and not end or double the process. A
rehearsal sees the first moments alone; this holds in every trial, thread and worker process.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any, NoReturn, Protocol

import lcca
from lcca.inputs.digests.imports import sha256
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_limited

_LIBRARIES = ("/dev", "/etc", "/proc", "/sys", "/usr", sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())
_OUTSIDE = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.spawn", "sqlite3.connect", "socket.connect")
_exit = os._exit


class Forbidden(InputError):
    """A user's code did what it may not do; the message names the line of its definition, and the remedy."""


class Watched(Protocol):
    """A text of Python whose code is watched (see `lcca.remy_plus.policies.python_control.PythonClass`)."""

    @property
    def path(self) -> str:
        """Of its file."""

    @property
    def name(self) -> str:
        """Of its class or function."""

    @property
    def module(self) -> str:
        """By which its code is found."""

    @property
    def reads(self) -> Mapping[str, str]:
        """The SHA-256 of every file that it may read, by path."""

    def line_of(self, member: str = "") -> str:
        """Return the file and line of its definition, or of a member's."""


_watched: dict[str, Watched] = {}
caught: dict[str, Forbidden] = {}
"""What code has done that it may not, by its module: it may have caught the error."""


def watch(source: Watched) -> None:
    """Watch from now on what the code of a text does."""
    if not _watched:
        sys.addaudithook(_notice)  # for good: Python has no way to remove one
        for each in (os, sys.modules[_exit.__module__]):
            vars(each)["_exit"] = _end
    _watched[source.module] = source
    caught.pop(source.module, None)


def _running() -> Watched | None:
    """Return the text whose code called us, in this thread; None if there is none, or it is us who read a file."""
    frame = sys._getframe(1).f_back
    while frame is not None and frame.f_code is not _require_known.__code__:
        if (found := _watched.get(frame.f_globals.get("__name__", ""))) is not None:
            return found
        frame = frame.f_back
    return None


def _notice(event: str, given: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = given
        if not isinstance(path, int) and flags & (os.O_WRONLY | os.O_TRUNC) == 0 and (source := _running()):
            _require_known(source, Path(os.path.realpath(os.fsdecode(path))))
    elif event in ("os.exec", "os.fork", "os.forkpty") and (source := _running()):
        raise _forbidden(source, f"replaces or doubles the process that it runs in ({event})")
    elif event in _OUTSIDE and (source := _running()) and not _importing():
        raise _forbidden(source, f"asks what is outside of its process, where nobody would notice changes ({event})")


def _importing() -> bool:
    """Tell whether a module is being imported in this thread: libraries may ask the machine what it is."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _end(status: int) -> NoReturn:
    if source := _running():
        raise _forbidden(source, f"ends the process that it runs in, with status {status}")
    _exit(status)


def _require_known(source: Watched, file: Path) -> None:
    """Raise `Forbidden` unless a change of a file that is read would be noticed, and it is what it was."""
    if file.suffix == ".pyc" and file.parent.name == "__pycache__":
        file = Path(source_from_cache(file))
    installed = (
        *_LIBRARIES,
        *lcca.__path__,
        *(each for each in sys.path if Path(each).name in ("site-packages", "dist-packages")),
    )
    if file.is_dir() or any(file.is_relative_to(os.path.realpath(each)) for each in installed):
        return
    name = os.path.relpath(file, os.path.realpath(Path(source.path).parent))
    if (known := source.reads.get(str(file))) is None:
        words = f'and nobody would notice its changes; add to the file: files = ("{name}",)'
        raise _forbidden(source, f"reads {name}, {words}")
    if sha256(read_limited(file)) != known:
        raise _forbidden(source, f"reads {name}, which has changed meanwhile; begin again")


def _forbidden(source: Watched, what: str) -> Forbidden:
    caught[source.module] = found = Forbidden(f"{source.line_of()}: {source.name} {what}")
    return found
