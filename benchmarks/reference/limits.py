"""What engines take for a packet at each link that it crosses, and what of the machine that is.

    python benchmarks/reference/limits.py [--repeats 5]

Each row is the difference of two durations of one trial, so that set-up cancels out: CPU time of this process, the best
of the repeats, and instructions and cache misses by cachegrind (valgrind), which simulates a first and second cache of
48 KiB and 2 MiB without prefetching. Bandwidth is that of NumPy's copy of 256 MiB, read and written.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.network import Network, NetworkList

CACHEGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=yes", "--D1=49152,12,64", "--LL=2097152,16,64")
DURATIONS = {"1 sender": (1e6, 2e7), "16 senders": (2e5, 2e6), "320 hosts": (400, 800), "8,192 hosts": (20, 40)}  # µs

Trial = partial[float]
"""From a duration in µs to the packets at links."""


def run(kind: str, arguments: tuple[Any, ...], duration_us: float) -> float:
    """Run a trial and return its packets, each counted at each link that it crosses."""
    if kind == "bottleneck":
        policy, senders = arguments
        networks = NetworkList([Network(0, 3.0, 25.0, senders, 175.0, 5000.0, 800.0, 0.001)])
        return float(Engine(duration_us, jobs=1).run([policy], networks, [0], [0], [42]).floats("trial_sent").sum())
    transport, fabric, flows = arguments
    record = FabricEngine(transport).run(fabric, flows, horizon_ns=duration_us * 1e3)
    return float((record["port_data_packets"] + record["port_ack_packets"]).sum())


def trials() -> Iterator[tuple[str, Trial]]:
    """Yield each row's name and trial, drawn here so that valgrind has little else to run."""
    sys.path.append(str(Path(__file__).parents[1]))  # the benchmarks beside this folder
    from engine import compile_policy, random_table
    from fabric import SCENARIOS, read_scenario

    for senders, name in ((1, "1 sender"), (16, "16 senders")):
        yield name, partial(run, "bottleneck", (compile_policy(random_table()), senders))
    for k, hosts_per_edge, name in ((8, 10, "320 hosts"), (32, 16, "8,192 hosts")):
        keys = [f"topology.k={k}", f"topology.hosts_per_edge={hosts_per_edge}", f"duration_us={DURATIONS[name][1]}"]
        scenario = read_scenario(SCENARIOS / "cceval/scenarios/fat-tree.yaml", keys)
        for transport in ("hpcc", "dcqcn"):
            yield name, partial(run, "fabric", (transport, scenario.fabric, scenario.flows(1)))


def counted(trial: Trial, duration_us: float) -> NDArray[np.int64]:
    """Return instructions, misses of the first and of the second cache, set-up and Python included."""
    with tempfile.TemporaryDirectory() as folder:
        kept, out = Path(folder, "trial"), Path(folder, "counts")
        kept.write_bytes(pickle.dumps(trial))
        command = [
            *CACHEGRIND,
            f"--cachegrind-out-file={out}",
            sys.executable,
            __file__,
            "--kept",
            str(kept),
            str(duration_us),
        ]
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"},
        )
        lines = dict(line.split(": ", 1) for line in out.read_text().splitlines() if ": " in line)
    events = dict(zip(lines["events"].split(), map(int, lines["summary"].split()), strict=True))
    return np.array([events["Ir"], events["D1mr"] + events["D1mw"], events["DLmr"] + events["DLmw"]])


def main() -> None:
    """Print a row for each trial; or run one kept in a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kept", nargs=2, help="a file with a trial, and its duration in µs: run it alone")
    options = parser.parse_args()
    if options.kept:
        pickle.loads(Path(options.kept[0]).read_bytes())(float(options.kept[1]))
        return
    source, target = np.ones(2**25), np.ones(2**25)
    copy: list[float] = []
    for name, trial in trials():
        took: dict[float, list[float]] = {each: [] for each in DURATIONS[name]}
        for _ in range(options.repeats):
            for each in took:
                began = time.process_time()
                trial(each)
                took[each].append(time.process_time() - began)
            began = time.process_time()
            np.copyto(target, source)
            copy.append(time.process_time() - began)
        short, long = DURATIONS[name]
        packets = trial(long) - trial(short)
        ns = (min(took[long]) - min(took[short])) / packets * 1e9
        instructions, first, second = (counted(trial, long) - counted(trial, short)) / packets
        share = second * 64 / ns / (2 * source.nbytes / min(copy) / 1e9)
        what = " ".join([name, *(each for each in trial.args[1] if isinstance(each, str))])
        print(f"{what}: {packets:,.0f} packets at links, each {ns:.1f} ns, {instructions:.0f} instructions", end=", ")
        print(f"{instructions / ns:.2f} a ns, misses {first:.2f} and {second:.2f}, {second * 64:.0f} bytes", end=", ")
        print(f"{share:.1%} of a copy's {2 * source.nbytes / min(copy) / 1e9:.1f} GB/s", flush=True)


if __name__ == "__main__":
    main()
