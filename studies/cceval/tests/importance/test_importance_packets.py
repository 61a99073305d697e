"""Importance sampling on the packet engine, and stopping at an accuracy."""

import math

import numpy as np
import pytest

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, open_network
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.remy_plus.workload import OpenFlows
from lcca.studies.cceval.estimators.estimate import EstimateConfig
from lcca.studies.cceval.importance.attempt import Attempt, ImportanceConfig, attempt_tail
from lcca.studies.cceval.importance.cycles import Bench, Measure, woodruff
from lcca.studies.cceval.importance.flows import LognormalSizes, OpenLoop
from lcca.studies.cceval.importance.refusals import RefusalTest
from lcca.studies.cceval.importance.sampling import packet_bench
from lcca.studies.cceval.importance.tilts import NormalTilt
from studies.cceval.queues import first_come_first_served

LINK = open_network(0, 1.0, 5.0, OpenFlows(0.7, flow_sizes("lognormal:8:1", 1000)))


def engine_bench(metric="fct_us") -> Bench:
    return packet_bench(Engine(90.0, jobs=1), FixedWindow(1000), LINK, metric)


def queue() -> Bench:
    sizes = LognormalSizes(0.0, 1.0)
    return Bench(OpenLoop(0.5 / sizes.mean, 10 * sizes.mean / 0.5, sizes), first_come_first_served())


def wanted(percent: float, budget: int = 20_000) -> EstimateConfig:
    return EstimateConfig(metric="x", quantile=0.99, accuracy_percent=percent, ceiling=budget)


def attempt(percent: float | None, seed: int = 1, budget: int = 20_000) -> Attempt:
    config = ImportanceConfig(quantile=0.99, budget=budget)
    asked = wanted(percent, budget) if percent else None
    return attempt_tail(queue(), config, np.random.default_rng(seed), wanted=asked)


@pytest.mark.parametrize("metric", ["fct_us", "slowdown"])
def test_the_tail_on_the_engine_is_unbiased(metric: str) -> None:
    bench, rng = engine_bench(metric), np.random.default_rng(1)
    plain = bench.run(Measure(NormalTilt(), bench.loop.rate), 6000, rng)
    value = float(np.quantile(plain.value, 0.98))
    tilted = bench.run(Measure(NormalTilt(0.15, 1.05), 1.1 * bench.loop.rate), 4000, rng).beyond(value)
    usual = plain.beyond(value)
    error = math.hypot(tilted.std() / math.sqrt(4000), usual.std() / math.sqrt(6000))
    assert tilted.mean() == pytest.approx(usual.mean(), abs=4 * error)


def test_slowdown_is_over_the_flow_alone() -> None:
    bench = engine_bench("slowdown")
    cycles = bench.run(Measure(NormalTilt(), bench.loop.rate), 300, np.random.default_rng(1))
    assert cycles.value.min() == pytest.approx(1)
    fct = cycles.finish - cycles.flows.arrival
    assert cycles.value == pytest.approx(fct / (5 + cycles.flows.size))


def test_sizes_of_a_model_are_rounded_up_to_packets() -> None:
    bench = engine_bench().with_sizes(LognormalSizes(1.0, 1.0))
    cycles = bench.run(Measure(NormalTilt(), bench.loop.rate), 50, np.random.default_rng(1))
    assert (cycles.finish - cycles.flows.arrival >= 5 + np.ceil(cycles.flows.size) - 1e-6).all()


def test_the_engine_needs_open_flows() -> None:
    closed = Network(7, 1.0, 10.0, 1, 100, 100.0, 100.0, 0.0)
    with pytest.raises(InputError, match="network 7: importance sampling needs open flows"):
        packet_bench(Engine(90.0, jobs=1), FixedWindow(10), closed, "fct_us")


def test_threads_do_not_change_an_attempt() -> None:
    def run(jobs: int) -> Attempt:
        bench = packet_bench(Engine(90.0, jobs=jobs), FixedWindow(1000), LINK, "fct_us")
        return attempt_tail(bench, ImportanceConfig(quantile=0.99, budget=3000), np.random.default_rng(1))

    one, two = run(1), run(2)
    assert (one.interval, one.checks, one.runs, one.spent) == (two.interval, two.checks, two.runs, two.spent)


def test_an_attempt_stops_at_the_accuracy() -> None:
    rough, fine = attempt(6), attempt(4)
    for found, percent in ((rough, 6), (fine, 4)):
        assert found.interval is not None and found.looks[-1].accurate and not found.refused
        assert (found.interval.high - found.interval.low) / 2 <= found.interval.estimate * percent / 100
        assert found.looks[-1].n == found.runs and found.spent < 20_000
        assert found.looks[0].n == 800 and found.looks[0].forecast_low <= found.looks[0].forecast_high
    assert rough.runs < fine.runs
    assert attempt(4).interval == fine.interval != attempt(4, seed=2).interval


def test_enough_trials_for_the_tail_are_run_whatever_the_accuracy() -> None:
    found = attempt(50)
    tail = next(check for check in found.checks if check.test is RefusalTest.TAIL_ESS)
    assert found.interval is not None and tail.measured >= 200


def test_the_budget_bounds_an_attempt() -> None:
    found = attempt(0.5, budget=8000)
    assert found.interval is not None and not found.looks[-1].accurate
    assert 7000 < found.spent < 1.1 * 8000
    assert not attempt(None, budget=8000).looks


def test_joined_trials_are_those_of_both() -> None:
    bench, rng = queue(), np.random.default_rng(1)
    measure = Measure(NormalTilt(0.1), bench.loop.rate)
    one, two = bench.run(measure, 300, rng), bench.run(measure, 200, rng)
    both = one.joined(two)
    assert both.trials == 500 and both.runs == 500 and both.work == one.work + two.work
    value = float(np.quantile(both.value, 0.95))
    assert both.beyond(value).tolist() == [*one.beyond(value), *two.beyond(value)]
    assert woodruff(both, 0.95, 0.95).estimate == pytest.approx(value, rel=0.2)
    for whole, first, last in ((both.flows, 0, 300), (both.flows, 300, 500)):
        part, own = whole.part(first, last), (one if first == 0 else two).flows
        assert (part.begin == own.begin).all() and (part.arrival == own.arrival).all() and (part.size == own.size).all()
