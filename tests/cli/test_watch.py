"""`lcca watch`: what a run does, seen from its folder."""

import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from lcca.api import load_run
from lcca.cli.commands.results import watch
from lcca.cli.main import main
from lcca.evaluation.trials.stored import write_state

SPACE = str(Path(__file__).parents[2] / "configs" / "networks" / "default.yaml")


def test_a_run_that_has_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    asked = ["compare", "aimd", "fixed-window:12", "--on", SPACE, "--trials", "96", "--set", "duration=1000"]
    assert main([*asked, "--out", str(run)]) == 0
    capsys.readouterr()
    assert main(["watch", str(run), "--once"]) == 0
    first, phase, other, *log = capsys.readouterr().out.splitlines()
    assert first == "lcca compare compare-default: complete"
    assert other.startswith("  other: 0 trials, ")  # start and end of the command
    assert phase.startswith("  compare: 192 trials, ") and "comparing fixed-window:12 with aimd" in log[0]
    assert main(["watch", str(run)]) == 0  # ends at once
    assert capsys.readouterr().out.splitlines() == [*log, first]
    assert main(["watch", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["phases"][0]["trials"] == 192
    loaded = load_run(run)
    assert len(loaded.trials) == 192 and set(loaded.trials["policy"]) == {"aimd", "fixed-window:12"}


def test_it_ends_when_the_process_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each wait writes a line, and the second one lets the run go."""
    write_state(tmp_path / "manifest.json", {"format": 1, "kind": "rank", "name": "x", "state": "begun"})
    log, lock = tmp_path / "log.txt", (tmp_path / ".lock").open("w")
    log.write_text("one\n")
    fcntl.flock(lock, fcntl.LOCK_EX)
    waits = iter(["two\n", "three\n"])

    def wait(_: float) -> None:
        line = next(waits)
        log.write_text(log.read_text() + line)
        if line == "three\n":
            lock.close()

    monkeypatch.setattr(watch.time, "sleep", wait)
    assert main(["watch", str(tmp_path)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == ["one", "two", "three"] and "no process of this machine" in last
    os.utime(log, (time.time() - 6000,) * 2)
    assert main(["watch", str(tmp_path)]) == 0  # silent for long, though not complete
    assert "last heard of about 1.7 h ago" in capsys.readouterr().out


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", str(tmp_path)]) == 2
    assert "no run here" in capsys.readouterr().err
