"""Where the trials of a campaign's validation and tests come from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.trials.source import NetworkTrials, TrialSource
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.evaluation.scenarios.networks import NetworkSpace
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine


def source_of(
    run: Run[CampaignConfig, Engine],
    seed: int,
    utility: Utility,
    keep_delays: bool = False,
    space: NetworkSpace | FabricSpace | None = None,
) -> TrialSource[Policy]:
    """Return the trials of one seed, of the campaign's space or another; see `NetworkTrials` and `FabricTrials`."""
    space = space or run.config.networks
    if isinstance(space, FabricSpace):
        return FabricTrials(space, seed, fabric_utility(utility.name), run.engine.jobs)
    return NetworkTrials(replace(run.engine, duration=space.duration), space, seed, [seed], utility, keep_delays)
