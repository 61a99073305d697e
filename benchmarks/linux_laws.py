"""Laws that learnt with hosts that note ACKs late, on Linux, beside laws that learnt without.

    tar -xJf results/reference/signals-policies.tar.xz -C OLD
    tar -xJf results/reference/linux-law-policies.tar.xz -C NEW
    python benchmarks/linux_laws.py OLD NEW [--seeds 5] [--networks 8] [--more 160] [--trials FILE]

OLD is a folder with policies of `configs/signals.yaml`, NEW one with those of `configs/linux/law.yaml`. Each training
seed meets fresh networks of the default space, all its laws the same ones, milliseconds for microseconds. Printed
as JSON: scores in bits, and what each kind of law has over the one before over training seeds, 95 % by Student's t; on
Linux, and in the engine without jitter and with 50 µs; in the engine on more networks too.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from itertools import pairwise
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
KINDS = ("without jitter", "with jitter", "with jitter, fair-share")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--networks", type=int, default=8)
    parser.add_argument("--more", type=int, default=160, help="networks of a seed in the engine")
    parser.add_argument("--trials", type=Path, default=Path("linux-laws.json"))
    given = parser.parse_args()
    space = read_config(SPACE, NetworkSpace)
    found: dict[str, Any] = json.loads(given.trials.read_text()) if given.trials.is_file() else {}
    for seed in range(1, given.seeds + 1):
        files = [law(given.old, "e2e", seed), law(given.new, "e2e", seed), law(given.new, "fair-share", seed)]
        for at, network in enumerate(space.draw(9000 + seed, max(given.networks, given.more))):
            for where, jitter in WHERE.items():
                if where == "linux" and at >= given.networks:
                    continue
                for name, file in zip(KINDS, files, strict=True):
                    key = f"{where}: {name}, seed {seed}, network {network.id}"
                    if key not in found:
                        found[key] = score(where, file, replace(network, jitter=jitter), seed)
            given.trials.write_text(json.dumps(found, indent=1))
    few, all_networks = range(given.networks), range(given.more)
    rows = {where: compared(scores(where, few, given, found)) for where in WHERE}
    for where in ("engine", "engine, jitter"):
        rows[f"{where}, {given.more} networks"] = compared(scores(where, all_networks, given, found))
    print(json.dumps(rows, indent=1))


def law(folder: Path, signals: str, seed: int) -> Path:
    """Return the file of a training's selected law, or of its last round while the campaign goes on."""
    training = f"{signals}.default.s{seed}"
    selected = folder / "policies" / f"{training}.json"
    return selected if selected.is_file() else sorted((folder / "policies" / training).glob("round-*.json"))[-1]


def score(where: str, file: Path, network: Any, seed: int) -> dict[str, Any]:
    """Return what a law scores on a network; NaN if the trial does not count."""
    scaled = LinuxOptions(time_scale=1000, probe=False)
    simulator = Linux(SECONDS * 1e3, scaled) if where == "linux" else Engine(SECONDS * 1e3, jobs=1)
    policy = resolve(str(file), "linux" if where == "linux" else "engine").policy
    row = run_trials(simulator, {"law": policy}, [network], [seed], utility("default")).iloc[0]
    return {"score_bits": float("nan") if row["error"] else float(row["score_bits"]), "error": row["error"]}


def scores(where: str, networks: range, given: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    """Return scores of each kind of law in bits, training seeds by networks; NaN where a trial does not count."""
    return {
        name: np.array(
            [
                [found[f"{where}: {name}, seed {seed}, network {n}"]["score_bits"] for n in networks]
                for seed in range(1, given.seeds + 1)
            ]
        )
        for name in KINDS
    }


def failed(of_kind: Any) -> int:
    return int(np.isnan(of_kind).sum())


def compared(of_kinds: dict[str, Any]) -> dict[str, Any]:
    """Return each kind's mean score, and what it has over the one before, over training seeds."""
    rows = {name: {"score_bits": float(np.nanmean(each)), "failed": failed(each)} for name, each in of_kinds.items()}
    for before, name in pairwise(KINDS):
        over = np.nanmean(of_kinds[name] - of_kinds[before], axis=1)
        rows[name] |= dict(zip(("over", "low", "high"), t_interval(over), strict=True))
    return rows


if __name__ == "__main__":
    main()
