"""Who should choose the way of each packet? Load balancers, and laws that were learnt, on the same fresh trials.

    python benchmarks/ways.py RUN --trials 40 --others e2e csig-compact-abw --json
    python benchmarks/ways.py --choices

RUN is a run folder of `configs/ai/paths.yaml` or `paths-rings.yaml`, or a folder with its `policies`. All are beside
NSCC, and compared with `mixed` by hashed ways with both repairs (`queue_pairs`, `feedback_per_packet`): differences
in bits of flows' slowdown, or of a job's time over its bound, with 95 % intervals over trials, of laws over trials and
training seeds. With --choices: what a choice, and one with an answer, take.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.fabric.scenario import FabricScenario, read_scenario
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

SCENARIOS = Path("configs/ai/scenarios")
HASHED = ("ways=hashed", "entropies=64")
BALANCERS: dict[str, tuple[str, ...]] = {
    "mixed": HASHED,
    "mixed, without repairs": (*HASHED, "queue_pairs=false", "feedback_per_packet=false"),
    "reps": (*HASHED, "spraying=reps"),
    "bitmap": (*HASHED, "spraying=bitmap"),
    "oblivious": (*HASHED, "spraying=oblivious"),
    "adaptive switches": (*HASHED, "adaptive=true"),
    "mixed, known by leaf": (),
    "reps, known by leaf": ("spraying=reps",),
}
OTHER_WAYS = {", by pair of hosts": ("ways=numbered",), ", hashed": HASHED}
"""What laws of the candidates that say so may know of ways, in place of what one flow to a leaf has heard for all."""

FIRST_SEED = 1_000_000
"""Of the trials, which no training has."""


def scores(policy: Policy, scenario: FabricScenario, trials: int) -> np.ndarray:
    """Return (trials,) scores in bits."""
    utility = fabric_utility("completion" if scenario.has_jobs else "slowdown")
    seeds = range(FIRST_SEED, FIRST_SEED + trials)
    ran = run_fabric_trials(scenario, {"it": engine_of(policy, scenario.settings())}, seeds)
    return np.array([each.score(utility) for each in ran])


def apart(differences: np.ndarray) -> dict[str, float]:
    """Return the mean of (laws, trials) differences with its 95 % interval.

    All laws meet the same trials: half widths over laws and over trials add up in quadrature.
    """
    means = (differences.mean(axis=0), differences.mean(axis=1))
    halves = [t_interval(each)[2] - each.mean() for each in means if len(each) > 1]
    mean, half = float(differences.mean()), float(np.hypot.reduce(halves))
    return {"difference": mean, "low": mean - half, "high": mean + half}


def learnt(run: Path) -> dict[str, list[Policy]]:
    """Return the selected policies of a run by candidate, one for each training seed."""
    found: dict[str, list[Policy]] = {}
    for file in sorted((run / "policies").glob("*.json")):
        found.setdefault(file.name.split(".")[0], []).append(resolve(str(file), "fabric").policy)
    return found


def compared(name: str, laws: dict[str, list[Policy]], trials: int, others: Collection[str]) -> dict[str, Any]:
    """Return what balancers and laws are better by than `mixed` on a scenario."""
    file, nscc = SCENARIOS / f"{name}.yaml", Transport("nscc")
    base = scores(nscc, read_scenario(file, BALANCERS["mixed"]), trials)
    rows: dict[str, Any] = {}
    for balancer, settings in list(BALANCERS.items())[1:]:
        rows[balancer] = apart(scores(nscc, read_scenario(file, settings), trials)[None] - base)
    for candidate, policies in laws.items():
        for what, settings in ({"": ()} | (OTHER_WAYS if candidate in others else {})).items():
            scenario = read_scenario(file, settings)
            own = np.array([scores(each, scenario, trials) - base for each in policies])
            rows[f"law: {candidate}{what}"] = apart(own) | {"seeds": own.mean(axis=1).tolist()}
    return {"scenario": name, "mixed": float(base.mean()), "trials": trials, "rows": rows}


def choice_ns(answers: bool, count: int = 1_000_000) -> float:
    """Return the CPU ns of a packet's choice among eight ways, the least of five; with an answer to one as it goes."""
    law = PathLaw.of(Transport("nscc"), {}, {"available_capacity": -1.0}).compile_on_fabric()
    events = count * (1 + answers)
    echo = np.full(events, -1, dtype=np.int32)
    if answers:
        echo[::2] = 0
    entropy = (np.arange(events) % 8).astype(np.int32)
    now = 10.0 * np.arange(events)
    sent, forms = np.maximum(now - 8000, 0), [[0.3]] * events
    taken = []
    for _ in range(5):
        begin = time.process_time()
        _core.ways_chosen(law, 8, 7, 8000.0, echo, entropy, now, sent, np.full(events, 0.2), forms)
        taken.append(time.process_time() - begin)
    return 1e9 * min(taken) / count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, nargs="?")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--others", nargs="*", default=[], help="candidates whose laws also know ways otherwise")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--choices", action="store_true")
    options = parser.parse_args()
    if options.choices:
        print(f"a choice {choice_ns(False):.0f} ns, with an answer {choice_ns(True):.0f} ns")
        raise SystemExit
    laws = learnt(options.run)
    names = ["hadoop", "hadoop-slow-spine", "hadoop-two-slow-links", "hadoop-failure"]
    names += ["small-numbered", "small-numbered-slow-spine", "small-numbered-failure"]
    found = [compared(name, laws, options.trials, options.others) for name in names]
    if options.json:
        print(json.dumps({"scenarios": found}, separators=(",", ":")))
    else:
        for each in found:
            print(f"{each['scenario']}: mixed {each['mixed']:.3f} bits")
            for name, row in each["rows"].items():
                print(f"  {name:28} {row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]")
