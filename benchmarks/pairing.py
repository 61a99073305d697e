"""How many trials pairing saves: p99 slowdown on WebSearch at load 0.5, two policies on the same or on other flows.

    python benchmarks/pairing.py [--trials 200] [--duration 1000000] [--json]

Trials needed grow as the variance of what is compared. Independent arms have the sum of both variances, paired ones
the variance of the difference; their ratio is what pairing saves. Metric: ln of a trial's p99 slowdown (and mean FCT).
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.evaluation.trials.running import run_flows
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import open_network
from lcca.remy_plus.policies.policy import Aimd, FixedWindow
from lcca.remy_plus.workload import OpenFlows

LINK_RATE, RTT, LOAD = 3.0, 25.0, 0.5
BDP = 75 + 1  # packets
PAIRS = {
    "window 1 BDP / window 2 BDP": (FixedWindow(BDP), FixedWindow(2 * BDP)),
    "slow start from 2 / slow start from 10": (Aimd(), Aimd(initial_window=10)),
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--duration", type=float, default=1e6, help="µs of arrivals per trial")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    network = open_network(0, LINK_RATE, RTT, OpenFlows(LOAD, flow_sizes("websearch", 1000)), 1000)
    rows = []
    for name, pair in PAIRS.items():
        policies = dict(zip("AB", pair, strict=True))
        flows = run_flows(Engine(options.duration), policies, [network], range(options.trials))
        grouped = flows.groupby(["policy", "seed"])
        metrics = {
            "p99 slowdown": np.log(grouped["slowdown"].quantile(0.99)),
            "mean FCT": np.log(grouped["fct_us"].mean()),
        }
        for metric, values in metrics.items():
            a, b = values["A"].to_numpy(), values["B"].to_numpy()
            rows.append(
                {
                    "pair": name,
                    "metric": metric,
                    "ratio_B_over_A": float(np.exp((b - a).mean())),
                    "correlation": float(np.corrcoef(a, b)[0, 1]),
                    "trials_saved": float((a.var(ddof=1) + b.var(ddof=1)) / (b - a).var(ddof=1)),
                    "flows_per_trial": float(grouped.size().mean()),
                }
            )
    if options.json:
        print(json.dumps({"rows": rows}))
        return 0
    for row in rows:
        print(
            f"{row['pair']}, {row['metric']}: B/A {row['ratio_B_over_A']:.3f}, correlation {row['correlation']:.2f}, "
            f"pairing needs {row['trials_saved']:.1f} times fewer trials ({row['flows_per_trial']:.0f} flows a trial)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
