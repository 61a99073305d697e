"""Metrics of a trial on a fabric: by hand, as the reference data states them, and what monitors know of flows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from lcca.evaluation.fabric.summary import SIZE_CLASSES
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, of_fabric_trial, statistic
from lcca.remy_plus.fabric.builders import leaf_spine, topology_from_file
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.traces import read_flows
from lcca.remy_plus.tuners.registry import tuning


def flows(count: int, size: int = 1000, rounds: ArrayLike = -1) -> FabricFlows:
    ends, start = (np.zeros(count), np.ones(count)), 1000.0 * np.arange(count)
    return FabricFlows(*ends, np.full(count, size), start, round=np.full(count, rounds, dtype=np.int32))


def trial_of(
    listed: FabricFlows, fct_ns: ArrayLike, ideal_ns: ArrayLike, end_ns: float, start_ns: ArrayLike | None = None
) -> FabricTrial:
    """Return a trial whose record tells of flows only."""
    record = {
        "flow_start_ns": listed.start_ns if start_ns is None else np.asarray(start_ns, dtype=np.float64),
        "flow_fct_ns": np.asarray(fct_ns, dtype=np.float64),
        "flow_ideal_ns": np.broadcast_to(np.asarray(ideal_ns, dtype=np.float64), len(listed)),
        "end_ns": end_ns,
    }
    return FabricTrial("x", 1, 2, listed, record)


def test_metrics_by_hand() -> None:
    found = of_fabric_trial(trial_of(flows(5), [2000, 4000, np.nan, 1000, 3000], 1000, end_ns=10_000))
    assert (found["flows"], found["flows_finished"]) == (5, 4)  # slowdowns 2, 4, 8 and no end, 1, 3
    assert (found["slowdown_mean"], found["slowdown_p50"], found["fct_mean_us"]) == (3.6, 3.0, 3.6)
    assert found["slowdown_p95"] == pytest.approx(4 + 0.8 * 4) and found["fct_p999_us"] == pytest.approx(7.984)
    assert found["goodput_gbps"] == pytest.approx(4 * 8000 / 10_000)  # until the end: one is under way
    known = [each.name for each in FABRIC_TRIALS.values() if each.needs == "flows"]
    assert list(found) == known  # no rounds, no ports, no monitor


def test_the_goodput_ends_with_the_last_completion() -> None:
    assert trial_of(flows(2), [500, 3000], 1, 1e9).times.goodput_gbps == pytest.approx(16_000 / 4000)
    assert np.isnan(trial_of(flows(0), [], 1, 1.0).times.goodput_gbps)


def test_rounds_by_hand() -> None:
    """Starts every µs: round 0 takes 1 to 6, round 1 has not finished 8 µs after its start; flow 0 is in none."""
    listed = flows(5, rounds=[-1, 0, 0, 1, 1])
    found = of_fabric_trial(trial_of(listed, [9e6, 1000, 4000, np.nan, 2000], 1000, end_ns=11_000))
    rounds = {name: value for name, value in found.items() if "round" in name}
    assert rounds == {"rounds_finished": 1, "round_mean_us": (5 + 8) / 2, "round_max_us": 8}


def test_flows_that_did_not_start_are_left_out() -> None:
    times = trial_of(flows(3), [500, 100, np.nan], 50, 5000, [0, 3000, np.nan]).times
    assert times.slowdown.tolist() == [10, 2] and times.so_far.tolist() == [5000, 2000]


@pytest.mark.parametrize("run", ["ws50-leafspine-dctcp", "fbhdp50-fattree-hpcc", "ws50long-leafspine-timely"])
def test_the_reference_data_states_the_same(reference: Path, without_ports: Callable[[Path], Path], run: str) -> None:
    folder = reference / "data" / "fabric"
    scenario, _, variant = run.rpartition("-")
    fabric = topology_from_file(folder / f"topology-{'fattree4' if 'fattree' in run else 'leafspine'}.csv")
    trace = read_flows(without_ports(folder / f"flows-{scenario}.csv"), fabric)
    taken = pd.read_csv(folder / f"fct-{run}.csv")
    taken = taken.set_index("id").loc[trace.id]
    trial = trial_of(trace, taken["fct_ns"], taken["ideal_ns"], end_ns=1e9)
    found, stated = of_fabric_trial(trial), _rows(folder / "summary.csv", scenario, variant).iloc[0]
    assert found["flows_finished"] == stated["finished"]
    for name in ("mean", "p50", "p95", "p99"):
        assert found[f"slowdown_{name}"] == pytest.approx(stated[f"{name}_slowdown"], abs=6e-5)
    assert found["fct_p99_us"] == pytest.approx(stated["p99_fct_us"], abs=1e-3)
    classes = _rows(folder / "slowdown-by-size.csv", scenario, variant).fillna({"size_to": np.inf})
    for _, row in classes.iterrows():
        part = trial.times.of_sizes(row["size_from"], row["size_to"])
        assert len(part.size_bytes) == row["flows"]
        for name, quantile in {"mean": None, "p50": 0.5, "p95": 0.95, "p99": 0.99}.items():
            assert statistic(part.slowdown, quantile) == pytest.approx(row[name], abs=6e-5)


def test_classes_of_sizes_rise() -> None:
    assert list(SIZE_CLASSES) == sorted(set(SIZE_CLASSES))


def _rows(file: Path, scenario: str, variant: str) -> pd.DataFrame:
    table = pd.read_csv(file)
    return table[(table["scenario"] == scenario) & (table["cc"] == variant)]


# --- how right monitors are


def accuracy_of(record: dict[str, Any], size_bytes: ArrayLike) -> float | None:
    sizes = np.asarray(size_bytes)
    listed = FabricFlows(np.zeros(len(sizes)), np.ones(len(sizes)), sizes, np.zeros(len(sizes)))
    whole = {"flow_ideal_ns": np.ones(len(sizes)), "flow_fct_ns": np.ones(len(sizes)), "end_ns": 1e6} | record
    return of_fabric_trial(FabricTrial("x", 1, 2, listed, whole)).get("sizes_accuracy")


def test_monitors_by_hand() -> None:
    record = {
        "told_ns": np.array([100.0, 200.0, 300.0, 400.0]),
        "told_elephant_share": np.array([0.5, 0.5, 1.0, 0.5]),
        "told_elephant_bytes": np.full(4, 1000.0),
        "flow_start_ns": np.array([10.0, 20.0, 150.0, np.nan]),
        "flow_fct_ns": np.array([250.0, 60.0, 20.0, np.nan]),
    }
    # under way: one of two is an elephant; again, since the second has ended but the third has begun; one; none
    assert accuracy_of(record, [5000, 10, 999, 5000]) == 1.0
    record["told_elephant_share"] = np.array([0.0, 0.25, 0.5, 0.0])
    assert accuracy_of(record, [1000, 10, 999, 5000]) == pytest.approx(1.75 / 3)
    record["flow_fct_ns"][0] = np.nan  # goes on to the end
    assert accuracy_of(record, [1000, 10, 999, 1]) == pytest.approx(1.75 / 4)
    assert accuracy_of({"flow_start_ns": np.zeros(1)}, [1]) is None


def test_states_are_nearer_than_a_sketch_alone_and_that_than_samples() -> None:
    """As in PARALEON's Figure 10, here with elephants of 100 kB and 100 µs between looks."""
    rng = np.random.default_rng(3)
    count = 400
    src = rng.integers(0, 8, count)
    large = rng.random(count) < 0.15
    sizes = np.where(large, rng.integers(200_000, 2_000_000, count), rng.integers(500, 20_000, count))
    start = np.sort(rng.uniform(0, 2e6, count))
    listed = FabricFlows(src, (src + rng.integers(1, 8, count)) % 8, sizes, start)

    def accuracy(**parameters: float) -> Any:
        engine = FabricEngine("dcqcn", tuner=tuning("paraleon", interval_us=100, elephant_bytes=1e5, **parameters))
        trial = FabricTrial("x", 1, 8, listed, engine.run(leaf_spine(2, 4, 2), listed))
        return of_fabric_trial(trial).get("sizes_accuracy")

    states, all_packets = accuracy(), accuracy(sampling=1)
    alone, samples, seldom = accuracy(ternary=0), accuracy(sampling=100), accuracy(sampling=100, sizes_every=1000)
    assert states > 0.8 and states > alone + 0.02 and alone > max(samples, seldom)
    assert all_packets == pytest.approx(states, abs=0.01)
    assert accuracy(sizes=0) is None
