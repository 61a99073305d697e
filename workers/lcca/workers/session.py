"""A simulation in a process of its own that is asked step by step, may die, and may fall silent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lcca.inputs.errors import InputError
from lcca.workers.pool import Failure
from lcca.workers.processes import Worker

STARTING_SECONDS = 120.0
"""Within which the process must have made its object."""

_objects: list[Any] = []
"""In the other process: the one object whose methods are called."""


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
        self._worker: Worker | None = None

    def call(self, method: str, *arguments: Any, about: str = "") -> Any:
        """Run a method, and return what it returned; values travel by pickle.

        Args:
            method: its name.
            arguments: of the method.
            about: what an error says first, such as the network and the seed.

        Raises:
            InputError: the method refused its arguments.
            SimulationLost: the process died or did not answer, or the method failed otherwise.
        """
        try:
            worker = self._running(about)
            worker.give(_call, method, arguments)
            return _checked(worker.take(self.timeout), about)
        except InputError:
            raise
        except BaseException:  # an answer that nobody took would be taken for the next one
            self.close()
            raise

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _running(self, about: str) -> Worker:
        if self._worker is None or not self._worker.child.ours:  # after a fork it is the parent's
            worker = Worker()
            worker.give(_make, self._host)
            _checked(worker.take(STARTING_SECONDS), about)
            self._worker = worker
        return self._worker


def _checked(outcome: Any, about: str) -> Any:
    if not isinstance(outcome, Failure):
        return outcome
    reason = f"{outcome.reason}; `timeout` allows more" if outcome.kind == "silent" else outcome.reason
    message = f"{about}: {reason}" if about else reason
    raise InputError(message) if outcome.kind == "refused" else SimulationLost(message)


def _make(host: str) -> None:
    module, _, name = host.partition(":")
    _objects.append(getattr(import_module(module), name)())


def _call(method: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(_objects[-1], method)(*arguments)
