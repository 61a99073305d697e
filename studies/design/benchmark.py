"""How often a search is wrong, whether screening orders headers as trainings do, and what is left of a confirmed worth.

    python studies/design/benchmark.py null --searches 20       # placebos alone: how often does one seem to pay?
    python studies/design/benchmark.py planted --searches 20    # exact counts of flows among placebos: are they found?
    python studies/design/benchmark.py nested               # does a law lose by knowing more? All signals, two chains
    python studies/design/benchmark.py order CONFIG SUMMARY     # headers of a search, trained by a campaign
    python studies/design/benchmark.py third CONFIG SUMMARY     # what a search has confirmed, on a third set of seeds

CONFIG is the file of a search and SUMMARY the `summary.json` that it wrote. What is there in `--out` is not done again.
It also gets the file from which the page has its table: `null.json` and so on, and `NAME-order.json` of a search NAME.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from scipy.stats import t as student

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.recipes.sweep import sweep
from lcca.experiments.runs.grid import read_one
from lcca.remy_plus.core.signals import CARRIED
from lcca.studies.design.config import DesignConfig
from lcca.studies.design.listing import Listing, Tried
from lcca.studies.design.recipe import design

STARTER = Path(__file__).parent / "lcca/studies/design/starter.yaml"

SMALL = [
    *("search.placebos=8", "search.codes=0", "search.finalists=2", "search.bits=[8]", "search.keep=0.5"),
    *("training_seeds={first: 6, most: 7}", "trainer.stages.0.trials=2000", "trainer.stages.2.trials=200"),
]
PLANTED = ["search.sources=[flows]", "search.oracles=true", "search.memories=[8]"]

ORDER_SEEDS = 101
"""The first training seed of those that order headers; searches begin at 1."""

THIRD_SEEDS = 201
"""The first of those that ask again what is confirmed."""

NESTED_SEEDS = 301

CARRIED_ALONE = tuple(name for name, carried in CARRIED.items() if name == carried and name not in ("load", "rank"))
"""Signals of networks without a header: averages of others, and what headers alone make, are not counted."""

Json = dict[str, Any]


def searches(what: str, count: int, out: Path, jobs: int) -> Json:
    """Run searches by seeds 1, 2, …, and print what each finds and how many are right so far."""
    rows, right = list[Json](), 0
    for seed in range(1, count + 1):
        planted = PLANTED if what == "planted" else ["search.sources=[]"]
        config = read_one(str(STARTER), DesignConfig, [*SMALL, *planted, f"seed={seed}", f"name={what}-{seed}"])
        found = design(config, out=out / f"{what}-{seed}", jobs=jobs, resume=True).content
        taken = [row["header"] for row in found["confirmed"] if row["decision"] == "pays"]
        wanted = any(name.startswith("flows") for name in taken) and not found["placebo_pays"]
        right += wanted if what == "planted" else not taken
        keys = ("header", "difference", "low", "high", "decision")
        rows.append({"seed": seed, "confirmed": [{key: row[key] for key in keys} for row in found["confirmed"]]})
        text = "; ".join(f"{row['header']} {row['difference']:+.4f} ({row['decision']})" for row in found["confirmed"])
        print(f"{what} {seed}: {text}: {right} of {seed} right", flush=True)
    return {"searches": rows, "right": right}


def nested(seeds: int, out: Path, jobs: int) -> Json:
    """Train laws that know ever more signals of the network, in two orders, and print what each one more brings."""
    config = read_one(str(STARTER), DesignConfig, [])
    own, rows = config.base.signals, list[Json]()
    for turn, order in enumerate((CARRIED_ALONE, CARRIED_ALONE[::-1]), 1):
        names = ["e2e", *(f"with-{count}" for count in range(1, len(order) + 1))]
        sets = [{"name": n, "title": n, "signals": [*own, *order[: i + 1]]} for i, n in enumerate(names[1:])]
        content = config.model_dump(mode="json", exclude={"search"}) | {
            **{"name": f"nested-{turn}", "signal_sets": ["e2e", *sets]},
            "training_seeds": [NESTED_SEEDS + i for i in range(seeds)],
        }
        found = sweep(CampaignConfig.model_validate(content), out=out / f"nested-{turn}", jobs=jobs, resume=True)
        scores = {row["name"]: np.array(row["scores_bits"]) for row in found.content["signal_sets"]}
        for signal, before, after in zip(order, names[:-1], names[1:], strict=True):
            more = scores[after] - scores[before]
            half = student.ppf(0.975, seeds - 1) * more.std(ddof=1) / np.sqrt(seeds)
            rows.append({"signal": signal, "beside": names.index(before), "order": turn, "difference": more.mean()})
            rows[-1] |= {"low": more.mean() - half, "high": more.mean() + half}
            ends = f"[{rows[-1]['low']:+.4f}, {rows[-1]['high']:+.4f}]"
            print(
                f"order {turn}: {signal:20s} beside {rows[-1]['beside']} others {more.mean():+.4f} {ends}", flush=True
            )
    return {
        "seeds": seeds,
        "pairs": [{k: v if isinstance(v, str | int) else float(v) for k, v in r.items()} for r in rows],
    }


def order(config: DesignConfig, summary: Json, count: int, seeds: int, out: Path, jobs: int) -> Json:
    """Train headers of a search fully, by a campaign, and print rank correlations with its first screening."""
    known, screened = _single(config), _screened(summary)
    names = sorted((name for name in known if name in screened), key=lambda name: -screened[name])
    at = np.linspace(0, len(names) - 1, min(count, len(names))).round().astype(int)
    rows = [{"header": names[i], "screened": screened[names[i]]} for i in at]
    net = _trained(config, [known[row["header"]] for row in rows], "order", (ORDER_SEEDS, seeds), out, jobs)
    for row in rows:
        row["trained"] = net[row["header"]]["difference"]
        print(f"{row['header']:32s} screened {row['screened']:+.4f} trained {row['trained']:+.4f}")
    pairs = np.array([(row["screened"], row["trained"]) for row in rows])
    upper = pairs[pairs[:, 0] >= np.median(pairs[:, 0])]
    found = {"spearman": spearmanr(*pairs.T).statistic, "spearman_of_better_half": spearmanr(*upper.T).statistic}
    print(f"Spearman over {len(rows)} headers {found['spearman']:.2f}", end=", ")
    print(f"over the better half {found['spearman_of_better_half']:.2f}")
    return {"headers": rows, "seeds": seeds, **{key: float(value) for key, value in found.items()}}


def third(config: DesignConfig, summary: Json, seeds: int, out: Path, jobs: int) -> Json:
    """Confirm once more what a search has confirmed, and print whether it lies within the interval that was said."""
    screened = _screened(summary, last=True)
    known = {each.name: each for each in _every(config, [row["header"] for row in summary["confirmed"]])}
    net = _trained(config, list(known.values()), "third", (THIRD_SEEDS, seeds), out, jobs)
    rows = []
    for row in summary["confirmed"]:
        name = row["header"]
        rows.append({"header": name, "screened": screened[name], "confirmed": row["difference"]})
        rows[-1] |= {"low": row["low"], "high": row["high"], "third": net[name]["difference"]}
        rows[-1]["within"] = row["low"] <= net[name]["difference"] <= row["high"]
        text = (
            f"screened {screened[name]:+.4f} confirmed {row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"
        )
        print(f"{name:32s} {text} third {net[name]['difference']:+.4f}")
    return {"headers": rows, "seeds": seeds}


def _trained(
    config: DesignConfig, tried: list[Tried], name: str, seeds: tuple[int, int], out: Path, jobs: int
) -> dict[str, Json]:
    """Return the net benefit of headers by a campaign on training seeds and networks of its own."""
    content = config.model_dump(mode="json", exclude={"search"}) | {
        **{"name": f"{config.name}-{name}", "headers": [each.header.model_dump(mode="json") for each in tried]},
        **{"training_seeds": [seeds[0] + i for i in range(seeds[1])], "seed": config.seed + seeds[0]},
    }
    found = sweep(CampaignConfig.model_validate(content), out=out / f"{config.name}-{name}", jobs=jobs, resume=True)
    return {row["header"]: row["net_set"] for row in found.content["net_benefit"]["rows"]}


def _single(config: DesignConfig) -> dict[str, Tried]:
    """Return the headers of one number of a search, placebos too."""
    listing = Listing(config.search, config.ground)
    return {each.name: each for each in [*listing.singles, *listing.placebos]}


def _every(config: DesignConfig, names: list[str]) -> list[Tried]:
    """Return headers of a search by their names, whatever their numbers, windows and bits."""
    listing = Listing(config.search, config.ground)
    labels = {each.label(bits): (each, bits) for each in listing.numbers for bits in range(1, 17)}
    labels |= {tried.name: tried.numbers[0] for tried in listing.placebos}
    return [Tried(tuple(labels[part] for part in name.split("+"))) for name in names]


def _screened(summary: Json, last: bool = False) -> dict[str, float]:
    """Return what the first or the last screening of each header found."""
    rows = summary["tried"] if last else reversed(summary["tried"])
    return {row["header"]: row["screened"] for row in rows}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("null", "planted", "nested", "order", "third"))
    parser.add_argument("files", nargs="*", type=Path, metavar="CONFIG SUMMARY")
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--headers", type=int, default=24)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/design-benchmark"))
    given = parser.parse_args()
    if given.what in ("null", "planted"):
        name, content = given.what, searches(given.what, given.searches, given.out, given.jobs)
    elif given.what == "nested":
        name, content = given.what, nested(given.seeds, given.out, given.jobs)
    else:
        file, kept = given.files
        read, said = read_one(str(file), DesignConfig, []), json.loads(kept.read_text(encoding="utf-8"))
        name = f"{read.name}-{given.what}"
        if given.what == "order":
            content = order(read, said, given.headers, given.seeds, given.out, given.jobs)
        else:
            content = third(read, said, given.seeds, given.out, given.jobs)
    (given.out / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
