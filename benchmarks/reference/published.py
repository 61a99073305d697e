"""Policies on the flows of published runs of transports, beside these runs and the engine's own of these transports.

    python benchmarks/reference/published.py POLICY... [--data FOLDER] [--scenarios ws50-leafspine ...] [--csv]

FOLDER has the flows of runs of HPCC's simulator in flows-S.csv, with the ways of data and ACKs, what became of them in
fct-S-TRANSPORT.csv, and the links in topology-T.csv; the scenarios here have that simulator's conventions. Ports of
connections are left out: with the ways at hand nothing is hashed. A row says who ran where: the score (mean −log2
slowdown, bits), mean and p99 of the slowdown, and its mean by size of flows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lcca.evaluation.fabric.merit import DECADES, by_decade
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.settling.quantiles import quantile
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.remy_plus.fabric.engine import engine_of
from lcca.signal_sets.load import resolve

DATA = Path(__file__).parents[3] / "shared" / "data" / "fabric"
SCENARIOS = ("ws30-leafspine", "ws50-leafspine", "ws50inc-leafspine", "ws50long-leafspine", "fbhdp50-fattree")
LINKS = {"star": ("star17", 17), "leafspine": ("leafspine", 16), "fattree": ("fattree4", 16)}
TRANSPORTS = {"window": "win", "dctcp": "dctcp", "dcqcn": "dcqcn", "timely": "timely", "hpcc": "hpcc"}
TRANSPORTS["powertcp"] = "powertcp"
"""Of the engine, and what files call them."""
HERE, PUBLISHED = "engine", "published"
_COPIES = tempfile.TemporaryDirectory()


def trace(file: Path) -> Path:
    """Return a copy of flows without the ports of their connections."""
    copy = Path(_COPIES.name) / file.name
    pd.read_csv(file, dtype=str, keep_default_na=False).drop(columns=["sport", "dport"]).to_csv(copy, index=False)
    return copy


def scenario(data: Path, name: str) -> FabricScenario:
    """Return the fabric with the flows of published runs."""
    links, hosts = LINKS[name.rpartition("-")[2]]
    return FabricScenario.model_validate(
        {
            "name": name,
            "preset": "hpcc-ns3",
            "topology": {"kind": "file", "links": str(data / f"topology-{links}.csv"), "hosts": hosts},
            "workload": {"kind": "trace", "flows": str(trace(data / f"flows-{name}.csv"))},
        }
    )


def published(data: Path, where: FabricScenario) -> Iterator[FabricTrial]:
    """Yield the published runs of the scenario."""
    flows, hosts = where.flows(1), where.fabric.hosts
    for transport, of_file in TRANSPORTS.items():
        file = data / f"fct-{where.name}-{of_file}.csv"
        if not file.exists():
            continue
        rows = pd.read_csv(file).set_index("id").loc[flows.id]
        times = {"flow_fct_ns": rows["fct_ns"].to_numpy(float), "flow_ideal_ns": rows["ideal_ns"].to_numpy(float)}
        ends = {"flow_start_ns": flows.start_ns, "end_ns": float((flows.start_ns + times["flow_fct_ns"]).max())}
        yield FabricTrial(transport, 1, hosts, flows, times | ends)


def run(data: Path, name: str, policies: list[str]) -> dict[str, list[FabricTrial]]:
    """Return the trials of a scenario by where they were run."""
    where = scenario(data, name)
    others = list(published(data, where))
    names = [*policies, *(each.policy for each in others)]
    engines = {each: engine_of(resolve(each, "fabric").policy, where.settings()) for each in names}
    return {HERE: run_fabric_trials(where, engines, [1]), PUBLISHED: others}


def row(trial: FabricTrial) -> dict[str, float | str]:
    """Return what the table says of a run."""
    slowdown = trial.times.slowdown
    found: dict[str, float | str] = {
        "policy": trial.policy,
        "bits": trial.score(fabric_utility("slowdown")),
        "mean": float(slowdown.mean()),
        "p99": quantile(slowdown, 0.99),
    }
    for (low, _), each in zip(DECADES, by_decade(trial), strict=False):  # completion times come after
        found[f"from {low / 1000:g} kB"] = float(each.mean()) if len(each) else np.nan
    return found


def table(data: Path, scenarios: list[str], policies: list[str]) -> pd.DataFrame:
    """Return a row for every run."""
    rows = []
    for name in scenarios:
        found = run(data, name, policies)
        rows += [{"scenario": name, "where": where} | row(each) for where, trials in found.items() for each in trials]
    return pd.DataFrame(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="+", metavar="POLICY", help="what `lcca evaluate` takes on a fabric")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--scenarios", nargs="+", default=list(SCENARIOS))
    parser.add_argument("--csv", action="store_true")
    options = parser.parse_args()
    found = table(options.data, options.scenarios, options.policies)
    print(found.to_csv(index=False) if options.csv else found.to_string(index=False, float_format="%.3f"))


if __name__ == "__main__":
    main()
