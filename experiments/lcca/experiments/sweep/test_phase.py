"""The test phase: all policies on the same fresh networks, block by block, until the comparisons are settled."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.trials.running import network_rows, run_trials
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.contest import Contest, compare_champions
from lcca.experiments.sweep.net_benefit import header_worth
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy


def test_networks(config: CampaignConfig, first: int, number: int) -> list[Network]:
    """Return the test networks from number `first` on; each is met with one seed, so network and pair are the same."""
    return config.networks.draw(derive(config.seed, "test"), number, first_id=first)


def run_tests(
    folder: RunFolder, contest: Contest, engine: Engine, costs: Costs, tell: Callable[[int, list[Comparison]], None]
) -> pd.DataFrame:
    """Run blocks of pairs until every champion's comparison is settled or the pairs are used up."""
    config, store = folder.config, TrialStore(folder.path / "trials")
    policies = tested_policies(contest)
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
        found += [row.net for row in header_worth(config, contest, trials, total=1) if row.cost]
        tell(first + size, found)
        if first + size >= config.test.at_least and found and all(c.verdict.settled for c in found):
            break
    return pd.concat(blocks, ignore_index=True)


def tested_policies(contest: Contest) -> dict[str, Policy]:
    """Return every policy with its header free, and those whose headers have bytes with these charged too."""
    free = {c.learner.id: c.free for c in contest.policies}
    return free | {c.learner.id + CHARGED: c.charged for c in contest.policies if c.learner.candidate.costs}


def tested_networks(config: CampaignConfig, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the networks table of the test trials."""
    pairs = int(trials["network"].max()) + 1
    return network_rows(test_networks(config, 0, pairs))
