"""Data packets delivered per CPU second under the transports of Ultra Ethernet.

    python benchmarks/reference/ultra_ethernet.py [--repeats 3] [--gbps 100] [--json]

Incasts and permutations as the public simulator's speed was measured with (1 MB from each of 16 hosts on a star, 2 MB
from each host across racks and pods), with its packets of 4,150 bytes, links of 1 µs and 64 entropy values. The clock
runs for one trial on one thread; the best of the repeats counts, since noise only ever slows down.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
import pandas as pd

from lcca.remy_plus.fabric.builders import fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology

PAYLOAD = 4086  # bytes


def incast(topology: FabricTopology) -> FabricFlows:
    """Return a flow of 1 MB from every host to the last."""
    senders = np.arange(topology.hosts - 1)
    last = np.full_like(senders, topology.hosts - 1)
    return FabricFlows(senders, last, np.full_like(senders, 1_000_000), np.zeros(len(senders)))


def permutation(topology: FabricTopology) -> FabricFlows:
    """Return a flow of 2 MB from every host to the one that is half of them away."""
    hosts = np.arange(topology.hosts)
    away = (hosts + topology.hosts // 2) % topology.hosts
    return FabricFlows(hosts, away, np.full_like(hosts, 2_000_000), np.zeros(len(hosts)))


def main() -> None:
    """Print a row for each fabric and transport."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gbps", type=float, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    links = {"host_gbps": options.gbps, "uplink_gbps": options.gbps, "host_delay_ns": 1000, "uplink_delay_ns": 1000}
    fabrics = {
        "star of 17": (star(17, gbps=options.gbps, delay_ns=1000), incast),
        "leaf-spine of 16": (leaf_spine(4, 4, 4, **links), permutation),
        "fat tree of 16": (fat_tree(4, None, options.gbps, options.gbps, 1000), permutation),
        "fat tree of 128": (fat_tree(8, None, options.gbps, options.gbps, 1000), permutation),
    }
    rows: list[dict[str, Any]] = []
    for name, (topology, flows_of) in fabrics.items():
        flows = flows_of(topology)
        for transport in ("nscc", "rccc", "nscc+rccc"):
            engine, took = FabricEngine(transport, {}, settings("uet-htsim")), []
            for _ in range(options.repeats):
                began = time.process_time()
                record = engine.run(topology, flows)
                took.append(time.process_time() - began)
            packets = int(np.ceil(record["flow_delivered_bytes"] / PAYLOAD).sum())
            seconds = min(took)
            rows.append({"fabric": name, "transport": transport, "data_packets": packets, "cpu_seconds": seconds})
            rows[-1]["data_packets_per_cpu_second"] = round(packets / seconds)
    print(json.dumps(rows, indent=1) if options.json else pd.DataFrame(rows).to_string(index=False))


if __name__ == "__main__":
    main()
