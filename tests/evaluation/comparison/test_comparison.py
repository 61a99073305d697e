"""Comparison records: what they say, their JSON form, and coverage over training seeds."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.comparison.compare import (
    Comparison,
    compare_policies,
    paper_relative_percent,
)
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT, UTILITIES

RULE = SettlingRule()
KEYS = {
    "level", "utility", "A", "B", "metric", "difference", "low", "high", "unit",
    "throughput_equivalent_percent", "paper_relative_percent", "margin", "alpha", "verdict",
    "by_more_than_margin", "direction", "n", "likely_n", "ceiling_n", "sigma_d", "correlation",
    "skewness", "looks", "e_value", "adjusted_verdict", "note", "e_bh", "rule",
}  # fmt: skip


def policies(effect: float, n: int = 400, spread: float = 0.1, **kwargs: object) -> Comparison:
    rng = np.random.default_rng(1)
    a = rng.normal(3.0, 0.5, n)
    b = a + effect + rng.normal(0, spread, n)
    options: dict[str, object] = {"utility": DEFAULT, "rule": RULE} | kwargs
    return compare_policies("a", "b", a, b, **options)  # type: ignore[arg-type]


def test_policy_record() -> None:
    record = policies(0.2)
    assert (record.verdict.name, record.verdict.by_more_than_margin) == ("better", True)
    assert record.low < 0.2 < record.high
    assert record.correlation > 0.9  # common random numbers
    assert record.n == record.history[-1].n == 20
    assert [look.n for look in record.history] == [20]
    assert record.likely_n is None and record.ceiling_n is not None


def test_json_has_the_agreed_keys_and_no_infinities() -> None:
    for record in (policies(0.2), policies(0.02, n=10), policies(0.04, n=50, spread=0.5)):
        plain = record.to_json()
        assert set(plain) == KEYS
        json.dumps(plain, allow_nan=False)
        history = record.to_json(history=True)["history"]
        json.dumps(history, allow_nan=False)
        assert [look["n"] for look in history] == [look.n for look in record.history]


def test_too_few_pairs() -> None:
    plain = policies(0.2, n=10).to_json()
    assert (plain["verdict"], plain["low"], plain["n"], plain["looks"]) == ("not settled", None, 0, 0)
    assert plain["note"] == "10 pairs; the first look is at 20"


def test_not_settled_has_a_forecast() -> None:
    record = policies(0.03, n=30, spread=0.5)
    assert record.verdict.name == "not settled"
    assert record.likely_n is not None and record.ceiling_n is not None
    assert 30 <= record.likely_n[0] <= record.likely_n[1] <= record.ceiling_n


def test_pairs_that_are_all_alike_are_forecast_to_settle_at_the_fewest_that_may() -> None:
    scores = np.linspace(1, 2, 80)
    record = compare_policies("a", "b", scores, scores, utility=DEFAULT, rule=RULE)
    assert (record.verdict.name, record.likely_n, record.ceiling_n) == ("not settled", (100, 100), 100)
    assert record.note == "the difference was the same on all 80 pairs; 100 such pairs would settle it"


def test_several_comparisons_share_alpha() -> None:
    rng = np.random.default_rng(12)
    d = rng.normal(0.055, 0.1, 40)
    zeros = np.zeros(40)
    alone = compare_policies("a", "b", zeros, d, utility=DEFAULT, rule=RULE)
    shared = compare_policies("a", "b", zeros, d, utility=DEFAULT, rule=RULE, comparisons=1000)
    assert alone.verdict == shared.verdict == alone.adjusted
    assert shared.verdict.name == "better" and shared.adjusted.name == "not settled"


def test_failed_trials_are_left_out_in_pairs() -> None:
    a, b = np.arange(160.0), np.arange(160.0) + 1
    a[3], b[7] = math.nan, math.nan
    record = compare_policies("a", "b", a, b, utility=DEFAULT, rule=RULE)
    assert record.note.endswith("2 pairs left out because a trial failed or had no sender to score")
    assert record.verdict.name == "better"


def test_a_policy_against_itself() -> None:
    same = np.random.default_rng(0).normal(3, 1, 100)
    record = compare_policies("a", "a", same, same, utility=DEFAULT, rule=RULE)
    assert (record.verdict.name, record.difference, record.n) == ("equivalent", 0.0, 100)
    assert "same on all 100 pairs" in record.note


def test_scores_must_be_aligned() -> None:
    with pytest.raises(ValueError, match=r"aligned vectors, got shapes \(3,\) and \(4,\)"):
        compare_policies("a", "b", [1, 2, 3], [1, 2, 3, 4], utility=DEFAULT, rule=RULE)


def test_percentages() -> None:
    assert DEFAULT.percent(math.log2(1.03)) == pytest.approx(3)
    assert DEFAULT.percent(-1.0) == pytest.approx(-50)
    assert UTILITIES["2t"].percent(2 * math.log2(1.03)) == pytest.approx(3)
    assert paper_relative_percent(0.1, -2.0) == pytest.approx(5)
    assert math.isnan(paper_relative_percent(0.1, 0.0))


def test_weights_scale_the_margin_and_the_percentage() -> None:
    plain, doubled = policies(0.2).to_json(), policies(0.2, utility=UTILITIES["2t"]).to_json()
    assert doubled["margin"] == pytest.approx(2 * plain["margin"])
    p, q = (x["throughput_equivalent_percent"]["difference"] for x in (plain, doubled))
    assert (1 + q / 100) ** 2 == pytest.approx(1 + p / 100)


def test_t_interval() -> None:
    x = np.array([1.0, 2.0, 4.0, math.nan])
    low, high = stats.t.interval(0.95, 2, np.nanmean(x), stats.sem(x[:3]))
    assert t_interval(x) == (pytest.approx(7 / 3), pytest.approx(low), pytest.approx(high))
    assert math.isnan(t_interval([1.0])[1])
