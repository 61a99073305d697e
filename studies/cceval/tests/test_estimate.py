"""Model-free estimates: where they stop, their coverage, and how their forecasts hold."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from lcca.evaluation.settling.sequence import HORIZON
from lcca.studies.cceval.estimators.estimate import EstimateConfig, Estimating, spread_degrees

EACH = EstimateConfig(metric="delay_us", accuracy_percent=5, every=1)


def values(seed: int, n: int = 4000, sigma: float = 0.3) -> list[float]:
    """Lognormal with mean 1."""
    return np.random.default_rng(seed).lognormal(-(sigma**2) / 2, sigma, n).tolist()


def test_it_stops_at_the_first_trial_that_is_accurate_enough() -> None:
    x = np.array(values(1))
    found = Estimating(EACH).feed(x)

    def accurate(n: int) -> bool:  # Eq. 2, with Student's t
        return bool(stats.t.ppf(0.975, n - 1) * x[:n].std(ddof=1) <= 0.05 * abs(x[:n].mean()) * math.sqrt(n))

    assert found.trials == next(n for n in range(20, 4000) if accurate(n))
    low, high = stats.t.interval(0.95, found.trials - 1, x[: found.trials].mean(), stats.sem(x[: found.trials]))
    assert (found.estimate, found.low, found.high) == pytest.approx((x[: found.trials].mean(), low, high))


def test_the_floor() -> None:
    assert Estimating(EACH).feed([1.0, 1.0001] * 50).trials == 20
    before = Estimating(EACH)
    state = before.feed([1.0] * 19)
    assert math.isnan(state.estimate) and state.trials == 0 and not before.finished
    assert state.to_json()["estimate"] is None and state.to_json()["low"] is None


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 300), every=st.integers(1, 30))
def test_neither_batches_nor_looking_matter(seed: int, size: int, every: int) -> None:
    config, x = EACH.model_copy(update={"every": every}), values(seed, 1000)
    whole, parts = Estimating(config), Estimating(config)
    whole.feed(x)
    for at in range(0, len(x), size):
        parts.feed(x[at : at + size])
        _ = (parts.state, parts.finished)
    assert whole.looks == parts.looks and whole.state == parts.state
    assert Estimating(config).feed(x[: whole.state.trials]) == whole.state
    assert whole.feed([100.0] * 100) == parts.state  # frozen


def test_the_record_and_its_forecast() -> None:
    run = Estimating(EACH)
    state = run.feed(values(3))
    assert list(state.to_json()) == [
        "estimate", "low", "high", "confidence", "trials", "forecast_low", "forecast_high", "method",
    ]  # fmt: skip
    json.dumps(state.to_json(), allow_nan=False)
    assert run.accurate and state.method.startswith("model-free")
    first, middle = run.looks[0], run.looks[len(run.looks) // 2]
    assert (state.forecast_low, state.forecast_high) == (first.forecast_low, first.forecast_high)
    assert middle.forecast_high - middle.forecast_low < first.forecast_high - first.forecast_low  # refreshed
    assert middle.required == pytest.approx(0.05 * middle.estimate)
    assert run.looks[-1].half_width <= run.looks[-1].required < run.looks[-2].half_width


@pytest.mark.parametrize("accuracy", [{"accuracy": 1e-300}, {"accuracy_percent": 1e-300}, {"accuracy": 5e-324}])
def test_no_number_of_trials_is_forecast_of_an_accuracy_beyond_all(accuracy: dict[str, float]) -> None:
    state = Estimating(EACH.model_copy(update={"ceiling": 40} | accuracy)).feed(values(3))
    assert (state.trials, state.forecast_low, state.forecast_high) == (40, HORIZON, HORIZON)


@pytest.mark.parametrize(("sigma", "least"), [(0.3, 0.85), (0.7, 0.75)])
def test_forecasts_hold(sigma: float, least: float) -> None:
    runs, inside, off = 120, 0, []
    for seed in range(runs):
        run = Estimating(EACH.model_copy(update={"every": 20}))
        state = run.feed(values(seed, 4000, sigma))
        assert run.accurate
        inside += state.forecast_low <= state.trials <= state.forecast_high + 20
        ends = state.forecast_low, state.forecast_high
        off.append(abs(math.sqrt(ends[0] * ends[1]) / state.trials - 1))
    assert inside / runs >= least
    assert np.median(off) > 0.1  # no forecast from 20 trials is good to 1 to 10 %


def coverage(sigma: float, runs: int = 300, **changes: object) -> float:
    config = EACH.model_copy(update={"every": 10, **changes})
    found = [Estimating(config).feed(values(seed, 6000, sigma)) for seed in range(runs)]
    return float(np.mean([f.low <= 1.0 <= f.high for f in found]))


@pytest.mark.slow
def test_coverage_of_moderate_tails() -> None:
    assert coverage(0.3) >= stats.binom.ppf(0.001, 300, 0.945) / 300
    assert coverage(0.7, accuracy_percent=10) >= stats.binom.ppf(0.001, 300, 0.93) / 300


@pytest.mark.slow
def test_heavy_tails_are_missed_on_the_low_side() -> None:
    rng, runs = np.random.default_rng(1), 120
    below = covered = 0
    for _ in range(runs):
        config = EACH.model_copy(update={"accuracy_percent": 20, "every": 10})
        found = Estimating(config).feed(rng.pareto(1.7, 6000) * 0.7)
        covered += found.low <= 1.0 <= found.high
        below += found.high < 1.0
    assert 0.6 < covered / runs < 0.93
    assert below > 0.9 * (runs - covered)


def test_an_accuracy_in_the_metrics_unit() -> None:
    config = EstimateConfig(metric="score_bits", accuracy=0.05)
    x = np.random.default_rng(2).normal(0.0, 0.5, 4000)  # a score may well be 0
    found = Estimating(config).feed(x)
    assert found.trials == pytest.approx((1.96 * 0.5 / 0.05) ** 2, rel=0.15)
    assert (found.high - found.low) / 2 <= 0.05


def test_a_ceiling_ends_without_pretending() -> None:
    run = Estimating(EACH.model_copy(update={"ceiling": 25, "accuracy_percent": 0.01, "every": 10}))
    state = run.feed(values(4))
    assert (state.trials, run.finished, run.accurate) == (25, True, False)
    assert state.forecast_low > 25


def test_a_mean_of_zero_is_never_known_relatively() -> None:
    run = Estimating(EACH)
    state = run.feed([-1.0, 1.0] * 100)
    assert not run.finished and state.forecast_high == HORIZON


def flows(seed: int, trials: int = 300) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.lognormal(rng.normal(0, 0.2), 0.5, rng.poisson(150)) for _ in range(trials)]


def test_a_pooled_quantile() -> None:
    config = EstimateConfig(metric="fct_us", quantile=0.95, accuracy_percent=5)
    run = Estimating(config)
    x = flows(1)
    state = run.feed(x)
    assert run.accurate and state.method.endswith("cluster-Woodruff")
    assert state.estimate == pytest.approx(np.quantile(np.concatenate(x[: state.trials]), 0.95))
    assert (state.high - state.low) / 2 <= 0.05 * state.estimate
    assert state.forecast_low <= state.trials <= state.forecast_high
    assert run.warning == ""
    parts = Estimating(config)
    for trial in x:
        parts.feed([trial])
    assert parts.looks == run.looks


def test_a_mean_of_quantiles_is_the_mean_of_a_column() -> None:
    x = flows(2)
    config = EstimateConfig(metric="fct_us", quantile=0.95, target="mean-of-trials", accuracy_percent=3)
    of_flows = Estimating(config).feed(x)
    column = Estimating(EstimateConfig(metric="p95", accuracy_percent=3)).feed(float(np.quantile(t, 0.95)) for t in x)
    assert (of_flows.estimate, of_flows.trials) == (pytest.approx(column.estimate), column.trials)
    assert (of_flows.low, of_flows.forecast_high) == (pytest.approx(column.low), column.forecast_high)


def test_few_tail_flows_are_told() -> None:
    run = Estimating(EstimateConfig(metric="fct_us", quantile=0.999, accuracy_percent=50, ceiling=40))
    run.feed(flows(3))
    assert re.match(r"only \d flows? lies? beyond the quantile", run.warning)


def test_heavier_tails_tell_less_about_their_spread() -> None:
    rng = np.random.default_rng(3)
    assert spread_degrees(rng.normal(0, 1, 100_000)) == pytest.approx(1e5, rel=0.05)
    assert spread_degrees(rng.standard_t(5, 100_000)) < 0.6e5
    assert spread_degrees(np.ones(20)) == 19


def test_input_is_checked() -> None:
    with pytest.raises(ValueError, match="trial 2 has a value that is not finite"):
        Estimating(EACH).feed([1.0, math.inf])
    with pytest.raises(ValueError, match="trial 1 must be one number"):
        Estimating(EACH).feed([[1.0, 2.0]])
    with pytest.raises(ValidationError, match="arbitrary zero"):
        EstimateConfig(metric="score_bits")
    with pytest.raises(ValidationError, match="ceiling must be at least floor"):
        EstimateConfig(metric="x", ceiling=5)
    for wrong in ({"quantile": 1.0}, {"accuracy_percent": 0}, {"confidence": 95}, {"target": "max"}):
        with pytest.raises(ValidationError):
            EstimateConfig.model_validate({"metric": "x", **wrong})
