"""A formula that equals a signal is learnt with as the signal, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import Task, run
from lcca.trainers.law.config import LawConfig
from lcca.trainers.law.trainer import LawTrainer
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer

NETWORKS = read_config(Path(__file__).parents[2] / "configs/networks/default.yaml", NetworkSpace)
INCAST = {
    "name": "incast",
    "topology": {"kind": "star", "hosts": 9},
    "workload": {"kind": "incast", "senders": 8, "bytes": 60_000, "period_us": 100},
    "duration_us": 90,
}
FABRIC = FabricSpace.model_validate({"fabric": [INCAST]})
GROWN: dict[str, Any] = {
    "rounds": 0,
    "polish": {"networks": 2, "check_networks": 4},
    "grow": {"rules": [1, 2], "pairs": 8, "look_ups": 4},
    "budget_trials": 400,
}
SEARCHED: dict[str, Any] = {"rounds": 2, "passes": 1, "networks": 4, "check_networks": 4, "optimise": ["increment"]}


def rules(config: dict[str, Any], task: Task) -> Policy:
    return run(RplusTrainer(task, RplusConfig.model_validate(config), Engine(2000.0, jobs=1)))


def law(task: Task) -> Policy:
    stages = [{"trials": 60, "terms": "plain", "features": "none"}, {"trials": 200}]
    return run(LawTrainer(task, LawConfig.model_validate({"stages": stages, "networks": 4}), Engine(2000.0, jobs=1)))


def pair(space: NetworkSpace | FabricSpace, score: str) -> tuple[Task, Task]:
    sets = (("rtt_ratio", "receive_ewma", name) for name in ("queue", "mine [packets] = queue"))
    one, two = (Task("task", signals, space, utility(score), 5) for signals in sets)
    return one, two


@pytest.mark.parametrize(
    ("config", "space", "score"),
    [(GROWN, NETWORKS, "default"), (SEARCHED | {"prune": False}, NETWORKS, "default"), (GROWN, FABRIC, "slowdown")],
    ids=["grown", "searched", "on-a-fabric"],
)
def test_rules(config: dict[str, Any], space: NetworkSpace | FabricSpace, score: str) -> None:
    plain, own = (rules(config, task) for task in pair(space, score))
    assert isinstance(plain, RuleTable) and isinstance(own, RuleTable)
    assert own.signals[2] == "mine [packets] = queue" and len(plain) > 1
    for name in ("lower", "upper", "increment", "multiple", "pacing"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(own, name))


def test_laws() -> None:
    plain, own = (law(task) for task in pair(NETWORKS, "default"))
    assert isinstance(plain, Law) and isinstance(own, Law)
    assert own.inputs == ("mine [packets] = queue",) and any(own.features[-1])
    assert (plain.terms, plain.features) == (own.terms, own.features)
