"""Standard output, which holds results alone."""

from __future__ import annotations

import sys
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
