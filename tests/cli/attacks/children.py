"""Commands in forked children of a process that has imported what they need, which spares start-up."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from lcca.cli.main import main

CPU_S = 20
WALL_S = 300
SPARE_BYTES = 8 << 30
"""Of address space, beyond what the parent has."""

MOST_BYTES = 1_000_000
"""Of output."""


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        status: its exit status; less than 0 the signal that ended it.
        out: standard output.
        err: standard error.
        cpu_s: it took, with its own children.
    """

    status: int
    out: str
    err: str
    cpu_s: float


def command(words: Sequence[str]) -> int:
    """Run a command."""
    return main(words)


def started(words: Sequence[str], folder: Path, does: Callable[[Sequence[str]], int] = command) -> int:
    """Start a command in a folder, in a process group of its own, and return the process."""
    sys.stdout.flush()
    sys.stderr.flush()
    if process := os.fork():
        with suppress(OSError):  # the child did it, and has ended
            os.setpgid(process, process)
        return process
    status = 70
    try:
        faulthandler.disable()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        os.setpgid(0, 0)
        os.chdir(folder)
        for number, name in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), number)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        status = does(words)
    except SystemExit as leaving:  # argparse
        status = int(leaving.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def limited(words: Sequence[str]) -> int:
    """Run a command with limits of time and memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    space = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + SPARE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    signal.alarm(WALL_S)
    return main(words)


def ended(process: int, folder: Path) -> Ended:
    """Wait for a command and return how it ended."""
    _, status, used = os.wait4(process, 0)
    out, err = ((folder / name).read_bytes()[: 2 * MOST_BYTES].decode("utf-8", "replace") for name in (".out", ".err"))
    return Ended(os.waitstatus_to_exitcode(status), out, err, used.ru_utime + used.ru_stime)


def run(words: Sequence[str], folder: Path) -> Ended:
    """Run a command in a folder with limits."""
    return ended(started(words, folder, limited), folder)


def imported_by(words: Sequence[str], folder: Path) -> Ended:
    """Run a command in a child, and import here what it imported there, so that later ones need not."""

    def listing(words: Sequence[str]) -> int:
        status = main(words)
        Path(".modules").write_text("\n".join(sys.modules))
        return status

    found = ended(started(words, folder, listing), folder)
    if found.status == 0:
        for name in (folder / ".modules").read_text().split():
            if name.split(".")[0] in ("lcca", "numpy", "scipy", "pandas", "pyarrow", "rich", "matplotlib", "optuna"):
                import_module(name)
    return found
