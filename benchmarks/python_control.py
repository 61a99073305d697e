"""Trials per CPU second of a class in Python beside the same congestion control in C++.

    python benchmarks/python_control.py [--networks 64] [--repeats 3] [--fabric-us 200] [--json]

AIMD of the engine and its copy in `tests/remy-plus/policies/python_controls.py`, whose trials are equal bit for bit: on
networks of the default space, and on the flows of the incast fabric cut to the given time. One thread; the best of the
repeats counts, since noise only ever slows down.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import Policy

ROOT = Path(__file__).parents[1]
NAMES = ("aimd", f"{ROOT}/tests/remy-plus/policies/python_controls.py:Aimd")
PAYLOAD = 1000  # bytes


def on_networks(policy: Policy, count: int) -> tuple[int, float]:
    """Run a trial on each network; return how many, and packets that arrived."""
    space = read_config(ROOT / "configs/networks/default.yaml", NetworkSpace)
    engine, networks = Engine(space.duration, jobs=1), NetworkList(space.draw(1, count))
    at = np.arange(count)
    return count, float(engine.run([engine.compile(policy)], networks, 0 * at, at, at)["trial_delivered"].sum())


def on_fabric(policy: Policy, duration_us: float) -> tuple[int, float]:
    """Run a trial; return 1, and packets that arrived."""
    scenario = read_scenario(ROOT / "configs/fabric/incast.yaml", [f"duration_us={duration_us}"])
    engine = FabricEngine(policy, settings=scenario.settings())
    record = engine.run(scenario.fabric, scenario.flows(1), horizon_ns=duration_us * 1e3)
    return 1, float(np.ceil(record["flow_delivered_bytes"] / PAYLOAD).sum())


def row(where: str, name: str, run: Callable[[Policy], tuple[int, float]], repeats: int) -> dict[str, Any]:
    """Return a row of the table."""
    policy, took = load(name).policy, []
    for _ in range(repeats):
        began = time.process_time()
        trials, packets = run(policy)
        took.append(time.process_time() - began)
    rates = {"trials_per_cpu_second": round(trials / min(took), 1)}
    rates["packets_per_cpu_second"] = round(packets / min(took))
    return {"where": where, "policy": Path(name).name, "packets": int(packets), **rates}


def main() -> None:
    """Print a row for each place and policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fabric-us", type=float, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    places = {
        "networks": lambda policy: on_networks(policy, options.networks),
        "fabric": lambda policy: on_fabric(policy, options.fabric_us),
    }
    rows = [row(where, name, run, options.repeats) for where, run in places.items() for name in NAMES]
    for each in rows:
        print(json.dumps(each) if options.json else "  ".join(f"{key} {value}" for key, value in each.items()))


if __name__ == "__main__":
    main()
