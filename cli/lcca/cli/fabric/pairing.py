"""Pairs of trials on a fabric: the same flows under two transports."""

from __future__ import annotations

import argparse

import pandas as pd

from lcca.cli.fabric.options import policies_of, refuse, scenario_of, simulator_of, utility_of
from lcca.cli.options.pairing import Pairing, both, seeds_of
from lcca.evaluation.fabric.source import FabricTrials
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials.blocks import Block

MOST = 256


def pairs_on_fabric(options: argparse.Namespace) -> Pairing:
    """Return the pairs on the flows of the scenario that the options name."""
    refuse(options)
    space, utility = FabricSpace(fabric=scenario_of(options)), utility_of(options)
    sides = [
        (policies_of(options, [name]), FabricTrials(space, seed, utility, options.jobs, simulator_of(options)))
        for name, seed in zip((options.a, options.b), seeds_of(options), strict=True)
    ]

    def run(block: Block) -> pd.DataFrame:
        return both(source.rows(policies, block) for policies, source in sides)

    return Pairing(sides[0][1].block, MOST, utility, run, sides[0][1].weights)
