"""What racing saves over exact search, and whether its policies are any worse.

    python benchmarks/search.py --signal-set e2e --seeds 1 2 [--rounds 1] [--passes 5] [--networks 200] [--json]

Both modes train with the same configuration and training seed on one thread; then the two policies are compared on
fresh networks, paired, by the default settling rule. CPU seconds are those of the searches alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import LearningRow, Task
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.state import SearchState
from lcca.trainers.rplus.trainer import RplusTrainer

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"
TEST_SEED = 9_000_000
BLOCK = 50


def search(options: argparse.Namespace, mode: str, seed: int) -> SearchState:
    """Train with one mode and return the search's final state."""
    config = RplusConfig(
        mode=mode,  # type: ignore[arg-type]
        rounds=options.rounds,
        passes=options.passes,
        networks=options.networks,
        check_networks=0,
    )
    space, signals = read_config(SPACE, NetworkSpace), signal_set(options.signal_set)
    task = Task(f"benchmark/{mode}", signals.signals, space, utility("default"), seed)
    trainer = RplusTrainer(task, config, Engine(space.duration, jobs=1))
    while not trainer.done:
        trainer.step()
        _tell(mode, trainer.learning[-1])
    return trainer.state


def _tell(mode: str, row: LearningRow) -> None:
    print(f"  {mode}: step {row.step}, {row.rules} rules, {row.cpu_s:.0f} CPU s", file=sys.stderr)


def compare(exact: SearchState, racing: SearchState, pairs: int) -> dict[str, Any]:
    """Compare the two policies on fresh networks until settled or out of pairs."""
    space, wanted = read_config(SPACE, NetworkSpace), utility("default")
    policies, engine = {"exact": exact.table, "racing": racing.table}, Engine(space.duration)
    rule = SettlingRule(ceiling=pairs // 16)

    def run(block: Block) -> pd.DataFrame:
        networks = space.draw(TEST_SEED, block.size, first_id=block.first)
        return run_trials(engine, policies, networks, [TEST_SEED], wanted, keep_delays=False)

    def decide(parts: Sequence[pd.DataFrame], _: int) -> Decision[Comparison]:
        rows = pd.concat(parts)
        scores = [rows.loc[rows["policy"] == name, "score_bits"] for name in policies]
        found = compare_policies("exact", "racing", *scores, utility=wanted, rule=rule)
        return Decision(found, found.verdict.settled)

    _, found = run_blocks(equal_blocks(BLOCK, pairs), run, decide)
    return found.to_json() | {"score_exact": found.baseline}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--signal-set", default="e2e")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        racing, exact = search(options, "racing", seed), search(options, "exact", seed)
        found = compare(exact, racing, options.pairs)
        row = {
            "signal_set": options.signal_set,
            "seed": seed,
            "rules": len(racing.table),
            "cpu_s_exact": exact.cpu_s,
            "cpu_s_racing": racing.cpu_s,
            "ratio": racing.cpu_s / exact.cpu_s,
            "trials_exact": exact.trials,
            "trials_racing": racing.trials,
            "comparison": found,
        }
        rows.append(row)
        if not options.json:
            print(
                f"{row['signal_set']} seed {seed}: racing {racing.cpu_s:.1f} CPU s, exact {exact.cpu_s:.1f} CPU s, "
                f"ratio {row['ratio']:.3f}; racing − exact {found['difference']:+.4f} bits "
                f"[{found['low']:+.4f}, {found['high']:+.4f}]: {found['verdict']} after {found['n']} pairs",
                flush=True,
            )
    if options.json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
