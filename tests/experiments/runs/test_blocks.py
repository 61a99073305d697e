"""Blocks of trials in a run folder."""

from pathlib import Path

import pandas as pd

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.runs.blocks import Phase
from lcca.experiments.runs.costs import Costs


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
