"""A short trial that a congestion control in Python has to pass before it runs anywhere: thrice, alike.

Two of them are in a process of their own. It has another seed of `hash` and another number, on which nothing may
depend, since trials run in several processes; and it notices which files are opened.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import sysconfig
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

import numpy as np

import lcca
from lcca.inputs.dependencies import reached_by
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS, raw_stamping
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.python_control import PythonControl

NETWORK = Network(
    id=0, link_rate=1.0, rtt=50.0, senders=2, mean_on=500.0, mean_off=100.0, buffer=40.0, loss=0.01, switched="time"
)
DURATION_US = 1000.0
SEEN = ("sender_sent", "sender_delay_sum_us")

_PROGRAM = """import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from lcca.remy_plus.rehearsal import serve
serve()"""

_LIBRARIES = ("/dev", "/etc", "/proc", "/sys", "/usr", sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())


@cache
def rehearse(control: PythonControl) -> None:
    """Check that a class runs, does the same again with the same seed, and reads no file that it does not name.

    Raises:
        InputError: it fails, says what is no window or no gap, ends the process, or does otherwise the second time.
    """
    source, seen = control.source, _elsewhere(control)
    if seen[0] != seen[1]:
        raise InputError(
            f"{source.line_of()}: {source.name} does otherwise with the same seed: keep what it "
            "remembers in the instance, which is made anew for every flow, and draw random numbers from a "
            "random.Random with a seed of your own"
        )
    if _trials(control, 1) != seen[:1]:
        raise InputError(
            f"{source.line_of()}: {source.name} does otherwise in another process: it must not depend on the hash of "
            "texts, or the order of a set of them (sort it), nor on the process"
        )


def serve() -> None:
    """Rehearse the control that comes through standard input and write what it did, in a process of its own."""
    result = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the control prints is no result
    control = pickle.load(sys.stdin.buffer)
    opened: set[str] = set()

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(given[0], int) and given[2] & (os.O_WRONLY | os.O_TRUNC) == 0:
            opened.add(os.path.realpath(os.fsdecode(given[0])))

    sys.addaudithook(watch)
    try:
        seen: list[bytes] | str = _trials(control, 2)
        _require_named(control, [Path(each) for each in sorted(opened)])
    except InputError as error:
        seen = str(error)
    with result:
        pickle.dump(seen, result)


def _elsewhere(control: PythonControl) -> list[bytes]:
    """Return what two trials in another process saw."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM],
        input=pickle.dumps(sys.path) + pickle.dumps(control),
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
    )
    if not done.stdout:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        status = f"by signal {-done.returncode}" if done.returncode < 0 else f"with status {done.returncode}"
        where = f"{control.source.line_of()}: {control.source.name}"
        raise InputError(": ".join([f"{where} ends the process that it runs in, {status}", *words]))
    seen: list[bytes] | str = pickle.loads(done.stdout)
    if isinstance(seen, str):
        raise InputError(seen)
    return seen


def _trials(control: PythonControl, count: int) -> list[bytes]:
    """Return what so many trials with one seed saw."""
    engine, same, compiled = Engine(DURATION_US, jobs=1), [0] * count, control.compile()
    if header := raw_stamping(tuple(name for name in control.signals if name not in ONLY_IN_HEADERS)):
        compiled = compiled.with_header(header.content())
    record = engine.run([compiled], NetworkList([NETWORK]), same, same, [1] * count)
    rows = [record[name].reshape(count, -1) for name in SEEN]
    return [b"".join(np.ascontiguousarray(row[i]).tobytes() for row in rows) for i in range(count)]


def _require_named(control: PythonControl, opened: list[Path]) -> None:
    """Check that a change of a file that was read would be noticed.

    Raises:
        InputError: it would not.
    """
    source = control.source
    beside = Path(source.path).parent
    named = {os.path.realpath(each) for each in reached_by(source.text.encode(), source.package, beside).own.values()}
    known = [os.path.realpath(each) for each in (*_LIBRARIES, *lcca.__path__)]
    for file in opened:
        if file.suffix == ".pyc":
            file = Path(source_from_cache(file))
        found = not file.is_file() or str(file) in {*named, os.path.realpath(source.path)}
        if not found and not any(file.is_relative_to(each) for each in known):
            name = os.path.relpath(file, os.path.realpath(beside))
            raise InputError(
                f"{source.line_of()}: {source.name} reads {name}, and nobody would notice its changes; "
                f'add it to the class: files = ("{name}",)'
            )
