"""What other processes do in these tests."""

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

ASSERTION = b'NS_ASSERT failed, cond="x > 0", msg="x is -1", +0.1s file=/src/a/tcp.cc, line=7\n'


def work(item: tuple[str, str]) -> str:
    """Do what the item says; the second part names a file that remembers a first try."""
    what, memory = item
    print(what, flush=True)  # to nobody's standard output
    if what == "abort":
        sys.stderr.write('msg="the queue is on fire", +0.1s 2 file=/src/wire.cpp, line=12\nterminate called\n')
        sys.stderr.flush()
        os.abort()
    if what == "assert":
        os.write(2, ASSERTION)
        os.abort()
    if what == "raise":
        raise RuntimeError("no such thing")
    if what == "exit":
        os._exit(3)
    if what == "killed once" and not Path(memory).exists():
        Path(memory).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return what.upper()


class Host:
    def __init__(self) -> None:
        if os.environ.get("LCCA_TEST_HOST") == "stillborn":
            raise RuntimeError("no room")
        self.calls = 0

    def add(self, *numbers: float) -> tuple[float, int]:
        self.calls += 1
        return sum(numbers), self.calls

    def pid(self) -> int:
        return os.getpid()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def refuse(self) -> Any:
        raise ValueError("that is no number")

    def fail(self) -> Any:
        raise RuntimeError("that went wrong")

    def abort(self) -> None:
        os.write(2, ASSERTION)
        os.abort()
