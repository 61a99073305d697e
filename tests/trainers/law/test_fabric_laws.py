"""The trainer of laws on a fabric: what it learns, what headers share, and the same bits however it is run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import WithHeader
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import stamping
from lcca.trainers.base import WarmStart, run
from lcca.trainers.law.config import FABRIC_FEATURES, FABRIC_TERMS, LawConfig
from lcca.trainers.law.trainer import LawTrainer

from .fabric_support import score, task

SPACE = FabricSpace.model_validate(
    {
        "fabric": {
            "name": "small",
            "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 2, "spines": 1, "uplink_gbps": 200},
            "workload": {
                "kind": "mix",
                "parts": [
                    {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.3, "load_of": "host-links"},
                    {"kind": "incast", "senders": 3, "bytes": 150000, "load": 0.2},
                ],
            },
            "duration_us": 60,
            "drain_us": 1500,
            "switch": {"buffer_bytes": 200000, "pfc": False},
        }
    }
)
OWN = {"trials": 100, "features": "own", "width": 1}


def trainer(
    stages: list[dict[str, Any]], header: str = "", jobs: int = 1, shared: Path | None = None, **keys: Any
) -> LawTrainer:
    config = LawConfig.model_validate({"stages": stages, "networks": 4, "population": 6} | keys)
    return LawTrainer(task(SPACE, header), config, Engine(1.0, jobs=jobs), shared=shared)


def test_a_law_learns_on_a_fabric() -> None:
    """Some hundred trials are better than the beginning by a fifth of a bit, on flows that it has not met."""
    searched = trainer([OWN | {"trials": 900}])
    start = searched.policy
    assert score(SPACE, run(searched)) > score(SPACE, start) + 0.1


@pytest.mark.slow
def test_headers_share_the_stage_before_signals(tmp_path: Path) -> None:
    stages, shared = [OWN, {"trials": 60}], tmp_path / "shared"
    one = trainer(stages, shared=shared)
    run(one)
    other = trainer(stages, "hpcc", shared=shared)
    assert other.learning == one.learning[: len(other.learning)] and other.state.stage == 1
    alone = trainer(stages, "hpcc")
    law = run(other)
    assert law == run(alone)
    assert (
        isinstance(law, FabricLaw) and law.inputs == ("capacity", "link", "queue") and any(map(any, law.coefficients))
    )


def test_threads_change_nothing() -> None:
    assert run(trainer([OWN], jobs=1)) == run(trainer([OWN], jobs=2))


def test_senders_that_do_not_know_sizes() -> None:
    law = run(trainer([OWN, {"trials": 60}], "hpcc", bytes_left=False))
    assert isinstance(law, FabricLaw)
    assert law.named_features["size"] == law.named_features["size_delay"] == 0
    assert law.named_terms["first_size"] == FABRIC_TERMS["first_size"].start
    assert all(row[2] == 0 and row[0] != 0 for row in law.coefficients)


def test_a_search_goes_on_from_a_law_for_fabrics() -> None:
    begun = trainer([OWN])
    start = FabricLaw.of({"add": -5.0}, {"delay": -1.0})
    task = replace(begun.task, warm_start=WarmStart(start, 7))
    assert LawTrainer(task, begun.config, begun.engine).policy == start
    wrong = replace(begun.task, warm_start=WarmStart(Law.of({}), 7))
    with pytest.raises(InputError, match="goes on from a law for fabrics"):
        LawTrainer(wrong, begun.config, begun.engine)


@pytest.mark.parametrize(("header", "coefficients"), [("rank", 2), ("ecn", 2), ("rcp-16", 3)])
def test_what_is_never_negative_has_no_second_coefficient(header: str, coefficients: int) -> None:
    """Of a rank its part above 0 is itself; of a rate's logarithm it is not."""
    searching = trainer([OWN | {"trials": 24}, {"trials": 24}], header)
    numbers = searching.form.numbers(searching.state.terms, searching.config.stages[1])
    searched = [at for name, at in numbers.coefficients if name not in FABRIC_FEATURES]
    assert searched == ([0, 2] if coefficients == 2 else [0, 1, 2])
    assert len(numbers.widths) == len(numbers.point(searching.state.terms, searching.state.features))
    run(searching)
    learnt = searching.policy
    assert isinstance(learnt, FabricLaw)
    assert [row[1] != 0 for row in learnt.coefficients] == [coefficients == 3]
    if coefficients == 2:  # forms are never below 0, so the same law with that coefficient moved to the second place
        moved = {name: (0.0, row[0] + row[1], row[2]) for name, row in learnt.named_inputs.items()}
        other = FabricLaw.of(learnt.named_terms, learnt.named_features, moved)
        scenario = SPACE.scenarios[0]
        stamped = stamping(named_header(header)).on_packets(SPACE.packet_bytes)
        engines = {
            name: engine_of(WithHeader(law, stamped), scenario.settings())
            for name, law in {"learnt": learnt, "moved": other}.items()
        }
        both = run_fabric_trials(scenario, engines, [5])
        assert both[0].score(fabric_utility("slowdown")) == both[1].score(fabric_utility("slowdown"))
