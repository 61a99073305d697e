"""Repeated trials on single networks: on which of them does a signal help?

The selected policies meet the same networks; the policies of each training seed meet networks of that seed, for what
holds of signal sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.network_shares import NetworkShares, network_shares, seed_shares
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import PER_NETWORK, of_trainings
from lcca.evaluation.trials.place import Execution
from lcca.experiments.runs.seeds import derive
from lcca.experiments.testing.groups import Group
from lcca.experiments.testing.places import OwnNetworks

if TYPE_CHECKING:
    from lcca.evaluation.trials.source import NetworkTrials
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.testing.chosen import Chosen


def run_per_network(run: CampaignRun, group: Group) -> list[dict[str, Any]]:
    """Run every policy on every network with every seed, if the campaign asks for it.

    The baseline's policy of the training seed before runs on a training seed's networks too: how much two trainings of
    one signal set differ.

    Returns:
        What summary.json holds about it: on what share of networks candidates differ, over training seeds.
    """
    wanted, name = run.config.per_network, group.utility.name
    if wanted is None:
        return []
    policies = {c.learner.id: c.free for c in group.selected.values()}
    place = _place(run, group, wanted.seeds, "where", keep_delays=True)
    run.phase(PER_NETWORK).part(name, run=lambda: place.rows(policies, Block(0, 0, wanted.networks)))
    phase, before = run.phase(of_trainings(PER_NETWORK)), {seed: [each] for seed, each in _consecutive(group)}
    own = OwnNetworks(phase, (name,), place.space, wanted.networks, run.config.test.block)
    contenders = {
        seed: {c.learner.id: c.free for c in (*group.of_seed(seed), *before.get(seed, ()))}
        for seed in group.training_seeds
    }
    title = f"running the trainings on single networks (utility {name})"
    trials = own.run(contenders, _place(run, group, wanted.seeds, "where trainings"), title, run.reporter)
    return seed_shares(_shares(group, trials), run.config.settle.alpha)


def _place(run: CampaignRun, group: Group, count: int, word: str, keep_delays: bool = False) -> NetworkTrials:
    """Return trials with so many seeds on each network; another word means other networks and traffic."""
    seed = run.config.seed
    seeds = [derive(seed, word, k) for k in range(count)]
    execution = Execution.of(run.engine)
    return run.config.network_space.trials(derive(seed, word), group.utility, execution, seeds, keep_delays)


def _consecutive(group: Group) -> list[tuple[int, Chosen]]:
    """Return each training seed but the first with the baseline's policy of the one before."""
    base = {c.learner.training_seed: c for c in group.policies if c.learner.signals.name == group.baseline}
    return [(seed, base[before]) for before, seed in pairwise(group.training_seeds)]


def _shares(group: Group, trials: pd.DataFrame) -> Iterator[NetworkShares]:
    """Yield each training seed's comparisons network by network, candidates by their names.

    As its last one, how the baseline's policy of the seed before, which has the baseline's name, does against its own.
    """
    before = dict(_consecutive(group))
    for seed in group.training_seeds:
        ids = group.ids(seed)
        base = ids[group.baseline]
        yield from _compared(group, trials, base, {ids[name]: name for name in group.others})
        if seed in before:
            yield from _compared(group, trials, base, {before[seed].learner.id: group.baseline})


def _compared(group: Group, trials: pd.DataFrame, base: str, others: dict[str, str]) -> Iterator[NetworkShares]:
    """Compare policies, by the names that `others` gives them, with the baseline's on the networks that both met.

    Policies all of whose trials failed are left out.
    """
    good = trials[trials["status"] == "ok"]
    good = good[good["network"].isin(good[good["policy"] == base]["network"])]
    known = [id for id in others if id in set(good["policy"])]
    if known:
        rows, names = good[good["policy"].isin([base, *known])], {base: group.baseline, **others}
        most = group.rule.unfinished_percent
        yield from network_shares(rows, base, known, utility=group.utility.name, names=names, unfinished_percent=most)
