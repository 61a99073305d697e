"""Who gains by adopting a policy, who pays for it, and what a law loses where some switches do not write.

    python studies/adoption/benchmark.py [--out results/adoption] [--jobs 2] [--only NAME]

Trainings are those of `results/reference`; each is tested on traffic of its own. What is there is not run again; half
an hour of CPU time. Writes
`results/adoption.json`, of which `results.md` has the tables.
"""

from __future__ import annotations

import argparse
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import SUMMARY
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.recipes.compare import compare
from lcca.experiments.runs.seeds import derive
from lcca.inputs.json_values import json_value
from lcca.signal_sets.load import resolve
from lcca.workers.pool import Threads

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = Path(__file__).resolve().parent / "results"
DEFAULT = ROOT / "configs" / "networks" / "default.yaml"
SCENARIOS = ROOT / "configs" / "fabric" / "scenarios"
DCTCP = "dctcp:g=0.0049,increase_gbps=4.46@step:k_bdps=0.195"
HPCC = "hpcc:eta=0.974,increase_gbps=0.0111,loss_factor=0.339,most_stages=1"
PLACES, SEEDS, TRIALS = ("hadoop-incast-lossy", "websearch-lossy"), 15, 16  # on fabrics
SHARES = (0.1, 0.5)
FABRIC = {"shares": SHARES, "trials": TRIALS}
DEPLOYMENTS: Mapping[str, Sequence[str]] = {
    "all": (),
    "ToRs": ("stamping.switches=tor",),
    "spines": ("stamping.switches=spine",),
    "half": ("stamping={switches: random, share: 0.5}",),
}


def trainings(archive: str, folder: Path) -> Path:
    """Unpack the policies of an archive, or of a cache the last round of every training, and return their folder."""
    target = folder / archive.replace("/", "-")
    with tarfile.open(REFERENCE / f"{archive}.tar.xz") as found:
        for member in () if target.exists() else found.getmembers():
            file = found.extractfile(member)
            text = "" if file is None else file.read().decode()
            name = Path(member.name).name
            if name.endswith(".training"):
                rounds = json.loads(text.split("\n", 1)[1])["rounds"]
                text = rounds[max(rounds)]
                policy = json.loads(text)
                known = policy["provenance"]
                name = f"{policy['signal_set']}.{known['utility']}.s{known['training_seed']}.json"
            if name.endswith(".json"):
                target.mkdir(parents=True, exist_ok=True)
                (target / name).write_text(text, encoding="utf-8")
    return target


def several(folder: Path, name: str, seeds: int) -> str:
    """Return trainings as the command names them."""
    return f"{folder}/{name}.s{{{','.join(map(str, range(1, seeds + 1)))}}}.json"


def questions(folder: Path) -> dict[str, tuple[str, str, Path, dict[str, Any]]]:
    """Return by name what is asked: adopted, other, place, options."""
    laws, tables = trainings("signals-policies", folder), trainings("paper/utilities-trainings", folder)
    fabric = trainings("fabric-headers-policies", folder)
    asked: dict[str, tuple[str, str, Path, dict[str, Any]]] = {}
    e2e = several(laws, "e2e.default", 6)
    for name in ("capacity+flows", "link+queue", "fair-rate"):
        asked[f"{name}|e2e"] = several(laws, f"{name}.default", 6), e2e, DEFAULT, {"shares": SHARES, "trials": 256}
    for utility in ("2t", "2d"):
        both = (several(tables, f"e2e.{each}", 8) for each in ("2t", "2d"))
        asked[f"2t|2d by {utility}"] = (*both, DEFAULT, {"shares": SHARES, "trials": 128, "utility": utility})
    for where, simulator in {"ns-3": "ns3:header_bytes=0", "the engine": "engine"}.items():
        how = {"trials": 48, "shares": (0.5,), "simulator": simulator, "overrides": ("duration=4000",)}
        for name in ("capacity+flows", "link+queue"):
            asked[f"{name}|e2e in {where}"] = several(laws, f"{name}.default", 6), e2e, DEFAULT, how
        both = (several(tables, f"e2e.{each}", 8) for each in ("2t", "2d"))
        asked[f"2t|2d by 2t in {where}"] = (*both, DEFAULT, how | {"utility": "2t"})
        if where == "ns-3":
            asked[f"e2e|cubic in {where}"] = e2e, "cubic", DEFAULT, how
    plain = several(fabric, "e2e.slowdown", SEEDS)
    for place in PLACES:
        scenario = SCENARIOS / f"{place}.yaml"
        for name in ("rank", "fair-share"):
            asked[f"{name}|e2e on {place}"] = several(fabric, f"{name}.slowdown", SEEDS), plain, scenario, FABRIC
        for name, other in {"DCTCP": DCTCP, "DCQCN": "dcqcn", "HPCC": HPCC}.items():
            asked[f"e2e|{name} on {place}"] = plain, other, scenario, FABRIC
    return asked


