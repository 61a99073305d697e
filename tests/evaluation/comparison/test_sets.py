"""Signal sets over training seeds: intervals that hold while seeds are added, forecasts, the expected best of k."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.comparison.sets import (
    FIRST_SEEDS,
    MOST_SEEDS,
    SeedInterval,
    Spread,
    best_of,
    best_of_difference,
    compare_sets,
    mixture,
    seeds_needed,
)
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT

RULE = SettlingRule()
MARGIN = RULE.margin_bits()


def luck(effect: float, spread: float, seeds: int, stream: int = 0) -> tuple[dict[int, float], dict[int, float]]:
    rng = np.random.default_rng(stream)
    a = dict(enumerate(rng.normal(3.0, spread, seeds), 1))
    return a, {seed: score + effect + rng.normal(0, spread) for seed, score in a.items()}


def test_a_clear_difference_is_settled_at_the_first_look() -> None:
    record = compare_sets("e2e", "link", *luck(0.3, 0.02, 5), utility=DEFAULT, rule=RULE)
    assert (record.level, record.n, record.verdict.name, record.looks) == ("set", 5, "better", 1)
    assert record.low < 0.3 < record.high
    assert record.e_value is not None and record.e_value > 20
    json.dumps(record.to_json(), allow_nan=False)


@pytest.mark.parametrize("seeds", range(FIRST_SEEDS))
def test_nothing_is_said_before_five_seeds(seeds: int) -> None:
    record = compare_sets("a", "b", *luck(9.0, 0.001, seeds), utility=DEFAULT, rule=RULE)
    assert (record.verdict.name, record.to_json()["low"], record.e_value) == ("not settled", None, None)
    assert "the first look is at 5" in record.note


def test_seeds_that_one_set_lacks_are_left_out() -> None:
    a, b = luck(0.3, 0.02, 6)
    del a[3]
    record = compare_sets("a", "b", a, b, utility=DEFAULT, rule=RULE)
    assert record.n == 5
    assert record.difference == pytest.approx(np.mean([b[seed] - a[seed] for seed in a]))
    assert record.note.endswith("1 training seed left out because only one of the two has it")


@pytest.mark.parametrize(("seeds", "verdict"), [(9, "not settled"), (10, "equivalent")])
def test_equal_differences_settle_little(seeds: int, verdict: str) -> None:
    a, b = dict.fromkeys(range(seeds), 3.0), dict.fromkeys(range(seeds), 3.0 + 2**-8)
    record = compare_sets("a", "b", a, b, utility=DEFAULT, rule=RULE)
    assert record.verdict.name == verdict
    assert "the same with every one" in record.note


@pytest.mark.parametrize(("seeds", "verdict"), [(9, "not settled"), (10, "equivalent")])
def test_one_difference_among_equal_ones_settles_no_more_than_none(seeds: int, verdict: str) -> None:
    a = dict.fromkeys(range(seeds), 3.0)
    record = compare_sets("a", "b", a, a | {seeds - 1: 3.003}, utility=DEFAULT, rule=RULE)
    assert record.verdict.name == verdict


def test_the_mixture_is_fixed_beforehand() -> None:
    assert mixture(0.05) == pytest.approx(0.878, abs=1e-3)  # settling-review, section 4: g = 0.88
    first, second = (SeedInterval.of(scale * np.array([1.0, -1, 2, 0, 1]), 0.05) for scale in (1, 7))
    assert (second.high - second.low) == pytest.approx(7 * (first.high - first.low))


@pytest.mark.slow
@pytest.mark.parametrize("comparisons", [1, 5])
def test_no_winner_between_equals_although_every_seed_is_looked_at(comparisons: int) -> None:
    """Student's t, looked at after every seed, fails the same question."""
    rng, runs, alpha = np.random.default_rng(1), 2000, 0.05 / comparisons
    d = rng.normal(0, 0.05, (runs, MOST_SEEDS))
    wrong = 0
    for row in d:
        looks = [SeedInterval.of(row[:n], alpha) for n in range(FIRST_SEEDS, MOST_SEEDS + 1)]
        wrong += any(look.low > 0 or look.high < 0 for look in looks)
    pvalues = [stats.ttest_1samp(d[:, :n], 0, axis=1).pvalue for n in range(FIRST_SEEDS, MOST_SEEDS + 1)]
    naive = (np.min(pvalues, axis=0) < alpha).sum()
    assert wrong <= stats.binom.ppf(0.999, runs, alpha)
    assert naive > 2 * stats.binom.ppf(0.999, runs, alpha)


