"""Tuner `acc`: what a model is worth most is set when it is due; models, their files and their names."""

import json
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.layers import Layer
from lcca.remy_plus.switches.control import Change, Given
from lcca.remy_plus.switches.markers import USUAL
from lcca.remy_plus.switches.transports import Transport
from lcca.remy_plus.tuners.registry import tuning
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.signal_sets.load import resolve
from lcca.studies.acc.marking.model import AccModel, content_of_layers, read_acc_model

from .acc_models import FEW, always, small_model

TOPOLOGY = leaf_spine(2, 4, 2)


def flows() -> FabricFlows:
    rng = np.random.default_rng(1)
    src = rng.integers(0, 8, 60)
    return FabricFlows(src, (src + rng.integers(1, 8, 60)) % 8, rng.integers(1, 400_000, 60), np.sort(rng.random(60)))


def written(folder: Path, model: AccModel) -> Path:
    file = folder / "model.json"
    file.write_bytes(model.dumps())
    return file


@pytest.mark.parametrize("transport", ["dcqcn", "dctcp-window"])
def test_a_model_of_one_mind_is_the_static_marker(transport: str) -> None:
    tuned = FabricEngine(transport, tuner=tuning("acc", always(2))).run(TOPOLOGY, flows())
    static = FabricEngine(transport, settings=settings(marker=FEW.markers[2])).run(TOPOLOGY, flows())
    for name, values in static.items():
        np.testing.assert_array_equal(values, tuned[name], err_msg=name)
    assert static["port_marked_packets"].sum() > 0


def test_values_by_hand() -> None:
    """Two inputs to one hidden number to the values of 1 × 1 × 2 templates; and the parts of 2 × 2 × 2."""
    first = Layer(np.array([[1.0, -2.0, 0, 0, 0, 0]]), np.array([0.5]), "relu")
    last = Layer(np.array([[-1.0], [1.0]]), np.array([1.0, 0.0]))
    two = FEW.model_copy(update={"kmin_bytes": (5e3,), "kmax_bytes": (40e3,)})
    model = small_model(history=1, heads="joint", templates=two, layers=content_of_layers([first, last]))
    views = np.zeros((3, 6), dtype=np.float32)
    views[0, 0], views[1, 1] = 1, 1  # hidden 1.5 > 0.5, and −1.5, cut off at 0; of nothing 0.5, a tie
    assert model.best(views).tolist() == [1, 0, 0]
    parts = Layer(np.zeros((6, 6)), np.array([0, 1, 5, 1, -3, -2]))
    assert small_model(history=1, layers=content_of_layers([parts])).best(views).tolist() == [0b101] * 3


def test_parts_are_the_best_of_all_sums() -> None:
    model, views = small_model(7), np.random.default_rng(2).normal(size=(50, 12)).astype(np.float32)
    hidden, last = model.network
    values = np.maximum(views @ hidden.weights.T + hidden.biases, 0) @ last.weights.T + last.biases
    sums = [[row[i] + row[2 + j] + row[4 + k] for i in (0, 1) for j in (0, 1) for k in (0, 1)] for row in values]
    best = model.best(views)
    np.testing.assert_array_equal(best, np.argmax(sums, axis=1))
    assert len(set(best.tolist())) > 2


def test_looks_and_delays_are_those_of_the_training_unless_given() -> None:
    model = small_model()
    trained, other = tuning("acc", model).build(), tuning("acc", model, interval_us=50, delay_us=0).build()
    assert (trained.every_us, trained.delay_us) == (10, 2)
    assert (other.every_us, other.delay_us) == (50, 0)
    engines = [FabricEngine("dcqcn", tuner=tuning("acc", model, **each)) for each in ({}, {"delay_us": 9})]
    first, later = (engine.run(TOPOLOGY, flows())["flow_fct_ns"] for engine in engines)
    assert not np.array_equal(first, later)


def chosen(change: Change) -> list[int]:
    """Return the templates of all ports of a first change."""
    return [FEW.markers.index(change.markers[port]) for port in sorted(change.markers)]


