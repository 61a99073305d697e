"""Packets per CPU second of trials in ns-3, beside the fast engine in the same run; and memory over many resets.

    python benchmarks/ns3.py [--policy policy.json] [--networks 8] [--json]
    python benchmarks/ns3.py --long cubic bbr [--rates 12 48 192] [--rtt-ms 20] [--buffer-bdp 2] [--seconds 10]

Networks are drawn from Table 1 (configs/networks/default.yaml). Without --policy, the 64-rule table of
benchmarks/engine.py runs. With --long, one flow over one link in real milliseconds, by policy and
Mb/s. Needs lcca-ns3 (`make ns3`).
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
from lcca.gym_envs.ns3.host import run_plan
from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongTrial
from lcca.gym_envs.ns3.long_plan import run_long_trial
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.units import PACKET_BYTES
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


def long(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return packets per CPU second of long flows, by policy and rate of the link."""
    rows = []
    for name in options.long:
        for rate in options.rates:
            bdp = rate * 1e3 * options.rtt_ms / (8 * PACKET_BYTES)
            link = Bottleneck(((0.0, rate),), options.rtt_ms, max(1, int(options.buffer_bdp * bdp)))
            flows, end = (LongFlow(policyfile.load(name).policy),), options.seconds
            found = run_long_trial(LongTrial(link, flows, end, ((0.0, end),)))
            rows.append(
                {"policy": name, "mbps": rate, "packets": found.packets, "cpu_s": found.cpu_s}
                | {"packets_per_cpu_s": found.packets / found.cpu_s, "events_per_packet": found.events / found.packets}
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy")
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--long", nargs="+", metavar="POLICY")
    parser.add_argument("--rates", type=float, nargs="+", default=[12.0, 48.0, 192.0])
    parser.add_argument("--rtt-ms", type=float, default=20.0)
    parser.add_argument("--buffer-bdp", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    if options.long:
        for row in long(options):
            words = (f"{key} {value:,.1f}" if isinstance(value, float) else f"{value}" for key, value in row.items())
            print(json.dumps(row) if options.json else "  ".join(words))
        return
    policy = policyfile.load(options.policy).policy if options.policy else random_table()
    found = rates(policy, options.networks) | {"growth_mib_over_800_resets": growth(policy)}
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{key:32} {value:,.1f}" for key, value in found.items()))


if __name__ == "__main__":
    main()
