"""What `lcca compare` runs: pairs of trials that differ in the policy alone."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from lcca.cli.options.simulators import simulator_for
from lcca.cli.options.trials import setup_on_space
from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.runs.seeds import derive


@dataclass(frozen=True)
class Pairing:
    """Pairs of trials.

    Attributes:
        block: pairs in a block, whose mean is the unit of a rule.
        most: pairs unless the options say otherwise.
        utility: that scores a trial.
        run: returns the rows of a stretch of pairs, A's and B's, with score_bits and error.
        ideals: returns what is possible in so many pairs from the first; None where nothing is known of that.
    """

    block: int
    most: int
    utility: Utility
    run: Callable[[Block], list[pd.DataFrame]]
    ideals: Callable[[int], pd.DataFrame] | None = None

    def whole(self, count: int) -> int:
        """Return a number of pairs rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else -(-count // self.block) * self.block


def seeds_of(options: argparse.Namespace) -> tuple[int, int]:
    """Return the seeds of A and B: the same unless their traffic is to differ."""
    first = derive(options.seed, "compare")
    return first, derive(options.seed, "compare", "private") if options.private_seeds else first


def pairs_on_networks(options: argparse.Namespace, most: int) -> Pairing:
    """Return the pairs on fresh networks of the space that the options name."""
    options.utility = options.utility or "default"
    found, space = setup_on_space(options, [options.a, options.b])
    simulator, seeds = simulator_for(options, found.engine), seeds_of(options)

    def run(block: Block) -> list[pd.DataFrame]:
        networks = space.draw(seeds[0], block.size, first_id=block.first)
        return [
            run_trials(simulator, {"policy": policy}, networks, [seed], found.utility, keep_delays=False)
            for policy, seed in zip(found.policies, seeds, strict=True)
        ]

    def ideals(count: int) -> pd.DataFrame:
        return ideal_scores(space.draw(seeds[0], count), [seeds[0]], found.utility, found.engine.duration)

    return Pairing(space.block, most, found.utility, run, ideals)
