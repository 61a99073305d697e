"""Packets per CPU second of trials in ns-3, beside the fast engine in the same run; and memory over many resets.

    python benchmarks/ns3.py [--policy policy.json] [--networks 8] [--json]

Networks are drawn from Table 1 (configs/networks/default.yaml). Without --policy, the 64-rule table of
benchmarks/engine.py runs. Needs lcca-ns3 (`make ns3`).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import psutil
from engine import random_table

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.ns3.simulator import Ns3, run_plan
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import NetworkList

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
RESETS = 800


def rates(policy: Any, networks: int) -> dict[str, Any]:
    """Return packets sent per CPU second in both simulators and ns-3's events per packet."""
    space = read_config(SPACE, NetworkSpace)
    drawn, simulator = space.draw(7, networks), Ns3(space.duration)
    compiled = simulator.compile(policy)
    sent = events = 0
    began = time.process_time()
    for network in drawn:
        plan = trial_plan(network, compiled, 1, space.duration, Model(), Ns3Options(), False)
        found = run_plan(plan)
        sent, events = sent + found["sent"], events + found["events"]
    real = sent / (time.process_time() - began)
    engine = Engine(space.duration, jobs=1)
    began = time.process_time()
    batch = engine.run([engine.compile(policy)], NetworkList(drawn), [0] * networks, range(networks), [1] * networks)
    fast = float(batch.floats("trial_sent").sum()) / (time.process_time() - began)
    return {"ns3_packets_per_cpu_s": real, "engine_packets_per_cpu_s": fast, "ns3_events_per_packet": events / sent}


def growth(policy: Any) -> float:
    """Return by how many MiB the process grows over many short trials."""
    space = read_config(SPACE, NetworkSpace)
    plan = trial_plan(space.draw(7, 1)[0], Ns3(1.0).compile(policy), 1, 200.0, Model(), Ns3Options(), False)
    for _ in range(50):
        run_plan(plan)
    before = psutil.Process().memory_info().rss
    for _ in range(RESETS):
        run_plan(plan)
    return (psutil.Process().memory_info().rss - before) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy")
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    policy = policyfile.load(options.policy).policy if options.policy else random_table()
    found = rates(policy, options.networks) | {"growth_mib_over_800_resets": growth(policy)}
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{key:32} {value:,.1f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
