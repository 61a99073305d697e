"""The truth check of a campaign: its champions, and baselines beside them, in ns-3 on fresh networks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.agreement import agreements, order_flips
from lcca.evaluation.comparison.compare import Comparison, compare_artifacts
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import CampaignConfig, Ns3Config
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.contest import Contest, scores
from lcca.experiments.sweep.ns3_check import ns3_of
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy, baseline
from lcca.remy_plus.simulator import Simulator
from lcca.remy_plus.topology import Topology

BLOCK = 10
"""Networks between two signs of life, which is also what a killed run can lose."""


def run_truth(
    folder: RunFolder, contest: Contest, engine: Engine, costs: Costs, tell: Callable[[int, str], None]
) -> pd.DataFrame:
    """Run all champions of a contest in ns-3 and in the fast engine on fresh networks, per topology.

    Returns:
        The trials of both simulators, with a column ``topology``; baselines that the engine does not have are in
        ns-3's alone. Empty if the campaign does not ask for ns-3.
    """
    wanted, store = folder.config.validation.ns3, TrialStore(folder.path / "trials")
    if wanted is None:
        return pd.DataFrame()
    simulators: list[Simulator] = [engine, ns3_of(folder.config, engine)]
    done, blocks = 0, []
    for kind in wanted.topologies:
        for first in range(0, wanted.networks, BLOCK):
            part = f"ns3-{contest.utility.name}-{_word(kind)}-{first // BLOCK:05d}"
            networks = _networks(folder.config, wanted, kind, first)
            if not store.has(part):
                with costs.phase("ns3") as cost:
                    rows = _both(folder.config, contest, wanted, simulators, networks)
                    store.add(part, rows.assign(phase="ns3", topology=kind))
                    cost.trials += len(rows)
                    cost.packets += int(rows["packets_delivered"].sum())
            blocks.append(store.read(part))
            done += len(networks)
            tell(done, f"{kind}: {first + len(networks)} of {wanted.networks} networks")
    return pd.concat(blocks, ignore_index=True)


def _word(topology: str) -> str:
    """Return a topology's text as a part of a file name."""
    return re.sub("[^a-z0-9]+", "-", topology)


def _networks(config: CampaignConfig, wanted: Ns3Config, kind: str, first: int) -> list[Network]:
    count = min(BLOCK, wanted.networks - first)
    drawn = config.networks.draw(derive(config.seed, "ns3"), count, first_id=first)
    return [replace(network, topology=Topology.of(kind)) for network in drawn]


def _both(
    config: CampaignConfig, contest: Contest, wanted: Ns3Config, simulators: list[Simulator], networks: list[Network]
) -> pd.DataFrame:
    champions: dict[str, Policy] = {c.learner.id: c.charged for c in contest.champions.values()}
    beside: dict[str, Policy] = {name: baseline(name) for name in wanted.baselines}
    engine, real = simulators
    seeds = [derive(config.seed, "ns3", k) for k in range(wanted.runs)]
    rows = [
        run_trials(engine, champions, networks, seeds, contest.utility),
        run_trials(real, champions | beside, networks, seeds, contest.utility),
    ]
    return pd.concat(rows, ignore_index=True)


def truth_summary(config: CampaignConfig, contest: Contest, trials: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what ns-3 says, a record per topology: comparisons, and how far the fast engine agrees."""
    found = []
    for topology, rows in trials.groupby("topology", sort=False):
        fast, real = (rows[(rows["simulator"] == "engine") == engine] for engine in (True, False))
        flips = order_flips(fast, real)
        found.append(
            {
                "utility": contest.utility.name,
                "topology": str(topology),
                "simulator": str(real["simulator"].iloc[0]),
                "failed": int((real["status"] != "ok").sum()),
                "comparisons": [c.to_json() for c in _comparisons(config, contest, real)],
                "agreement": [a.to_json() for a in agreements(fast, real, str(topology))],
                "order_flips": [
                    {"engine_prefers": f.better_in_first, "ns3_prefers": f.better_in_second, "settled": f.matters}
                    for f in flips
                ],
            }
        )
    return found


def _comparisons(config: CampaignConfig, contest: Contest, real: pd.DataFrame) -> list[Comparison]:
    """Compare everything that ran in ns-3 with the baseline signal set's champion."""
    base = contest.champions[config.baseline].learner.id
    others = [name for name in dict.fromkeys(real["policy"]) if name != base]
    return [
        compare_artifacts(
            base,
            name,
            scores(real, base),
            scores(real, name),
            utility=contest.utility,
            rule=config.rule,
            comparisons=max(len(others), 1),
        )
        for name in others
    ]
