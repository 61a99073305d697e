"""Repeated trials of the champions on single networks: where does a signal help?"""

from __future__ import annotations

import pandas as pd

from lcca.evaluation.trials.running import network_rows, run_trials
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import WhereConfig
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.contest import Contest
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network


def where_networks(folder: RunFolder, wanted: WhereConfig) -> list[Network]:
    """Return the networks of these trials; neither training, validation nor the test uses them."""
    return folder.config.networks.draw(derive(folder.config.seed, "where"), wanted.networks)


def run_where(folder: RunFolder, contest: Contest, engine: Engine, costs: Costs) -> pd.DataFrame | None:
    """Run each signal set's champion on every network with every seed; None if the campaign does not ask for it."""
    wanted, store = folder.config.where, TrialStore(folder.path / "trials")
    if wanted is None:
        return None
    part = f"where-{contest.utility.name}"
    if not store.has(part):
        with costs.phase("where") as cost:
            policies = {c.learner.id: c.free for c in contest.champions.values()}
            seeds = [derive(folder.config.seed, "where", k) for k in range(wanted.seeds)]
            rows = run_trials(engine, policies, where_networks(folder, wanted), seeds, contest.utility)
            rows["phase"] = "where"
            store.add(part, rows)
            cost.trials += len(rows)
            cost.packets += int(rows["packets_delivered"].sum())
    return store.read(part)


def where_network_rows(folder: RunFolder) -> pd.DataFrame:
    """Return the networks table of these trials, empty if the campaign does not ask for them."""
    wanted = folder.config.where
    return network_rows(where_networks(folder, wanted)) if wanted else pd.DataFrame()
