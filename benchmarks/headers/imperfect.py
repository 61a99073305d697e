"""What imperfect numbers of flows cost laws that learnt with exact ones, and a figure of all that was measured.

    python benchmarks/headers/imperfect.py [--networks 240] [--json]
    python benchmarks/headers/imperfect.py --ns3 [--networks 32] [--jobs 2] [--json]
    python benchmarks/headers/imperfect.py --fabric rank [--trials 16] [--json]
    python benchmarks/headers/imperfect.py --figure docs/figures/imperfect

The laws are those of `configs/signals.yaml` (capacity+flows and E2E, six training seeds, 54,000 trials each). With
every header of `configs/headers/imperfect-unseen.yaml`, bytes charged, they meet networks of the default space, the
same for all laws of a training seed; with `--ns3` some of the headers in ns-3, and on the same networks in the engine,
trials of 4 ms. With `--fabric` they are those of `configs/fabric/headers.yaml` (fifteen training
seeds), with the headers of `configs/fabric/imperfect-rank.yaml` or `imperfect-fair-share.yaml`. Differences are means
over training seeds, whose number was known beforehand: Student's intervals, all of a run together at 95 % (Bonferroni),
and verdicts at a margin of 3 %.
The figure has these and what the campaign on imperfect headers has said, from `results/reference`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tarfile
from collections.abc import Callable, Collection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.report.figures.style import HUES, INK, drawing, legend_below, new_figure
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import fabric_utility, utility
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.runs.seeds import derive
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy, WithHeader
from lcca.remy_plus.simulator import Simulator
from lcca.workers.pool import Threads

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "hooks"))
from results import IMPERFECT, imperfection  # noqa: E402

REFERENCE = ROOT / "results" / "reference"
MARGIN_PERCENT = 3.0
FIGURE = ("imperfect-laws", "imperfect-learnt")
TEST_SEED = 9_100_000
BOTH_US = 4_000.0
IN_BOTH = (
    "exact",
    *(f"map_flows.measure.memory_bits-{bits}" for bits in (0, 64, 256, 1024)),
    *("sample_select.prob-0.1", "loss_stamp_loss-0.9", "delay_flows.measure.delay_us-100"),
)
Rows = Callable[[dict[str, Policy], int], pd.DataFrame]
"""The trials of contenders for a training seed."""


def measure(networks: int, simulator: Simulator | None = None, names: Collection[str] = ()) -> dict[str, Any]:
    """Return the mean scores of laws with every header, or those named, by training seed, and the differences.

    They meet networks in a simulator; in the engine for as long as the space says unless one is given.
    """
    config = read_campaign(ROOT / "configs" / "headers" / "imperfect-unseen.yaml")
    space = config.network_space

    def rows(contenders: dict[str, Policy], seed: int) -> pd.DataFrame:
        drawn = space.draw(TEST_SEED + seed, networks)
        wanted = {name: each for name, each in contenders.items() if not names or name in names}
        return run_trials(simulator or Engine(space.duration), wanted, drawn, [seed], utility("default"))

    laws = "signals-policies", "e2e.default", "capacity+flows.default"
    return {"networks": networks, **scored(config, laws, range(1, 7), rows, utility("default"))}


def measure_in_both(networks: int, jobs: int) -> dict[str, Any]:
    """Return the same of some headers by simulator."""
    options = Ns3Options(packet_bytes=PACKET_BYTES)  # what header bytes are charged on in the engine
    simulators = {"ns-3": Ns3(BOTH_US, jobs=jobs, options=options), "engine": Engine(BOTH_US, jobs=jobs)}
    return {name: measure(networks, each, ("e2e", *IN_BOTH)) for name, each in simulators.items()}


def measure_on_fabric(name: str, trials: int) -> dict[str, Any]:
    """Return the same of a header on a fabric."""
    config = read_campaign(ROOT / "configs" / "fabric" / f"imperfect-{name}.yaml")
    space = config.networks
    assert isinstance(space, FabricSpace)

    def rows(contenders: dict[str, Policy], seed: int) -> pd.DataFrame:
        source = space.trials(derive(1, "imperfect", seed), fabric_utility("slowdown"), Execution(pool=Threads(1)))
        return source.rows(contenders, Block(0, 0, trials))

    laws = "fabric-headers-policies", "e2e.slowdown", f"{name}.slowdown"
    return {"trials": trials, **scored(config, laws, range(1, 16), rows, fabric_utility("slowdown"))}


def scored(config: CampaignConfig, laws: tuple[str, str, str], seeds: range, rows: Rows, by: Utility) -> dict[str, Any]:
    """Return what laws of an archive, of E2E and of a header, score: every header of a campaign, by training seeds."""
    archive, *names = laws
    scores: dict[str, list[float]] = {}
    with TemporaryDirectory() as folder:
        with tarfile.open(REFERENCE / f"{archive}.tar.xz") as found:
            found.extractall(folder, filter="data")
        for seed in seeds:
            e2e, law = (policyfile.load(Path(folder, "policies", f"{name}.s{seed}.json")).policy for name in names)
            if isinstance(law, WithHeader):
                law = law.policy
            headers = {each.name: each.equip(law, charged=True) for each in config.candidates if each.header}
            exact = {} if isinstance(config.networks, FabricSpace) else {"free": law}
            means = rows({"e2e": e2e} | exact | headers, seed).groupby("policy")["score_bits"].mean()
            for name, score in means.items():
                scores.setdefault(str(name), []).append(float(score))
    return {"training_seeds": [*seeds], "headers": compared(scores, by)}


def compared(scores: dict[str, list[float]], by: Utility) -> list[dict[str, Any]]:
    """Return every header's scores, and what it is worth against E2E and against exact numbers, in bits."""
    bases = ("e2e", "exact")
    together = sum(name != base for name in scores for base in bases)
    found = []
    for name, own in scores.items():
        row: dict[str, Any] = {"name": name, "scores_bits": own}
        for base in bases:
            if name != base:
                mean, low, high = t_interval(np.array(own) - np.array(scores[base]), 0.05 / together)
                verdict = judge(low, high, by.margin(MARGIN_PERCENT)).name
                row[f"against_{base}"] = {"difference": mean, "low": low, "high": high, "verdict": verdict}
        found.append(row)
    return found


