"""The verb that runs a campaign, and alone needs what campaigns need."""

from __future__ import annotations

from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lcca.experiments.verbs.options import File, Written
from lcca.inputs.options import Count, argument, frozen, option

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.grid import Grid

    Campaign: TypeAlias = File | CampaignConfig | Grid[CampaignConfig]
else:
    Campaign = Any

TRAINING_CACHE = Path("results") / "training-cache"


@frozen
class Sweep(Written):
    """`lcca sweep`."""

    campaign: Campaign = argument("the campaign's YAML file", name="config", read=Path)
    _: KW_ONLY
    training_cache: File | None = option(
        f"finished trainings, used and added to (default: {TRAINING_CACHE}; none with --out)", metavar="FOLDER"
    )
    trainings: Count = option(
        "trainings in parallel, each in a process on one thread, with --executor ray on the cluster (default 1: each "
        "in turn, on all threads); never changes a result",
        1,
        metavar="N",
    )
    until: Literal["trained"] | None = option(
        "end after the trainings of the first training seeds; the same command without it goes on"
    )
