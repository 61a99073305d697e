"""Workers that may die: every item gets its result or its own reason, whatever happens to its neighbours."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from lcca.inputs.errors import InputError
from lcca.workers.pool import Failure, Threads
from lcca.workers.processes import Processes, run_all


@pytest.fixture
def work(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    from process_work import work

    return work


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_death_costs_its_item_only(work, jobs, tmp_path, capfd):
    items = ["a", "abort", "b", "killed once", "killed", "raise", "assert", "exit", "c"]
    found = dict(run_all(work, [(what, str(tmp_path / f"seen-{jobs}")) for what in items], jobs))
    assert {i: found[i] for i in (0, 2, 3, 8)} == {0: "A", 2: "B", 3: "KILLED ONCE", 8: "C"}
    assert found[1] == Failure("ns-3: the queue is on fire (wire.cpp, line=12)")
    assert found[4] == Failure("the worker ended with signal SIGKILL: killed", "killed")
    assert found[5] == Failure("RuntimeError: no such thing", "failed")
    assert found[6] == Failure("ns-3: assertion x > 0 failed: x is -1 (tcp.cc, line=7)")
    assert found[7].reason.startswith("the worker ended with status 3")
    assert capfd.readouterr() == ("", ""), "workers have streams of their own"


def test_workers_stay_until_they_are_closed():
    workers = Processes(1)
    first, second = (dict(workers.run(os.getpgid, [0]))[0] for _ in range(2))
    workers.close()
    third = dict(workers.run(os.getpgid, [0]))[0]
    workers.close()
    assert first == second != third


def test_a_loop_that_is_left_ends_the_busy_ones_only():
    workers = Processes(2)
    for _, found in workers.run(os.path.basename, ["/a", "/b", "/c", "/d"]):
        assert found in "abcd"
        break
    assert sorted(found for _, found in workers.run(os.path.basename, ["/a", "/b"])) == ["a", "b"]
    workers.close()


def test_nothing_to_do_starts_nobody():
    assert list(run_all(os.path.basename, [], 4)) == []


@pytest.mark.parametrize("kind", [Threads, Processes])
def test_results_are_in_order_and_an_error_is_raised(kind):
    with kind(2) as pool:
        assert pool.map(abs, [-3, 2, -1]) == [3, 2, 1]
        assert pool.calls([partial(abs, -4), partial(abs, 5)]) == [4, 5]
        with pytest.raises(ValueError if kind is Threads else InputError, match="invalid literal"):
            pool.map(int, ["1", "one", "2"])
        with pytest.raises(TypeError if kind is Threads else RuntimeError, match="bad operand"):
            pool.map(abs, ["a"])


@pytest.mark.parametrize(("jobs", "calls"), [(1, 2), (3, 1)])
def test_ctrl_c_ends_a_call_that_has_no_other_beside_it(jobs, calls):
    """In another thread the call would go on to its end: Python raises KeyboardInterrupt in the main one alone."""
    ended = []

    def call(number):
        signal.raise_signal(signal.SIGINT)
        ended.append(number)

    with pytest.raises(KeyboardInterrupt):
        list(Threads(jobs).run(call, range(calls)))
    assert ended == []


def test_a_trial_whose_process_dies_is_an_error_that_says_so(work, tmp_path):
    with Processes(1) as pool, pytest.raises(InputError, match="the queue is on fire"):
        pool.map(work, [("a", str(tmp_path / "seen")), ("abort", str(tmp_path / "seen"))])
