"""BBR′ against BBR: the paper's section 7 finds the same throughput and better delay, whichever signal it uses.

    python benchmarks/bbr_prime.py [--networks 50] [--topology dumbbell] [--jobs 2] [--json]

BBR, and BBR′ with conditions on queue, link and RTT, on the same default networks in ns-3 (needs `make ns3`). Prints
the difference to BBR of throughput share and mean delay, as a ratio in per cent with a 95 % Student's t interval over
networks (of the logarithm), and on how many networks each is better.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.validation import read_config
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.topology import Topology

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
NAMES = ("bbr", "bbr-prime:signal=queue", "bbr-prime:signal=link", "bbr-prime:signal=rtt")
METRICS = ("throughput_share", "delay_us")
BLOCK = 5


def trials(networks: int, topology: str, jobs: int) -> pd.DataFrame:
    """Run all policies on the networks, block by block."""
    space = read_config(SPACE, NetworkSpace)
    simulator = Ns3(space.duration, jobs=jobs)
    policies = {name: baseline(name) for name in NAMES}

    def run(block: Block) -> pd.DataFrame:
        drawn = space.draw(11, block.size, first_id=block.first)
        placed = [replace(network, topology=Topology.of(topology)) for network in drawn]
        return run_trials(simulator, policies, placed, [1], utility("default"), keep_delays=False)

    def tell(done: int, _: None) -> None:
        print(f"{done} of {networks} networks", file=sys.stderr, flush=True)

    return pd.concat(
        run_blocks(equal_blocks(BLOCK, networks), run, lambda parts, done: Decision(None, stop=False), tell=tell)[0],
        ignore_index=True,
    )


def findings(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a record per BBR′ and metric."""
    good = rows[rows["status"] == "ok"]
    found = []
    for metric in METRICS:
        wide = np.log(good.pivot(index="network", columns="policy", values=metric)).dropna()
        for name in NAMES[1:]:
            difference = (wide[name] - wide["bbr"]).to_numpy()
            ratios = [100 * float(np.expm1(x)) for x in t_interval(difference)]
            better = difference > 0 if metric == "throughput_share" else difference < 0
            found.append(
                {
                    "policy": name,
                    "metric": metric,
                    "difference_percent": ratios[0],
                    "low": ratios[1],
                    "high": ratios[2],
                    "networks": len(difference),
                    "better_on": int(better.sum()),
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=50)
    parser.add_argument("--topology", default="dumbbell")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = trials(options.networks, options.topology, options.jobs)
    found = findings(rows)
    if options.json:
        print(json.dumps(found))
        return
    for r in found:
        ends = f"[{r['low']:+.1f}, {r['high']:+.1f}]"
        better = f"better on {r['better_on']} of {r['networks']} networks"
        print(f"{r['policy']:24} {r['metric']:17} {r['difference_percent']:+6.1f} % {ends:18} {better}")
    means = rows.groupby("policy")[["score_bits", "throughput_over_link", "delay_over_rtt"]].mean()
    print(means.reindex(list(NAMES)).round(3).to_string())


if __name__ == "__main__":
    main()
