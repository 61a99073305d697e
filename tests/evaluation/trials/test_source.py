"""Sources of trials, asked alike: what a trial is follows from its number, whatever is run beside it."""

from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.fabric.source import FabricTrials
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.slowdown import Slowdown
from lcca.evaluation.trials.source import NetworkTrials, TrialSource
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import Policy, baseline
from lcca.signal_sets.load import resolve

SPACE = {"link_rate": 2, "rtt": {"min": 10, "max": 20, "step": 5}, "senders": {"min": 1, "max": 2, "step": 1}} | {
    "buffer": 50,
    "mean_on": 500,
    "mean_off": 100,
    "loss": 0.01,
    "duration": 500,
}
SCENARIO = {
    "name": "small",
    "topology": {"kind": "star", "hosts": 4},
    "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.5, "load_of": "host-links"},
    "duration_us": 30,
}


def on_networks() -> tuple[TrialSource[Policy], dict[str, Policy]]:
    source = NetworkTrials(Engine(500), NetworkSpace.model_validate(SPACE), 3, [3], DEFAULT)
    return source, {name: baseline(name) for name in ("fixed-window:9", "aimd")}


def on_fabric() -> tuple[TrialSource[Policy], dict[str, Policy]]:
    source = FabricTrials(FabricSpace.model_validate({"fabric": SCENARIO}), 3, Slowdown("slowdown"), jobs=2)
    return source, {name: resolve(name, "fabric").policy for name in ("window", "hpcc:eta=0.9")}


def on_two_fabrics() -> tuple[TrialSource[Policy], dict[str, Policy]]:
    space = FabricSpace.model_validate({"fabric": [SCENARIO, SCENARIO | {"name": "longer", "duration_us": 40}]})
    return FabricTrials(space, 3, Slowdown("slowdown"), jobs=2), on_fabric()[1]


@pytest.fixture(params=[on_networks, on_fabric, on_two_fabrics])
def found(request: pytest.FixtureRequest) -> Any:
    return request.param()


def test_stretches_and_policies_beside_change_no_trial(found: tuple[TrialSource[Policy], dict[str, Policy]]) -> None:
    source, policies = found
    whole = source.rows(policies, Block(0, 0, 7))
    for name, policy in policies.items():
        parts = [source.rows({name: policy}, block) for block in (Block(0, 0, 3), Block(1, 3, 4))]
        alone = pd.concat(parts, ignore_index=True)
        pd.testing.assert_frame_equal(alone, whole[whole["policy"] == name].reset_index(drop=True))


def test_rows_say_which_trial_they_are_of(found: tuple[TrialSource[Policy], dict[str, Policy]]) -> None:
    source, policies = found
    rows = source.rows(policies, Block(2, 5, 4))
    assert list(rows["policy"]) == [name for name in policies for _ in range(4)]
    assert list(rows["network"]) == [5, 6, 7, 8] * 2 and list(rows["seed"][:4]) == list(rows["seed"][4:])
    assert set(rows["status"]) == {"ok"} and set(rows["error"]) == {""} and rows["score_bits"].notna().all()
    first, second = (rows["score_bits"][part].to_numpy() for part in (slice(0, 4), slice(4, 8)))
    assert (first != second).any() and set(rows["simulator"]) == {source.origin["simulator"]}


def test_blocks_are_whole(found: tuple[TrialSource[Policy], dict[str, Policy]]) -> None:
    source, _ = found
    assert source.whole(source.block - 1) == source.block - 1
    assert source.whole(source.block + 1) == 2 * source.block and source.unit in ("networks", "seeds")
