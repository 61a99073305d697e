"""Correlation: by hand, against scipy, and its coverage where Fisher's interval fails."""

import math

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.comparison.correlation import correlate
from lcca.evaluation.settling.false_discovery import q_values


def test_by_hand() -> None:
    found = correlate([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    assert found is not None and found.n == 5
    assert found.r == pytest.approx(0.8)  # Σuv = 8, Σu² = Σv² = 10
    assert found.low < 0.8 < found.high and 0 < found.p < 1


def test_about_scipys_for_normal_data() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = 0.5 * x + rng.normal(size=2000)
    expected = stats.pearsonr(x, y)
    ends = expected.confidence_interval(0.95)
    found = correlate(x, y)
    assert found is not None and found.r == pytest.approx(expected.statistic)
    assert (found.low, found.high) == (pytest.approx(ends.low, abs=0.005), pytest.approx(ends.high, abs=0.005))


def test_never_tighter_than_fishers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        x, y = rng.normal(size=(2, 30))
        found = correlate(x, y)
        assert found is not None
        assert math.atanh(found.high) - math.atanh(found.low) >= 2 * 1.96 / math.sqrt(27) - 1e-9


def test_what_cannot_be_told() -> None:
    assert correlate([1, 2, 3, 4], [1, 2, 3, 4]) is None
    assert correlate(np.ones(20), np.arange(20)) is None
    assert correlate(np.arange(20), np.ones(20)) is None
    holed = correlate([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, math.inf])
    assert holed is not None and holed.n == 5 and holed.r == pytest.approx(1)
    assert correlate([1, 2, 3, 4, math.nan], [1, 2, 3, 4, 5]) is None


@pytest.mark.parametrize("kind", ["normal", "noisier where small", "skewed"])
def test_coverage_without_an_effect(kind: str) -> None:
    rng = np.random.default_rng(4)
    runs, n = 1500, 100
    held = 0
    for _ in range(runs):
        x = rng.integers(1, 17, n).astype(float)
        noise = rng.exponential(size=n) ** 2 if kind == "skewed" else rng.normal(size=n)
        found = correlate(x, noise * np.sqrt(8 / x) if kind == "noisier where small" else noise)
        held += found is not None and found.low <= 0 <= found.high
    assert held / runs > 0.93  # Fisher's interval: 88 % where noise falls with x


def test_no_effect_gives_few_discoveries() -> None:
    rng = np.random.default_rng(6)
    runs, false = 300, 0
    for _ in range(runs):
        networks = rng.uniform(size=(7, 100))
        differences = rng.standard_t(4, size=(3, 100))
        found = [correlate(x, y) for x in networks for y in differences]
        false += bool((q_values([each.p for each in found if each]) <= 0.05).any())
    assert false / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
