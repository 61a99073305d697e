"""Pairs of trials on a fabric: the same flows under two transports."""

from __future__ import annotations

import argparse

import pandas as pd

from lcca.cli.fabric.options import engines_of, refuse, scenario_of, slowdown_of
from lcca.cli.options.pairing import Pairing, seeds_of
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.trials.blocks import Block

MOST = 256
BLOCK = 4
"""Trials are independent; means of some are less skewed, which is what intervals ask of a unit."""


def pairs_on_fabric(options: argparse.Namespace) -> Pairing:
    """Return the pairs on the flows of the scenario that the options name."""
    refuse(options)
    scenario, utility, seeds = scenario_of(options), slowdown_of(options), seeds_of(options)
    engines = [engines_of(options, [name], scenario.settings()) for name in (options.a, options.b)]

    def run(block: Block) -> list[pd.DataFrame]:
        rows: list[pd.DataFrame] = []
        for engine, first in zip(engines, seeds, strict=True):
            pairs = range(first + block.first, first + block.end)
            trials = run_fabric_trials(scenario, engine, pairs, options.jobs)
            rows.append(pd.DataFrame([each.row(utility) for each in trials]).assign(error=""))
        return rows

    return Pairing(BLOCK, MOST, utility, run)
