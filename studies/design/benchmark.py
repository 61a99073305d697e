"""How often a search is wrong, and whether its screening orders headers as full trainings do.

    python studies/design/benchmark.py null --searches 20       # placebos alone: how often does one seem to pay?
    python studies/design/benchmark.py planted --searches 20    # exact counts of flows among placebos: are they found?
    python studies/design/benchmark.py order RUN --headers 24   # of a search's headers, trained by a campaign

It prints what it has as it goes; what is there in `--out` is not done again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from lcca.evaluation.trials import layout
from lcca.experiments.recipes.sweep import sweep
from lcca.experiments.runs.grid import read_one
from lcca.studies.design.config import DesignConfig
from lcca.studies.design.listing import Listing, Tried
from lcca.studies.design.recipe import design

STARTER = Path(__file__).parent / "lcca/studies/design/starter.yaml"

SMALL = [
    *("search.placebos=8", "search.codes=0", "search.finalists=2", "search.bits=[8]", "search.keep=0.5"),
    *("training_seeds={first: 6, most: 7}", "trainer.stages.0.trials=2000", "trainer.stages.2.trials=200"),
]
PLANTED = ["search.sources=[flows]", "search.oracles=true", "search.memories=[8]"]


def searches(kind: str, count: int, out: Path, jobs: int) -> None:
    """Run searches by seeds 1, 2, …, and print what each finds and how many are right so far."""
    right = 0
    for seed in range(1, count + 1):
        keys = [
            *SMALL,
            *(PLANTED if kind == "planted" else ["search.sources=[]"]),
            f"seed={seed}",
            f"name={kind}-{seed}",
        ]
        config = read_one(str(STARTER), DesignConfig, keys)
        found = design(config, out=out / f"{kind}-{seed}", jobs=jobs, resume=True).content
        taken = [row["header"] for row in found["confirmed"] if row["decision"] == "pays"]
        wanted = any(name.startswith("flows") for name in taken) and not found["placebo_pays"]
        right += wanted if kind == "planted" else not taken
        rows = "; ".join(f"{row['header']} {row['difference']:+.4f} ({row['decision']})" for row in found["confirmed"])
        print(f"{kind} {seed}: {rows}: {right} of {seed} right", flush=True)


def order(run: Path, count: int, seeds: int, out: Path, jobs: int) -> None:
    """Train headers of a search fully, by a campaign, and print rank correlations with its screens."""
    config = read_one(str(run / layout.CONFIG), DesignConfig)
    listing = Listing(config.search, config.ground)
    singles = [*listing.singles, *listing.placebos]
    known = {each.name: each for each in singles}
    first = _screened(run, config, [*known])
    chosen = sorted(known, key=lambda name: -first[name])
    chosen = [chosen[i] for i in np.linspace(0, len(chosen) - 1, min(count, len(chosen))).round().astype(int)]
    taken: list[Tried] = [known[name] for name in chosen]
    content = config.model_dump(mode="json", exclude={"search"}) | {
        "name": f"{config.name}-order",
        "headers": [each.header.model_dump(mode="json") for each in taken],
        "training_seeds": list(range(101, 101 + seeds)),
    }
    from lcca.experiments.campaign.config import CampaignConfig

    found = sweep(CampaignConfig.model_validate(content), out=out, jobs=jobs, resume=True).content
    full = {row["header"]: row["net_set"]["difference"] for row in found["net_benefit"]["rows"]}
    for name in chosen:
        print(f"{name:32s} screened {first[name]:+.4f} trained {full[name]:+.4f}")
    pairs = np.array([(first[name], full[name]) for name in chosen])
    best = pairs[:, 0] >= np.median(pairs[:, 0])
    print(f"Spearman over {len(chosen)} headers: {spearmanr(*pairs.T).statistic:.2f}", end="; ")
    print(f"over the better half: {spearmanr(*pairs[best].T).statistic:.2f}")


def _screened(run: Path, config: DesignConfig, names: list[str]) -> dict[str, float]:
    """Return the order of the first screening of a run."""
    summary: dict[str, Any] = json.loads((run / layout.SUMMARY).read_text(encoding="utf-8"))
    return {row["header"]: row["screened"] for row in reversed(summary["tried"]) if row["header"] in names}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "planted", "order"))
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--headers", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/design-benchmark"))
    given = parser.parse_args()
    if given.what == "order":
        order(given.run, given.headers, given.seeds, given.out / "order", given.jobs)
    else:
        searches(given.what, given.searches, given.out, given.jobs)
