"""`lcca rank`: a ranking from the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.trials.running import mean_scores

from ..experiments.runs import run_files as files

SPACE = files.SPACE.replace("duration: 500", "duration: 1000")


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "space.yaml"
    path.write_text(SPACE)
    return path


def test_ranks_what_is_far_apart(lcca: Any, space: Path) -> None:
    policies = ("fixed-window:2", "fixed-window:10", "fixed-window:400")
    answer = lcca("rank", *policies, "--on", space, "--trials", "112", "--json")
    found = answer.json()
    assert found["policies"][0]["id"] == "fixed-window:10"
    assert found["policies"][0]["best_rank"] == found["policies"][0]["worst_rank"] == 1
    assert len(found["comparisons"]) == 3 and found["failed"] == []
    assert found["networks"] + found["left_out"] == 112 and found["simulator"] == "engine"


def test_is_the_same_for_any_jobs_and_block(lcca: Any, space: Path) -> None:
    options = ("aimd", "fixed-window:9", "--on", space, "--trials", "96", "--seeds", "2", "--json")
    one = lcca("rank", *options, "--jobs", "1", "--rule", "step=40")
    two = lcca("rank", *options, "--jobs", "2", "--rule", "step=40")
    assert one.status == 0 and one.out == two.out


def test_table_names_ties_and_what_is_open(lcca: Any, space: Path) -> None:
    options = ("--margin-percent", "0.1", "--rule", "alpha=1e-9")
    answer = lcca("rank", "fixed-window:9", "fixed-window:10", "aimd", "--on", space, "--trials", "96", *options)
    assert "Ties" in answer.out and "not settled: " in answer.out and "ranks are simultaneous at 100%" in answer.out


def test_topology_is_that_of_the_option(lcca: Any, space: Path) -> None:
    options = ("--on", space, "--trials", "96", "--set", "topology=line", "--json")
    assert lcca("rank", "aimd", "fixed-window:9", *options).json()["topology"] == "line"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("aimd",), "at least two"),
        (("aimd", "aimd"), "named twice"),
        (("aimd", "bbr"), "ns-3"),
        (("aimd", "fixed-window:3", "--trials", "5"), "at least 96"),
        (("aimd", "fixed-window:3", "--rule", "alpha=2"), "between 0 and 1"),
        (("aimd", "fixed-window:3", "--rule", "mixture"), "--rule: must be one of group-sequential, t-mixture"),
    ],
)
def test_bad_input_is_said(lcca: Any, space: Path, arguments: tuple[str, ...], words: str) -> None:
    answer = lcca("rank", *arguments, "--on", space)
    assert answer.status == 2 and words in answer.err


def test_seeds_of_a_network_are_one_score_and_a_failed_one_is_none() -> None:
    rows = pd.DataFrame(
        {
            "policy": ["b"] * 4 + ["a"] * 4,
            "network": [0, 0, 1, 1] * 2,
            "seed": [1, 2] * 4,
            "status": ["ok"] * 7 + ["failed"],
            "score_bits": [1.0, 3.0, np.nan, 5.0, 1.0, 1.0, 2.0, 9.0],
        }
    )
    found = mean_scores(rows)
    assert list(found) == ["b", "a"] and found["b"].tolist() == [2.0, 5.0]
    assert found["a"][0] == 1.0 and np.isnan(found["a"][1])
