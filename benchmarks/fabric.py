"""Data packets delivered per CPU second of the fabric engine.

    python benchmarks/fabric.py [--duration-us 5000] [--repeats 3] [--json]
    python benchmarks/fabric.py --scale --transports hpcc --duration-us 100

Each scenario, named by its file below configs/, is cut to the given time; packets that are delivered until then count.
The clock runs for one trial with its routing, on one thread; flows are drawn before. The best of the repeats counts,
since noise only ever slows down. With `--scale` it is fat trees of 16 to 8,192 hosts, WebSearch at 30 % of ToR
uplinks, each in turn; every flow that starts within the time is played to its end, and set-up counts apart.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.remy_plus.fabric.engine import FabricEngine

SCENARIOS = Path(__file__).parents[1] / "configs"
PAYLOAD = 1000  # bytes
SIZES = (4, 8, 16, 24, 32)  # k of fat trees


def rate(engine: FabricEngine, name: str, duration_us: float, repeats: int) -> dict[str, Any]:
    """Return a row of the table."""
    scenario = read_scenario(SCENARIOS / f"{name}.yaml", [f"duration_us={duration_us}"])
    flows, took = scenario.flows(1), []
    for _ in range(repeats):
        began = time.process_time()
        record = engine.run(scenario.fabric, flows, horizon_ns=duration_us * 1e3)
        took.append(time.process_time() - began)
    delivered = float(np.ceil(record["flow_delivered_bytes"] / PAYLOAD).sum())
    return {
        "scenario": name,
        "transport": engine.transport,
        "flows": len(flows),
        "data_packets": int(delivered),
        "cpu_seconds": round(min(took), 2),
        "data_packets_per_cpu_second": round(delivered / min(took)),
    }


def growth(engine: FabricEngine, k: int, duration_us: float) -> dict[str, Any]:
    """Return a row for a fat tree of k³ / 4 hosts."""
    overrides = [f"topology.k={k}", f"topology.hosts_per_edge={k // 2}", f"duration_us={duration_us}"]
    began = time.process_time()
    scenario = read_scenario(SCENARIOS / "cceval/scenarios/fat-tree.yaml", overrides)
    fabric, flows = scenario.fabric, scenario.flows(1)
    drawn = time.process_time()
    engine.run(fabric, flows, horizon_ns=1.0)
    ready = time.process_time()
    record = engine.run(fabric, flows)
    run = time.process_time() - ready - (ready - drawn)
    delivered = float(np.ceil(record["flow_delivered_bytes"] / PAYLOAD).sum())
    return {
        "hosts": fabric.hosts,
        "transport": engine.transport,
        "flows": len(flows),
        "data_packets": int(delivered),
        "drawing_cpu_s": round(drawn - began, 2),
        "setup_cpu_s": round(ready - drawn, 2),
        "run_cpu_s": round(run, 2),
        "data_packets_per_cpu_second": round(delivered / run),
        "memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Print a row for each scenario and transport."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", nargs="+", default=["cceval/scenarios/fat-tree", "fabric/leaf-spine"])
    parser.add_argument("--transports", nargs="+", default=["hpcc", "dcqcn", "dctcp"])
    parser.add_argument("--duration-us", type=float, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scale", action="store_true", help="fat trees of 16 to 8,192 hosts")
    options = parser.parse_args()
    rows = [
        growth(FabricEngine(transport), k, options.duration_us)
        for k in (SIZES if options.scale else ())
        for transport in options.transports
    ] or [
        rate(FabricEngine(transport), name, options.duration_us, options.repeats)
        for name in options.scenarios
        for transport in options.transports
    ]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"rows": rows, "memory_mib": round(memory)}, indent=1))
    else:
        print(pd.DataFrame(rows).to_string(index=False), f"\n{memory:.0f} MiB")


if __name__ == "__main__":
    main()
