"""The process of a simulation: started for an episode, and gone after it whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from typing import IO

from lcca.inputs.errors import InputError

_TAIL = 500
"""How much of what a process wrote an error quotes, in bytes."""

_KILL = 2.0
"""How long a process may take to end after SIGTERM, in seconds."""


class SimulationProcess:
    """A running simulation in a process group of its own, so that those it starts end with it.

    Args:
        command: program and arguments; ``{port}`` and ``{seed}`` in them are replaced.
        port: where the agent listens.
        seed: of this episode.
        folder: where it runs.

    Raises:
        InputError: the program does not start.
    """

    def __init__(self, command: Sequence[str], port: int, seed: int, folder: str | os.PathLike[str] | None) -> None:
        arguments = [word.replace("{port}", str(port)).replace("{seed}", str(seed)) for word in command]
        log = tempfile.TemporaryFile(prefix="lcca-ns3gym-")
        try:
            self._process = subprocess.Popen(
                arguments, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        except OSError as error:
            log.close()
            raise InputError(f"the simulation does not start: {error}") from None
        self._log = log
        self._end = weakref.finalize(self, _end, self._process, log, 0.0)

    def ended(self) -> str | None:
        """Return how the process ended and what it wrote last, or None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        written = self.written()
        return f"the simulation ended with {how}" + (f": {written}" if written else " and wrote nothing")

    def written(self) -> str:
        """Return the end of what the process wrote."""
        file = self._log.fileno()  # shared with the process: its position must not move
        size = os.fstat(file).st_size
        return os.pread(file, _TAIL, max(0, size - _TAIL)).decode(errors="replace").strip()

    def stop(self, patience: float) -> None:
        """Wait for the end of the process, and end it after so many seconds. Twice is harmless."""
        if self._end.detach():
            _end(self._process, self._log, patience)


def _end(process: subprocess.Popen[bytes], log: IO[bytes], patience: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_KILL)
            break
    log.close()
