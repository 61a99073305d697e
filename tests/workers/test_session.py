"""A process that is asked step by step: it may refuse, fail, die or fall silent, and never hangs its parent."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from lcca.inputs.errors import InputError
from lcca.workers.session import Session, SimulationLost

HOST = "process_work:Host"


@pytest.fixture(autouse=True)
def _hosts(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)


def test_calls_go_to_one_object():
    session = Session(HOST)
    assert session.call("add", 1, 2) == (3, 1)
    assert session.call("add", 5) == (5, 2)
    assert session.call("pid") != os.getpid()
    session.close()
    assert session.call("add") == (0, 1), "a closed session begins anew"
    session.close()


def test_a_refusal_is_bad_input_and_costs_nothing():
    session = Session(HOST)
    pid = session.call("pid")
    with pytest.raises(InputError, match="seed 3: that is no number"):
        session.call("refuse", about="seed 3")
    assert session.call("pid") == pid
    session.close()


@pytest.mark.parametrize(
    ("method", "words"),
    [("fail", "RuntimeError: that went wrong"), ("abort", r"ns-3: assertion x > 0 failed: x is -1 \(tcp.cc, line=7\)")],
)
def test_a_loss_is_told_and_the_next_call_works(method, words):
    session = Session(HOST)
    session.call("pid")
    with pytest.raises(SimulationLost, match=f"network 2, seed 3: {words}"):
        session.call(method, about="network 2, seed 3")
    assert session.call("add", 1) == (1, 1)
    session.close()


def test_silence_ends_in_an_error():
    session = Session(HOST, timeout=0.3)
    session.call("pid")
    began = time.monotonic()
    with pytest.raises(SimulationLost, match=r"no answer within 0.3 s; `timeout` allows more"):
        session.call("sleep", 60)
    assert time.monotonic() - began < 10
    assert session.call("add", 1) == (1, 1)
    session.close()


def test_a_process_that_does_not_start_is_told(monkeypatch):
    monkeypatch.setenv("LCCA_TEST_HOST", "stillborn")
    with pytest.raises(SimulationLost, match="no room"):
        Session(HOST).call("add")
    with pytest.raises(InputError, match="timeout"):
        Session(HOST, timeout=0)


def _in_a_daemon(session, pipe):
    pipe.send(session.call("add", 1))


def test_a_fork_has_a_process_of_its_own():
    """Daemons of `multiprocessing` too, as Stable-Baselines3's `SubprocVecEnv` has them."""
    session = Session(HOST)
    assert session.call("add", 1) == (1, 1)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_in_a_daemon, args=(session, theirs), daemon=True)
    process.start()
    assert ours.poll(60)
    assert ours.recv() == (1, 1)
    process.join()
    assert session.call("add", 1) == (1, 2), "the parent's goes on"
    session.close()
