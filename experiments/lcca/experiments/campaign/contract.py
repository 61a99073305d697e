"""What a campaign says to those who check, plan and train it: less than all of its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lcca.evaluation.trials.utilities import UtilityModel
    from lcca.experiments.campaign.trials import GeneralisationConfig, Networks, PerNetworkConfig, ValidationConfig
    from lcca.inputs.model import Model
    from lcca.remy_plus.policies.rules import RuleTable
    from lcca.signal_sets.candidate import Candidate
    from lcca.signal_sets.signal_set import SignalSet
    from lcca.trainers.base import TrainerConfig


class Campaign(Protocol):
    """What a campaign says (see `lcca.experiments.campaign.config.CampaignConfig`)."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""

    @property
    def baseline(self) -> str:
        """The name of the set that others are compared with."""

    @property
    def base(self) -> SignalSet:
        """That set."""

    @property
    def start(self) -> object:
        """What searches begin with: "scratch", "baseline", or tables by name."""

    @property
    def starts(self) -> Mapping[str, RuleTable]:
        """Those tables."""

    @property
    def rivals(self) -> str:
        """Whether trainings go on from one another: "subsets", or "none"."""

    @property
    def networks(self) -> Networks:
        """Where trials are."""

    @property
    def generalisation(self) -> Sequence[GeneralisationConfig]:
        """Where else they are."""

    @property
    def validation(self) -> ValidationConfig:
        """Networks that pick checkpoints."""

    @property
    def per_network(self) -> PerNetworkConfig | None:
        """Repeated trials on single networks."""

    @property
    def utilities(self) -> Sequence[UtilityModel]:
        """What scores trials."""

    @property
    def hand_designed(self) -> Sequence[str]:
        """Policies that are tested beside what is learnt."""

    @property
    def model(self) -> Model:
        """Options of networks."""

    @property
    def named_trainers(self) -> Mapping[str, TrainerConfig]:
        """How it learns, by name."""

    @property
    def candidates(self) -> Sequence[Candidate]:
        """What it compares."""
