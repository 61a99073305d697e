"""Significance network by network: by hand, with planted effects, and under no effect."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lcca.evaluation.comparison.network_shares import (
    NetworkShares,
    Share,
    network_shares,
    shares_of_run,
    significance,
)
from lcca.evaluation.trials.tables import RunTables


def trials(**scores: list[list[float]]) -> pd.DataFrame:
    """Return trials of policies with these scores, [network][seed]; throughput as the score, delay against it."""
    rows = [
        {"policy": policy, "network": i, "seed": seed, "status": "ok", "score_bits": x, "throughput_share": x,
         "delay_us": 100 - x}
        for policy, table in scores.items()
        for i, row in enumerate(table)
        for seed, x in enumerate(row)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def s_of(table: pd.DataFrame, metric: str = "score_bits", a: str = "a", b: str = "b") -> "pd.Series[float]":
    wide = table[table["status"] == "ok"].pivot(index=["network", "seed"], columns="policy", values=metric)
    return significance(wide[a], wide[b])


def counts(rows: list[NetworkShares]) -> dict[str, tuple[int, int]]:
    return {row.metric: (row.better.count, row.worse.count) for row in rows}


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 40), (3, 40), (39, 40), (40, 40), (517, 1000)])
def test_intervals_of_shares_are_scipys(count: int, n: int) -> None:
    ends = stats.binomtest(count, n).proportion_ci(0.95, method="wilson")
    share = Share.of([True] * count + [False] * (n - count))
    assert (share.low, share.high) == pytest.approx((100 * ends.low, 100 * ends.high), abs=1e-12)


@pytest.mark.parametrize("policy", ["a", "b"])
def test_networks_of_which_bounds_are_known_have_no_direction(policy: str) -> None:
    """On one of three networks 3 % of the flows are unfinished, on another one 1 %; c has bounds everywhere."""
    scores = [[1.0, 1.1, 1.2]] * 3
    table = trials(a=scores, b=[[x + 5 for x in row] for row in scores], c=scores).assign(
        score_of=100, score_unfinished=0
    )
    table.loc[(table["policy"] == policy) & (table["network"] == 0), "score_unfinished"] = 3
    table.loc[(table["policy"] == policy) & (table["network"] == 1), "score_unfinished"] = 1
    table.loc[table["policy"] == "c", "score_unfinished"] = 50
    for percent, networks in ((1.0, 2), (3.0, 3)):
        rows = [
            row
            for row in network_shares(table, "a", ["b", "c"], unfinished_percent=percent)
            if row.metric == "score_bits"
        ]
        assert {row.name: (row.better.count, row.better.n) for row in rows} == {
            "b against a": (networks, networks),
            "c against a": (0, 0),
            "b against c": (0, 0),
        }


@pytest.mark.parametrize(("scores", "s"), [([4, 6, 8], 3 / 2), ([2, 4, 6], 1 / 2)])
def test_s_by_hand(scores: list[float], s: float) -> None:
    # Candidate 4, 6, 8: mean 6, deviation 2. Baseline 2, 3, 4: mean 3, deviation 1.
    table = trials(a=[[2, 3, 4]], b=[scores])
    assert s_of(table).tolist() == pytest.approx([s])
    assert s_of(table, "delay_us").tolist() == pytest.approx([-s])
    assert set(counts(network_shares(table, "a", ["b"])).values()) == {(int(s > 1), 0)}
    assert set(counts(network_shares(table, "b", ["a"])).values()) == {(0, int(s > 1))}


def test_s_at_its_limits() -> None:
    table = trials(a=[[1, 2, 3], [5, 5, 5], [6, 6, 6]], b=[[1, 2, 3], [6, 6, 6], [5, 5, 5]])
    assert s_of(table).tolist() == [0, math.inf, -math.inf]
    assert set(counts(network_shares(table, "a", ["b"])).values()) == {(1, 1)}


def test_only_whole_pairs_count() -> None:
    table = trials(a=[[1, 2, 3, 9], [1, 2, 3, 4]], b=[[2, 4, 6, 8], [2, 3, 4, 5]])
    table.loc[(table["policy"] == "a") & (table["score_bits"] == 9), "score_bits"] = math.nan
    failed = (table["policy"] == "b") & (table["network"] == 1) & (table["seed"] > 0)
    table.loc[failed, "status"] = "failed"
    s = s_of(table)
    assert s.index.tolist() == [0]  # one whole pair on network 1 gives no error
    assert s.tolist() == pytest.approx([1.0])
    row = network_shares(table, "a", ["b"])[0]
    assert (row.better.count, row.better.n) == (0, 1)  # more than 1, not 1


def test_rivals_are_told_in_order_and_mirror() -> None:
    rng = np.random.default_rng(1)
    drawn = {name: rng.normal(x, 0.1, (30, 5)).tolist() for name, x in (("e", 0.0), ("l", 0.3), ("q", 0.2), ("b", 0.1))}
    table = trials(**drawn)
    rows = network_shares(table, "e", ["l", "q", "b"], names={"l": "link", "q": "queue"})
    assert [row.name for row in rows[::3]] == [
        "link against e", "queue against e", "b against e", "link against queue", "link against b", "queue against b",
    ]  # fmt: skip
    back = network_shares(table, "q", ["l"])
    assert [(row.better, row.worse) for row in rows[9:12]] == [(row.better, row.worse) for row in back]
    np.testing.assert_allclose(s_of(table, a="q", b="l"), -s_of(table, a="l", b="q"))


def test_wilson_interval_by_hand() -> None:
    share = Share.of(np.arange(100) < 10)
    z = 1.959964
    middle, reach = (0.1 + z**2 / 200) / (1 + z**2 / 100), z * math.sqrt(0.09 / 100 + z**2 / 4e4) / (1 + z**2 / 100)
    assert (share.count, share.n, share.percent) == (10, 100, 10)
    assert (share.low, share.high) == (pytest.approx(100 * (middle - reach)), pytest.approx(100 * (middle + reach)))
    assert math.isnan(Share.of([]).percent)


def test_chance_flags_one_network_in_forty() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 20_000, 10))
    s = (a.mean(axis=1) - b.mean(axis=1)) / np.maximum(a.std(axis=1, ddof=1), b.std(axis=1, ddof=1))
    small = trials(a=a[:200].tolist(), b=b[:200].tolist())
    np.testing.assert_allclose(s_of(small, a="b", b="a"), s[:200])
    assert np.mean(np.abs(s) > 1) == pytest.approx(0.024, abs=0.004)


def test_a_planted_effect_is_found_where_it_is() -> None:
    rng = np.random.default_rng(7)
    traffic = rng.normal(3, 0.3, (100, 10))
    gain = np.where(np.arange(100) < 30, 0.8, 0.0)[:, None]
    noise = rng.normal(0, 0.02, (2, 100, 10))
    table = trials(a=(traffic + noise[0]).tolist(), b=(traffic + gain + noise[1]).tolist())
    s = s_of(table).to_numpy()
    assert (s[:30] > 1).all() and (np.abs(s[30:]) < 0.2).all()
    found = counts(network_shares(table, "a", ["b"]))
    assert found["score_bits"] == found["delay_us"] == (30, 0)


def test_a_policy_against_itself_is_never_flagged() -> None:
    scores = np.random.default_rng(1).normal(size=(50, 10)).tolist()
    assert set(counts(network_shares(trials(a=scores, b=scores), "a", ["b"])).values()) == {(0, 0)}


def test_shares_of_a_run(build_run: Any, add_per_network: Any) -> None:
    folder: Path = build_run(seeds=2, count=40)
    assert shares_of_run(RunTables.load(folder)) == []
    before = len(RunTables.load(folder).trials)
    add_per_network(folder)
    tables = RunTables.load(folder)
    assert len(tables.trials) == before  # repeated trials are no test trials
    rows = shares_of_run(tables)
    assert [row.name for row in rows[:9:3]] == ["link against e2e", "queue against e2e", "link+queue against e2e"]
    assert len(rows) == 6 * 3 and {row.better.n for row in rows} == {30}
