"""Laws that learnt with hosts that note ACKs late, on Linux, beside laws that learnt without.

    tar -xJf results/reference/signals-policies.tar.xz -C OLD
    python benchmarks/linux_laws.py OLD NEW [--seeds 5] [--networks 8] [--trials FILE]

OLD is a folder with policies of `configs/signals.yaml`, NEW one with those of `configs/linux/law.yaml`. Each training
seed meets fresh networks of the default space, all its laws the same ones, milliseconds for microseconds. Printed
as JSON: scores in bits, and what each kind of law has over the one before over training seeds, 95 % by Student's t; on
Linux, and in the engine without jitter and with 50 µs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.signal_sets.load import resolve

SPACE = Path(__file__).parents[1] / "configs/networks/default.yaml"
SECONDS = 10.0
WHERE = {"linux": 0.0, "engine": 0.0, "engine, jitter": 0.05}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--trials", type=Path, default=Path("linux-laws.json"))
    given = parser.parse_args()
    space = read_config(SPACE, NetworkSpace)
    found: dict[str, Any] = json.loads(given.trials.read_text()) if given.trials.is_file() else {}
    for seed in range(1, given.seeds + 1):
        files = {
            "without jitter": law(given.old, "e2e", seed),
            "with jitter": law(given.new, "e2e", seed),
            "with jitter, fair-share": law(given.new, "fair-share", seed),
        }
        for network in space.draw(9000 + seed, given.networks):
            for where, jitter in WHERE.items():
                for name, file in files.items():
                    key = f"{where}: {name}, seed {seed}, network {network.id}"
                    if key in found:
                        continue
                    on = replace(network, jitter=jitter)
                    found[key] = score(where, file, on, seed)
                    given.trials.write_text(json.dumps(found, indent=1))
    print(json.dumps({where: compared(where, given, found) for where in WHERE}, indent=1))


def law(folder: Path, signals: str, seed: int) -> Path:
    """Return the file of a training's selected law, or of its last round while the campaign goes on."""
    training = f"{signals}.default.s{seed}"
    selected = folder / "policies" / f"{training}.json"
    return selected if selected.is_file() else sorted((folder / "policies" / training).glob("round-*.json"))[-1]


def score(where: str, file: Path, network: Any, seed: int) -> dict[str, Any]:
    """Return what a law scores on a network, and its utilisation."""
    scaled = LinuxOptions(time_scale=1000, probe=False)
    simulator = Linux(SECONDS * 1e3, scaled) if where == "linux" else Engine(SECONDS * 1e3, jobs=1)
    policy = resolve(str(file), "linux" if where == "linux" else "engine").policy
    row = run_trials(simulator, {"law": policy}, [network], [seed], utility("default")).iloc[0]
    return {"score_bits": float(row["score_bits"]), "utilisation": float(row["utilisation"]), "error": row["error"]}


def compared(where: str, given: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    """Return each kind's mean score and utilisation, and what it has over the one before, over training seeds."""
    before, rows = None, {}
    for name in ("without jitter", "with jitter", "with jitter, fair-share"):
        trials = [
            [found[f"{where}: {name}, seed {seed}, network {n}"] for n in range(given.networks)]
            for seed in range(1, given.seeds + 1)
        ]
        scores = np.array([[each["score_bits"] for each in own] for own in trials])
        row = {
            "score_bits": float(np.nanmean(scores)),
            "utilisation": float(np.nanmean([[each["utilisation"] for each in own] for own in trials])),
            "failed": sum(bool(each["error"]) for own in trials for each in own),
        }
        if before is not None:
            row |= dict(zip(("over", "low", "high"), t_interval(np.nanmean(scores - before, axis=1)), strict=True))
        before, rows[name] = scores, row
    return rows


if __name__ == "__main__":
    main()
