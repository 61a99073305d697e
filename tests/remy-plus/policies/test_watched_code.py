"""What a user's code does after its rehearsal is watched in every trial, thread and worker process."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lcca.evaluation.trials.executors import runner_on
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.workers.processes import Processes

LATE = """\
import os, posix, threading
from pathlib import Path
BESIDE = Path(__file__).parent
class Mine:
    files = ({named})
    def start(self): return 4, 0
    def on_ack(self, ack):
        window = 4
        if ack.now > 2000: {late}
        return window, 0
"""
NETWORK = NetworkList([Network(0, 2.0, 50.0, 2, 50.0, 1e5, 1.0, 0.0)])
READ = 'window = float(open(BESIDE / "window.txt").read())'


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., str]:
    (tmp_path / "window.txt").write_text("8")

    def write(late: str, named: str = "") -> str:
        (tmp_path / "mine.py").write_text(LATE.format(late=late, named=named))
        return f"{tmp_path}/mine.py:Mine"

    return write


def sent(name: str, processes: int = 0) -> int:
    """Return the packets of a trial of 3,000 µs, three times as long as the rehearsal."""
    engine = Engine(3000.0, runner=runner_on(Processes(processes))) if processes else Engine(3000.0)
    return int(engine.run([load(name).policy.compile()], NETWORK, [0], [0], [1])["sender_sent"].sum())


@pytest.mark.parametrize("processes", [0, 1])
@pytest.mark.parametrize(
    "late",
    [
        READ,
        READ.replace("open(", "os.fdopen(os.open(").replace('txt")', 'txt", os.O_RDONLY))'),
        f"\n            try: {READ}\n            except: pass",
        '(BESIDE / "window.txt").read_bytes()',
        'open(BESIDE / "window.txt", "r+")',
        'open(BESIDE / "gone" / ".." / "window.txt")',
        'os.path.exists(BESIDE / "missing.txt") or open(BESIDE / "missing.txt")',
    ],
    ids=range(7),
)
def test_a_file_that_it_reads_late_has_to_be_named(mine: Callable[..., str], late: str, processes: int) -> None:
    with pytest.raises(InputError, match=r'mine.py:4: Mine reads (window|missing).txt.*files = \("\w+.txt",\)$'):
        sent(mine(late), processes)


def test_one_that_is_named_may_be_read_while_it_is_the_same(mine: Callable[..., str], tmp_path: Path) -> None:
    name = mine(READ, '"window.txt",')
    policy, eight = load(name).policy, sent(name)
    assert eight > sent(mine("pass"))
    (tmp_path / "window.txt").write_text("9")
    with pytest.raises(InputError, match=r"mine.py:4: Mine reads window.txt, which has changed meanwhile"):
        Engine(3000.0).run([policy.compile()], NETWORK, [0], [0], [1])
    assert sent(mine(READ, '"window.txt",')) > eight


@pytest.mark.parametrize(
    "late",
    [
        'open(BESIDE / "log.txt", "a").close()',
        'open(BESIDE / "log.txt", "w+").close()',
        "import json.tool",
        "open(os.devnull).close()",
        "os.listdir(BESIDE)",
    ],
)
def test_what_it_writes_and_libraries_are_its_own_affair(mine: Callable[..., str], late: str) -> None:
    assert sent(mine(late)) == sent(mine("pass"))


def test_what_others_read_meanwhile_is_theirs(mine: Callable[..., str], tmp_path: Path) -> None:
    ended, read = threading.Event(), list[str]()

    def reads() -> None:
        while not ended.is_set():
            read.append((tmp_path / "window.txt").read_text())

    thread = threading.Thread(target=reads)
    thread.start()
    try:
        sent(mine("pass"))
    finally:
        ended.set()
        thread.join()
    assert read and set(read) == {"8"}


@pytest.mark.parametrize("processes", [0, 1])
@pytest.mark.parametrize("late", ["os._exit(0)", "posix._exit(0)", "from os import _exit; _exit(0)"])
def test_one_that_ends_the_process_late_is_an_error(mine: Callable[..., str], late: str, processes: int) -> None:
    with pytest.raises(InputError, match=r"mine.py:4: Mine ends the process that it runs in, with status 0$"):
        sent(mine(late), processes)


@pytest.mark.parametrize("late", ["os.fork()", 'os.execv("/bin/true", ["true"])'])
def test_one_that_doubles_or_replaces_the_process_is_an_error(mine: Callable[..., str], late: str) -> None:
    with pytest.raises(
        InputError, match=r"mine.py:4: Mine replaces or doubles the process that it runs in \(os\.\w+\)$"
    ):
        sent(mine(late))


def test_others_may_end_their_process(mine: Callable[..., str]) -> None:
    sent(mine("pass"))
    if (child := os.fork()) == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
