"""Metrics of a trial's flows: by hand, and as the reference data states them for its own completion times."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.metrics import by_size, flow_metrics, round_metrics, times_of
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import topology_from_file
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.traces import read_flows


def flows(count: int, size: int = 1000) -> FabricFlows:
    return FabricFlows(np.zeros(count), np.ones(count), np.full(count, size), 1000.0 * np.arange(count))


def test_metrics_by_hand() -> None:
    times = times_of(flows(5), [2000, 4000, np.nan, 1000, 3000], [1000] * 5, end_ns=10_000)
    found = flow_metrics(times)  # slowdowns 2, 4, 8 and no end, 1, 3
    assert (found["flows"], found["flows_finished"]) == (5, 4)
    assert (found["slowdown_mean"], found["slowdown_p50"], found["fct_mean_us"]) == (3.6, 3.0, 3.6)
    assert found["slowdown_p95"] == pytest.approx(4 + 0.8 * 4) and found["fct_p999_us"] == pytest.approx(7.984)
    assert found["goodput_gbps"] == pytest.approx(4 * 8000 / 10_000)  # until the end: one is under way


def test_the_goodput_ends_with_the_last_completion() -> None:
    assert flow_metrics(times_of(flows(2), [500, 3000], [1, 1], 1e9))["goodput_gbps"] == pytest.approx(16_000 / 4000)
    assert np.isnan(flow_metrics(times_of(flows(0), [], [], 1.0))["goodput_gbps"])


def test_sizes_at_a_boundary_begin_the_class() -> None:
    listed = FabricFlows(np.zeros(4), np.ones(4), np.array([9_999, 10_000, 99_999, 10_000_000]), np.zeros(4))
    found = by_size(times_of(listed, [1.0, 2.0, 4.0, np.nan], np.ones(4), 1.0))
    assert found["flows"].tolist() == [1, 2, 0, 0, 1] and found["flows_finished"].tolist() == [1, 2, 0, 0, 0]
    assert found["size_to"].tolist() == [1e4, 1e5, 1e6, 1e7, np.inf]
    assert found["slowdown_mean"].tolist()[:2] == [1, 3] and np.isnan(found["slowdown_mean"][2])
    with pytest.raises(InputError, match="must rise"):
        by_size(times_of(listed, np.ones(4), np.ones(4), 1.0), [10, 10])


def test_rounds_by_hand() -> None:
    """Starts every µs: round 0 takes 1 to 6, round 1 has not finished 8 µs after its start; flow 0 is in none."""
    listed = flows(5)
    times = times_of(listed, [9e6, 1000, 4000, np.nan, 2000], [1000] * 5, end_ns=11_000)
    found = round_metrics(np.array([-1, 0, 0, 1, 1], dtype=np.int32), listed.start_ns, times)
    assert found == {"rounds_finished": 1, "round_mean_us": (5 + 8) / 2, "round_max_us": 8}
    assert round_metrics(np.full(5, -1, dtype=np.int32), listed.start_ns, times) == {}


def test_flows_that_did_not_start_are_left_out() -> None:
    times = times_of(flows(3), [500, 100, np.nan], [50] * 3, 5000, [0, 3000, np.nan])
    assert times.slowdown.tolist() == [10, 2] and times.so_far.tolist() == [5000, 2000]


def test_arrays_of_other_flows_are_refused() -> None:
    with pytest.raises(InputError, match="2 flows have 1 completion times and 2 ideal ones"):
        times_of(flows(2), [1.0], [1.0, 1.0], 1.0)


@pytest.mark.parametrize("run", ["ws50-leafspine-dctcp", "fbhdp50-fattree-hpcc", "ws50long-leafspine-timely"])
def test_the_reference_data_states_the_same(reference: Path, run: str) -> None:
    folder = reference / "data" / "fabric"
    scenario, _, variant = run.rpartition("-")
    fabric = topology_from_file(folder / f"topology-{'fattree4' if 'fattree' in run else 'leafspine'}.csv")
    trace, taken = read_flows(folder / f"flows-{scenario}.csv", fabric), pd.read_csv(folder / f"fct-{run}.csv")
    taken = taken.set_index("id").loc[trace.id]
    times = times_of(trace, taken["fct_ns"], taken["ideal_ns"], end_ns=1e9)
    found, stated = flow_metrics(times), _rows(folder / "summary.csv", scenario, variant).iloc[0]
    assert found["flows_finished"] == stated["finished"]
    for name in ("mean", "p50", "p95", "p99"):
        assert found[f"slowdown_{name}"] == pytest.approx(stated[f"{name}_slowdown"], abs=6e-5)
    assert found["fct_p99_us"] == pytest.approx(stated["p99_fct_us"], abs=1e-3)
    classes = by_size(times, [1e3, 1e4, 1e5, 1e6])
    stated = _rows(folder / "slowdown-by-size.csv", scenario, variant).fillna({"size_to": np.inf})
    both = classes.merge(stated, on=["size_from"], suffixes=("", "_stated"))
    assert len(both) == len(stated) and (both["flows"] == both["flows_stated"]).all()
    for name in ("mean", "p50", "p95", "p99"):
        np.testing.assert_allclose(both[f"slowdown_{name}"], both[name], atol=6e-5)


def _rows(file: Path, scenario: str, variant: str) -> pd.DataFrame:
    table = pd.read_csv(file)
    return table[(table["scenario"] == scenario) & (table["cc"] == variant)]
