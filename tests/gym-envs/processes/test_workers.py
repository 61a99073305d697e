"""Workers that may die: every item gets its result or its own reason, whatever happens to its neighbours."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lcca.gym_envs.processes.workers import Failure, run_all


def work(item: tuple[str, str]) -> str:
    """Do what the item says; the second part names a file that remembers a first try."""
    what, memory = item
    if what == "abort":
        sys.stderr.write('msg="the queue is on fire", +0.1s 2 file=/src/wire.cpp, line=12\nterminate called\n')
        sys.stderr.flush()
        os.abort()
    if what == "assert":
        os.write(2, b'NS_ASSERT failed, cond="x > 0", msg="x is -1", +0.1s file=/src/a/tcp.cc, line=7\n')
        os.abort()
    if what == "raise":
        raise ValueError("no such thing")
    if what == "exit":
        os._exit(3)
    if what == "killed once" and not Path(memory).exists():
        Path(memory).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return what.upper()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_death_costs_its_item_only(jobs, tmp_path):
    items = ["a", "abort", "b", "killed once", "killed", "raise", "assert", "exit", "c"]
    found = dict(run_all(work, [(what, str(tmp_path / f"seen-{jobs}")) for what in items], jobs))
    assert {i: found[i] for i in (0, 2, 3, 8)} == {0: "A", 2: "B", 3: "KILLED ONCE", 8: "C"}
    assert found[1] == Failure("ns-3: the queue is on fire (wire.cpp, line=12)")
    assert found[4] == Failure("the worker was ended by signal SIGKILL")
    assert found[5] == Failure("ValueError: no such thing")
    assert found[6] == Failure("ns-3: assertion x > 0 failed: x is -1 (tcp.cc, line=7)")
    assert found[7] == Failure("the worker ended with status 3")


def test_nothing_to_do_starts_nobody():
    assert list(run_all(work, [], 4)) == []


PARENT = """
import sys, time
sys.path.insert(0, {folder!r})
from busy_for_test import forever
from lcca.gym_envs.processes.workers import run_all

if __name__ == "__main__":
    list(run_all(forever, [0], 1))
"""
BUSY = """
import os, pathlib, time

def forever(item):
    pathlib.Path({flag!r}).write_text(str(os.getpid()))
    while True:
        time.sleep(0.01)
"""


def test_workers_end_with_a_killed_parent(tmp_path):
    psutil = pytest.importorskip("psutil")
    flag = tmp_path / "pid"
    (tmp_path / "busy_for_test.py").write_text(BUSY.format(flag=str(flag)))
    (tmp_path / "parent.py").write_text(PARENT.format(folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, tmp_path / "parent.py"], env={**os.environ, "PYTHONPATH": str(tmp_path)})
    while not flag.exists() or not flag.read_text():
        assert parent.poll() is None
        time.sleep(0.05)
    worker = psutil.Process(int(flag.read_text()))
    parent.kill()
    parent.wait()
    worker.wait(timeout=60)
