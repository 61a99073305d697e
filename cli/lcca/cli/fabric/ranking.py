"""What `lcca rank --fabric` ranks: transports on the flows of fresh seeds."""

from __future__ import annotations

import argparse

from lcca.cli.fabric.options import policies_of, refuse, scenario_of, simulator_of, utility_of
from lcca.cli.options.ranking import Contest
from lcca.evaluation.fabric.source import FabricTrials
from lcca.evaluation.fabric.space import FabricSpace
from lcca.experiments.campaign.config import require
from lcca.experiments.runs.seeds import derive

MOST = 256


def contest_on_fabric(options: argparse.Namespace) -> Contest:
    """Return the transports that the options name, on the scenario that they name.

    Raises:
        InputError: something is asked for that a fabric has not.
    """
    require(options.networks is None, "--networks: not with --fabric; --seeds says how many trials there may be")
    refuse(options)
    space = FabricSpace(fabric=scenario_of(options))
    source = FabricTrials(space, derive(options.seed, "rank"), utility_of(options), options.jobs, simulator_of(options))
    policies = policies_of(options, options.policies)
    return Contest(source, policies, "--seeds", options.seeds or MOST, {})
