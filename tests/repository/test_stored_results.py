"""Results that pages report are of the campaigns that ship: the same seeds, budgets and spaces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.grid import read_grid

ROOT = Path(__file__).parents[2]
CAMPAIGNS = {
    "quickstart": "quickstart",
    "few-rules": "few-rules",
    "drl-ppo": "drl/ppo",
    "ranges": "maps/ranges",
    "ranges-rtt": "maps/ranges-rtt",
    "ranges-senders": "maps/ranges-senders",
    "topologies": "maps/topologies",
    "imperfect-learnt": "headers/imperfect",
    "headers-quickstart": "headers/quickstart",
    "fabric-headers-sprayed": "fabric/headers-sprayed",
    "fabric-hosts-sprayed": "fabric/hosts-sprayed",
    "fabric-hosts-credit": "fabric/hosts-credit",
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_stored_results_are_of_campaigns_that_ship(name: str) -> None:
    stored = json.loads((ROOT / "results" / "reference" / f"{name}.json").read_text(encoding="utf-8"))
    grid = read_grid(ROOT / "configs" / f"{CAMPAIGNS[name]}.yaml", CampaignConfig)
    assert [each["config_hash"] for each in stored.get("points", [stored])] == [c.hash for c in grid.points.values()]
