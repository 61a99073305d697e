"""What `lcca compare` runs: pairs of trials that differ in the policy alone."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.cli.options.simulators import simulator_for
from lcca.cli.options.trials import setup_on_space
from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utility import Utility
from lcca.experiments.runs.seeds import derive

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairing:
    """Pairs of trials.

    Attributes:
        block: pairs in a block, whose mean is the unit of a rule.
        most: pairs unless the options say otherwise.
        utility: that scores a trial.
        run: returns the rows of a stretch of pairs, A's and then B's (`both`), with score_bits and error.
        weights: what the first so many pairs cost in proportion to each other.
        ideals: returns what is possible in so many pairs from the first; None where nothing is known of that.
    """

    block: int
    most: int
    utility: Utility
    run: Callable[[Block], pd.DataFrame]
    weights: Callable[[int], Sequence[float]]
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

    def run(block: Block) -> pd.DataFrame:
        networks = space.draw(seeds[0], block.size, first_id=block.first)
        return both(
            run_trials(simulator, {name: policy}, networks, [seed], found.utility, keep_delays=False)
            for name, policy, seed in zip((options.a, options.b), found.policies, seeds, strict=True)
        )

    def weights(count: int) -> Sequence[float]:
        return [network.link_rate for network in space.draw(seeds[0], count)]

    def ideals(count: int) -> pd.DataFrame:
        return ideal_scores(space.draw(seeds[0], count), [seeds[0]], found.utility, found.engine.duration)

    return Pairing(space.block, most, found.utility, run, weights, ideals)


def both(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of A and B in one table, told apart by the column `side`: both may be the same policy."""
    return pd.concat([rows.assign(side=side) for rows, side in zip(tables, "AB", strict=True)], ignore_index=True)


def scores_of(parts: Iterable[pd.DataFrame]) -> tuple[Floats, Floats]:
    """Return the scores of A and of B, pair by pair."""
    rows = pd.concat(list(parts), ignore_index=True)
    a, b = (rows.loc[rows["side"] == side, "score_bits"].to_numpy(dtype=np.float64) for side in "AB")
    return a, b
