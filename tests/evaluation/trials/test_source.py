"""Sources of trials, asked alike: what a trial is follows from its number, whatever is run beside it."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import ListedNetworks, NetworkSpace
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution, Place
from lcca.evaluation.trials.ratio import Slowdown
from lcca.evaluation.trials.source import TrialSource
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve

from ...studies import of_studies

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
    source = NetworkSpace.model_validate(SPACE).trials(3, DEFAULT, Execution())
    return source, {name: baseline(name) for name in ("fixed-window:9", "aimd")}


def on_fabric() -> tuple[TrialSource[Policy], dict[str, Policy]]:
    source = FabricSpace.model_validate({"fabric": SCENARIO}).trials(3, Slowdown("slowdown"), Execution(jobs=2))
    return source, {name: resolve(name, "fabric").policy for name in ("window", "hpcc:eta=0.9")}


def on_two_fabrics() -> tuple[TrialSource[Policy], dict[str, Policy]]:
    space = FabricSpace.model_validate({"fabric": [SCENARIO, SCENARIO | {"name": "longer", "duration_us": 40}]})
    return space.trials(3, Slowdown("slowdown"), Execution(jobs=2)), on_fabric()[1]


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


PLACES: list[Place] = [
    NetworkSpace.model_validate(SPACE),
    NetworkSpaces.model_validate({"spaces": [SPACE, {"networks": SPACE, "topology": "line", "name": "line"}]}),
    ListedNetworks.model_validate(
        {"networks": [{key: SPACE[key] for key in SPACE.keys() - {"duration"}} | {"rtt": 9, "senders": 2}] * 2}
    ),
    FabricSpace.model_validate({"fabric": SCENARIO}),
    FabricSpace.model_validate({"fabric": [SCENARIO, SCENARIO | {"name": "longer", "duration_us": 40}]}),
    *of_studies("PLACES").values(),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: type(place).__name__)
def test_places_give_trials_of_their_own(place: Place) -> None:
    scored = place.utility(place.usual_utility)
    source = place.trials(5, scored, Execution("engine" if "engine" in place.simulators else ""))
    assert source.utility == scored and source.unit == place.unit and source.block == place.block
    assert source.origin["simulator"] in place.simulators
    assert len(source.weights(2)) == 2 and (place.length is None or place.length >= 2)
    with pytest.raises(InputError):
        place.utility("beauty")


def streams(place: Place, seed: int) -> list[tuple[object, int]]:
    """Return what the first 200 trials draw from: the network, scenario or link, and the seed of the trial."""
    if isinstance(place, FabricSpace):
        return [(each.scenario.name, each.seed) for each in place.draw(seed, 200)]
    if drawn := of_studies("DRAWN").get(type(place)):
        return [(each.scenario.name, each.seed) for each in drawn(place, seed)]
    source = place.trials(seed, place.utility(place.usual_utility), Execution())
    rows = source.rows({"aimd": baseline("aimd")}, Block(0, 0, min(200, place.length or 200)))
    return list(zip(rows["network"], rows["seed"].tolist(), strict=True))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: type(place).__name__)
def test_no_trial_comes_again_by_another_number_or_seed(place: Place) -> None:
    drawn = [each for seed in (1, 2, 3, 201, 2**32 + 1, 2**47) for each in streams(place, seed)]
    assert len(set(drawn)) == len(drawn) >= 6 * min(200, place.length or 200)


def test_the_seed_in_a_row_gives_this_trial_again() -> None:
    source, policies = on_fabric()
    rows = source.rows(policies, Block(0, 0, 5))
    for _, row in rows[rows["policy"] == "window"].iterrows():
        again = replace(source, seed=row["seed"]).rows(policies, Block(0, 0, 1))
        assert again["score_bits"][0] == row["score_bits"] and again["seed"][0] == row["seed"]
    assert rows["score_bits"].nunique() > 5
