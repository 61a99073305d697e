"""Configurations of trainers by reinforcement, without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from lcca.remy_plus.policies.agents import RateSteering
from lcca.trainers.drl.config import PpoConfig


def test_aurora_is_a_preset_that_may_be_changed() -> None:
    config = PpoConfig.model_validate({"preset": "aurora", "rounds": 6, "steering": {"multiple": 0.05}})
    agent = config.agent(("rtt_ratio",))
    assert (agent.history, agent.decisions.rtts, config.hidden, config.flows) == (10, 0.5, (32, 16), "one")
    assert agent.steering == RateSteering(multiple=0.05)
    assert config.reward.kind == "aurora"
    assert PpoConfig.model_validate(config.model_dump()) == config
    window = PpoConfig.model_validate({"preset": "aurora", "steering": {"kind": "window"}})
    assert window.agent(("rtt_ratio",)).steering.kind == "window"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"steering": {"kind": "window", "initial": 1}}, "initial must be between smallest and largest"),
        ({"curriculum": [{"until": 0.5}]}, "must rise, and end with 1"),
        ({"curriculum": [{"until": 1}, {"until": 1}]}, "must rise, and end with 1"),
        ({"preset": "orca"}, "preset"),
        ({"discount": 1}, "discount"),
    ],
)
def test_impossible_configurations_are_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PpoConfig.model_validate(given)


def test_a_configuration_needs_no_torch() -> None:
    """Campaigns read their files with the base install."""
    code = (
        "import lcca.experiments.learning.training\n"
        "from lcca.trainers.registry import configurations; configurations()['ppo']()\n"
        "import sys; print({'torch', 'stable_baselines3', 'lcca.trainers.drl.trainer'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
