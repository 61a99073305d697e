"""Blocks of trials in a run folder."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.sweep.own_networks import trials_on_own_networks


def rows(score: float) -> pd.DataFrame:
    return pd.DataFrame({"score_bits": [score, score], "packets_delivered": [3, 4]})


def test_a_part_is_run_once_and_accounted_once(tmp_path: Path) -> None:
    phase = Phase("test", TrialStore(tmp_path), Costs(None))
    for score in (1.0, 2.0):  # the second time, it is there
        found = phase.blocks("default")(Block(3, 6, 2), lambda block, score=score: rows(score))  # type: ignore[misc]
        assert found["score_bits"].tolist() == [1.0, 1.0] and set(found["phase"]) == {"test"}
    assert (phase.costs.total("test").trials, phase.costs.total("test").packets) == (2, 7)


def test_no_two_names_share_a_part(tmp_path: Path) -> None:
    """Dashes in names once made one file of utility u, condition x-y and utility u-x, condition y."""
    phase = Phase("generalisation", TrialStore(tmp_path), Costs(None))
    for score, words in enumerate([("u", "x-y"), ("u-x", "y"), ("u", "x"), ("u", "x.y")]):
        assert phase.part(*words, run=lambda score=score: rows(score))["score_bits"].tolist() == [score, score]


def on_own_networks(folder: Path, ran: list[tuple[int, int]], stop_after: int = 99) -> pd.DataFrame:
    """Run two policies of two training seeds on ten networks each, in blocks of four; stopped after so many blocks."""

    def run_seed(policies: dict[str, Any], block: Block) -> pd.DataFrame:
        if len(ran) == stop_after:
            raise KeyboardInterrupt
        ran.append((block.first, block.size))
        rows = [(name, k, float(k)) for name in policies for k in range(block.first, block.end)]
        return pd.DataFrame(rows, columns=["policy", "network", "score_bits"])

    costs, store = Costs(None), TrialStore(folder)
    run: Any = SimpleNamespace(
        phase=lambda name: Phase(name, store, costs),
        reporter=Reporter(quiet=True),
        config=SimpleNamespace(test=SimpleNamespace(block=3)),
    )
    group: Any = SimpleNamespace(training_seeds=[1, 2])
    space: Any = SimpleNamespace(block=2)

    def policies_of(seed: int) -> dict[str, Any]:
        return {f"{name}{seed}": name for name in "ba"}

    return trials_on_own_networks(run, group, ("x", "u"), space, 10, policies_of, run_seed, "testing")


def test_tests_of_training_seeds_are_kept_block_by_block(tmp_path: Path) -> None:
    ran: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        on_own_networks(tmp_path / "stopped", ran, stop_after=4)
    assert ran == [(10, 4), (14, 4), (18, 2), (20, 4)]
    again: list[tuple[int, int]] = []
    found = on_own_networks(tmp_path / "stopped", again)
    assert again == [(24, 4), (28, 2)], "what was kept is not run again"
    whole = on_own_networks(tmp_path / "whole", [])
    pd.testing.assert_frame_equal(found, whole)
    assert whole["policy"].tolist() == [name for name in ("b1", "a1", "b2", "a2") for _ in range(10)]


def test_a_training_seed_that_was_kept_whole_is_read(tmp_path: Path) -> None:
    """As earlier versions kept it."""
    phase, expected = Phase("x-trainings", TrialStore(tmp_path / "old"), Costs(None)), on_own_networks(tmp_path, [])
    for seed in (1, 2):
        own = expected[expected["policy"].str.endswith(str(seed))].drop(columns="phase").reset_index(drop=True)
        phase.part("u", seed, run=lambda own=own: own)  # type: ignore[misc]
    ran: list[tuple[int, int]] = []
    pd.testing.assert_frame_equal(on_own_networks(tmp_path / "old", ran), expected)
    assert not ran and phase.has_pieces("u", 1, block=Block(0, 10, 10), size=4)
    kept = Phase("x-trainings", TrialStore(tmp_path), Costs(None))
    assert kept.has_pieces("u", 2, block=Block(0, 20, 10), size=4)
    assert not kept.has_pieces("u", 3, block=Block(0, 30, 10), size=4)
