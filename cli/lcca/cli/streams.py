"""Standard output, which holds results alone; and standard error, which says at once that a Ctrl-C was heard."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, cast

from lcca.inputs.names import CONTROL_MODULE


class _Results:
    """A stream that gives what a user's congestion control in Python prints to standard error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write to where the caller's text belongs; a control may call others that print."""
        frame = sys._getframe(1)
        while not str(frame.f_globals.get("__name__")).startswith(CONTROL_MODULE):
            if frame.f_back is None:
                return self._stream.write(text)
            frame = frame.f_back
        return sys.stderr.write(text)


@contextmanager
def results_alone() -> Iterator[None]:
    """Keep standard output free of what congestion controls in Python print inside."""
    with redirect_stdout(cast(TextIO, _Results(sys.stdout))):
        yield


@contextmanager
def said_at_once() -> Iterator[None]:
    """Say on standard error that a Ctrl-C was heard, though what runs may go on to where it can stop.

    Python raises KeyboardInterrupt once a call of compiled code returns; a thread hears of the signal before. A second
    Ctrl-C ends the process at once: parts of a run's folder appear whole or not at all, and workers end with it.
    """
    if threading.current_thread() is not threading.main_thread():  # Python lets no other one hear of signals
        yield
        return
    once = threading.Lock()

    def say() -> None:
        if once.acquire(blocking=False):
            os.write(2, b"lcca: stopping; a second Ctrl-C ends at once\n")

    def listen() -> None:
        heard = 0
        while number := os.read(reader, 1):  # of a signal, until the other end is closed
            heard += number[0] == signal.SIGINT
            if heard > 1:
                os._exit(130)
            if heard:
                say()
        os.close(reader)

    def interrupt(*_: object) -> None:
        say()
        raise KeyboardInterrupt

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before, handler = signal.set_wakeup_fd(writer, warn_on_full_buffer=False), signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    threading.Thread(target=listen, daemon=True).start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(before)
        os.close(writer)
