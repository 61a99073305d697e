"""Trials of training seeds, each on networks of its own, kept piece by piece."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.experiment import Numbered
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.testing.places import OwnNetworks

PAIRS = Numbered(lambda contenders, block: pd.DataFrame(), block=2)
"""A place whose blocks have two networks."""


def on_own_networks(folder: Path) -> OwnNetworks:
    """Ten networks of each training seed, four at a time."""
    return OwnNetworks(Phase("x-trainings", TrialStore(folder), Costs(None)), ("u",), PAIRS, 10, step=3)


def run(own: OwnNetworks, ran: list[tuple[int, int]], stop_after: int = 99) -> pd.DataFrame:
    """Run two policies of two training seeds; stopped after so many blocks."""

    def rows(contenders: Any, block: Block) -> pd.DataFrame:
        if len(ran) == stop_after:
            raise KeyboardInterrupt
        ran.append((block.first, block.size))
        met = [(name, k, float(k)) for name in contenders for k in range(block.first, block.end)]
        return pd.DataFrame(met, columns=["policy", "network", "score_bits"])

    contenders: Any = {seed: {f"{name}{seed}": name for name in "ba"} for seed in (1, 2)}
    return own.run(contenders, Numbered(rows), "testing", Reporter(quiet=True))


def test_tests_of_training_seeds_are_kept_block_by_block(tmp_path: Path) -> None:
    ran: list[tuple[int, int]] = []
    with pytest.raises(KeyboardInterrupt):
        run(on_own_networks(tmp_path / "stopped"), ran, stop_after=4)
    assert ran == [(10, 4), (14, 4), (18, 2), (20, 4)]
    again: list[tuple[int, int]] = []
    found = run(on_own_networks(tmp_path / "stopped"), again)
    assert again == [(24, 4), (28, 2)], "what was kept is not run again"
    pd.testing.assert_frame_equal(found, run(on_own_networks(tmp_path / "whole"), []))
    assert found.groupby("policy")["network"].apply(list).to_dict() == {
        f"{name}{seed}": list(range(10 * seed, 10 * seed + 10)) for name in "ab" for seed in (1, 2)
    }


def test_a_training_seed_that_was_kept_whole_is_read(tmp_path: Path) -> None:
    """As earlier versions kept it."""
    kept, old = on_own_networks(tmp_path), on_own_networks(tmp_path / "old")
    expected = run(kept, [])
    for seed in (1, 2):
        own = expected[expected["policy"].str.endswith(str(seed))].drop(columns="phase").reset_index(drop=True)
        old.phase.part("u", seed, run=lambda own=own: own)  # type: ignore[misc]
    ran: list[tuple[int, int]] = []
    pd.testing.assert_frame_equal(run(old, ran), expected)
    assert not ran and old.kept(1) and kept.kept(2) and not kept.kept(3)
