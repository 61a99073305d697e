"""What hard networks in a training change: the mean, the worst tenth of fresh networks, the hard networks.

    lcca sweep configs/quickstart.yaml --until trained --out without
    lcca sweep studies/stress/configs/quickstart.yaml --until trained --out with
    python benchmarks/training/hard_networks.py without with --hard studies/stress/configs/hard-e2e.yaml

The last policies of all trainings of both runs meet the same fresh networks of the space; training seeds are paired.
"Worst tenth" is of a policy's own networks: by its score, and by how far it is below the fair share of an ideal.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.layout import POLICIES, checkpoint_files
from lcca.evaluation.trials.policy_names import words_of
from lcca.experiments.recipes.evaluate import evaluate
from lcca.experiments.runs.seeds import derive
from lcca.inputs.json_values import interval


def worst_tenth(values: pd.Series[float]) -> float:
    """Return the mean over the tenth of networks with the least values (expected shortfall: Acerbi and Tasche 2002)."""
    known = np.sort(values.dropna().to_numpy())
    return float(known[: -(-known.size // 10)].mean())


def main() -> None:
    """Print a JSON record per signal set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("without", type=Path, help="folder of the sweep without hard networks")
    parser.add_argument("beside", type=Path, help="folder of the sweep with them, with the same training seeds")
    parser.add_argument("--hard", type=Path, required=True, help="the list of hard networks")
    parser.add_argument("--on", type=Path, default=Path("configs/networks/default.yaml"), help="the space")
    parser.add_argument("--networks", type=int, default=320, help="fresh networks")
    parser.add_argument("--seeds", type=int, default=4, help="trials on each")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    options = parser.parse_args()
    rows = measured(options.without, options) + measured(options.beside, options)
    table = pd.DataFrame(rows).pivot(index=["signal_set", "seed"], columns="run")
    found = {name: effects(table.loc[name].dropna()) for name in dict.fromkeys(table.index.get_level_values(0))}
    how = {"networks": options.networks, "seeds": options.seeds, "unit": "bits", "intervals": "95 %, each by itself"}
    print(json.dumps(how | {"signal_sets": found}, indent=1))


def measured(folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what the last policies of all finished trainings of a sweep measure; trials are kept beside its folder."""
    names = sorted(each.name for each in (folder / POLICIES).iterdir() if each.is_dir())
    trained = {name: checkpoint_files(folder, name) for name in names}
    rounds = max(map(len, trained.values()))
    files = {str(own[-1]): name for name, own in trained.items() if len(own) == rounds}

    def trials(word: str, on: Path, seeds: int, networks: int | None) -> pd.DataFrame:
        how: dict[str, Any] = {"trials": networks, "seed": derive(1, word), "seeds": seeds, "jobs": options.jobs}
        found = evaluate([*files], on, out=folder.with_name(f"{folder.name}-{word}"), resume=True, **how).rows
        assert (found["status"] == "ok").all() and set(found["policy"]) == set(files)
        return found

    fresh, hard = trials("fresh", options.on, options.seeds, options.networks), trials("hard", options.hard, 40, None)
    records = []
    for file, name in files.items():
        words = words_of(name, "default")
        assert words is not None
        own = fresh[fresh["policy"] == file].groupby("network")
        scores, below = own["score_bits"].mean(), own["below_fair_bits"].mean()
        records.append(
            {
                "run": "without" if folder == options.without else "with",
                "signal_set": words[0],
                "seed": words[1],
                "mean": float(scores.mean()),
                "worst tenth by score": worst_tenth(scores),
                "worst tenth by distance from equal shares": worst_tenth(-below),
                "hard networks": float(hard.loc[hard["policy"] == file, "score_bits"].mean()),
            }
        )
    return records


def effects(table: pd.DataFrame) -> dict[str, Any]:
    """Return what every measure is without and with hard networks, and the difference over training seeds."""
    found: dict[str, Any] = {"training_seeds": len(table)}
    for measure in dict.fromkeys(table.columns.get_level_values(0)):
        without, beside = (table[measure][run].to_numpy(dtype=np.float64) for run in ("without", "with"))
        found[measure] = {
            "without": float(without.mean()),
            "with": float(beside.mean()),
            "difference": interval(*t_interval(beside - without)),
        }
    return found


if __name__ == "__main__":
    main()
