"""Learning of laws that choose ways."""

from __future__ import annotations

from typing import Any

import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.campaign.config import CampaignConfig
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import WithHeader
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import stamping
from lcca.trainers.base import Task, run
from lcca.trainers.law.paths import PathsConfig
from lcca.trainers.law.trainer import LawTrainer

from ..conformance import SPACE as NETWORKS
from .fabric_support import score, task

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
    config = PathsConfig.model_validate({"stages": stages, "networks": 4, "population": 8} | keys)
    return LawTrainer(task(SPACE, header), config, Engine(1.0, jobs=2))


def test_a_header_that_shows_the_slow_spine_is_learnt() -> None:
    """Some hundred trials make a law that does better than one without a header, on flows that neither has met."""
    stages = [{"trials": 500, "width": 1}]
    learnt, plain = run(trainer(stages, "csig-compact-abw")), run(trainer(stages))
    assert isinstance(learnt, PathLaw) and learnt.inputs["available_capacity"] < 0
    headed = score(SPACE, WithHeader(learnt, stamping(named_header("csig-compact-abw"))))
    assert headed > score(SPACE, plain) > score(SPACE, Transport("nscc"))


def test_what_laws_of_windows_alone_have_is_refused() -> None:
    for stage in ({"terms": "plain"}, {"features": "none"}, {"feature_width": 0.3}):
        with pytest.raises(ValueError, match="stage 1: laws of ways have no "):
            PathsConfig.model_validate({"stages": [{"trials": 10} | stage]})
    with pytest.raises(ValueError, match="at least 1 item"):
        PathsConfig.model_validate({"stages": []})


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
