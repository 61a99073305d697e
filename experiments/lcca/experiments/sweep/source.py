"""Where the trials of a campaign's validation and tests come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.source import TrialSource
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus.policies.policy import Policy

if TYPE_CHECKING:
    from lcca.evaluation.fabric.space import FabricSpace
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
    """Return the trials of one seed, of the campaign's space or another."""
    space = space or run.config.networks
    return space.trials(seed, utility, Execution.of(run.engine), keep_delays=keep_delays)
