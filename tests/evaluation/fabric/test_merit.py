"""The figure of merit: against quantiles by hand, and its intervals against a law that is known."""

import numpy as np
import pytest

from lcca.evaluation.fabric.merit import (
    DECADES,
    bits_by_unit,
    by_decade,
    draws,
    merits,
    merits_of,
    packed,
    pooled_quantiles,
    starved,
    unpacked,
)
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.report.words.merit import merit_table
from lcca.remy_plus.fabric.flows import FabricFlows

Slowdowns = dict[int, np.ndarray]
"""Of a trial, by the size of flows."""


def trial(policy: str, seed: int, slowdowns: Slowdowns, ports: bool = True) -> FabricTrial:
    size = np.concatenate([np.full(len(each), size) for size, each in slowdowns.items()])
    ideal, zero = size.astype(np.float64), np.zeros(len(size), dtype=np.int64)
    record = {
        "flow_start_ns": np.zeros(len(size)),
        "flow_fct_ns": ideal * np.concatenate(list(slowdowns.values())),
        "flow_ideal_ns": ideal,
        "end_ns": 1e12,
    }
    record |= {"port_node": zero} if ports else {}
    return FabricTrial(policy, seed, 2, FabricFlows(zero, zero + 1, size, np.zeros(len(size))), record)


def drawn(seed: int, sizes: tuple[int, ...] = (1000, 50_000, 2_000_000), factor: float = 1.0) -> Slowdowns:
    rng = np.random.default_rng(seed)
    busy = rng.gamma(4, 0.25)  # the flows of a trial resemble each other
    return {size: 1 + factor * busy * rng.exponential(0.5, size=rng.poisson(60) + 1) for size in sizes}


