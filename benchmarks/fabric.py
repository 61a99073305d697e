"""Data packets delivered per CPU second of the fabric engine.

    python benchmarks/fabric.py [--duration-us 5000] [--repeats 3] [--json]

Each scenario, named by its file below configs/, is cut to the given time; packets that are delivered until then count.
The clock runs for one trial with its routing, on one thread; flows are drawn before. The best of the repeats counts,
since noise only ever slows down.
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


def main() -> None:
    """Print a row for each scenario and transport."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", nargs="+", default=["cceval/scenarios/fat-tree", "fabric/leaf-spine"])
    parser.add_argument("--transports", nargs="+", default=["hpcc", "dcqcn", "dctcp"])
    parser.add_argument("--duration-us", type=float, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
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
