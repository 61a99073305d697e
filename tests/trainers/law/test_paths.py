"""Learning of laws that choose ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.trials.utilities import fabric_utility, utility
from lcca.experiments.campaign.config import CampaignConfig
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import Policy, WithHeader
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import header_signals, stamping
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task, run
from lcca.trainers.law.paths import PathsConfig
from lcca.trainers.law.trainer import LawTrainer

from ..conformance import SPACE as NETWORKS

SPACE = FabricSpace.model_validate(
    {
        "fabric": {
            "name": "slow",
            "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 4, "spines": 4},
            "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.3, "load_of": "host-links"},
            "events": [{"at_us": 0, "link": [8, 10], "gbps": 20}, {"at_us": 0, "link": [9, 10], "gbps": 20}],
            "duration_us": 100,
            "drain_us": 5000,
            "spraying": "mixed",
            "entropies": 4,
            "ways": "shared",
            "queue_pairs": True,
            "switch": {"queue_bdps": 1, "thresholds": "current"},
        }
    }
)


def trainer(stages: list[dict[str, Any]], header: str = "", **keys: Any) -> LawTrainer:
    signals, stamped = signal_set("e2e").signals, None
    if header:
        described = named_header(header)
        signals, stamped = (*signals, *header_signals(described)), stamping(described)
    task = Task(header or "e2e", signals, SPACE, utility("slowdown"), 3, header=stamped)
    config = PathsConfig.model_validate({"stages": stages, "networks": 4, "population": 8} | keys)
    return LawTrainer(task, config, Engine(1.0, jobs=2))


def score(policy: Policy) -> float:
    scenario = SPACE.scenarios[0]
    trials = run_fabric_trials(scenario, {"it": engine_of(policy, scenario.settings())}, range(900, 930))
    return float(np.nanmean([each.score(fabric_utility("slowdown")) for each in trials]))


def test_a_header_that_shows_the_slow_spine_is_learnt() -> None:
    """Some hundred trials make a law that does better than a law by hand, on flows that it has not met."""
    learnt = run(trainer([{"trials": 500, "width": 1}], "csig-compact-abw"))
    assert isinstance(learnt, PathLaw) and learnt.inputs["available_capacity"] < 0
    headed = WithHeader(learnt, stamping(named_header("csig-compact-abw")))
    assert score(headed) > score(PathLaw.of(Transport("nscc"))) + 0.01


def test_signals_without_a_header_and_transports_without_ways_are_refused() -> None:
    task = Task("queue", ("rtt_ratio", "queue"), SPACE, utility("slowdown"), 3)
    with pytest.raises(InputError, match=r"trainer\.kind: paths: queue: a law of ways has signals of"):
        LawTrainer(task, PathsConfig(), Engine(1.0))
    with pytest.raises(ValueError, match=r"transport: dctcp does not spray by what it hears; nscc, "):
        PathsConfig.model_validate({"transport": "dctcp"})


def test_networks_have_no_ways_to_learn() -> None:
    networks = NETWORKS.model_dump(mode="json", exclude_defaults=True)
    content = {"name": "ways", "networks": networks, "signal_sets": ["e2e"], "trainer": {"kind": "paths"}}
    with pytest.raises(ValueError, match=r"trainer\.kind\n  paths learns on fabrics alone"):
        CampaignConfig.model_validate(content)