def test_eight_numbers_are_quantiles_of_all_flows_together() -> None:
    sizes = (1000, 50_000, 500_000, 2_000_000)
    trials = [drawn(seed, sizes) for seed in range(5)]
    found = merits(trial("a", seed, each) for seed, each in enumerate(trials))["a"]
    pooled = [np.concatenate([each[size] for each in trials]) for size in sizes]
    expected = [[-np.log2(np.quantile(each, p)) for p in (0.5, 0.99)] for each in pooled]
    numbers = [[row["p50_bits"]["value"], row["p99_bits"]["value"]] for row in found["decades"]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)
    assert [row["flows"] for row in found["decades"]] == list(map(len, pooled))
    assert found["merit_bits"]["value"] == pytest.approx(np.mean(expected), rel=1e-12)
    assert all(row[name]["low"] < row[name]["value"] for row in found["decades"] for name in ("p50_bits",))
    assert found["difference_bits"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_a_draw_of_trials_has_the_quantiles_of_their_flows() -> None:
    rng = np.random.default_rng(1)
    trials, weights = [rng.exponential(size=n) for n in (3, 0, 400, 700)], draws(4)
    for row, counts in zip(pooled_quantiles(trials, weights)[:30], weights, strict=False):
        flows = np.concatenate([np.tile(each, count) for each, count in zip(trials, counts, strict=True)])
        np.testing.assert_allclose(row, np.quantile(flows, (0.5, 0.99)) if len(flows) else np.nan, rtol=1e-12)
    assert (weights.sum(axis=1) == 4).all() and (weights[0] == 1).all()


def test_sizes_without_flows_are_left_out_and_said() -> None:
    found = merits(trial("a", seed, drawn(seed, (1000, 50_000))) for seed in range(3))["a"]
    assert [(row["size_from"], row["size_to"]) for row in found["decades"]] == list(DECADES[:2])
    assert found["long_flows_percent"] is None and starved(found) == ""
    assert merit_table([{"id": "a", "merit": found}]).caption.endswith("flows: 100 kB to 1 MB, from 1 MB")
    nothing = merits([trial("a", 1, {1000: np.empty(0)})])["a"]
    assert nothing["decades"] == [] and np.isnan(nothing["merit_bits"]["value"])


def test_differences_are_from_the_first_that_is_no_ideal_and_over_common_trials() -> None:
    factors = {"srpt": 0.2, "dctcp": 1.0, "hpcc": 1.02}
    found = merits(trial(name, s, drawn(s, factor=f), name != "srpt") for name, f in factors.items() for s in range(20))
    assert {each["against"] for each in found.values()} == {"dctcp"}
    own, apart = found["hpcc"]["merit_bits"], found["hpcc"]["difference_bits"]
    assert apart["high"] < 0 and apart["high"] - apart["low"] < 0.1 * (own["high"] - own["low"])
    for each in found.values():
        both = each["merit_bits"]["value"] - found["dctcp"]["merit_bits"]["value"]
        assert each["difference_bits"]["value"] == pytest.approx(both)
    assert found["srpt"]["difference_bits"]["low"] > 0


def test_long_flows_that_pay_are_named() -> None:
    short, long = np.full(50, 2.0), np.linspace(1.5, 2.5, 51)
    contenders = {"a": (short, long), "b": (short / 2, long * 1.08), "c": (short / 2, long * 1.04)}
    found = merits(trial(n, s, {1000: x, 10**6: y}) for n, (x, y) in contenders.items() for s in (1, 2))
    assert {name: starved(each) for name, each in found.items()} == {
        "a": "",
        "b": "long flows pay: median slowdown from 1 MB +8 %",
        "c": "",
    }
    assert found["b"]["difference_bits"]["value"] > 0


def test_times_of_short_and_long_flows_are_quantiles_of_all_flows_of_all_units() -> None:
    """Two contenders, one slower by a tenth but for the long flows, in units of several trials."""
    factors = {"none": (1.0, 1.0), "header": (1.1, 0.95)}
    draws = [drawn(seed, (1000, 50_000, 500_000, 2_000_000)) for seed in range(12)]
    scaled = {
        name: [{size: each * (long if size > 10**6 else short) for size, each in one.items()} for one in draws]
        for name, (short, long) in factors.items()
    }
    kept = {
        name: {
            unit: unpacked([packed(trial(name, k, own[k])) for k in range(3 * unit, 3 * unit + 3)]) for unit in range(4)
        }
        for name, own in scaled.items()
    }
    found = merits_of(kept, "none")
    for name, own in scaled.items():
        short = np.concatenate([each[size] for each in own for size in (1000, 50_000)])
        times = np.concatenate(
            [each[size] * size / 1000 for each in own for size in (1000, 50_000)]
        )  # ideal: 1 ns a byte
        long = np.concatenate([each[2_000_000] for each in own])
        said = found[name]
        assert said["short_p99"]["slowdown"]["value"] == pytest.approx(np.quantile(short, 0.99), rel=5e-4)
        assert said["short_p99"]["us"]["value"] == pytest.approx(np.quantile(times, 0.99), rel=5e-4)
        assert said["long_p50"]["slowdown"]["value"] == pytest.approx(np.quantile(long, 0.5), rel=5e-4)
        assert said["long_p50"]["us"]["value"] == pytest.approx(2000 * np.quantile(long, 0.5), rel=5e-4)
    more = found["header"]["short_p99"]["us_more"]
    assert more["value"] == pytest.approx(0.1 * found["none"]["short_p99"]["us"]["value"], rel=5e-3)
    assert 0 < more["low"] < more["value"] < more["high"]
    faster = found["header"]["long_p50"]["throughput_percent"]
    assert faster["value"] == pytest.approx(100 * (1 / 0.95 - 1), rel=0.02) and 4 < faster["low"] < faster["high"] < 7
    bits = bits_by_unit(kept)
    for name, own in scaled.items():
        for unit in range(4):
            flows = {size: np.concatenate([each[size] for each in own[3 * unit : 3 * unit + 3]]) for size in own[0]}
            numbers = [-np.log2(np.quantile(each, p)) for each in flows.values() for p in (0.5, 0.99)]
            assert bits["merit"][name][unit] == pytest.approx(np.mean(numbers), abs=1e-3)
            short = np.quantile(np.concatenate([flows[1000], flows[50_000]]), 0.99)
            assert bits["short_p99"][name][unit] == pytest.approx(-np.log2(short), abs=1e-3)


def test_trials_that_kept_no_times_have_slowdowns_alone() -> None:
    one = trial("a", 1, drawn(1))
    slowdowns, times = by_decade(one)[:4], by_decade(one)[4:]
    whole = packed(one)
    without = whole[: 16 + 2 * sum(map(len, slowdowns))]  # as runs kept them before
    for own, back in zip((*slowdowns, *times), unpacked([whole]), strict=True):
        np.testing.assert_allclose(back, np.sort(own), rtol=5e-4)
    for parts in ([without], [whole, without], [without, whole]):
        found = unpacked(parts)
        assert [len(each) for each in found[:4]] == [len(parts) * len(each) for each in slowdowns]
        assert not any(map(len, found[4:]))
    again = merits_of({"a": {seed: unpacked([without]) for seed in (1, 2)}}, "a")["a"]
    assert np.isnan(again["short_p99"]["us"]["value"]) and again["short_p99"]["slowdown"]["value"] > 1


def test_one_trial_or_equal_ones_have_no_interval() -> None:
    for seeds in ((1,), (1, 2, 3)):
        found = merits(trial("a", seed, drawn(1)) for seed in seeds)["a"]
        assert np.isnan([found["merit_bits"][end] for end in ("low", "high")]).all()


@pytest.mark.full
def test_intervals_hold_the_figure_of_the_law_as_often_as_they_say() -> None:
    """95 %; with 20 trials of some 60 flows of a size, whose p99 is of 12 flows, 91 % in 200 repetitions."""
    law = merits(trial("a", seed, drawn(seed)) for seed in range(4000))
    truth, count, held = law["a"]["merit_bits"]["value"], 200, 0
    for k in range(count):
        found = merits(trial("a", seed, drawn(10_000 + 20 * k + seed)) for seed in range(20))["a"]["merit_bits"]
        held += found["low"] <= truth <= found["high"]
    assert 0.87 <= held / count <= 0.98
