"""What a user's code in Python has to pass before it runs anywhere: the same thrice, alike; of a control a short trial.

Two of them are in a process of their own. It has another number, another seed of `hash` and another clock, on which
nothing may depend, since trials run in several processes and at any time.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS, raw_stamping
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.python_control import PythonClass, PythonControl

NETWORK = Network(
    id=0, link_rate=1.0, rtt=50.0, senders=2, mean_on=500.0, mean_off=100.0, buffer=40.0, loss=0.01, switched="time"
)
DURATION_US = 1000.0
SEEN = ("sender_sent", "sender_delay_sum_us")

_PROGRAM = """import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from lcca.remy_plus.rehearsal import serve
serve()"""

Seen: TypeAlias = Callable[[Any, int], list[bytes]]
"""Runs code so many times, each from its beginning, and returns what each did; importable by name."""


def rehearse(control: PythonControl) -> None:
    """Check that a class runs in a trial, and does the same again; see `require_alike`."""
    require_alike(control.source, _trials, control)


@cache
def require_alike(source: PythonClass, seen: Seen, code: Any) -> None:
    """Check that code of a user does the same again, also in another process and at another time.

    Raises:
        InputError: it fails, ends the process, or does otherwise the second time.
    """
    where, theirs = f"{source.line_of()}: {source.name}", _elsewhere(source, (seen, code))
    if theirs[0] != theirs[1]:
        raise InputError(
            f"{where} does otherwise with the same seed: what it returns must follow from what it is told; keep what a "
            "class remembers in the instance, which is made anew for every flow, and draw random numbers from a "
            "random.Random with a seed of your own"
        )
    if seen(code, 1) != theirs[:1]:
        raise InputError(
            f"{where} does otherwise in another process: it must not depend on the hash of texts, or the order of a "
            "set of them (sort it), nor on the process or the time; if a module that it imports has changed since "
            "this process imported it, begin a new one"
        )


def serve() -> None:
    """Run the code that comes through standard input and write what it did, in a process of its own."""
    result = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the code prints is no result
    seen, code = pickle.load(sys.stdin.buffer)
    looks, now = count(1), time.time
    time.time = lambda: now() + 1e5 * next(looks)  # a day later at each look
    try:
        done: list[bytes] | str = seen(code, 2)
    except InputError as error:
        done = str(error)
    with result:
        pickle.dump(done, result)


def _elsewhere(source: PythonClass, seen: tuple[Seen, Any]) -> list[bytes]:
    """Return what code does twice in another process."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM],
        input=pickle.dumps(sys.path) + pickle.dumps(seen),
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
    )
    if not done.stdout:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        status = f"by signal {-done.returncode}" if done.returncode < 0 else f"with status {done.returncode}"
        where = f"{source.line_of()}: {source.name}"
        raise InputError(": ".join([f"{where} ends the process that it runs in, {status}", *words]))
    found: list[bytes] | str = pickle.loads(done.stdout)
    if isinstance(found, str):
        raise InputError(found)
    return found


def _trials(control: PythonControl, times: int) -> list[bytes]:
    """Return what so many trials with one seed saw."""
    engine, same, compiled = Engine(DURATION_US, jobs=1), [0] * times, control.compile()
    if header := raw_stamping(tuple(name for name in control.signals if name not in ONLY_IN_HEADERS)):
        compiled = compiled.with_header(header.content())
    record = engine.run([compiled], NetworkList([NETWORK]), same, same, [1] * times)
    rows = [record[name].reshape(times, -1) for name in SEEN]
    return [b"".join(np.ascontiguousarray(row[i]).tobytes() for row in rows) for i in range(times)]