def deployed(folder: Path, place: str, name: str, jobs: int) -> list[dict[str, Any]]:
    """Compare a law whose header some switches write with the law without a header, over training seeds."""
    fabric, utility = trainings("fabric-headers-policies", folder), fabric_utility("slowdown")
    rule = BY_KIND["t-mixture"](kind="t-mixture", margin_percent=3.0, alpha=0.05, ceiling=24, first_look=3)
    scores: dict[str, dict[int, float]] = {}
    for deployment, overrides in {"e2e": (), **DEPLOYMENTS}.items():
        space = FabricSpace(fabric=read_scenario(SCENARIOS / f"{place}.yaml", overrides))
        law = "e2e" if deployment == "e2e" else name
        for seed in range(1, SEEDS + 1):
            policy = resolve(str(fabric / f"{law}.slowdown.s{seed}.json"), "fabric").policy
            source = space.trials(derive(1, "deployed", seed), utility, Execution(pool=Threads(jobs)))
            rows = source.rows({law: policy}, Block(0, 0, TRIALS))
            scores.setdefault(deployment, {})[seed] = float(rows["score_bits"].mean())
    together = 2 * len(DEPLOYMENTS) - 1
    found = []
    for deployment in DEPLOYMENTS:
        for other in ("e2e",) if deployment == "all" else ("e2e", "all"):
            row = compare_sets(
                *(other, deployment, scores[other], scores[deployment]),
                utility=utility, rule=rule, comparisons=together,
            )  # fmt: skip
            found.append({"law": name, "place": place, **row.to_json()})
    return found


def main() -> None:
    """Run what is missing and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "adoption")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for name, (adopted, other, place, how) in questions(options.out / "policies").items():
        folder = options.out / name.replace("|", "-").replace(" ", "-")
        if options.only in name:
            if not (folder / SUMMARY).exists():
                compare(other, adopted, place, out=folder, resume=True, jobs=options.jobs, **how)
            result = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
            kept = ("adopted", "other", "utility", "simulator", "trainings", "trials", "adoption", "everyone", "alone")
            found[name] = {key: result[key] for key in kept} | {"place": place.stem}
            print(name, *(f"{each['share']:g}: {each['says']}" for each in result["adoption"]), sep="\n  ", flush=True)
    stamping = options.out / "stamping.json"
    if options.only in ("", "stamping") and not stamping.exists():
        laws = ("rank", "fair-share", "hpcc")
        policies = options.out / "policies"
        rows = [row for place in PLACES for law in laws for row in deployed(policies, place, law, options.jobs)]
        stamping.write_text(json.dumps(json_value(rows)), encoding="utf-8")
    if not options.only:
        whole = {"adoption": found, "stamping": json.loads(stamping.read_text(encoding="utf-8"))}
        text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
        (REFERENCE / "adoption.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
