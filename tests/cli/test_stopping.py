"""Ctrl-C in a real process: it says so at once, on standard error; a second one ends the process at once."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
STOPPING = "lcca: stopping; a second Ctrl-C ends at once\n"
NETWORKS = ("compare", "aimd", "fixed-window:20", "--on", CONFIGS / "networks/default.yaml", "--trials", 100_000)
RUNS = {
    "compare": NETWORKS,
    "sweep with two trainings": ("sweep", CONFIGS / "quickstart.yaml", "--trainings", 2),
    "study": ("study", CONFIGS / "fabric/study.yaml"),
}
BUSY = """
import hashlib, sys, threading
from lcca.cli.streams import said_at_once
with said_at_once():
    threading.Timer(0.3, print, ["busy"], {"file": sys.stderr, "flush": True}).start()  # once compiled code runs
    hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000_000)  # a minute of compiled code that asks for no signal
"""


@contextmanager
def process(*words: object) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, *map(str, words)], text=True, **pipes) as child:  # type: ignore[call-overload]
        watchdog = Timer(120, child.kill)
        watchdog.start()
        try:
            yield child
        finally:
            watchdog.cancel()
            child.kill()


@pytest.mark.parametrize("run", [next(iter(RUNS)), *(pytest.param(run, marks=pytest.mark.slow) for run in [*RUNS][1:])])
def test_ctrl_c_says_stopping_and_how_to_go_on(run: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with process("-m", "lcca.cli.main", *RUNS[run], "--out", out, "--jobs", 2, "--json") as child:
        while not (out / "manifest.json").exists():
            assert child.poll() is None, child.communicate()
            time.sleep(0.05)
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        printed, said = child.communicate()
    assert child.returncode == 130 and printed == ""
    assert said.count(STOPPING) == 1 and said.endswith("lcca: stopped; the same command goes on from here\n")
    assert "Traceback" not in said


def test_it_is_said_while_compiled_code_runs_and_a_second_one_ends_at_once() -> None:
    with process("-c", BUSY) as child:
        assert child.stderr is not None and child.stderr.readline() == "busy\n"
        before = os.times().elapsed
        child.send_signal(signal.SIGINT)
        assert child.stderr.readline() == STOPPING
        child.send_signal(signal.SIGINT)
        assert child.wait() == 130
        assert os.times().elapsed - before < 5
