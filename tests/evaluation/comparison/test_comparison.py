"""Comparison records: what they say, their JSON form, and coverage over training seeds."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.comparison.compare import (
    SAME,
    Comparison,
    compare_policies,
    paper_relative_percent,
)
from lcca.evaluation.comparison.sets import UNLEARNT, compare_sets
from lcca.evaluation.report.words.statements import sign_and_size
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT, UTILITIES

RULE = SettlingRule()
KEYS = {
    "level", "utility", "A", "B", "metric", "difference", "low", "high", "unit",
    "throughput_equivalent_percent", "paper_relative_percent", "margin", "alpha", "verdict",
    "by_more_than_margin", "direction", "n", "likely_n", "ceiling_n", "sigma_d", "correlation",
    "skewness", "looks", "e_value", "adjusted_verdict", "note", "rule", "size", "block", "blocks", "same",
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
    assert (record.n, record.block, record.blocks) == (400, 16, 25)
    assert [look.n for look in record.history] == [*range(96, 401, 16)]  # six blocks, and every block from there
    assert record.likely_n is None and record.ceiling_n is not None


def test_the_record_rests_on_all_blocks() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(3, 1, 330), rng.normal(3.1, 1, 330)
    a[5], b[40:48] = math.nan, math.nan
    record = compare_policies("a", "b", a, b, utility=DEFAULT, rule=RULE)
    kept = [np.nanmean((b - a)[k : k + 16]) for k in range(0, 320, 16)]
    assert (record.blocks, record.n) == (20, 311)
    assert record.difference == pytest.approx(np.mean(kept)) and record.sigma_d == pytest.approx(np.std(kept, ddof=1))
    assert record.history[-1].n == 311 and record.history[-1].mean == record.difference
    assert record.note == "9 pairs left out because a trial failed or was too short for a sender or flow to score"


def test_a_run_has_enough_at_an_eighth_of_the_margin() -> None:
    exact, rough = policies(0.2, spread=0.02), policies(0.2)
    assert exact.enough and (exact.high - exact.low) / 2 <= exact.margin / 8
    assert rough.verdict.settled and not rough.enough
    assert rough.enough_n is not None and rough.enough_n > rough.n
    again = policies(0.2, n=rough.enough_n * 2)
    assert again.enough
    at_end = policies(0.2, rule=SettlingRule(ceiling=25))
    assert at_end.enough and not policies(0.2, n=384, rule=SettlingRule(ceiling=25)).enough


def test_json_has_the_agreed_keys_and_no_infinities() -> None:
    for record in (policies(0.2), policies(0.02, n=10), policies(0.04, n=120, spread=0.5)):
        plain = record.to_json()
        assert set(plain) == KEYS
        json.dumps(plain, allow_nan=False)
        history = record.to_json(history=True)["history"]
        json.dumps(history, allow_nan=False)
        assert [look["n"] for look in history] == [look.n for look in record.history]


def test_too_few_pairs() -> None:
    plain = policies(0.2, n=10).to_json()
    assert (plain["verdict"], plain["low"], plain["n"], plain["looks"]) == ("not settled", None, 10, 0)
    assert plain["note"] == "10 pairs: too few; the first look is at 96 (6 whole blocks of 16)"
    assert plain["difference"] == pytest.approx(0.2, abs=0.1)
    some = policies(0.2, n=90)
    assert (some.n, some.blocks, some.verdict.settled, some.e_value) == (80, 5, False, None)


def test_not_settled_has_a_forecast() -> None:
    record = policies(0.03, n=120, spread=1.0)
    assert record.verdict.name == "not settled"
    assert record.likely_n is not None and record.ceiling_n is not None
    assert 112 <= record.likely_n[0] <= record.likely_n[1] <= record.ceiling_n


def test_pairs_that_are_all_alike_are_forecast_to_settle_at_the_fewest_that_may() -> None:
    scores = np.arange(100) / 64
    record = compare_policies("a", "b", scores, scores + 2**-8, utility=DEFAULT, rule=RULE)
    assert (record.verdict.name, record.likely_n, record.ceiling_n) == ("not settled", (112, 112), 112)
    assert record.note == "the difference was the same on all 96 pairs; 112 such pairs would settle it"


def test_several_comparisons_share_alpha() -> None:
    rng = np.random.default_rng(12)
    d = rng.normal(0.06, 0.15, 160)
    zeros = np.zeros(160)
    alone = compare_policies("a", "b", zeros, d, utility=DEFAULT, rule=RULE)
    shared = compare_policies("a", "b", zeros, d, utility=DEFAULT, rule=RULE, comparisons=1000)
    assert alone.verdict == shared.verdict == alone.adjusted
    assert shared.verdict.name == "better" and shared.adjusted.name == "not settled"


def test_failed_trials_are_left_out_in_pairs() -> None:
    a, b = np.arange(160.0), np.arange(160.0) + 1
    a[3], b[7] = math.nan, math.nan
    record = compare_policies("a", "b", a, b, utility=DEFAULT, rule=RULE)
    assert record.note.endswith(
        "2 pairs left out because a trial failed or was too short for a sender or flow to score"
    )
    assert record.verdict.name == "better"


def test_a_policy_against_itself() -> None:
    same = np.random.default_rng(0).normal(3, 1, 112)
    record = compare_policies("a", "a", same, same, utility=DEFAULT, rule=RULE)
    assert (record.same, record.difference, record.n) == (SAME, 0.0, 112)
    assert "same, bit for bit, on all 112 pairs" in record.note
    plain = record.to_json()
    assert (plain["verdict"], plain["adjusted_verdict"], plain["size"]) == ("not settled", "not settled", "open")
    assert sign_and_size(plain) == SAME and plain["likely_n"] is None
    assert sign_and_size({key: value for key, value in plain.items() if key != "same"}) == "not settled"  # of before
    other = same.copy()
    other[50] += 1e-12
    assert compare_policies("a", "b", same, other, utility=DEFAULT, rule=RULE).to_json()["verdict"] == "equivalent"


def test_sets_whose_policies_are_all_the_same() -> None:
    for seeds in (1, 5, 12):
        own = dict.fromkeys(range(seeds), 1.5)
        plain = compare_sets("e2e", "ecn", own, own, utility=DEFAULT, rule=RULE).to_json()
        assert (plain["same"], plain["verdict"]) == (UNLEARNT, "not settled")


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
    assert doubled["margin"] == plain["margin"]  # that of the delay, which weighs 1
    assert UTILITIES["2t"].difference(3) == pytest.approx(2 * DEFAULT.difference(3))
    p, q = (x["throughput_equivalent_percent"]["difference"] for x in (plain, doubled))
    assert (1 + q / 100) ** 2 == pytest.approx(1 + p / 100)


def test_t_interval() -> None:
    x = np.array([1.0, 2.0, 4.0, math.nan])
    low, high = stats.t.interval(0.95, 2, np.nanmean(x), stats.sem(x[:3]))
    assert t_interval(x) == (pytest.approx(7 / 3), pytest.approx(low), pytest.approx(high))
    assert math.isnan(t_interval([1.0])[1])