def test_it_explores_only_when_told() -> None:
    given = Given(star(8), "dcqcn", {}, USUAL, 5)
    greedy = tuning("acc", always(3)).build()
    assert set(chosen(greedy.begin(given))) == {3}
    tuner, again = (tuning("acc", always(3), explore=0.3).build() for _ in range(2))
    seen = [chosen(tuner.begin(given))]
    assert seen[0] == chosen(again.begin(given))
    for seed in range(200):
        seen.append(chosen(tuner.begin(Given(star(8), "dcqcn", {}, USUAL, seed))))
    other = np.mean(np.array(seen) != 3)
    assert 0.2 < other < 0.33, "a random one in eight is the best again"
    assert {each for row in seen for each in row} == set(range(8))


def test_names(tmp_path: Path) -> None:
    file = written(tmp_path, small_model())
    found = named_transport(f"dcqcn:increase_us=55@acc:{file},interval_us=20,explore=0.1")
    assert found.tuner is not None and found.tuner.model == small_model()
    assert found.parameters == {"increase_us": 55}
    assert found.tuner.parameters == {"interval_us": 20, "delay_us": 2, "explore": 0.1}
    policy = resolve(f"dctcp-window@acc:{file}", "fabric").policy
    assert isinstance(policy, Transport) and policy.tuner and policy.tuner.parameters["interval_us"] == 10


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dcqcn@acc", "dcqcn@acc: needs the file of a model"),
        ("dcqcn@acc:interval_us=5", "needs the file of a model"),
        ("dcqcn@acc:{0}/none.json", "none.json"),
        ("dcqcn@acc:{0}/other.json", "other.json: not the model of ACC"),
        ("dcqcn@acc:{0}/text.json", "text.json: line 1: not JSON: Expecting"),
        ("dcqcn@acc:{0}/twice.json", "twice.json: 'kind': this key stands twice in one object"),
        ("dcqcn@acc:{0}/model.json,explore=2", "explore: must be from 0 to 1"),
        ("dcqcn@acc:{0}/model.json,{0}/model.json", "must be a number"),
        ("dcqcn@expert:{0}/model.json", "must be a number"),
    ],
)
def test_names_that_cannot_be(name: str, words: str, tmp_path: Path) -> None:
    written(tmp_path, small_model())
    (tmp_path / "other.json").write_text('{"kind": "mlp"}')
    (tmp_path / "text.json").write_text("acc")
    (tmp_path / "twice.json").write_text('{"kind": "mlp", "kind": "acc"}')
    with pytest.raises(InputError) as found:
        named_transport(name.format(tmp_path))
    assert words in str(found.value)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("format", 2, "format"),
        ("history", 3, "layers.0: takes 12 numbers, but there are 18"),
        ("heads", "joint", "the last one gives 6 values, but joint needs 8"),
        ("interval_us", -1, "interval_us"),
        ("layers", [{"weights": [[1], [1, 2]], "biases": [0, 0], "activation": "relu"}], "rows must be equally long"),
        ("templates", {"kmin_bytes": [9e5], "kmax_bytes": [1e5], "pmax": [1]}, "no kmin_bytes may be above"),
    ],
)
def test_files_that_cannot_be(key: str, value: object, words: str, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(json.loads(small_model().dumps()) | {key: value}))
    with pytest.raises(InputError, match=r"model\.json: ") as found:
        read_acc_model(file)
    assert words in str(found.value) and "\n" not in str(found.value)


def test_damage_is_told(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    write_with_digest(file, small_model().dumps())
    assert read_acc_model(file) == small_model()
    file.write_bytes(small_model(2).dumps())
    with pytest.raises(InputError, match="damaged"):
        read_acc_model(file)


def test_a_policy_file_holds_the_model() -> None:
    policy = Transport("dcqcn", {}, None, tuning("acc", small_model(), explore=0.5))
    text = policyfile.dumps(PolicyFile(policy))
    found = policyfile.loads(text)
    assert found.policy == policy and policyfile.dumps(found) == text
