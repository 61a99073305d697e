"""How often a comparison of a policy with itself calls a winner.

    python benchmarks/aa.py [--repetitions 200] [--pairs 300] [--duration 10000] [--policy fixed-window:5] [--json]

Each repetition draws fresh networks of the default space; both sides run the same policy on them, each with a private
seed of its own, so that everything but the policy differs. The default settling rule looks at the differences as they
come, with a ceiling on the pairs. At an error rate of 5 % over all looks, at most 5 % of the repetitions may call B
better or worse than A.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import DEFAULT, utility
from lcca.experiments.runs.seeds import derive
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine, available_jobs
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy

SPACE = Path(__file__).parents[1] / "configs" / "networks" / "default.yaml"


@dataclass(frozen=True)
class Outcome:
    """What the repetitions said.

    Attributes:
        winners: repetitions that called B better or worse.
        share: of the repetitions.
        excluded_zero: repetitions whose interval did not hold 0, "equivalent" ones included.
        verdicts: repetitions by verdict.
        sigma_d: mean spread of the differences, bits.
    """

    policy: str
    repetitions: int
    pairs: int
    duration_us: float
    alpha: float
    winners: int
    share: float
    excluded_zero: int
    verdicts: dict[str, int]
    sigma_d: float
    cpu_s: float


def measure(
    name: str = "fixed-window:5",
    repetitions: int = 200,
    pairs: int = 300,
    duration: float = 10_000.0,
    seed: int = 1,
    jobs: int = 1,
) -> Outcome:
    """Compare a policy with itself again and again."""
    began, policy = time.process_time(), policyfile.load(name).policy
    space, rule = read_config(SPACE, NetworkSpace), SettlingRule(ceiling=pairs)
    engine = Engine(duration, jobs=jobs)
    found = [_compare(policy, space, engine, rule, derive(seed, "aa", k)) for k in range(repetitions)]
    winners = sum(each.verdict.name in ("better", "worse") for each in found)
    return Outcome(
        policy=name,
        repetitions=repetitions,
        pairs=pairs,
        duration_us=duration,
        alpha=rule.alpha,
        winners=winners,
        share=winners / repetitions,
        excluded_zero=sum(each.verdict.direction != "0" for each in found),
        verdicts=dict(Counter(each.verdict.name for each in found)),
        sigma_d=sum(each.sigma_d for each in found) / repetitions,
        cpu_s=round(time.process_time() - began, 1),
    )


def _compare(policy: Policy, space: NetworkSpace, engine: Engine, rule: SettlingRule, seed: int) -> Comparison:
    networks = space.draw(seed, rule.ceiling or 0)
    sides = [
        run_trials(engine, {"it": policy}, networks, [derive(seed, side)], utility("default"), keep_delays=False)
        for side in ("A", "B")
    ]
    a, b = (rows["score_bits"].to_numpy() for rows in sides)
    return compare_policies("A", "B", a, b, utility=DEFAULT, rule=rule)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=300, help="ceiling of each comparison")
    parser.add_argument("--duration", type=float, default=10_000.0, help="µs of a trial")
    parser.add_argument("--policy", default="fixed-window:5", help="a baseline or a policy file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=available_jobs())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.policy, options.repetitions, options.pairs, options.duration, options.seed, options.jobs)
    if options.json:
        print(json.dumps({"rows": [asdict(found)]}))
        return
    size = f"up to {found.pairs} pairs of {found.duration_us:g} µs"
    print(f"{found.policy} against itself, {found.repetitions} times, {size}:")
    print(f"a winner was called {found.winners} times, {found.share:.1%} (at most {found.alpha:.0%} are allowed)")
    print(f"verdicts: {', '.join(f'{count} {name}' for name, count in found.verdicts.items())}; {found.cpu_s} CPU s")


if __name__ == "__main__":
    main()
