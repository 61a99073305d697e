"""What signal sets are worth under each kind of pacing, beside hand-designed explicit rates.

    python benchmarks/pacing.py [POLICY ...] [--train SET:PACING ...] [--trials 30000] [--seed 1] [--grow] [--json]

Trainings have the quickstart's search, or grow a table up to 16 rules; on one thread. All are scored on the same fresh
stratified networks of the default space (`--networks 480`), which no training meets; ± is the standard error over
blocks.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task, run
from lcca.trainers.rplus.config import GrowConfig, PolishConfig, RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
TEST_SEED = 987_654
HAND_DESIGNED = ("rcp", "xcp", "fair-rate")


def config_of(options: argparse.Namespace, pacing: str) -> RplusConfig:
    """Return how to train: the quickstart's search, or growth."""
    keys: dict[str, Any] = {"pacing": pacing, "budget_trials": options.trials}
    if options.grow:
        return RplusConfig(rounds=0, grow=GrowConfig(rules=(1, 2, 4, 8, 16)), polish=PolishConfig(), **keys)
    return RplusConfig(rounds=3, passes=1, networks=64, check_networks=208, **keys)


def train(options: argparse.Namespace, name: str, space: NetworkSpace) -> tuple[Policy, dict[str, Any]]:
    """Train for ``SET:PACING`` and return the policy and what it took."""
    chosen, _, pacing = name.partition(":")
    task = Task("benchmark", signal_set(chosen).signals, space, utility("default"), 1000 * options.seed + 7)
    trainer = RplusTrainer(task, config_of(options, pacing), Engine(space.duration, jobs=1))
    policy = run(trainer)
    last = trainer.learning[-1]
    return policy, {"rules": len(trainer.policy), "trials": last.trials, "cpu_s": last.cpu_s}


def scored(name: str, policy: Policy, space: NetworkSpace, count: int) -> dict[str, Any]:
    """Return mean and standard error of a policy's score, over blocks of fresh networks."""
    networks = space.draw(TEST_SEED, count)
    engine = Engine(space.duration, jobs=1)
    rows = run_trials(engine, {name: policy}, networks, [TEST_SEED], utility("default"), keep_delays=False)
    blocks = rows["score_bits"].to_numpy().reshape(-1, space.block).mean(axis=1)
    error = float(blocks.std(ddof=1) / np.sqrt(len(blocks)))
    return {"policy": name, "score_bits": float(blocks.mean()), "se_bits": error}


def main(arguments: list[str] | None = None) -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", default=HAND_DESIGNED, help="files or names of hand-designed ones")
    parser.add_argument("--train", nargs="*", default=[], metavar="SET:PACING")
    parser.add_argument("--trials", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--networks", type=int, default=480)
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    space, found = read_config(SPACE, NetworkSpace), []
    for name in (*options.policies, *options.train):
        took: dict[str, Any] = {}
        if name in options.train:
            policy, took = train(options, name, space)
        else:
            policy = resolve(name, "engine").policy
        found.append(scored(name, policy, space, options.networks) | took)
        row = found[-1]
        said = "  ".join(f"{key} {value:,.0f}" for key, value in took.items())
        print(f"{name:32} {row['score_bits']:.3f} ± {row['se_bits']:.3f}  {said}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
