"""ns-3 as a campaign wants it, and the scores of checkpoints there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.seeds import derive
from lcca.gym_envs.ns3.simulator import Ns3

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.plan import Learner
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.policies.policy import Policy


def ns3_of(run: Run[CampaignConfig, Engine]) -> Ns3:
    """Return ns-3 as a campaign wants it.

    Raises:
        InputError: ns-3 is not installed.
    """
    wanted, engine = run.config.validation.ns3, run.engine
    assert wanted is not None
    return Ns3(engine.duration, engine.model, engine.jobs, wanted.options())


def score_checkpoints(
    run: Run[CampaignConfig, Engine], learner: Learner, checkpoints: dict[str, Policy]
) -> pd.DataFrame:
    """Run checkpoints in ns-3 on the networks that pick the best; the same for all trainings."""
    config, wanted = run.config, run.config.validation.ns3
    assert wanted is not None
    networks = config.network_space.draw(derive(config.seed, "validation"), wanted.networks)
    seeds = [derive(config.seed, "validation", "ns3", k) for k in range(wanted.runs)]
    return run_trials(ns3_of(run), checkpoints, networks, seeds, learner.utility, keep_delays=False)
