"""A simulation in a process of its own that is asked step by step, may die, and may fall silent.

The process is no child of `multiprocessing`, whose daemons (Stable-Baselines3's `SubprocVecEnv` has them) may have
none.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import weakref
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from lcca.gym_envs.processes.workers import cause_of_death, die_with_parent
from lcca.inputs.errors import InputError

STARTING_SECONDS = 120.0
"""Within which the process must say that it is there."""


class SimulationLost(RuntimeError):
    """The process that simulates died, or did not answer in time; the next beginning starts another one."""


class Session:
    """An object in another process: `call` runs one of its methods there.

    The process starts with the first call, and anew after it was lost. It ends with this object, with `close`, and
    with this process.

    Args:
        host: ``"module:name"`` of what makes the object there, without arguments.
        timeout: seconds within which every call must answer.
    """

    def __init__(self, host: str, timeout: float = 60.0) -> None:
        if not timeout > 0:
            raise InputError(f"timeout: must be > 0 s, got {timeout!r:.60}")
        self._host = host
        self.timeout = timeout
        self._live: _Process | None = None

    def call(self, method: str, *arguments: Any, about: str = "") -> Any:
        """Run a method, and return what it returned; values travel by pickle.

        Args:
            method: its name.
            arguments: of the method.
            about: what an error says first, such as the network and the seed.

        Raises:
            InputError: the method refused its arguments.
            SimulationLost: the process died or did not answer.
        """
        process = self._running(about)
        try:
            process.pipe.send((method, arguments))
            answered = process.pipe.poll(self.timeout)
            kind, value = process.pipe.recv() if answered else ("silent", None)
        except (EOFError, OSError) as error:
            reason = process.last_words()
            self.close()
            raise SimulationLost(_told(about, reason)) from error
        except BaseException:  # an answer that nobody took would be taken for the next one
            self.close()
            raise
        if kind == "silent":
            self.close()
            raise SimulationLost(_told(about, f"no answer within {self.timeout:g} s; `timeout` allows more"))
        if kind == "refused":
            raise InputError(_told(about, str(value)))
        if kind == "failed":
            self.close()
            raise SimulationLost(_told(about, str(value)))
        return value

    def close(self) -> None:
        """End the process."""
        if self._live is not None:
            self._live.end()
            self._live = None

    def _running(self, about: str) -> _Process:
        if self._live is not None and self._live.owner != os.getpid():
            self._live = None  # it is the parent's, from before a fork
        if self._live is None:
            self._live = _Process(self._host)
            if not self._live.is_there():
                reason = self._live.last_words()
                self.close()
                raise SimulationLost(_told(about, reason))
        return self._live


class _Process:
    """The process, our end of the socket, and what it writes to stderr."""

    def __init__(self, host: str) -> None:
        self.owner = os.getpid()
        ours, theirs = socket.socketpair()
        self._log = tempfile.NamedTemporaryFile(prefix="lcca-session-", mode="w+b")
        with theirs:
            command = [sys.executable, "-m", __name__, host, str(theirs.fileno()), str(self.owner)]
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stderr=self._log
            )
        self.pipe = Connection(ours.detach())
        self.end = weakref.finalize(self, _end, self._process, self.pipe, self._log, self.owner)

    def is_there(self) -> bool:
        try:
            return self.pipe.poll(STARTING_SECONDS) and self.pipe.recv() == "there"
        except (EOFError, OSError):
            return False

    def last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._log.seek(0)
        return cause_of_death(self._log.read().decode(errors="replace").strip(), self._process.poll())


def _end(process: subprocess.Popen[bytes], pipe: Connection, log: Any, owner: int) -> None:
    if owner == os.getpid():
        process.kill()
        process.wait()
    pipe.close()
    log.close()


def _told(about: str, reason: str) -> str:
    return f"{about}: {reason}" if about else reason


def serve(host: str, pipe: Connection) -> None:
    """Make the object, and run its methods until the pipe closes."""
    module, _, name = host.partition(":")
    there = getattr(import_module(module), name)()
    pipe.send("there")
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        pipe.send(_answer(there, method, arguments))


def _answer(there: Any, method: str, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", getattr(there, method)(*arguments)
    except (InputError, ValueError) as error:
        return "refused", str(error)
    except Exception as error:
        traceback.print_exc()
        return "failed", f"{type(error).__name__}: {error}"


def main() -> None:
    """Serve: ``python -m lcca.gym_envs.processes.session HOST SOCKET PARENT``."""
    host, number, parent = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    die_with_parent(int(parent))
    serve(host, Connection(int(number)))


if __name__ == "__main__":
    main()
