"""Verdicts: error rates and trials needed under the rule's own looks, and that nothing else matters."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from lcca.evaluation.settling.verdict import Look, Settling, SettlingRule, Verdict, judge

MARGIN = 0.03  # ln units, as in the measurements that the rule was tuned by
NOISE = math.sqrt(2 * math.log(1.04))  # two independent arms with 20 % lognormal noise each


def at_most(rate: float, n: int) -> int:
    return int(stats.binom.ppf(0.999, n, rate))


def settle(differences: np.ndarray, rule: SettlingRule | None = None) -> Settling:
    run = (rule or SettlingRule()).start(MARGIN)
    run.feed(differences.tolist())
    assert run.finished, "draw more differences"
    return run


def many(effect: float, runs: int, rule: SettlingRule | None = None, seed: int = 1) -> list[Look]:
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


@pytest.mark.parametrize(("comparisons", "factor"), [(10, 1.45), (100, 1.9)])
def test_cost_of_several_comparisons(comparisons: int, factor: float) -> None:
    rule = SettlingRule()
    alone = np.mean([look.n for look in many(0.0, 150)])
    shared = np.mean([look.n for look in many(0.0, 150, rule.shared_among(comparisons))])
    assert shared / alone == pytest.approx(factor, rel=0.15)


def test_forecasts_hold() -> None:
    rng, runs = np.random.default_rng(9), 200
    inside = by_ceiling = 0
    for effect in (0.0, 0.04):
        for _ in range(runs // 2):
            d = rng.normal(effect, 0.15, 8000).tolist()
            run = SettlingRule().start(MARGIN)
            run.feed(d[:20])
            ahead = run.forecast()
            assert ahead is not None
            n = run.feed(d[20:]).n
            inside += ahead.likely_low <= n <= ahead.likely_high
            by_ceiling += n <= ahead.ceiling
    assert inside / runs > 0.85
    assert by_ceiling / runs > 0.88  # statistics: 88 to 99 %


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), effect=st.floats(-0.1, 0.1), cuts=st.lists(st.integers(1, 60), max_size=30))
def test_neither_batches_nor_further_data_matter(seed: int, effect: float, cuts: list[int]) -> None:
    d = np.random.default_rng(seed).normal(effect, 0.1, 600).tolist()
    whole, parts = SettlingRule().start(MARGIN), SettlingRule().start(MARGIN)
    whole.feed(d)
    at = 0
    for cut in cuts:
        parts.feed(d[at : at + cut])
        at += cut
        _ = (parts.state, parts.forecast(), parts.finished)  # looking changes nothing
    parts.feed(d[at:])
    assert whole.looks == parts.looks
    shorter = SettlingRule().start(MARGIN)
    shorter.feed(d[: whole.state.n])
    assert shorter.state == whole.state


def test_a_verdict_is_frozen() -> None:
    run = SettlingRule().start(MARGIN)
    first = run.feed(np.random.default_rng(3).normal(0.2, 0.1, 20).tolist())
    assert first.verdict.name == "better" and run.finished
    assert run.feed([-1.0] * 500) == first


def test_looks_at_its_own_schedule() -> None:
    rng = np.random.default_rng(4)
    plain = SettlingRule(ceiling=75).start(1e-6)
    plain.feed(rng.normal(0, 1, 100).tolist())
    assert [look.n for look in plain.looks] == [20, 30, 40, 50, 60, 70, 75]
    skewed = SettlingRule(ceiling=75).start(1e-6)
    skewed.feed(([-0.2, 0.2, 0.0, 0.1] * 4 + [30.0, 0, 0, 0]) * 5)
    assert [look.n for look in skewed.looks] == [20, 40, 60, 75]


def test_a_ceiling_ends_without_pretending() -> None:
    run = SettlingRule(ceiling=50).start(1e-3)
    state = run.feed(np.random.default_rng(1).normal(0, 1, 100).tolist())
    assert (state.n, state.verdict.settled, run.finished) == (50, False, True)


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


def test_equal_scores_are_equivalent() -> None:
    state = settle(np.zeros(100)).state
    assert (state.verdict.name, state.low, state.high, state.n) == ("equivalent", 0.0, 0.0, 100)
    assert state.e_value < 1


def test_a_few_equal_scores_settle_nothing() -> None:
    rare = np.zeros(99)  # a policy that differs on 1 % of networks looks the same on the first 20 four times in five
    assert not SettlingRule().start(MARGIN).feed(rare.tolist()).verdict.settled


def test_before_the_first_look_nothing_is_said() -> None:
    run = SettlingRule().start(MARGIN)
    state = run.feed([1.0] * 19)
    assert (state.n, state.low, state.high, state.e_value) == (0, -math.inf, math.inf, 1.0)
    assert run.forecast() is None and not run.finished and run.next_look == 20


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="difference 2 is not finite"):
        SettlingRule().start(MARGIN).feed([0.0, math.nan])
    with pytest.raises(ValueError, match="margin must be > 0"):
        SettlingRule().start(0.0)
    with pytest.raises(ValidationError, match="ceiling must be at least first_look"):
        SettlingRule(ceiling=10)
    for wrong in ({"alpha": 0}, {"margin_percent": -1}, {"first_look": 1}, {"evry": 3}):
        with pytest.raises(ValidationError):
            SettlingRule.model_validate(wrong)


def test_margins() -> None:
    rule = SettlingRule(margin_percent=3)
    assert rule.margin_bits() == pytest.approx(math.log2(1.03))
    assert rule.shared_among(10).alpha == pytest.approx(0.005)
