"""Hops per CPU second of the engine on many links, beside the one bottleneck in the same run.

    python benchmarks/topologies.py [--json] [--repeats 5]

A hop is a packet or an acknowledgement accepted by a link. Every topology runs the networks and the 64-rule table of
`engine.py`: 3 packets/µs, 25 µs, Table 1's typical workload. The best of the repeats counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace

from engine import random_table

from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import compile_policy
from lcca.remy_plus.topology import KINDS, Topology

SENDERS = (1, 4, 8, 16)
DURATION_US = 2e5


def measure(topology: Topology, senders: int) -> dict[str, float]:
    """Return packets and hops per CPU second of one long trial."""
    network = Network(0, 3.0, 25.0, senders, 175.0, 5000.0, 800.0, 0.001)
    networks, policy = NetworkList([replace(network, topology=topology)]), compile_policy(random_table())
    engine = Engine(duration=DURATION_US, jobs=1)
    began = time.process_time()
    batch = engine.run([policy], networks, [0], [0], [42])
    took = time.process_time() - began
    return {
        "packets_per_cpu_second": float(batch["trial_sent"][0]) / took,
        "hops_per_cpu_second": float(batch["trial_hops"][0]) / took,
    }


def best(topology: Topology, senders: int, repeats: int) -> dict[str, float]:
    """Return the best figures of the repeats: noise only ever slows down."""
    found = [measure(topology, senders) for _ in range(repeats)]
    return {name: max(one[name] for one in found) for name in found[0]}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = [
        {"topology": kind, "senders": senders, **best(Topology(kind), senders, options.repeats)}
        for kind in KINDS
        for senders in SENDERS
    ]
    if options.json:
        print(json.dumps({"rows": rows}))
        return 0
    for row in rows:
        print(
            f"{row['topology']:16} {row['senders']:2} senders: {row['packets_per_cpu_second'] / 1e6:6.2f} M packets, "
            f"{row['hops_per_cpu_second'] / 1e6:6.2f} M hops per CPU s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
