"""A metric that is added to its table, and nowhere else, is seen wherever metrics are."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, NETWORK_TRIALS, PORTS, Metric, statistic

from ..fixtures import RunCommand

SHOWN = "evaluate campaign report study"
OF_A_TRIAL = Metric(
    "waited_us", "waiting", lambda t: statistic(t.times.at_least_us - t.times.ideal / 1000, None), "less", SHOWN, "µs"
)
OF_A_FLOW = Metric("waiting_us", "waiting", lambda f: (f.at_least - f.ideal) / f.per_us, "less", unit="µs")
OF_A_PORT = Metric("mark_share", "share of marked packets", lambda t: t.record["port_marked_packets"] / 1e6)
OF_NETWORKS = Metric("spare", "spare rate", lambda t: 1 - t.over_link, "less", SHOWN, "of the link")

STAR = """\
name: star
topology: {kind: star, hosts: 5}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.4, load_of: host-links}
duration_us: 60
"""
CAMPAIGN = """\
name: flows
networks: {fabric: star.yaml}
signal_sets: [e2e, loss+rtt]
trainer:
  {rounds: 0, budget_trials: 40, grow: {rules: [1], pairs: 2, look_ups: 2}, polish: {networks: 2, check_networks: 2}}
training_seeds: [1]
validation: {networks: 4}
test: {pairs: 24, at_least: 24, block: 24, per_training_seed: 8}
"""
SPACE = "{link_rate: 2, rtt: 20, senders: 2, buffer: 50, mean_on: 40, mean_off: 60, loss: 0, duration: 500}"


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Add four metrics to their tables; write what the commands below read."""
    tables = ((FABRIC_TRIALS, OF_A_TRIAL), (FLOWS, OF_A_FLOW), (PORTS, OF_A_PORT), (NETWORK_TRIALS, OF_NETWORKS))
    for table, metric in tables:
        monkeypatch.setitem(table, metric.name, metric)
    monkeypatch.chdir(tmp_path)
    Path("star.yaml").write_text(STAR)
    Path("flows.yaml").write_text(CAMPAIGN)
    Path("space.yaml").write_text(SPACE)


def test_evaluations_on_a_fabric_show_it(lcca: RunCommand) -> None:
    found = lcca("evaluate", "dctcp", "--on", "star.yaml", "--trials", 2, "--out", "kept", "--json").json()
    assert lcca("export", "kept", ".", "--form", "parquet").status == 0
    flows, ports = pd.read_parquet("flows.parquet"), pd.read_parquet("ports.parquet")
    assert flows["waiting_us"].tolist() == ((flows["fct_ns"] - flows["ideal_ns"]) / 1000).tolist()
    assert (ports["mark_share"] == ports["marked_packets"] / 1e6).all()
    means = [row["waited_us"] for row in found["rows"]]
    assert means == pytest.approx(flows.groupby("seed")["waiting_us"].mean().tolist())
    assert found["policies"][0]["waited_us"]["mean"] == pytest.approx(np.mean(means))
    assert "waiting, µs" in lcca("evaluate", "dctcp", "--on", "star.yaml", "--trials", 2).out


def test_evaluations_on_networks_show_it(lcca: RunCommand) -> None:
    command = ("evaluate", "aimd", "--on", "space.yaml", "--trials", 1, "--seeds", 2)
    row = lcca(*command, "--json").json()["policies"][0]
    assert row["spare"] == pytest.approx(1 - row["throughput_over_link"])
    assert row["spare_se"] == pytest.approx(row["throughput_over_link_se"])
    assert "spare rate, of the link" in lcca(*command).out


@pytest.mark.parametrize(
    ("place", "metric"),
    [
        ("policy: dctcp\nfabric: star.yaml", "metric: waited_us"),
        ("policy: dctcp\nfabric: star.yaml", "{metric: waiting_us, quantile: 0.9}"),
        (f"policy: aimd\nnetworks: {SPACE}", "metric: spare"),
    ],
)
def test_it_is_estimated(lcca: RunCommand, place: str, metric: str) -> None:
    asked = "accuracy_percent: 200, floor: 8, every: 2, ceiling: 8, block: 8"
    Path("config.yaml").write_text(f"name: x\n{place}\nestimate: {{{metric.strip('{}')}, {asked}}}\n")
    (found,) = lcca("estimate", "config.yaml", "--out", "run", "--json").json()["estimates"]
    assert found["low"] <= found["estimate"] <= found["high"] and found["trials"] == 8


@pytest.mark.slow
def test_reports_of_campaigns_show_it(lcca: RunCommand) -> None:
    out = lcca("sweep", "flows.yaml", "--out", "run", "--tables").out
    summary = lcca("sweep", "flows.yaml", "--out", "run", "--json").json()
    measured = summary["policies"][0]["trained"]["waited_us"]
    assert "Waiting, µs" in out and f"{measured:,.3f} ± " in out
    page = Path("run/report.html").read_text()
    assert page.count('<th scope="col">Waiting, µs</th>') == 2 and f"<td>{measured:,.3f} ± " in page
    assert lcca("export", "run", "tables", "--form", "latex").status == 0
    assert r"{Waiting, \textmu{}s}" in Path("tables/policies.tex").read_text()
