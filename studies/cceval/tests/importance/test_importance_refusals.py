"""Every test that refuses importance sampling has a case that triggers it, and names itself."""

import json
import math

import numpy as np
import pytest

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.studies.cceval.importance.attempt import ImportanceConfig
from lcca.studies.cceval.importance.cycles import Bench, Measure
from lcca.studies.cceval.importance.flows import LognormalSizes, OpenLoop, TableSizes
from lcca.studies.cceval.importance.refusals import (
    Check,
    RefusalTest,
    check_cycles,
    check_shape,
    pareto_shape,
    shape_bound,
    variance_ratio,
)
from lcca.studies.cceval.importance.size_models import fit_sizes
from lcca.studies.cceval.importance.tilts import NormalTilt
from studies.cceval.queues import first_come_first_served, processor_sharing
from studies.cceval.tail_estimate import CCEVAL, TailEstimate, estimate_tail

POOLED = "model-free: pooled quantile, cluster-Woodruff"
LOGNORMAL = LognormalSizes(0.0, 1.0)


def bench(flows: float = 10, sizes=LOGNORMAL, simulate=None, load: float = 0.5) -> Bench:
    rate = load / sizes.mean
    return Bench(OpenLoop(rate, flows / rate, sizes), simulate or first_come_first_served())


def estimate(seed: int = 1, on: Bench | None = None, model=None, **options) -> TailEstimate:
    config = ImportanceConfig.model_validate({"quantile": 0.99, "budget": 6000} | options)
    return estimate_tail(on or bench(), config, np.random.default_rng(seed), model)


def failed(found: TailEstimate) -> set[RefusalTest]:
    return {check.test for check in found.refused}


def judged(measure: Measure, on: Bench, trials: int = 2000, p: float = 0.99) -> dict[RefusalTest, Check]:
    cycles = on.run(measure, trials, np.random.default_rng(1))
    plain = on.run(Measure(NormalTilt(), on.loop.rate), 20_000, np.random.default_rng(2))
    return {check.test: check for check in check_cycles(cycles, float(np.quantile(plain.value, p)))}


@pytest.fixture(scope="module")
def delivered() -> TailEstimate:
    return estimate()


def test_delivered_where_all_tests_pass(delivered: TailEstimate) -> None:
    assert delivered.refused == () and {check.test for check in delivered.checks} == set(RefusalTest)
    assert delivered.method.startswith("model-based: importance sampling, tail boost")
    assert delivered.low < delivered.estimate < delivered.high and delivered.confidence == 0.95
    assert delivered.variance_ratio and delivered.variance_ratio > 2
    assert 800 < delivered.trials <= delivered.cost < 1.2 * 6000


def test_the_record_is_json(delivered: TailEstimate) -> None:
    for found in (delivered, estimate(bounded=False, tilt="normal", budget=1000)):
        told = json.loads(json.dumps(found.to_json(), allow_nan=False))
        assert set(told) >= {"estimate", "low", "high", "confidence", "trials", "method", "refused", "variance_ratio"}
        assert [each["test"] for each in told["refused"]] == [
            c.test.name.lower().replace("_", " ") for c in found.refused
        ]
    assert "may be at most" in told["refused"][0]["words"]


def test_equal_seeds_give_equal_estimates(delivered: TailEstimate) -> None:
    assert estimate() == delivered != estimate(2)


def test_size_model_is_refused_before_anything_is_tilted() -> None:
    table = flow_sizes("websearch", 1000)
    on = bench(sizes=TableSizes(table))
    found = estimate(on=on, model=fit_sizes(table, 0.99).sizes())
    assert failed(found) == {RefusalTest.SIZE_MODEL} and found.method == POOLED
    assert found.trials == found.cost == 6000 and found.variance_ratio is None


def test_a_model_that_fits_is_used() -> None:
    found = estimate(model=LognormalSizes(0.001, 1.0))
    assert not found.refused


def test_tilt_strength() -> None:
    found = estimate(on=bench(flows=40), tilt="normal", bounded=False)
    assert failed(found) == {RefusalTest.TILT} and found.method == POOLED
    assert found.refused[0].measured > 1 and "n(Δμ/σ)²" in str(found.refused[0])


