"""Configurations of trainers by reinforcement, without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from lcca.inputs.validation import read_config
from lcca.remy_plus.files.policyfile import PolicyFile, write
from lcca.remy_plus.policies.agents import LawSteering, RateSteering
from lcca.remy_plus.policies.law import Law
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
        ({"steering": {"kind": "law"}}, "steering.law.law"),
        ({"steering": {"kind": "law", "law": "none.json"}}, "none.json"),
        ({"steering": {"kind": "law", "law": "configs/policies/e2e.json"}}, "not a law"),
        ({"steering": {"kind": "law", "law": {"terms": {"increse": 1}}}}, "did you mean 'increase'"),
    ],
)
def test_impossible_configurations_are_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PpoConfig.model_validate(given)


def test_a_law_is_read_from_its_file(tmp_path: Path) -> None:
    """Its numbers are in the configuration, so that a training is another one when they change."""
    law = Law.of({"increase": -1.5}, {"age_2": (0.1, 0.0, 0.25)})
    write(tmp_path / "law.json", PolicyFile(law))
    path = tmp_path / "ppo.yaml"
    path.write_text("kind: ppo\nsteering: {kind: law, law: law.json, scale: 0.25}\n", encoding="utf-8")
    config = read_config(path, PpoConfig)
    assert config.agent(("rtt_ratio",)).steering == LawSteering(law, 0.25)
    assert PpoConfig.model_validate_json(config.model_dump_json()) == config


@pytest.mark.slow
def test_a_configuration_needs_no_torch() -> None:
    """Campaigns read their files with the base install."""
    code = (
        "import lcca.experiments.learning.training\n"
        "from lcca.trainers.registry import configurations; configurations()['ppo']()\n"
        "import sys; print({'torch', 'stable_baselines3', 'lcca.trainers.drl.trainer'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
