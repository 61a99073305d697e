"""Repeated trials of the selected policies on single networks: on which of them does a signal help?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lcca.evaluation.trials.layout import PER_NETWORK
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.network import Network


def repeated_networks(config: CampaignConfig) -> list[Network]:
    """Return the networks of these trials, none if the campaign does not ask for them.

    Neither training, validation nor the test uses them.
    """
    wanted = config.per_network
    return [] if wanted is None else config.network_space.draw(derive(config.seed, "where"), wanted.networks)


def run_per_network(run: Run[CampaignConfig, Engine], group: Group) -> None:
    """Run each candidate's selected policy on every network with every seed, if the campaign asks for it."""
    config, wanted = run.config, run.config.per_network
    if wanted is None:
        return
    policies = {c.learner.id: c.free for c in group.selected.values()}
    # "where" is a word of the seed alone: another one means other traffic
    seeds = [derive(config.seed, "where", k) for k in range(wanted.seeds)]
    run.phase(PER_NETWORK).part(
        group.utility.name,
        run=lambda: run_trials(run.engine, policies, repeated_networks(config), seeds, group.utility),
    )