@drawing
def drawn(laws: dict[str, Any], trained: dict[str, Any]) -> Figure:
    """Return what each header is worth: to laws that learnt with exact numbers, and to those that learnt with it."""
    own_rows = {each["name"]: each for each in laws["headers"] if each["name"] not in ("e2e", "free")}
    ends = ("difference", "low", "high")
    worth = {name: [each["against_e2e"][key] for key in ends] for name, each in own_rows.items()}
    names = sorted(worth, key=sized)
    own = {each["header"]: [each["net_set"][key] for key in ends] for each in trained["net_benefit"]["rows"]}
    figure = new_figure(0.5 + 0.24 * len(names))
    ax = figure.subplots()
    for shift, marker, hue, found, label in (
        (0.12, "o", HUES[1], worth, "laws that learnt with exact numbers"),
        (-0.12, "s", HUES[2], own, "laws that learnt with it, fewer trials"),
    ):
        places = {len(names) - at + shift: found[name] for at, name in enumerate(names) if name in found}
        middle, low, high = np.array([*places.values()]).T if places else np.empty((3, 0))
        ax.errorbar(
            middle,
            [*places],
            xerr=[middle - low, high - middle],
            fmt=marker,
            color=hue,
            markersize=4,
            label=label if places else None,
        )
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.set_xscale("symlog", linthresh=0.1, linscale=1.5)
    ticks = (-3, -1, -0.3, -0.1, -0.05, 0, 0.05)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_yticks([len(names) - at for at in range(len(names))], [imperfection(name) for name in names])
    ax.set_xlabel("score against E2E, bits")
    legend_below(figure, ax, 2)
    return figure


def sized(name: str) -> tuple[int, float]:
    """Return where a header stands in the figure: by the kind of its imperfection, then by the size."""
    kind, value = name.partition("_")[0], re.search(r"-(-?[\d.]+)$", name)
    return [*IMPERFECT].index(kind), float(value[1]) if value else 0.0


def main() -> None:
    """Print the differences, or draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, help="of each training seed (default: 240; 32 in ns-3)")
    parser.add_argument("--ns3", action="store_true", help="some headers in ns-3 and in the engine")
    parser.add_argument("--jobs", type=int, default=2, help="threads, or worker processes of ns-3")
    parser.add_argument("--fabric", choices=("rank", "fair-share"), help="a header, on a fabric")
    parser.add_argument("--trials", type=int, default=16, help="of each training seed, on a fabric")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--figure", type=Path, help="draw the figure from results/reference into this file, no ending")
    options = parser.parse_args()
    if options.figure:
        laws, trained = (json.loads((REFERENCE / f"{name}.json").read_text()) for name in FIGURE)
        save_png(drawn(laws, trained), options.figure.parent, options.figure.name)
        return
    found: dict[str, Any]
    if options.ns3:
        found = measure_in_both(options.networks or 32, options.jobs)
    elif options.fabric:
        found = measure_on_fabric(options.fabric, options.trials)
    else:
        found = measure(options.networks or 240)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    for where, part in (found if options.ns3 else {"": found}).items():
        for each in part["headers"]:
            rows = (each.get(f"against_{key}") for key in ("e2e", "exact"))
            cells = ("{difference:+.4f} [{low:+.4f}, {high:+.4f}] {verdict}".format(**row) for row in rows if row)
            print(f"{where:8}{each['name']:40}", *cells)


if __name__ == "__main__":
    main()
