"""Significance network by network: by hand, with planted effects, and under no effect."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.per_network import (
    ErrorName,
    NetworkPair,
    Share,
    chance_of_significance,
    error_of,
    network_significance,
    network_significances,
    significance,
)
from lcca.evaluation.report.figures.per_network import correlation_data, significance_data
from lcca.evaluation.report.figures.shares import share_data
from lcca.evaluation.report.figures.significance import ecdf
from lcca.evaluation.trials.tables import RunTables
from lcca.evaluation.trials.utilities import UTILITIES

NOTHING = pd.DataFrame()


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


@pytest.mark.parametrize(
    ("error", "s"), [("standard deviation", 3 / 2), ("standard error", 3 * math.sqrt(3) / 2), ("variance", 3 / 4)]
)
def test_s_by_hand(error: ErrorName, s: float) -> None:
    # Candidate 4, 6, 8: mean 6, deviation 2. Baseline 2, 3, 4: mean 3, deviation 1.
    section = network_significance(trials(a=[[2, 3, 4]], b=[[4, 6, 8]]), NOTHING, "a", ["b"], error=error)
    pair = section.pairs[0]
    assert (section.count, section.seeds, section.rivals) == (1, 3, ())
    assert pair.s("score_bits", error) == pytest.approx([s])
    assert pair.s("delay_us", error) == pytest.approx([-s])
    flagged = int(s > 1)
    for metric in ("score_bits", "throughput_share", "delay_us"):
        assert pair.share(metric, better=True, error=error).count == flagged
        assert pair.share(metric, better=False, error=error).count == 0


def test_s_at_its_limits() -> None:
    assert significance([0.0, 1.0, -1.0], [0.0, 0.0, 0.0]).tolist() == [0, math.inf, -math.inf]
    assert error_of([2.0], [4], "standard error").tolist() == [1]
    pair = network_significance(trials(a=[[1, 2, 3], [5, 5, 5]], b=[[1, 2, 3], [6, 6, 6]]), NOTHING, "a", ["b"]).pairs[
        0
    ]
    assert pair.s("score_bits").tolist() == [0, math.inf]
    assert list(pair.table["verdict"]) == ["not settled"] * 2  # three seeds that are all alike tell nothing
    values, share = ecdf(np.array([math.inf, -1.0, math.nan, 0.0]))
    assert values.tolist() == [-1, 0, math.inf] and share == pytest.approx([1 / 3, 2 / 3, 1])


def test_only_whole_pairs_count() -> None:
    table = trials(a=[[1, 2, 3, 9], [1, 2, 3, 4]], b=[[2, 4, 6, 8], [2, 3, 4, 5]])
    table.loc[(table["policy"] == "a") & (table["score_bits"] == 9), "score_bits"] = math.nan
    failed = (table["policy"] == "b") & (table["network"] == 1) & (table["seed"] > 0)
    table.loc[failed, "status"] = "failed"
    section = network_significance(table, NOTHING, "a", ["b"])
    pair = section.pairs[0]
    assert pair.table["network"].tolist() == [0]  # one whole pair on network 1 gives no error
    assert pair.table["score_bits_seeds"].tolist() == [3]
    assert pair.s("score_bits") == pytest.approx([1.0])
    assert pair.share("score_bits", better=True).count == 0  # more than 1, not 1


def test_rivals_are_told_in_order_and_mirror() -> None:
    rng = np.random.default_rng(1)
    drawn = {name: rng.normal(x, 0.1, (30, 5)).tolist() for name, x in (("e", 0.0), ("l", 0.3), ("q", 0.2), ("b", 0.1))}
    section = network_significance(trials(**drawn), NOTHING, "e", ["l", "q", "b"], names={"l": "link", "q": "queue"})
    assert [pair.name for pair in section.pairs] == ["link against e", "queue against e", "b against e"]
    assert [pair.name for pair in section.rivals] == ["link against queue", "link against b", "queue against b"]
    back = network_significance(trials(**drawn), NOTHING, "q", ["l"]).pairs[0]
    np.testing.assert_allclose(section.rivals[0].s("delay_us"), back.s("delay_us"))


def test_wilson_interval_by_hand() -> None:
    share = Share.of(np.arange(100) < 10)
    z = 1.959964
    middle, reach = (0.1 + z**2 / 200) / (1 + z**2 / 100), z * math.sqrt(0.09 / 100 + z**2 / 4e4) / (1 + z**2 / 100)
    assert (share.count, share.n, share.percent) == (10, 100, 10)
    assert (share.low, share.high) == (pytest.approx(100 * (middle - reach)), pytest.approx(100 * (middle + reach)))
    assert math.isnan(Share.of([]).percent)


def test_chance_flags_what_was_measured() -> None:
    assert 100 * chance_of_significance(10) == pytest.approx(2.4, abs=0.05)
    assert 100 * chance_of_significance(10, "standard error") == pytest.approx(44, abs=0.5)
    assert math.isnan(chance_of_significance(10, "variance")) and math.isnan(chance_of_significance(1))
    rng = np.random.default_rng(3)
    for seeds in (3, 10):
        a, b = rng.normal(size=(2, 20_000, seeds))
        errors = np.maximum(a.std(axis=1, ddof=1), b.std(axis=1, ddof=1))
        for error in ("standard deviation", "standard error"):
            s = significance(a.mean(axis=1) - b.mean(axis=1), error_of(errors, seeds, error))
            assert np.mean(np.abs(s) > 1) == pytest.approx(chance_of_significance(seeds, error), abs=0.012)


def test_a_planted_effect_is_found_where_it_is() -> None:
    rng = np.random.default_rng(7)
    traffic = rng.normal(3, 0.3, (100, 10))
    gain = np.where(np.arange(100) < 30, 0.8, 0.0)[:, None]
    noise = rng.normal(0, 0.02, (2, 100, 10))
    table = trials(a=(traffic + noise[0]).tolist(), b=(traffic + gain + noise[1]).tolist())
    pair = network_significance(table, NOTHING, "a", ["b"]).pairs[0]
    s = pair.s("score_bits")
    assert (s[:30] > 1).all() and (np.abs(s[30:]) < 0.2).all()
    assert pair.share("score_bits", better=True).count == pair.share("delay_us", better=True).count == 30
    verdicts = pair.verdicts()
    assert verdicts["better"] in range(30, 34) and verdicts["worse"] < 4 and verdicts["equivalent"] > 55
    assert sum(verdicts.values()) == 100
    assert pair.verdicts(frozenset(range(30)))["better"] == 30


def test_a_policy_against_itself_is_never_flagged() -> None:
    scores = np.random.default_rng(1).normal(size=(50, 10)).tolist()
    pair = network_significance(trials(a=scores, b=scores), NOTHING, "a", ["b"]).pairs[0]
    assert pair.share("score_bits", better=True).count == pair.share("score_bits", better=False).count == 0
    assert pair.verdicts() == {"better": 0, "equivalent": 0, "worse": 0, "not settled": 50}


def test_primary_and_secondary_follow_the_weights() -> None:
    table = trials(a=[[1, 2, 3]], b=[[4, 6, 8]])
    sections = [network_significance(table, NOTHING, "a", ["b"], utility=name) for name in ("default", "100t", "2d")]
    roles = {(row.utility, row.metric): row.role for row in share_data(sections, UTILITIES)}
    assert roles["default", "delay_us"] == roles["default", "throughput_share"] == roles["100t", "score_bits"] == ""
    assert (roles["100t", "throughput_share"], roles["100t", "delay_us"]) == ("primary", "secondary")
    assert (roles["2d", "throughput_share"], roles["2d", "delay_us"]) == ("secondary", "primary")
    assert {row.role for row in share_data(sections, {})} == {""}


def test_sections_of_a_run(build_run: Any, add_per_network: Any) -> None:
    folder: Path = build_run(seeds=2, count=40)
    assert network_significances(RunTables.load(folder)) == []
    before = len(RunTables.load(folder).trials)
    add_per_network(folder)
    tables = RunTables.load(folder)
    assert len(tables.trials) == before  # repeated trials are no test trials
    (section,) = network_significances(tables)
    assert [pair.name for pair in section.pairs] == ["link against e2e", "queue against e2e", "link+queue against e2e"]
    assert (section.count, section.seeds) == (30, 10)
    found = {(row.group, row.parameter): row for row in significance_data([section])}
    assert found["link", "senders"].found and found["link", "senders"].correlation > 0.3
    assert not any(row.found for (group, _), row in found.items() if group == "queue")


def test_significance_has_no_correlation_without_parameters() -> None:
    section = network_significance(trials(a=[[1, 2]] * 9, b=[[2, 4]] * 9), NOTHING, "a", ["b"])
    assert significance_data([section]) == [] and section.pairs[0].verdicts(frozenset({1}))["not settled"] >= 0


def test_load_and_discoveries_of_the_difference(build_run: Any) -> None:
    rows = correlation_data(RunTables.load(build_run(seeds=3, count=120)))
    found = {(row.group, row.parameter) for row in rows if row.found}
    assert {("link", "senders"), ("link", "load")} <= found
    assert len(found) <= 4
    assert all(row.low <= row.correlation <= row.high and 0 <= row.q <= 1 for row in rows)


def test_a_pair_is_named() -> None:
    assert NetworkPair("e2e", "link", NOTHING).name == "link against e2e"
