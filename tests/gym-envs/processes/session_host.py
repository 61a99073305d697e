"""What lives in the other process in `test_session.py`."""

import os
import time
from pathlib import Path
from typing import Any


class Host:
    def __init__(self) -> None:
        if os.environ.get("LCCA_TEST_HOST") == "stillborn":
            raise RuntimeError("no room")
        self.calls = 0

    def add(self, *numbers: float) -> tuple[float, int]:
        self.calls += 1
        return sum(numbers), self.calls

    def pid(self, flag: str = "") -> int:
        if flag:
            Path(flag).write_text(str(os.getpid()))
            time.sleep(600)
        return os.getpid()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def refuse(self) -> Any:
        raise ValueError("that is no number")

    def fail(self) -> Any:
        raise RuntimeError("that went wrong")

    def abort(self) -> None:
        os.write(2, b'NS_ASSERT failed, cond="x > 0", msg="x is -1", +0.1s file=/src/a/tcp.cc, line=7\n')
        os.abort()
