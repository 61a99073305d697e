"""What learners reach: score against rules or stages and CPU seconds, over training seeds.

    python benchmarks/polish.py --signal-sets e2e link+queue --seeds 1 2 3 --budget 40000 --rules 1 2 4 8 16 [--json]
    python benchmarks/polish.py --kind law --signal-sets e2e --seeds 1 2 3 4 5 [--set stages='[{"trials": 40000}]']

Each training is on one thread: a table grows from one rule, a law goes through its stages, deep reinforcement (`--kind
ppo`) through its rounds. Every checkpoint is scored on the same fresh networks, default space and utility; a training
costs the CPU seconds of its own process, the scores here not counted. `--search` begins with the R+ search of the given
number of trials. Other keys of the trainer: `--set polish.networks=32`. `--out FOLDER` keeps the policies.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task, TrainerConfig
from lcca.trainers.registry import configurations, trainer_class

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
TEST_SEED = 9_000_000
SEARCH = {"rounds": 3, "passes": 1, "networks": 64, "check_networks": 208}


def configured(options: argparse.Namespace) -> TrainerConfig:
    """Return the trainer's configuration."""
    content: dict[str, Any] = {"kind": options.kind}
    if options.kind == "rplus":
        content |= {"budget_trials": options.budget, "grow": {"rules": options.rules}, "polish": {}}
        content |= SEARCH | {"search_trials": options.search} if options.search else {"rounds": 0}
    for text in options.set:
        *path, last = text.partition("=")[0].split(".")
        at = content
        for key in path:
            at = at.setdefault(key, {})
        at[last] = json.loads(text.partition("=")[2])
    return configurations()[options.kind].model_validate(content)


def train(options: argparse.Namespace, name: str, seed: int) -> list[dict[str, Any]]:
    """Train once; return a row for each checkpoint."""
    space, kept, rows = read_config(SPACE, NetworkSpace), dict[int, Policy](), []
    task = Task(f"benchmark/{name}", signal_set(name).signals, space, utility("default"), seed)
    config = configured(options)
    trainer = trainer_class(config)(task, config, Engine(space.duration, jobs=1), keep=kept.__setitem__)
    while not trainer.done:
        before = len(kept)
        trainer.step()
        if len(kept) > before:
            row, policy = trainer.learning[-1], kept[max(kept)]
            if options.out is not None:
                policyfile.write(options.out / f"{name}-s{seed}-{max(kept)}.json", policyfile.PolicyFile(policy))
            rows.append(
                _row(options, space, name, seed, policy, max(kept)) | {"trials": row.trials, "cpu_s": row.cpu_s}
            )
            print(f"  {rows[-1]}", file=sys.stderr)
    return rows


def _row(
    options: argparse.Namespace, space: NetworkSpace, name: str, seed: int, policy: Policy, number: int
) -> dict[str, Any]:
    networks = space.draw(TEST_SEED, options.networks)
    rows = run_trials(Engine(space.duration), {"it": policy}, networks, [TEST_SEED], utility("default"))
    score = float(rows["score_bits"].mean())
    size = {"rules": len(policy)} if isinstance(policy, RuleTable) else {"stage": number}
    return {"signal_set": name, "seed": seed, **size, "score_bits": round(score, 4)}


def summed_up(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return mean and standard deviation over seeds for each signal set and number of rules or stage."""
    grouped = pd.DataFrame(rows).groupby(["signal_set", "rules" if "rules" in rows[0] else "stage"])
    return grouped.agg(
        seeds=("seed", "count"),
        score_bits=("score_bits", "mean"),
        sd_bits=("score_bits", lambda x: float(np.std(x, ddof=1)) if len(x) > 1 else float("nan")),
        trials=("trials", "mean"),
        cpu_s=("cpu_s", "mean"),
    ).round(4)


def main() -> None:
    """Print one row for each signal set and number of rules or stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="rplus", choices=configurations(), help="of trainer")
    parser.add_argument("--signal-sets", nargs="+", default=["e2e"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--budget", type=int, default=40_000, help="trials of a training")
    parser.add_argument("--rules", nargs="+", type=int, default=[1, 2, 4, 8, 16])
    parser.add_argument("--search", type=int, default=0, help="trials of an R+ search before the growth")
    parser.add_argument("--networks", type=int, default=1440, help="fresh networks of the scores")
    parser.add_argument(
        "--set", nargs="*", action="extend", default=[], metavar="KEY=VALUE", help="keys of the trainer, JSON values"
    )
    parser.add_argument("--out", type=Path, help="folder for the policy of each row")
    parser.add_argument("--json", action="store_true", help="print every row as JSON")
    options = parser.parse_args()
    rows = [row for seed in options.seeds for name in options.signal_sets for row in train(options, name, seed)]
    print(json.dumps(rows, indent=1) if options.json else summed_up(rows).to_string())


if __name__ == "__main__":
    main()
