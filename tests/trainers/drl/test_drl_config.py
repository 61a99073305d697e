"""Configurations of trainers by reinforcement, without PyTorch."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.gym_envs.batch.agent_slots import TRIAL_ENDED
from lcca.remy_plus.policies.agents import RateSteering
from lcca.trainers.drl.advantages import advantages, by_network
from lcca.trainers.drl.collector import Experience
from lcca.trainers.drl.config import PpoConfig, RecurrentPpoConfig, SacConfig


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
    ("kind", "given", "message"),
    [
        (PpoConfig, {"steering": {"kind": "window", "initial": 1}}, "initial must be between smallest and largest"),
        (PpoConfig, {"curriculum": [{"until": 0.5}]}, "must rise, and end with 1"),
        (PpoConfig, {"curriculum": [{"until": 1}, {"until": 1}]}, "must rise, and end with 1"),
        (PpoConfig, {"preset": "orca"}, "preset"),
        (PpoConfig, {"discount": 1}, "discount"),
        (SacConfig, {"steering": {"kind": "table"}}, "sac says numbers"),
        (SacConfig, {"privileged": True}, "privileged"),
        (RecurrentPpoConfig, {"cells": 0}, "cells"),
    ],
)
def test_impossible_configurations_are_told(kind: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        kind.model_validate(given)


def test_a_configuration_needs_no_torch() -> None:
    """Campaigns read their files with the base install."""
    code = (
        "import lcca.experiments.sweep.learning.training\n"
        "from lcca.trainers.registry import configurations; configurations()['ppo']()\n"
        "import sys; print({'torch', 'stable_baselines3', 'lcca.trainers.drl.trainer'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"


def experience(**columns: Any) -> Experience:
    """Experience of which only these columns matter."""
    n = len(columns["slot"])
    empty = np.zeros((n, 1), dtype=np.float32)
    flat = {name: np.zeros(n) for name in ("reward", "elapsed", "common", "ended", "first", "network", "step")}
    wide = {name: empty for name in ("view", "action", "kept", "after", "state", "state_after")}
    return Experience(**{**wide, **flat, **{name: np.array(column) for name, column in columns.items()}})


def test_advantages_run_along_each_slot_and_stop_at_ends() -> None:
    """Two slots; slot 1's flow ends after its first decision, slot 0's decisions come at steps 0, 1 and 3."""
    rows = experience(slot=[0, 1, 0, 1, 0], step=[0, 0, 1, 2, 3], ended=[0, TRIAL_ENDED, 0, 0, 0])
    reward = np.array([1, 2, 3, 4, 5], dtype=np.float32)
    value, after = np.full(5, 0.5, np.float32), np.full(5, 0.25, np.float32)
    discount = np.array([0.5, 0.5, 0.25, 0.5, 0.5], dtype=np.float32)
    found = advantages(rows, reward, value, after, discount, gae=0.8)
    surprise = reward + discount * after - value
    last, middle = surprise[4], surprise[2] + 0.25 * 0.8 * surprise[4]
    expected = [surprise[0] + 0.5 * 0.8 * middle, surprise[1], middle, surprise[3], last]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_advantages_are_scaled_within_networks() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.normal(5, 10, 200), random.normal(-3, 0.1, 100), [7.0]]).astype(np.float32)
    network = np.repeat([0, 2, 3], [200, 100, 1])
    scaled = by_network(values, network)
    for which in (0, 2):
        assert abs(scaled[network == which].mean()) < 1e-4
        assert scaled[network == which].std() == pytest.approx(1, abs=1e-4)
    assert abs(scaled[-1]) < 3  # alone on its network: scaled as all are
