"""Children end with what started them, however that ends, and leave nobody waiting at its pipes."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from lcca.inputs.errors import InputError
from lcca.workers.child import Child

from ..fixtures import all_ended

PARENTS = {
    "a worker at work": """
import time
from lcca.workers.processes import run_all
for _ in run_all(time.sleep, [0, 600], 1):
    print("ready", flush=True)
""",
    "idle workers": """
import time
from lcca.workers.processes import Processes
workers = Processes(2)
assert len(list(workers.run(time.sleep, [0.1, 0.1]))) == 2
print("ready", flush=True)
time.sleep(600)
""",
    "a session at work": """
from lcca.workers.session import Session
session = Session("queue:Queue")
assert session.call("qsize") == 0
print("ready", flush=True)
session.call("get")
""",
    "a program and its children": """
import time
from lcca.workers.child import Child
child = Child("it", ["sh", "-c", "sleep 600 & sleep 600"])
while child.ended() is None:
    print("ready", flush=True)
    time.sleep(600)
""",
}


@pytest.mark.parametrize(
    ("parent", "how"),
    [(parent, signal.SIGKILL) for parent in PARENTS]
    + [("a worker at work", signal.SIGINT), ("a worker at work", signal.SIGTERM)],
)
def test_children_end_with_their_parent_and_hold_none_of_its_pipes(parent, how):
    process = subprocess.Popen(
        [sys.executable, "-c", PARENTS[parent]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout and process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    os.killpg(process.pid, how)  # as a terminal does at Ctrl-C
    process.communicate(timeout=10)
    assert all_ended(children)
    assert process.returncode == -how


def test_the_end_is_told_in_the_childs_own_words():
    child = Child("the simulation", ["sh", "-c", "echo no nodes; exit 4"])
    assert child.cause_of_death() == "the simulation ended with status 4: no nodes"
    child.end()
    child.end()
    with pytest.raises(InputError, match=r"the simulation does not start: .*no-such-program"):
        Child("the simulation", ["no-such-program"])


def test_what_ignores_sigterm_and_what_is_left_behind_ends_too(monkeypatch):
    monkeypatch.setattr("lcca.workers.child._TERMINATION", 0.2)
    child = Child("it", ["sh", "-c", "trap '' TERM; sleep 600 & sleep 600 & echo $$; wait"])
    deadline = time.monotonic() + 10
    while not (number := child._written().strip()) or len(psutil.Process(int(number)).children()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    leader = psutil.Process(int(number))
    group = [leader, *leader.children()]
    child.end()
    assert all_ended(group)
