"""Where trials come from: networks of a space, or the flows of a fabric; by number, and the same for all policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import pandas as pd

from lcca.evaluation.trials.blocks import Block, InBlocks
from lcca.evaluation.trials.layout import STRATUM
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.evaluation.trials.utility import Utility
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import Simulator

P = TypeVar("P", contravariant=True)


class TrialSource(InBlocks, Protocol[P]):
    """Numbered trials. What a number means follows from the source alone, so that all policies meet the same."""

    @property
    def unit(self) -> str:
        """What is numbered, in the plural."""

    @property
    def origin(self) -> Mapping[str, str]:
        """What the trials are, for reports: the simulator, and where they take place."""

    @property
    def utility(self) -> Utility:
        """Scores a trial."""

    def weights(self, count: int) -> Sequence[float]:
        """Return what the first so many trials cost in proportion to each other, as far as is known before."""

    def rows(self, policies: Mapping[str, P], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of trials.

        Returns:
            A row per policy and trial, policy by policy, with at least the columns policy, network (number of the
            trial), seed, score_bits, status ("ok" or "failed") and error.

        Raises:
            InputError: what cannot be run here.
        """


class OnPlace:
    """What a source has of the place that its trials are drawn from."""

    space: Any

    @property
    def unit(self) -> str:
        """What is numbered, in the plural."""
        return str(self.space.unit)

    @property
    def block(self) -> int:
        """Trials in a block of the place."""
        return int(self.space.block)

    def whole(self, count: int) -> int:
        """Return a number of trials rounded up to whole blocks; less than a block stays as it is."""
        return int(self.space.whole(count))


class Networks(InBlocks, Protocol):
    """A space or a list of networks."""

    @property
    def duration(self) -> float:
        """Of a trial, µs."""

    @property
    def topology(self) -> object:
        """Of the networks; its text names it."""

    def draw(self, seed: int, count: int, first_id: int = 0) -> list[Network]:
        """Return networks first_id … first_id + count − 1; each depends on the seed and its own number alone."""

    def stratum(self, number: int) -> str:
        """Return the name of the part that a network is of; empty where there are no parts."""


@dataclass(frozen=True)
class NetworkTrials(OnPlace):
    """Trials on networks of a space.

    Attributes:
        simulator: runs them.
        space: trial k is on its network k.
        seed: networks are drawn by it.
        seeds: of the trials on each network.
        utility: scores a trial.
        keep_delays: whether percentiles of delays are wanted.
        keep_phases: whether what is lost by phase is wanted, which the fast engine alone tells.
    """

    simulator: Simulator
    space: Networks
    seed: int
    seeds: Sequence[int]
    utility: Utility
    keep_delays: bool = False
    keep_phases: bool = False

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator and the topology."""
        return {"simulator": self.simulator.name, "topology": str(self.space.topology)}

    def weights(self, count: int) -> Sequence[float]:
        """Return rates of links: what a trial costs is nearly in proportion to the packets that it carries."""
        return [network.link_rate for network in self.space.draw(self.seed, count)]

    def rows(self, policies: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run every policy on a stretch of networks; columns as in the trials table, network by network."""
        networks = self.space.draw(self.seed, block.size, first_id=block.first)
        keep = {"keep_delays": self.keep_delays, "keep_phases": self.keep_phases}
        rows = run_trials(self.simulator, policies, networks, self.seeds, self.utility, **keep)
        strata = [self.space.stratum(number) for number in rows["network"]]
        return rows.assign(**{STRATUM: strata}) if any(strata) else rows


def keeping_phases(place: TrialSource[Policy]) -> TrialSource[Policy]:
    """Return a source whose trials keep what is lost by phase; itself where its simulator or utility has none."""
    if not isinstance(place, NetworkTrials) or not isinstance(place.utility, ThroughputDelay):
        return place
    return replace(place, keep_phases=place.simulator.name == "engine")
