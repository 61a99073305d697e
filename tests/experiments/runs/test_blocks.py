"""Blocks of trials in a run folder."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.inputs.errors import InputError


def rows(score: float) -> pd.DataFrame:
    return pd.DataFrame({"score_bits": [score, score], "packets_delivered": [3, 4]})


def test_a_part_is_run_once_and_accounted_once(tmp_path: Path) -> None:
    phase = Phase("test", TrialStore(tmp_path), Costs(None))
    for score in (1.0, 2.0):  # the second time, it is there
        found = phase.blocks("default")(Block(3, 6, 2), lambda block, score=score: rows(score))  # type: ignore[misc]
        assert found["score_bits"].tolist() == [1.0, 1.0] and set(found["phase"]) == {"test"}
    assert (phase.costs.total("test").trials, phase.costs.total("test").packets) == (2, 7)


def parts_run(folder: Path) -> Costs:
    """Run three parts of a phase as a process does that begins, or goes on; return what was noted of all."""
    run: RunFolder[Any] = RunFolder(folder, None)
    phase = Phase("test", run.trials, Costs(run))
    for number in range(3):
        phase.part(number, run=lambda: rows(1.0))
    return Costs(run)


def failing(writes: int) -> Callable[[int], None]:
    """Return what flushes files to disk so often, and from then on nothing any more."""
    flush, left = os.fsync, iter(range(writes))

    def until_killed(descriptor: int) -> None:
        if next(left, None) is None:
            raise OSError("killed")
        flush(descriptor)

    return until_killed


def test_wherever_a_run_is_killed_what_is_stored_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = []
    for writes in range(40):
        with monkeypatch.context() as patch, suppress(InputError):
            patch.setattr(os, "fsync", failing(writes))
            parts_run(tmp_path / str(writes))
        stored.append(len(list((tmp_path / str(writes)).rglob("part-*.parquet"))))
        total = parts_run(tmp_path / str(writes)).total("test")
        assert (total.trials, total.packets) == (6, 21), f"killed in write {writes} with {stored[-1]} parts"
    assert set(stored) == {0, 1, 2, 3}


def test_no_two_names_share_a_part(tmp_path: Path) -> None:
    """Dashes in names once made one file of utility u, condition x-y and utility u-x, condition y."""
    phase = Phase("generalisation", TrialStore(tmp_path), Costs(None))
    for score, words in enumerate([("u", "x-y"), ("u-x", "y"), ("u", "x"), ("u", "x.y")]):
        assert phase.part(*words, run=lambda score=score: rows(score))["score_bits"].tolist() == [score, score]
