"""What collectives on many hosts take: CPU seconds to make their messages and to run them, packets a second, memory.

    python benchmarks/collectives.py ring 128
    python benchmarks/collectives.py experts 8192

A ring all-reduce of 16 KiB per rank and step among all hosts, or a layer of experts in groups of 64 ranks (128 tokens
of 7,168 bytes to 8 experts and back), on leaf-spines of 400 Gb/s with NSCC; one trial on one thread.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.remy_plus.fabric.engine import FabricEngine

OPERATIONS = {
    "ring": lambda hosts: {"operations": [{"kind": "all-reduce", "bytes": hosts * 2**14}]},
    "experts": lambda _: {
        "ranks_per_node": 64,
        "operations": [
            {"kind": "experts", "among": "node", "tokens": 128, "top": 8, "out_bytes": 7168, "back_bytes": 7168}
            | {"skew": 0.6}
        ],
    },
}


def scenario(operation: str, hosts: int) -> FabricScenario:
    """Return a leaf-spine of so many hosts with the job."""
    per_leaf = 16 if hosts <= 256 else 32
    fabric = {"tors": hosts // per_leaf, "spines": per_leaf, "hosts_per_tor": per_leaf}
    return FabricScenario.model_validate(
        {
            "name": operation,
            "payload_bytes": 4096,
            "mtu_bytes": 4300,
            "switch": {"queue_bdps": 1},
            "spraying": "mixed",
            "queue_pairs": True,
            "feedback_per_packet": True,
            "topology": {"kind": "leaf-spine", **fabric, "host_gbps": 400, "uplink_gbps": 400},
            "workload": {"kind": "job", "placement": "stride", **OPERATIONS[operation](hosts)},
        }
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("hosts", type=int)
    options = parser.parse_args()
    begin = time.process_time()
    found = scenario(options.operation, options.hosts)
    flows = found.flows(1)
    made = time.process_time()
    record = FabricEngine("nscc", {}, found.settings()).run(found.fabric, flows, seed=1)
    ran = time.process_time()
    packets = int(record["port_data_packets"][record["port_peer"] < options.hosts].sum())
    end_us = np.max(record["flow_start_ns"] + record["flow_fct_ns"]) / 1000
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{options.operation}, {options.hosts} hosts: {len(flows):,} messages made in {made - begin:.1f} CPU s, "
        f"{packets:,} packets in {ran - made:.1f} CPU s, {packets / (ran - made) / 1e6:.2f} million a CPU second, "
        f"{end_us:,.0f} µs, {memory:,} MiB"
    )
