"""Some of the kills that `kills.py` sends by the hundred, and what it makes of runs that do not survive them."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ...cli.attacks import children
from ...fixtures import undrawn
from ..runs.run_files import RunKind
from . import kills
from .kills import ALL, Whole, attack, whole


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with undrawn():
        yield


def broken(of: Whole, seed: int) -> list[tuple[str, str]]:
    """Attack a run and return the faults."""
    found = attack(of, random.Random(seed), f"attack-{seed}")
    return [(what, text) for what, text in found if what not in ("kills", "late")]


def test_a_run_that_was_killed_has_the_bytes_of_one_that_was_not(tmp_path: Path) -> None:
    assert broken(whole(ALL["evaluate-fabric"], tmp_path), 1) == []


@pytest.mark.full
@pytest.mark.parametrize("name", ALL)
def test_runs_of_each_kind(name: str, tmp_path: Path) -> None:
    for need in ALL[name].needs:
        pytest.importorskip(need)
    unbroken = whole(ALL[name], tmp_path)
    assert [fault for seed in range(4) for fault in broken(unbroken, seed)] == []


def counts_its_starts(words: Sequence[str]) -> int:
    """A run that holds how often it was started; takes a second."""
    run = Path(words[words.index("--out") + 1])
    run.mkdir(exist_ok=True)
    count = run / "count.json"
    count.write_text(json.dumps(1 + (json.loads(count.read_text()) if count.exists() else 0)))
    return sum(0 for _ in range(10_000_000))


def leaves_a_traceback(words: Sequence[str]) -> int:
    counts_its_starts(words)
    raise RuntimeError("planted")


def test_other_bytes_tracebacks_and_what_is_stuck_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "main", counts_its_starts)
    unbroken = whole(RunKind(("count",), {}, ("", ""), []), tmp_path)
    assert ("other bytes", "count.json") in broken(unbroken, 1)
    monkeypatch.setattr(children, "main", leaves_a_traceback)
    assert [text for what, text in broken(unbroken, 2) if what == "tracebacks" and "RuntimeError: planted" in text]
    monkeypatch.setattr(kills, "STUCK_S", 0.05)
    assert "stuck" in dict(broken(unbroken, 3))
