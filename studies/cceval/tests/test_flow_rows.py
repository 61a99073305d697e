"""A row per flow of open networks."""

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import open_network
from lcca.remy_plus.policies.policy import Aimd, FixedWindow
from lcca.remy_plus.workload import OpenFlows
from lcca.studies.cceval.flow_rows import run_flows


def test_flow_rows_are_paired_across_policies() -> None:
    network = open_network(0, 3.0, 25.0, OpenFlows(0.4, flow_sizes("ali-storage", 1000)))
    rows = run_flows(Engine(20_000.0, jobs=1), {"a": Aimd(), "w": FixedWindow(80)}, [network], [1, 2])
    a, w = (rows[rows["policy"] == p].reset_index(drop=True) for p in "aw")
    for column in ("seed", "flow", "start_us", "size_packets", "ideal_fct_us"):
        assert (a[column] == w[column]).all()
    assert rows["completed"].all() and (rows["slowdown"] >= 1 - 1e-9).all()
    assert a["slowdown"].mean() > w["slowdown"].mean()  # slow start against a window above the BDP
