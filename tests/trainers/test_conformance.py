"""Every trainer that is registered, and one that another package adds, keeps the contract."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import FixedWindow
from lcca.trainers.base import TrainerConfig
from lcca.trainers.registry import TRAINERS, configurations

from ..fixtures import TINY
from .conformance import TrainerConformance

RPLUS: dict[str, Any] = {"rounds": 2, "passes": 1, "networks": 6, "check_networks": 40, "optimise": ["pacing"]}
GROWN: dict[str, Any] = {
    "rounds": 0,
    "polish": {"networks": 2, "check_networks": 6},
    "grow": {"rules": [1, 3, 5], "pairs": 8, "look_ups": 3},
}
PPO: dict[str, Any] = {"rounds": 2, "steps": 2000, "environments": 8, "hidden": [8], "scores": 4, "tensorboard": False}
PPO |= {"rollout": 512, "batch": 128, "epochs": 2}
PLAIN = {"trials": 60, "terms": "plain", "features": "none"}
LAW: dict[str, Any] = {"networks": 2, "stages": [PLAIN, {"trials": 1100}]}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "rplus": RPLUS,
    "rplus exact": RPLUS | {"mode": "exact", "networks": 4},
    "rplus with a budget": RPLUS | {"budget_trials": 200},
    "rplus polished": RPLUS | {"rounds": 1, "polish": {"networks": 2, "check_networks": 4, "trials_per_rule": 40}},
    "rplus grown": GROWN | {"budget_trials": 600},
    "rplus grown with real windows": GROWN
    | {"budget_trials": 600, "windows": "real", "grow": {"rules": [8, 10], "pairs": 8, "look_ups": 3}},
    "rplus grown without a budget": GROWN | {"polish": {"networks": 2, "check_networks": 4, "trials_per_rule": 50}},
    "law": LAW,
    "law of one stage": LAW | {"stages": LAW["stages"][1:], "population": 4},
    "paths": {"networks": 2, "stages": [{"trials": 60, "features": "own"}, {"trials": 1100, "width": 0.5}]},
    "ppo": PPO,
}
EXAMPLE = Path(__file__).parent / "example_trainer.py"


def test_all_are_here() -> None:
    assert {name.split()[0] for name in CONFIGURATIONS} == set(TRAINERS)


@pytest.mark.parametrize("name", CONFIGURATIONS, scope="class")
class TestRegistered(TrainerConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def config(cls, name: str) -> TrainerConfig:
        kind = name.split()[0]
        if kind == "ppo":
            pytest.importorskip("stable_baselines3")
        return configurations()[kind].model_validate(CONFIGURATIONS[name] | {"kind": kind})


class TestOneFile(TrainerConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def config(cls) -> TrainerConfig:
        spec = importlib.util.spec_from_file_location("example_trainer", EXAMPLE)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["example_trainer"] = module
        spec.loader.exec_module(module)
        found: TrainerConfig = module.WindowSearchConfig(rounds=4)
        return found


@pytest.mark.slow
def test_a_campaign_uses_the_trainer_of_another_package(tmp_path: Path) -> None:
    """One file and an entry point: nothing of lcca knows of it."""
    package = tmp_path / "package"
    about = package / "example-1.0.dist-info"
    about.mkdir(parents=True)
    (package / EXAMPLE.name).write_text(EXAMPLE.read_text())
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[lcca.trainers]\nwindow-search = example_trainer:WindowSearchConfig\n")
    lines = ["trainer: {kind: window-search, rounds: 3}" if x.startswith("trainer") else x for x in TINY.splitlines()]
    (tmp_path / "tiny.yaml").write_text(
        "\n".join(lines).replace("training_seeds: [1, 2]", "training_seeds: [1]") + "\n"
    )
    command = [sys.executable, "-m", "lcca.cli.main", "sweep", "tiny.yaml", "--until", "trained", "--out", "run"]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(package)}, check=True, timeout=120)
    kept = policyfile.read(tmp_path / "run" / "policies" / "loss+rtt.default.s1" / "round-02.json")
    assert isinstance(kept.policy, FixedWindow)
    assert kept.provenance["trainer"] == "window-search"
