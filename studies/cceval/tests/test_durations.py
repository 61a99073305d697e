"""A pooled quantile at several durations: which ones are too short is found, and what cannot be told is not."""

import math

import numpy as np
import pytest

from lcca.evaluation.settling.quantiles import tail_quantile
from lcca.studies.cceval.estimators.durations import DurationRow, duration_rows, shortest_unbiased
from lcca.studies.cceval.report.figures import draw_durations

P = 0.9


def trials(seed: int, scale: float, count: int = 100, flows: int = 40) -> list[np.ndarray]:
    """Trials whose flows have a common factor, so that they resemble each other."""
    rng = np.random.default_rng(seed)
    return [scale * rng.lognormal(0, 0.2) * rng.lognormal(0, 1, flows) for _ in range(count)]


def test_rows_hold_what_the_quantile_is() -> None:
    flows = {2e4: trials(1, 1.0), 1e4: trials(2, 0.5)}
    short, longest = duration_rows(flows, P)
    assert (short.duration_us, longest.duration_us) == (1e4, 2e4)
    for row in (short, longest):
        alone = tail_quantile(flows[row.duration_us], P)
        assert (row.estimate, row.low, row.high) == (alone.value, alone.low, alone.high)
        assert (row.trials, row.flows, row.tail_flows) == (100, 4000, alone.tail_flows)
    own = [np.quantile(x, P) for x in flows[1e4]]
    assert short.mean_of_trials == pytest.approx(np.mean(own))
    assert short.bias == pytest.approx(short.estimate / longest.estimate - 1)
    assert short.bias_low < short.bias < short.bias_high < 0 and short.biased
    assert "biased: -5" in short.warning and "against the longest" in short.warning
    assert (longest.bias, longest.biased, longest.warning) == (0, False, "")


def test_the_shortest_that_agrees_with_all_longer_ones() -> None:
    flows = {d: trials(seed, scale) for seed, (d, scale) in enumerate([(1e3, 0.4), (1e4, 0.7), (1e5, 1), (1e6, 1)])}
    assert shortest_unbiased(duration_rows(flows, P)) == 1e5
    lone = {1e5: trials(1, 0.5), 1e6: trials(2, 1.0)}
    assert shortest_unbiased(duration_rows(lone, P)) is None
    # A short one that agrees by chance, below a longer one that does not, is not to be trusted.
    chance = {1e3: trials(1, 1.0), 1e4: trials(2, 0.5), 1e6: trials(3, 1.0)}
    assert shortest_unbiased(duration_rows(chance, P)) is None


def test_too_few_trials_bound_nothing_and_bear_nothing_out() -> None:
    flows = {1e4: trials(1, 1.0, count=3), 2e4: trials(2, 1.0, count=3, flows=5)}
    short, longest = duration_rows(flows, 0.99)
    assert not short.biased and not short.bounded
    assert short.bias_low == -1 or math.isinf(short.bias_high)
    assert "only 3 trials" in short.warning and "beyond the quantile" in longest.warning
    assert shortest_unbiased([short, longest]) is None


@pytest.mark.slow
def test_the_bias_of_equal_durations_is_seldom_significant() -> None:
    """The intervals are simultaneous: at most 5 % of the families have any that leaves 0 out."""
    wrong = 0
    for seed in range(200):
        flows = {float(k): trials(1000 * seed + k, 1.0, count=40) for k in (1, 2, 3)}
        wrong += any(row.biased for row in duration_rows(flows, P))
    assert wrong <= 18  # 10 expected at most; more than 18 would happen once in 200 such tests


def test_values_that_are_not_positive_have_no_ratio() -> None:
    flows = {1.0: [np.zeros(50)] * 30, 2.0: [np.zeros(50)] * 30}
    short, _ = duration_rows(flows, P)
    assert math.isnan(short.bias) and not short.biased and not short.bounded


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="at least one duration"):
        duration_rows({}, P)
    with pytest.raises(ValueError, match="no trial has a flow"):
        duration_rows({1.0: [np.array([])]}, P)


def test_the_figure_shows_every_duration() -> None:
    flows = {1e3: trials(1, 0.4), 1e4: trials(2, 1.0), 1e5: trials(3, 1.0, count=3, flows=5)}
    rows: list[DurationRow] = duration_rows(flows, P)
    (axes,) = draw_durations(rows, "slowdown, p90").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1,000", "10,000", "100,000"]
    points = {float(x) for line in axes.lines for x in np.atleast_1d(line.get_xdata())}
    assert points >= {1e3, 1e4, 1e5}
