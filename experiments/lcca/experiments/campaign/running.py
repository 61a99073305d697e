"""A campaign that runs: its folder, configuration and engine."""

from typing import TypeAlias

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.context import Run
from lcca.remy_plus.engine import Engine

CampaignRun: TypeAlias = Run[CampaignConfig, Engine]