@pytest.mark.slow
def test_seeds_that_it_takes_are_those_of_the_design() -> None:
    """n ≈ 14 (s/δ)² + 5 at effect 0, and 9 (s/δ)² + 4 at δ."""
    for spread, effect, expected in ((0.03, 0.0, 11.9), (0.04, 0.0, 17.3), (0.04, MARGIN, 11.9)):
        needed = []
        for row in np.random.default_rng(2).normal(effect, spread, (300, 200)):
            n = FIRST_SEEDS
            while compare_seeds(row[:n]) == "not settled":
                n += 1
            needed.append(n)
        assert np.mean(needed) == pytest.approx(expected, rel=0.2)


def compare_seeds(d: np.ndarray) -> str:
    zeros = dict.fromkeys(range(d.size), 0.0)
    return compare_sets("a", "b", zeros, dict(enumerate(d)), utility=DEFAULT, rule=RULE).verdict.name


def test_forecasts_contain_what_it_takes() -> None:
    """Made at the first look, from a spread that five sets have in common."""
    inside = 0
    for stream in range(200):
        rng = np.random.default_rng(stream)
        rows = rng.normal(0, 0.04, (5, 200))
        found = SeedInterval.of(rows[0, :FIRST_SEEDS], 0.05)
        ahead = found.forecast(MARGIN, Spread.pooled(rows[:, :FIRST_SEEDS]))
        assert ahead is not None
        n = FIRST_SEEDS
        while compare_seeds(rows[0, :n]) == "not settled":
            n += 1
        inside += n == FIRST_SEEDS or ahead[0] <= n <= ahead[1]
    assert inside >= 170


def test_a_pooled_spread_has_the_degrees_of_freedom_of_all() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(0, 2.0, (400, 3)) + rng.normal(0, 50, (400, 1))
    found = Spread.pooled(rows)
    assert found.degrees == 800
    assert found.value == pytest.approx(2.0, rel=0.06)
    assert math.isnan(Spread.pooled([[1.0]]).value)


def test_the_expected_best_of_k_is_the_mean_over_all_subsets() -> None:
    scores = [3.1, 2.9, 3.3, 3.0, 3.2, 2.7, 3.25]
    assert best_of(scores, 5) == pytest.approx(np.mean([max(each) for each in combinations(scores, 5)]))
    assert best_of(scores, 1) == pytest.approx(np.mean(scores))
    assert math.isnan(best_of(scores[:4], 5))


def test_the_jackknife_error_of_the_best_of_five() -> None:
    rng = np.random.default_rng(3)
    found = np.array([best_of_difference(*rng.normal(3.0, 0.05, (2, 24))) for _ in range(400)])
    assert found[:, 0].mean() == pytest.approx(0, abs=3 * found[:, 0].std() / 20)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.25)
    assert math.isnan(best_of_difference([1.0] * 5, [2.0] * 5)[1])


@pytest.mark.parametrize("comparisons", [1, 2, 3, 10, 21])
def test_seeds_needed_are_where_intervals_begin(comparisons: int) -> None:
    rng, needed = np.random.default_rng(comparisons), seeds_needed(0.05, comparisons)
    finite = [math.isfinite(SeedInterval.of(rng.normal(size=n), 0.05 / comparisons).low) for n in range(2, 12)]
    assert finite.index(True) + 2 == needed and all(finite[needed - 2 :])
