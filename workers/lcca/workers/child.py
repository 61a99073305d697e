"""The supervisor of processes: a child ends with whatever started it, and errors quote its last words."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from typing import IO

from lcca.inputs.errors import InputError

_F_SETSIG = 10
"""Of Linux's fcntl.h; Python 3.11 has no name for it."""

_READ = 65_536
_QUOTED = 500
"""How much of what a child wrote last is read, and how much of that an error quotes, in bytes."""

_TERMINATION = 2.0
"""How long a child may take to end after SIGTERM, in seconds."""

_NS3 = {"condition": r'cond="([^"]*)"', "message": r'msg="([^"]*)"', "line": r"file=\S*?([^/\s]+, line=\d+)"}


class Child:
    """A running program in a process group of its own, so that Ctrl-C does not reach it and its own children end too.

    It holds none of our streams: its standard input is empty, and what it writes goes to a file that errors quote. Its
    group is killed by `end`, when this object goes, and when this process ends in any way, SIGKILL included: the child
    holds the reading end of a pipe, and the kernel signals its group when the writing end, which only we hold, closes.
    (`PR_SET_PDEATHSIG` would act when the *thread* ends that started the child.)

    Args:
        name: what errors call it.
        command: program and arguments.
        folder: where it runs.
        pass_fds: further files that it inherits.

    Raises:
        InputError: the program does not start.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: str | os.PathLike[str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self.name = name
        self._quoted_from = 0
        self._log = tempfile.TemporaryFile(prefix="lcca-")
        watched, self._held = os.pipe()
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
                pass_fds=(*pass_fds, watched),
            )
            _kill_when_closed(watched, self._process.pid)
        except OSError as error:
            os.close(self._held)
            self._log.close()
            raise InputError(f"{name} does not start: {error}") from None
        finally:
            os.close(watched)
        self._end = weakref.finalize(self, _end, self._process, self._held, self._log, 0.0)
        _CHILDREN.add(self)

    @property
    def ours(self) -> bool:
        """Whether it runs and this process started it: after a fork it is the parent's."""
        return self._end.alive

    @property
    def killed(self) -> bool:
        """Whether it was ended from outside and not by its own work."""
        return self._process.poll() in (-signal.SIGKILL, -signal.SIGTERM)

    def ended(self) -> str | None:
        """Return how it ended and what it wrote last, or None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        written = self._written()
        said = _ns3_message(written) or written[-_QUOTED:].strip()
        return f"{self.name} ended with {how}" + (f": {said}" if said else " and wrote nothing")

    def cause_of_death(self) -> str:
        """Return what ns-3 said before it aborted, or how the child ended; waits a little for its end."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        return _ns3_message(self._written()) or self.ended() or f"{self.name} closed its pipe"

    def _written(self) -> str:
        file = self._log.fileno()  # shared with the child: its position must not move
        begin = max(self._quoted_from, os.fstat(file).st_size - _READ)
        return os.pread(file, _READ, begin).decode(errors="replace")

    def quote_from_here(self) -> None:
        """Leave out of errors what it wrote so far."""
        self._quoted_from = os.fstat(self._log.fileno()).st_size

    def end(self, patience: float = 0.0) -> None:
        """Wait for its end, and end its group after so many seconds. Twice is harmless."""
        if self._end.detach():
            _end(self._process, self._held, self._log, patience)

    def disown(self) -> None:
        """Let go of it without ending it, in a fork of the process that it belongs to."""
        if self._end.detach():
            os.close(self._held)


_CHILDREN: weakref.WeakSet[Child] = weakref.WeakSet()


def _disown_all() -> None:
    for child in list(_CHILDREN):
        child.disown()


os.register_at_fork(after_in_child=_disown_all)


def _kill_when_closed(pipe: int, group: int) -> None:
    """Have the kernel kill a process group when nobody holds the writing end of a pipe any more."""
    fcntl.fcntl(pipe, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -group)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _end(process: subprocess.Popen[bytes], held: int, log: IO[bytes], patience: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_TERMINATION)
    os.close(held)
    log.close()


def _ns3_message(written: str) -> str:
    """Return what a dying ns-3 wrote: its condition, its message, and the line of its source; or nothing."""
    parts = {key: re.search(pattern, written) for key, pattern in _NS3.items()}
    condition, message, line = (found.group(1) if (found := parts[key]) else "" for key in _NS3)
    said = ": ".join(part for part in (f"assertion {condition} failed" if condition else "", message) if part)
    return f"ns-3: {said}" + (f" ({line})" if line else "") if said else ""
