"""The test phase: all policies on the same fresh networks, block by block, until the comparisons are settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
import pandas as pd

from lcca.campaigns.choose import Chosen
from lcca.campaigns.config import CampaignConfig
from lcca.campaigns.costs import Costs
from lcca.campaigns.runfolder import RunFolder
from lcca.campaigns.seeds import derive
from lcca.evaluation.comparison import Comparison, compare_artifacts, compare_sets
from lcca.evaluation.store import TrialStore
from lcca.evaluation.trials import network_rows, run_trials
from lcca.evaluation.utility import Utility
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network


@dataclass(frozen=True)
class Contest:
    """What is compared under one utility.

    Attributes:
        policies: all trained policies of this utility.
        champions: per signal set, the policy with the best validation score.
    """

    utility: Utility
    policies: list[Chosen]
    champions: dict[str, Chosen]


def contests(chosen: list[Chosen]) -> list[Contest]:
    """Group the policies by utility and pick each signal set's champion."""
    found = []
    for utility in dict.fromkeys(c.learner.utility for c in chosen):
        own = [c for c in chosen if c.learner.utility == utility]
        champions: dict[str, Chosen] = {}
        for c in own:
            best = champions.get(c.learner.signals.name)
            if best is None or c.validation_score_bits > best.validation_score_bits:
                champions[c.learner.signals.name] = c
        found.append(Contest(utility, own, champions))
    return found


def test_networks(config: CampaignConfig, first: int, number: int) -> list[Network]:
    """Return the test networks from number `first` on; each is met with one seed, so network and pair are the same."""
    return config.networks.draw(derive(config.seed, "test"), number, first_id=first)


def run_tests(
    folder: RunFolder, contest: Contest, engine: Engine, costs: Costs, tell: Callable[[int, list[Comparison]], None]
) -> pd.DataFrame:
    """Run blocks of pairs until every champion's comparison is settled or the pairs are used up."""
    config, store = folder.config, TrialStore(folder.path / "trials")
    policies = {c.learner.id: c.table for c in contest.policies}
    blocks: list[pd.DataFrame] = []
    for number in count():
        first = number * config.test.block
        size = min(config.test.block, config.test.pairs - first)
        if size <= 0:
            break
        part = f"test-{contest.utility.name}-{number:05d}"
        if not store.has(part):
            with costs.phase("test") as cost:
                networks = test_networks(config, first, size)
                rows = run_trials(engine, policies, networks, [derive(config.seed, "test")], contest.utility)
                rows["phase"] = "test"
                store.add(part, rows)
                cost.trials += len(rows)
                cost.packets += int(rows["packets_delivered"].sum())
        blocks.append(store.read(part))
        trials = pd.concat(blocks, ignore_index=True)
        found = compare_champions(config, contest, trials, total=1)
        tell(first + size, found)
        if first + size >= config.test.at_least and found and all(c.verdict.settled for c in found):
            break
    return pd.concat(blocks, ignore_index=True)


def scores(trials: pd.DataFrame, policy: str) -> np.ndarray:
    """Return a policy's scores in the order of the pairs; failed trials are NaN."""
    rows = trials[trials["policy"] == policy]
    return rows["score_bits"].where(rows["status"] == "ok").to_numpy(dtype=np.float64)


def compare_champions(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, total: int) -> list[Comparison]:
    """Compare each signal set's champion with the baseline's: artifact level."""
    base = contest.champions[config.baseline].learner.id
    return [
        compare_artifacts(
            base,
            champion.learner.id,
            scores(trials, base),
            scores(trials, champion.learner.id),
            utility=contest.utility.name,
            rule=config.rule,
            comparisons=total,
            throughput_weight=max(contest.utility.throughput_weight, 0.0) or 1.0,
        )
        for name, champion in contest.champions.items()
        if name != config.baseline
    ]


def compare_signal_sets(config: CampaignConfig, contest: Contest, trials: pd.DataFrame, total: int) -> list[Comparison]:
    """Compare signal sets over all their training seeds: set level."""
    by_set: dict[str, dict[int, np.ndarray]] = {}
    for c in contest.policies:
        by_set.setdefault(c.learner.signals.name, {})[c.learner.training_seed] = scores(trials, c.learner.id)
    base = config.baseline
    return [
        compare_sets(
            base,
            name,
            by_set[base],
            found,
            utility=contest.utility.name,
            rule=config.rule,
            comparisons=total,
            throughput_weight=max(contest.utility.throughput_weight, 0.0) or 1.0,
        )
        for name, found in by_set.items()
        if name != base
    ]


def tested_networks(config: CampaignConfig, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the networks table of the test trials."""
    pairs = int(trials["network"].max()) + 1
    return network_rows(test_networks(config, 0, pairs))
