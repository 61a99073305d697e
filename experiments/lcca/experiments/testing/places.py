"""Where a campaign's policies are tested: numbered trials of a space, and of each training seed on networks of its own.

What a signal set or a header is worth is a statement about training with it, whose unit is a training seed
(`lcca.evaluation.comparison.sets`): so no two training seeds are tested on the same networks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.trials.blocks import Block, InBlocks, RunBlock, equal_blocks
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.source import TrialSource
from lcca.experiments.experiment import Answer, Experiment, Stop, Trials
from lcca.experiments.runs.blocks import Phase

if TYPE_CHECKING:
    from lcca.evaluation.trials.utility import Utility
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.campaign.trials import Networks
    from lcca.experiments.runs.progress import Reporter
    from lcca.remy_plus.policies.policy import Policy


def place_of(
    run: CampaignRun, seed: int, utility: Utility, space: Networks | None = None, keep_delays: bool = False
) -> TrialSource[Policy]:
    """Return the trials of one seed, of the campaign's space or another."""
    return (space or run.config.networks).trials(seed, utility, Execution.of(run.engine), keep_delays=keep_delays)


def keeping_flows(place: TrialSource[Policy]) -> TrialSource[Policy]:
    """Return a source whose trials keep what the figure of merit is made of; itself where that is not a fabric."""
    return replace(place, keep_flows=True) if isinstance(place, FabricTrials) else place


def in_ns3(run: CampaignRun) -> Execution:
    """Return how a campaign wants trials to be run in ns-3."""
    wanted = run.config.validation.ns3
    assert wanted is not None
    return replace(Execution.of(run.engine), simulator="ns3", ns3=wanted.options())


@dataclass(frozen=True, eq=False)
class OwnNetworks:
    """Tests of training seeds, each on networks that no other one meets, kept piece by piece.

    Attributes:
        phase: of the run.
        words: that tell its parts apart, but for the training seed.
        space: that networks are drawn from: each training seed begins with a whole block, since networks of one block
            are not independent.
        networks: of a training seed.
        step: networks that are run and kept at a time, rounded up to whole blocks.
    """

    phase: Phase
    words: tuple[str, ...]
    space: InBlocks
    networks: int
    step: int

    @property
    def pieces(self) -> list[Block]:
        """The networks of a training seed in the pieces in which they are kept, numbered from 0."""
        return list(equal_blocks(self.space.block * -(-self.step // self.space.block), self.networks))

    def kept(self, seed: int) -> bool:
        """Tell whether all networks of a training seed have been met."""
        return all(self.phase.has(*self._words(seed, piece)) for piece in self.pieces)

    def run(
        self,
        contenders: Mapping[int, Mapping[str, Policy]],
        place: TrialSource[Policy],
        title: str,
        reporter: Reporter,
    ) -> pd.DataFrame:
        """Return the trials of all training seeds, seed by seed.

        `contenders` are by training seed and id; the place numbers trials of all training seeds together.
        """
        parts = [(seed, piece) for seed in contenders for piece in self.pieces]

        def run_trials(_: Mapping[str, Any], block: Block) -> pd.DataFrame:
            seed, piece = parts[block.number]
            return place.rows(contenders[seed], replace(piece, first=self._first(seed, piece)))

        def keep(block: Block, run_block: RunBlock[pd.DataFrame]) -> pd.DataFrame:
            seed, piece = parts[block.number]
            rows = self.phase.part(*self._words(seed, piece), run=lambda: run_block(block))
            first = self._first(seed, piece)
            return rows[rows["network"].between(first, first + piece.size - 1)]

        def progress(trials: Trials) -> Answer:
            seed, piece = parts[len(trials.parts) - 1]
            return Answer(None, False, False, words=f"training seed {seed}: {piece.end} networks")

        ends = list(accumulate(piece.size for _, piece in parts))
        stop, each = Stop(ends[-1], when="never", ends=ends), max(map(len, contenders.values()))
        return Experiment(place, {}, [progress], stop, title, run_trials, each=each).run(keep, reporter).rows

    def _first(self, seed: int, piece: Block) -> int:
        return seed * self.space.block * -(-self.networks // self.space.block) + piece.first

    def _words(self, seed: int, piece: Block) -> tuple[str | int, ...]:
        """Return what names the part with a piece: all of a training seed's, where that was kept whole before."""
        whole: tuple[str | int, ...] = (*self.words, seed)
        return (*whole, piece.number) if len(self.pieces) > 1 and not self.phase.has(*whole) else whole
