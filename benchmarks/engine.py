"""Packets per CPU second of the engine, beside a throw-away yardstick measured in the same run.

    python benchmarks/engine.py [--json] [--repeats 5] [--signals flows]
    python benchmarks/engine.py --policies configs/policies/e2e.json configs/policies/law-e2e.json --stamped ecn

The yardstick (`engine_probe.cpp`) simulates the same kind of network with fixed-size rings and without records,
utilities or per-component random streams. Both run a 64-rule table over six signals on one link of 3 packets/µs. Each
repeat runs the two one after the other; the best of the repeats counts for each, since noise only ever slows down.
With `--policies` it is trials of the default space per CPU second, of each and over the first; with `--stamped` of each
with that header in every packet too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.validation import read_config
from lcca.remy_plus.core.signals import SIGNAL_CEILING
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import compile_policy, with_header
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

SENDERS = (1, 4, 8, 16)
SIGNALS = ("send_ewma", "receive_ewma", "rtt_ratio", "slow_receive_ewma", "queue", "link")
DEPTH = 6
DURATION_US = 2e6


def random_table(signals: tuple[str, ...] = SIGNALS, seed: int = 42) -> RuleTable:
    """Return 64 rules over six signals from six levels of random cuts, like the yardstick's."""
    generator = np.random.Generator(np.random.PCG64(seed))
    inner = 2**DEPTH - 1
    axis = np.floor(np.log2(np.arange(inner) + 1)).astype(int)  # one signal per level: all 64 boxes have volume
    cut = np.where(axis == 2, 1 + generator.random(inner), generator.random(inner) * 5)
    lower, upper = np.zeros((2**DEPTH, 6)), np.full((2**DEPTH, 6), SIGNAL_CEILING)
    for leaf in range(2**DEPTH):
        node = 0
        for level in reversed(range(DEPTH)):
            above = leaf >> level & 1
            (lower if above else upper)[leaf, axis[node]] = cut[node]
            node = 2 * node + 1 + above
    rules = 2**DEPTH
    return RuleTable(
        signals,
        lower,
        upper,
        np.floor(1 + generator.random(rules) * 3),
        0.6 + 0.3 * generator.random(rules),
        0.2 + 0.3 * generator.random(rules),
    )


def engine_rate(senders: int, table: RuleTable) -> float:
    """Return packets sent per CPU second of one long trial."""
    network = Network(0, 3.0, 25.0, senders, 175.0, 5000.0, 800.0, 0.001)
    networks, policy = NetworkList([network]), compile_policy(table)
    engine = Engine(duration=DURATION_US, jobs=1)
    began = time.process_time()
    batch = engine.run([policy], networks, [0], [0], [42])
    return float(batch.floats("trial_sent").sum()) / (time.process_time() - began)


def build_probe(folder: Path) -> Path:
    """Compile the yardstick with its own flags."""
    source, program = Path(__file__).with_name("engine_probe.cpp"), folder / "engine_probe"
    subprocess.run(["g++", "-O3", "-std=c++20", str(source), "-o", str(program)], check=True)
    return program


def probe_rates(program: Path) -> dict[int, float]:
    """Run the yardstick and return its packets per CPU second by senders."""
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.replace(":", "").split() for line in lines]
    return {int(w[1]): float(w[2]) * 1e6 for w in words}


def thread_speedup() -> float:
    """Return how much faster (wall time) two threads finish a batch than one."""
    networks = NetworkList([Network(i, 3.0, 25.0, 8, 175.0, 5000.0, 800.0, 0.001) for i in range(200)])
    policy, index = compile_policy(random_table()), np.arange(200)

    def wall(jobs: int) -> float:
        began = time.perf_counter()
        Engine(duration=20_000, jobs=jobs).run([policy], networks, np.zeros(200), index, np.ones(200))
        return time.perf_counter() - began

    pairs = [(wall(1), wall(2)) for _ in range(5)]
    return min(one for one, _ in pairs) / min(two for _, two in pairs)


def policy_rates(files: list[str], repeats: int, stamped: list[str]) -> dict[str, float]:
    """Return the trials per CPU second of policies on 320 default networks, the best of the repeats."""
    space = read_config(Path(__file__).parents[1] / "configs/networks/default.yaml", NetworkSpace)
    networks, engine = NetworkList(space.draw(9_000_000, 320)), Engine(space.duration, jobs=1)
    loaded = {file: load(file).policy for file in files}
    with_headers = {
        f"{file} with {name}": with_header(getattr(policy, "policy", policy), stamping(header(name)))
        for file, policy in loaded.items()
        for name in stamped
    }
    policies = {name: compile_policy(policy) for name, policy in sorted((loaded | with_headers).items())}
    rates = dict.fromkeys(policies, 0.0)
    for _ in range(repeats):
        for file, policy in policies.items():
            began = time.process_time()
            engine.run([policy], networks, np.zeros(320), np.arange(320), np.full(320, 9_000_000))
            rates[file] = max(rates[file], 320 / (time.process_time() - began))
    return rates


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--signals", nargs="+", default=[], help="in place of the last of the table's six")
    parser.add_argument("--policies", nargs="+", help="files of policies, in place of the yardstick")
    parser.add_argument("--stamped", nargs="+", default=[], help="headers, with --policies")
    options = parser.parse_args()
    if options.policies:
        rates = policy_rates(options.policies, options.repeats, options.stamped)
        for file, rate in rates.items():
            print(f"{rate:7.1f} trials per CPU s, ratio {rate / rates[options.policies[0]]:.2f}  {file}")
        return 0
    table = random_table((*SIGNALS[: -len(options.signals) or None], *options.signals))
    ours: dict[int, float] = dict.fromkeys(SENDERS, 0.0)
    theirs: dict[int, float] = dict.fromkeys(SENDERS, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        program = build_probe(Path(folder))
        for _ in range(options.repeats):
            probe = probe_rates(program)
            for n in SENDERS:
                ours[n] = max(ours[n], engine_rate(n, table))
                theirs[n] = max(theirs[n], probe[n])
    rows = [
        {
            "senders": n,
            "packets_per_cpu_second": ours[n],
            "yardstick": theirs[n],
            "ratio": ours[n] / theirs[n],
        }
        for n in SENDERS
    ]
    speedup = thread_speedup()
    if options.json:
        print(json.dumps({"rows": rows, "two_threads_over_one": speedup}))
        return 0
    for row in rows:
        print(
            f"senders {row['senders']:2d}: engine {row['packets_per_cpu_second'] / 1e6:6.2f} M packets per CPU s, "
            f"yardstick {row['yardstick'] / 1e6:6.2f} M, ratio {row['ratio']:.2f}"
        )
    print(f"two threads over one: {speedup:.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
