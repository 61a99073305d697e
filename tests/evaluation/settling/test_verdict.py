"""Verdicts: error rates and trials needed under the rule's own looks, and that nothing else matters."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from lcca.evaluation.settling.base import Settling
from lcca.evaluation.settling.judgement import Look, Verdict, judge
from lcca.evaluation.settling.rules import SettlingRule

MARGIN = 0.03  # ln units, as in the measurements that the rule was tuned by
NOISE = math.sqrt(2 * math.log(1.04))  # two independent arms with 20 % lognormal noise each


def at_most(rate: float, n: int) -> int:
    return int(stats.binom.ppf(0.999, n, rate))


RULE = SettlingRule(first_look=20, every=10)  # of single differences, as in those measurements


def settle(differences: np.ndarray, rule: SettlingRule = RULE) -> Settling:
    """Feed differences until it is safe to stop."""
    run = rule.start(MARGIN)
    for at in range(0, differences.size, 10):
        if run.feed(differences[at : at + 10].tolist()).verdict.settled:
            return run
    raise AssertionError("draw more differences")


def many(effect: float, runs: int, rule: SettlingRule = RULE, seed: int = 1) -> list[Look]:
    rng = np.random.default_rng(seed)
    return [settle(rng.normal(effect, NOISE, 8000), rule).state for _ in range(runs)]


@pytest.mark.parametrize(
    ("effect", "pairs", "wrong"),
    [
        (0.00, 1168, {"better", "worse"}),
        (0.03, 755, {"equivalent", "worse"}),
        (0.05, 310, {"equivalent", "worse"}),
        (0.10, 112, {"equivalent", "worse"}),
    ],
)
def test_pairs_needed_and_error_rates(effect: float, pairs: int, wrong: set[str]) -> None:
    runs = 400
    looks = many(effect, runs)
    verdicts = Counter(look.verdict.name for look in looks)
    assert sum(verdicts[name] for name in wrong) <= at_most(0.05, runs)
    assert np.mean([look.n for look in looks]) == pytest.approx(pairs, rel=0.10)


def test_same_against_same_under_skew_and_heavy_tails() -> None:
    rng, runs = np.random.default_rng(8), 200
    shapes = {
        "skewed": lambda n: (rng.exponential(1, n) - 1) * 0.1,
        "heavy": lambda n: rng.standard_t(4, n) * 0.1,
        "rare": lambda n: (rng.random(n) < 0.2) * rng.normal(0, 0.2, n),
    }
    for name, draw in shapes.items():
        names = Counter(settle(draw(4000)).state.verdict.name for _ in range(runs))
        assert names["better"] + names["worse"] <= at_most(0.05, runs), name


def test_a_planted_effect_is_found_and_beyond_the_margin() -> None:
    state = settle(np.random.default_rng(3).normal(0.2, 0.1, 100)).state
    assert (state.verdict.name, state.verdict.by_more_than_margin, state.n) == ("better", True, 20)
    mirrored = settle(-np.random.default_rng(3).normal(0.2, 0.1, 100)).state
    assert (mirrored.verdict.name, mirrored.verdict.direction) == ("worse", "-")
    assert mirrored.e_value > 20


@pytest.mark.slow
@pytest.mark.parametrize(("comparisons", "factor"), [(10, 1.45), (100, 1.9)])
def test_cost_of_several_comparisons(comparisons: int, factor: float) -> None:
    alone = np.mean([look.n for look in many(0.0, 150)])
    shared = np.mean([look.n for look in many(0.0, 150, RULE.shared_among(comparisons))])
    assert shared / alone == pytest.approx(factor, rel=0.15)


def test_forecasts_hold() -> None:
    rng, runs = np.random.default_rng(9), 200
    inside = by_ceiling = 0
    for effect in (0.0, 0.04):
        for _ in range(runs // 2):
            d = rng.normal(effect, 0.15, 8000).tolist()
            run = RULE.start(MARGIN)
            run.feed(d[:20])
            ahead = run.forecast()
            assert ahead is not None
            n = settle(np.array(d)).state.n
            inside += ahead.likely_low <= n <= ahead.likely_high
            by_ceiling += n <= ahead.ceiling
    assert inside / runs > 0.85
    assert by_ceiling / runs > 0.88  # statistics: 88 to 99 %


def test_looks_at_its_own_schedule() -> None:
    rng = np.random.default_rng(4)
    rare = SettlingRule(first_look=20, every=10, ceiling=75).start(1e-6)
    rare.feed(rng.normal(0, 1, 100).tolist())
    assert [look.n for look in rare.looks] == [20, 30, 40, 50, 60, 70, 75]
    usual = SettlingRule(ceiling=9).start(1e-6)
    usual.feed(rng.normal(0, 1, 100).tolist())
    assert [look.n for look in usual.looks] == [6, 7, 8, 9]


@given(st.floats(-1, 1), st.floats(1e-6, 1), st.floats(0, 1))
def test_an_interval_no_wider_than_the_margin_always_settles(mean: float, margin: float, part: float) -> None:
    width = 0.499999 * margin * part
    assert judge(mean - width, mean + width, margin).settled


def test_judge() -> None:
    assert judge(-0.02, 0.02, 0.03) == Verdict("equivalent")
    assert judge(0.01, 0.02, 0.03) == Verdict("equivalent", direction="+")
    assert judge(-0.02, -0.01, 0.03) == Verdict("equivalent", direction="-")
    assert judge(0.01, 0.05, 0.03) == Verdict("better", direction="+")
    assert judge(0.04, 0.05, 0.03) == Verdict("better", True, "+")
    assert judge(-0.09, -0.04, 0.03) == Verdict("worse", True, "-")
    assert judge(-0.01, 0.05, 0.03) == Verdict()
    assert judge(-math.inf, math.inf, 0.03) == Verdict()


def test_sign_and_size_are_two_statements() -> None:
    found = {(v.direction, v.size) for v in (judge(x - 0.005, x + 0.005, 0.03) for x in (0.0, 0.01, 0.03, 0.09, -0.09))}
    assert found == {("0", "smaller"), ("+", "smaller"), ("+", "open"), ("+", "larger"), ("-", "larger")}


def test_bad_input() -> None:
    for wrong in ({"alpha": 0}, {"margin_percent": -1}, {"first_look": 1}, {"evry": 3}):
        with pytest.raises(ValidationError):
            SettlingRule.model_validate(wrong)


def test_margins() -> None:
    rule = SettlingRule(margin_percent=3)
    assert rule.margin_bits() == pytest.approx(math.log2(1.03))
    assert rule.shared_among(10).alpha == pytest.approx(0.005)
