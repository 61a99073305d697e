"""How right monitors are: by hand, and sketches, states and samples on the same flows."""

import numpy as np
import pytest

from lcca.evaluation.fabric.monitor import monitor_metrics
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.tuners.registry import tuning


def test_by_hand() -> None:
    record = {
        "told_ns": np.array([100.0, 200.0, 300.0, 400.0]),
        "told_elephant_share": np.array([0.5, 0.5, 1.0, 0.5]),
        "told_elephant_bytes": np.full(4, 1000.0),
        "flow_start_ns": np.array([10.0, 20.0, 150.0, np.nan]),
        "flow_fct_ns": np.array([250.0, 60.0, 20.0, np.nan]),
    }
    # under way: one of two is an elephant; again, since the second has ended but the third has begun; one; none
    assert monitor_metrics(record, np.array([5000, 10, 999, 5000])) == {"sizes_accuracy": 1.0}
    record["told_elephant_share"] = np.array([0.0, 0.25, 0.5, 0.0])
    assert monitor_metrics(record, np.array([1000, 10, 999, 5000]))["sizes_accuracy"] == pytest.approx(1.75 / 3)
    record["flow_fct_ns"][0] = np.nan  # goes on to the end
    assert monitor_metrics(record, np.array([1000, 10, 999, 1]))["sizes_accuracy"] == pytest.approx(1.75 / 4)
    assert monitor_metrics({"flow_start_ns": np.zeros(1)}, np.array([1])) == {}


def test_states_are_nearer_than_a_sketch_alone_and_that_than_samples() -> None:
    """As in PARALEON's Figure 10, here with elephants of 100 kB and 100 µs between looks."""
    rng = np.random.default_rng(3)
    count = 400
    src = rng.integers(0, 8, count)
    large = rng.random(count) < 0.15
    sizes = np.where(large, rng.integers(200_000, 2_000_000, count), rng.integers(500, 20_000, count))
    start = np.sort(rng.uniform(0, 2e6, count))
    flows = FabricFlows(src, (src + rng.integers(1, 8, count)) % 8, sizes, start)

    def accuracy(**parameters: float) -> float:
        engine = FabricEngine("dcqcn", tuner=tuning("paraleon", interval_us=100, elephant_bytes=1e5, **parameters))
        return monitor_metrics(engine.run(leaf_spine(2, 4, 2), flows), flows.size_bytes)["sizes_accuracy"]

    states, all_packets = accuracy(), accuracy(sampling=1)
    alone, samples, seldom = accuracy(ternary=0), accuracy(sampling=100), accuracy(sampling=100, sizes_every=1000)
    assert states > 0.8 and states > alone + 0.02 and alone > max(samples, seldom)
    assert all_packets == pytest.approx(states, abs=0.01)
    engine = FabricEngine("dcqcn", tuner=tuning("paraleon", sizes=0))
    assert monitor_metrics(engine.run(leaf_spine(2, 4, 2), flows), flows.size_bytes) == {}
