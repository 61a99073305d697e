"""Trials by accuracy against Eq. 3 by hand, and how often the forecast and the first accurate look are right."""

import numpy as np
import pytest
from scipy import stats

from lcca.studies.cceval.estimators.accuracy import accuracy_rows, spread
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Estimating


def estimating(values: np.ndarray, **asked: object) -> Estimating:
    found = Estimating(EstimateConfig.model_validate({"metric": "x", "every": 1} | asked), goes_on=True)
    found.feed(values.tolist())
    found.look_again()
    return found


def test_rows_are_eq_3_of_the_first_twenty_and_of_all() -> None:
    values = np.random.default_rng(3).lognormal(1, 0.5, 400)
    rows = {row.percent: row for row in accuracy_rows(estimating(values, accuracy_percent=1))}
    for percent, row in rows.items():
        for some, forecast in ((values[:20], row.forecast), (values, row.forecast_last)):
            by_hand = (stats.norm.ppf(0.975) * some.std(ddof=1) / (percent / 100 * some.mean())) ** 2
            assert forecast == pytest.approx(by_hand, rel=1e-9)
        assert row.forecast_low <= max(row.forecast * stats.t.ppf(0.975, 19) ** 2 / 3.84, 20) <= row.forecast_high
    assert [rows[p].needed for p in (1.0, 0.5)] == [None, None]  # 1 % takes (1.96 · 0.53 / 0.01)² = 10,900
    needed = rows[10.0].needed
    halves = [stats.t.ppf(0.975, n - 1) * stats.sem(values[:n]) / values[:n].mean() for n in (needed, 20)]
    assert needed is not None and halves[0] <= 0.1 < halves[1]


def test_an_absolute_accuracy_has_no_rows_of_per_cents() -> None:
    assert accuracy_rows(estimating(np.arange(30.0), accuracy=1.0)) == []


def test_it_goes_on_beyond_the_accuracy_and_says_when_it_was_reached() -> None:
    values = np.random.default_rng(4).normal(10, 1, 100)
    found = estimating(values, accuracy_percent=8)
    first = found.first_accurate
    assert first is not None and first.n == 20 and found.state.trials == found.trials == 100
    assert found.state.estimate == pytest.approx(values.mean())


def test_the_chance_that_mean_and_sd_hold_the_mean_is_not_68_percent() -> None:
    """CCEval (§2.2.2) gives mean ± SD a chance of 68 %; that is one trial's. Ten trials have 98.9 %."""
    rng = np.random.default_rng(5)
    samples = rng.normal(0, 1, (20_000, 10))
    held = np.mean(np.abs(samples.mean(axis=1)) <= samples.std(axis=1, ddof=1))
    assert spread(estimating(samples[0], floor=2)).sd_holds == pytest.approx(held, abs=0.004)


def test_intervals_of_all_trials_cover_where_the_stop_is_anothers() -> None:
    """A row that goes on until a fixed end covers as told; stopped at its first accurate look, it covers less."""
    rng = np.random.default_rng(6)
    truth, ended, stopped = np.exp(0.5 * 0.7**2), 0, 0
    for _ in range(400):
        found = estimating(rng.lognormal(0, 0.7, 160), accuracy_percent=20, every=10)
        first, last = found.first_accurate or found.looks[-1], found.looks[-1]
        ended += last.low <= truth <= last.high
        stopped += first.low <= truth <= first.high
    assert ended / 400 == pytest.approx(0.94, abs=0.035)
    assert stopped <= ended
