"""Data packets delivered per CPU second of the fabric engine.

    python benchmarks/fabric.py [--duration-us 5000] [--repeats 3] [--json]
    python benchmarks/fabric.py --scale --transports hpcc --duration-us 100
    python benchmarks/fabric.py --threads 2 --duration-us 2000 --repeats 9

Each scenario, named by its file below configs/, is cut to the given time; packets that are delivered until then count.
The clock runs for one trial with its routing, on one thread; flows are drawn before. The best of the repeats counts,
since noise only ever slows down. With `--scale` it is fat trees of 16 to 8,192 hosts, WebSearch at 30 % of ToR
uplinks, each in turn; every flow that starts within the time is played to its end, and set-up counts apart.
With `--threads` the first scenario runs by one thread and by so many, in turn: wall and CPU seconds of the best of
each, with the same bits; and what packets let 2, 16 and 64 threads gain, as if all cost the same and barriers nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.remy_plus import _core
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
    """Return a row for a fat tree of k³ / 4 hosts; fewer than 1,024 have flows for longer, so that as many begin."""
    duration_us *= max(1, 4096 / k**3)
    overrides = [f"topology.k={k}", f"topology.hosts_per_edge={k // 2}", f"duration_us={duration_us}"]
    began = time.process_time()
    scenario = read_scenario(SCENARIOS / "cceval/scenarios/fat-tree.yaml", overrides)
    fabric, flows = scenario.fabric, scenario.flows(1)
    drawn = time.process_time()
    engine.run(fabric, flows, horizon_ns=1.0)
    ready = time.process_time()
    record = engine.run(fabric, flows)
    run = time.process_time() - ready - (ready - drawn)
    packets = np.ceil(record["flow_delivered_bytes"] / PAYLOAD)
    delivered, hops = float(packets.sum()), float(packets @ (record["flow_ports"] >= 0).sum(axis=1))
    return {
        "hosts": fabric.hosts,
        "transport": engine.transport,
        "flows": len(flows),
        "data_packets": int(delivered),
        "drawing_cpu_s": round(drawn - began, 2),
        "setup_cpu_s": round(ready - drawn, 2),
        "run_cpu_s": round(run, 2),
        "data_packets_per_cpu_second": round(delivered / run),
        "hops_per_cpu_second": round(hops / run),
        "memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def balance(packets: NDArray[np.int64], threads: int) -> float:
    """Return how many threads' worth of packets are gone through at once where each has nodes of its own.

    Args:
        packets: (windows, nodes).
        threads: that share the nodes: those with the most packets in all first, each to the thread with the fewest.
    """
    shares = np.zeros((threads, len(packets)), dtype=np.int64)
    for node in np.argsort(-packets.sum(axis=0), kind="stable"):
        shares[shares.sum(axis=1).argmin()] += packets[:, node]
    return float(packets.sum() / shares.max(axis=0).sum())


def shared(engine: FabricEngine, name: str, duration_us: float, repeats: int, threads: int) -> dict[str, Any]:
    """Return a row for one trial by one thread and by several."""
    scenario = read_scenario(SCENARIOS / f"{name}.yaml", [f"duration_us={duration_us}"])
    flows, horizon = scenario.flows(1), duration_us * 1e3
    wall: dict[int, list[float]] = {1: [], threads: []}
    cpu: dict[int, list[float]] = {1: [], threads: []}
    bits = set()
    for _ in range(repeats):
        for count in wall:
            began = time.perf_counter(), time.process_time()
            record = engine.run(scenario.fabric, flows, horizon_ns=horizon, threads=count)
            wall[count].append(time.perf_counter() - began[0])
            cpu[count].append(time.process_time() - began[1])
            bits.add(b"".join(np.asarray(each).tobytes() for each in record.values()))
    assert len(bits) == 1, "threads change bits"
    _core.run_fabric = partial(_core.run_fabric, keep_rounds=True)
    packets = engine.run(scenario.fabric, flows, horizon_ns=horizon)["round_packets"].astype(np.int64)
    return {
        "scenario": name,
        "transport": engine.transport,
        "windows": len(packets),
        "packets_of_a_window": round(packets.sum() / len(packets)),
        **{f"wall_s_{count}": round(min(each), 3) for count, each in wall.items()},
        **{f"cpu_s_{count}": round(min(each), 3) for count, each in cpu.items()},
        "times_as_fast": round(min(wall[1]) / min(wall[threads]), 2),
        **{f"most_by_packets_{count}": round(balance(packets, count), 1) for count in (2, 16, 64)},
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
    parser.add_argument("--threads", type=int, default=1, help="that share a trial of the first scenario")
    options = parser.parse_args()
    if options.threads > 1:
        given = (options.scenarios[0], options.duration_us, options.repeats, options.threads)
        print(
            pd.DataFrame([shared(FabricEngine(each), *given) for each in options.transports]).T.to_string(header=False)
        )
        return
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