@pytest.mark.parametrize("test", [RefusalTest.MEAN_WEIGHT, RefusalTest.CYCLE_ESS, RefusalTest.PARETO_SHAPE])
def test_weights_of_far_too_strong_a_tilt(test: RefusalTest) -> None:
    on = bench(flows=30)
    assert not judged(Measure(NormalTilt(1.0, 1.0), on.loop.rate), on)[test].passed
    assert judged(Measure(NormalTilt(0.1, 1.0), on.loop.rate), on)[test].passed


@pytest.mark.parametrize("test", [RefusalTest.TAIL_ESS, RefusalTest.LARGEST_SHARE])
def test_too_few_trials_in_the_tail(test: RefusalTest) -> None:
    on = bench()
    assert not judged(Measure(NormalTilt(0.2), on.loop.rate), on, trials=100)[test].passed
    assert judged(Measure(NormalTilt(0.2), on.loop.rate), on, trials=20_000)[test].passed
    found = estimate(budget=1100, quantile=0.9999)
    assert test in failed(found) and found.method == POOLED


def test_variance_ratio() -> None:
    found = estimate(on=bench(flows=100, simulate=processor_sharing()), quantile=0.9, budget=2000)
    assert RefusalTest.VARIANCE_RATIO in failed(found) and found.method == POOLED
    assert found.variance_ratio is not None and found.variance_ratio < 2


def test_a_budget_that_the_search_uses_up() -> None:
    found = estimate(budget=1001, cycles=250, pilot=250)
    assert RefusalTest.VARIANCE_RATIO in failed(found) and found.method == POOLED


def test_refusal_after_the_last_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = []

    def late(*args):
        stages.append(args)
        return variance_ratio(*args) if len(stages) == 1 else 1.0

    monkeypatch.setattr("lcca.studies.cceval.importance.attempt.variance_ratio", late)
    found = estimate()
    assert failed(found) == {RefusalTest.VARIANCE_RATIO} and found.method == POOLED and len(stages) == 2
    assert 9000 < found.cost < 12_500


def test_fallback_holds_the_truth() -> None:
    on = bench(simulate=processor_sharing())
    cycles = on.run(Measure(NormalTilt(), on.loop.rate), 60_000, np.random.default_rng(3))
    found = estimate(on=on, bounded=False, tilt="normal")
    assert found.refused and found.low < np.quantile(cycles.value, 0.99) < found.high


def test_ccevals_own_options_are_refused_in_long_trials() -> None:
    config = ImportanceConfig.model_validate({**CCEVAL, "quantile": 0.99, "budget": 4000})
    assert (config.tilt, config.epochs, config.cycles, config.switching, config.interval) == (
        "normal", 10, 200, True, "batch",
    )  # fmt: skip
    found = estimate_tail(bench(flows=50), config, np.random.default_rng(1))
    assert found.refused and found.method == POOLED


def test_batches_can_be_delivered() -> None:
    found = estimate(interval="batch", switching=True, cost="trials")
    assert not found.refused and found.method.endswith("batch")


def test_pareto_shape() -> None:
    rng = np.random.default_rng(1)
    for shape in (0.2, 0.5, 0.9):
        weights = (rng.random(20_000) ** -shape - 1) / shape
        assert pareto_shape(weights) == pytest.approx(shape, abs=0.15)
    assert pareto_shape(rng.random(2000)) < 0
    assert pareto_shape(np.ones(1000)) == -math.inf and pareto_shape(np.ones(10)) == math.inf
    assert shape_bound(100) == 0.5 and shape_bound(10**6) == 0.7 and shape_bound(5) == 0
    assert not check_shape(rng.pareto(1, 3000), np.zeros(3000)).passed


def test_a_check_without_a_number_fails() -> None:
    assert not Check(RefusalTest.TILT, math.nan, 1.0).passed
    assert not Check(RefusalTest.TAIL_ESS, math.nan, 1.0, at_least=True).passed


@pytest.mark.parametrize("wrong", [{"budget": 800}, {"quantile": 1.0}, {"tilt": "gamma"}, {"epochs": 0}])
def test_bad_options(wrong) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ImportanceConfig.model_validate({"quantile": 0.99} | wrong)
