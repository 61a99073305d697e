"""`lcca evaluate --bound`: what is possible, from the command line."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

SPACE = Path(__file__).parents[2] / "configs" / "networks" / "default.yaml"
OPTIONS = ("evaluate", "--bound", "--on", SPACE, "--trials", "30")


def test_prints_ideals_in_order(lcca: Any) -> None:
    found = lcca(*OPTIONS, "--json").json()
    ideals = [found[name] for name in ("fair_bits", "causal_bits", "clairvoyant_bits", "upper_bits")]
    assert ideals == sorted(ideals) and 2.5 < ideals[0] < 4.5
    assert found["networks"] == found["counted"] == 32 and found["gap_bits"] < 1e-4
    assert found["fair_bits_se"] > 0 and found["population_fair_bits"] == pytest.approx(3.533, abs=5e-4)


def test_has_a_table(lcca: Any) -> None:
    answer = lcca(*OPTIONS, "--set", "topology=line", "--utility", "2t")
    assert answer.status == 0 and "upper bound: no policy is better" in answer.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "topology=multi-bottleneck"), "no bound on topology multi-bottleneck"),
        (("--set", "duration=10"), "duration must exceed rtt"),
        (("--utility", "2x"), "unknown utility '2x'"),
        (("--seeds", "2"), "--seeds: needs a policy"),
        (("--out", "run"), "--out: needs a policy"),
    ],
)
def test_bad_input_is_one_line(lcca: Any, options: tuple[str, ...], message: str) -> None:
    answer = lcca(*OPTIONS, *options)
    assert (answer.status, answer.out) == (2, "") and message in answer.err and answer.err.count("\n") == 1


@pytest.mark.slow
def test_compare_and_evaluate_say_what_is_possible(lcca: Any) -> None:
    policies = ("aimd", "fixed-window:3")
    options = ("--on", SPACE, "--trials", "96", "--jobs", "1", "--bound")
    found = lcca("compare", *policies, *options, "--json").json()["ideal"][0]
    scores = {row["policy"]: row["score_bits"] for row in found["policies"]}
    share = (scores["fixed-window:3"] - scores["aimd"]) / (found["fair_bits"] - scores["aimd"])
    assert found["policies"][1]["gap_closed"] == pytest.approx(share) and found["baseline"] == "aimd"
    assert "Share of the gap closed" in lcca("compare", *policies, *options).out
    evaluated = ("evaluate", "aimd", "--on", SPACE.with_name("examples.yaml"), "--seeds", "2", "--bound")
    rows = lcca(*evaluated, "--json").json()["policies"]
    assert all(row["score_bits"] < row["upper_bits"] for row in rows)
    assert [row["clairvoyant_bits"] is None for row in rows] == [row["switched"] == "bytes" for row in rows]
    assert "clairvoyant" in lcca(*evaluated).out


@pytest.mark.slow
def test_compare_and_evaluate_say_where_the_bits_go(lcca: Any, tmp_path: Path) -> None:
    where = ("--on", SPACE, "--trials", "96", "--bound", "--out", tmp_path / "run")
    command = ("compare", "aimd", "fixed-window:3", *where)
    answer = lcca(*command)
    assert "where the bits go" in answer.out and "13 to 16 senders" in answer.out
    found = lcca(*command, "--json").json()
    scores = {row["policy"]: row["below_fair_bits"] for row in found["ideal"][0]["policies"]}
    whole = {row["policy"]: row for row in found["gap"] if row["by"] is None}
    for policy, below in scores.items():
        parts = sum(whole[policy][f"{part}_gap_bits"] for part in ("utilisation", "unfairness", "delay"))
        assert whole[policy]["below_fair_bits"] == pytest.approx(below) == pytest.approx(parts)
        phases = [row for row in found["gap_by_phase"] if row["policy"] == policy]
        for part in ("utilisation", "delay"):
            assert sum(row[f"{part}_bits"] for row in phases) == pytest.approx(whole[policy][f"{part}_gap_bits"])
        assert sum(row["time_share"] for row in phases) == pytest.approx(1) and len(phases) == 6
    assert "4 to 12 round trips after either" in answer.out
    assert lcca("plot", tmp_path / "run", "--figure", "gap", "--format", "svg", "--out", tmp_path).status == 0
    drawn = pd.read_csv(tmp_path / "gap.csv")
    assert drawn["delay_gap_bits"].tolist() == [row["delay_gap_bits"] for row in found["gap"]]
    evaluated = ("evaluate", "aimd", "--on", SPACE.with_name("examples.yaml"), "--seeds", "2", "--bound")
    found = lcca(*evaluated, "--json").json()
    assert [row["below_fair_bits"] is None for row in found["policies"]] == [False, False, False, True]
    assert {row["networks"] for row in found["gap"] if row["by"] is None} == {3}
    assert "where the bits go" in lcca(*evaluated).out


def test_without_a_bound_nothing_runs(lcca: Any) -> None:
    answer = lcca("compare", "aimd", "fixed-window:9", "--on", SPACE, "--set", "topology=multi-bottleneck", "--bound")
    assert (answer.status, answer.out) == (2, "") and "no bound on topology multi-bottleneck" in answer.err
