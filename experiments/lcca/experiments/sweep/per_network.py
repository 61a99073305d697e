"""Repeated trials on single networks: on which of them does a signal help?

The selected policies meet the same networks; the policies of each training seed meet networks of that seed, for what
holds of signal sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.per_network import NetworkShares, network_shares
from lcca.evaluation.comparison.seed_shares import seed_shares
from lcca.evaluation.trials.layout import PER_NETWORK
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group
from lcca.experiments.sweep.own_networks import trials_on_own_networks

if TYPE_CHECKING:
    from lcca.evaluation.trials.blocks import Block
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.network import Network
    from lcca.remy_plus.policies.policy import Policy


def repeated_networks(config: CampaignConfig) -> list[Network]:
    """Return the networks of the selected policies' trials, none if the campaign does not ask for them.

    Neither training, validation nor the test uses them.
    """
    wanted = config.per_network
    return [] if wanted is None else config.network_space.draw(derive(config.seed, "where"), wanted.networks)


def run_per_network(run: Run[CampaignConfig, Engine], group: Group) -> list[dict[str, Any]]:
    """Run every policy on every network with every seed, if the campaign asks for it.

    Returns:
        What summary.json holds about it: on what share of networks candidates differ, over training seeds.
    """
    config, wanted = run.config, run.config.per_network
    if wanted is None:
        return []
    policies = {c.learner.id: c.free for c in group.selected.values()}
    # "where" is a word of the seed alone: another one means other traffic
    seeds = [derive(config.seed, "where", k) for k in range(wanted.seeds)]
    run.phase(PER_NETWORK).part(
        group.utility.name,
        run=lambda: run_trials(run.engine, policies, repeated_networks(config), seeds, group.utility),
    )
    trials = _of_trainings(run, group, wanted.networks, wanted.seeds)
    found = seed_shares([*_candidates(group, trials), *_luck(group, trials)], config.settle.alpha)
    return [row.to_json() for row in found]


def _of_trainings(run: Run[CampaignConfig, Engine], group: Group, networks: int, count: int) -> pd.DataFrame:
    """Return the trials of all trainings, each training seed on networks of its own, `count` seeds of traffic each.

    The baseline's policy of the training seed before runs on them too: how much two trainings of one signal set differ.
    """
    config = run.config
    drawn = derive(config.seed, "where trainings")
    seeds = [derive(config.seed, "where trainings", k) for k in range(count)]
    before = dict(_consecutive(group))

    def policies_of(seed: int) -> dict[str, Policy]:
        others = [c for c in group.policies if c.learner.id == before.get(seed)]
        return {c.learner.id: c.free for c in (*group.of_seed(seed), *others)}

    def run_seed(policies: dict[str, Policy], block: Block) -> pd.DataFrame:
        own = config.network_space.draw(drawn, block.size, first_id=block.first)
        return run_trials(run.engine, policies, own, seeds, group.utility, keep_delays=False)

    title = f"running the trainings on single networks (utility {group.utility.name})"
    part = (PER_NETWORK, group.utility.name)
    return trials_on_own_networks(run, group, part, config.network_space, networks, policies_of, run_seed, title)


def _consecutive(group: Group) -> list[tuple[int, str]]:
    """Return each training seed but the first with the id of the baseline's policy of the one before."""
    return [(seed, group.ids(before)[group.baseline]) for before, seed in pairwise(group.training_seeds)]


def _candidates(group: Group, trials: pd.DataFrame) -> Iterator[NetworkShares]:
    """Yield each training seed's comparisons network by network, candidates by their names."""
    for seed in group.training_seeds:
        ids = group.ids(seed)
        yield from _compared(group, trials, ids[group.baseline], {ids[name]: name for name in group.others})


def _luck(group: Group, trials: pd.DataFrame) -> Iterator[NetworkShares]:
    """Yield the comparisons of the baseline's policy of each training seed with that of the seed before."""
    for seed, before in _consecutive(group):
        base = group.ids(seed)[group.baseline]
        yield from _compared(group, trials, base, {before: group.baseline})


def _compared(group: Group, trials: pd.DataFrame, base: str, others: dict[str, str]) -> Iterator[NetworkShares]:
    """Compare policies, by the names that `others` gives them, with the baseline's on the networks that both met.

    Policies all of whose trials failed are left out.
    """
    good = trials[trials["status"] == "ok"]
    good = good[good["network"].isin(good[good["policy"] == base]["network"])]
    known = [id for id in others if id in set(good["policy"])]
    if known:
        rows, names = good[good["policy"].isin([base, *known])], {base: group.baseline, **others}
        yield from network_shares(rows, base, known, utility=group.utility.name, names=names)
