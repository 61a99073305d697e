"""Trained networks: the engine's arithmetic against a reference, and their policy files."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.agents import (
    EVERY_ACK,
    Agent,
    Decisions,
    LawSteering,
    MlpPolicy,
    RateSteering,
    TableSteering,
    WindowSteering,
)
from lcca.remy_plus.policies.law import FEATURES, Law
from lcca.remy_plus.policies.layers import Layer, Lstm
from lcca.remy_plus.policies.mlpjson import shortest
from lcca.remy_plus.policies.policy import compile_policy

from .mlp_support import SIGNALS, random_network, reference

AGENT = Agent(SIGNALS, history=3)
NETWORK = Network(7, 3.0, 25.0, 4, 100, 3000.0, 200.0, 0.002)
LAW = Law.of(
    {"increase": -1, "increase_window": 1, "boost": 3, "boost_time": 1.5, "boost_queue": -20, "decrease": 0.5}
    | {"slow_share": 0.3, "pace": -0.15, "gap": -1},
    {name: (0.1, -0.2, 0.05) for name in FEATURES},
)
POLICIES = {
    "window": random_network(1, AGENT, 1),
    "three numbers": random_network(2, Agent(SIGNALS, steering=WindowSteering(0.5, 2.0, 1.0)), 3, (8,)),
    "rate": random_network(3, Agent(SIGNALS, 2, EVERY_ACK, RateSteering()), 1, ()),
    "table": random_network(4, Agent(SIGNALS, steering=TableSteering()), 5, (16,)),
    "memory": random_network(5, AGENT, 1, (8,), cells=12),
    "law": random_network(6, Agent(SIGNALS, 2, Decisions(1.0, "smallest"), LawSteering(LAW)), 3, (8,)),
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cells", [0, 24])
def test_outputs_are_the_references(seed: int, cells: int) -> None:
    policy = random_network(seed, AGENT, 1, (64, 64), cells, gain=1.5)
    random = np.random.default_rng(seed)
    views = random.uniform(0, 4, (500, AGENT.inputs)).astype(np.float32)
    states = random.uniform(-1, 1, (500, 2 * cells)).astype(np.float32)
    said, after = policy.outputs(views, states)
    expected, expected_after = reference(policy, views, states)
    np.testing.assert_allclose(said, expected, atol=1e-5)
    np.testing.assert_allclose(after, expected_after, atol=1e-6)


@pytest.mark.parametrize("width", [1, 7, 16, 64, 100])
def test_sums_run_in_the_order_of_inputs_in_single_precision(width: int) -> None:
    """Bit for bit, whatever the width of the processor's vectors: nothing is reordered or contracted."""
    random = np.random.default_rng(width)
    weights = (random.normal(size=(width, 33)) * 10.0 ** random.integers(-8, 8, (width, 33))).astype(np.float32)
    biases, seen = random.normal(size=(2, max(width, 33))).astype(np.float32)
    agent = Agent(("rtt_ratio",), history=33, steering=TableSteering(actions=((0, 1, 0),) * width))
    expected = biases[:width].copy()
    for column, x in zip(weights.T, seen[:33], strict=True):
        expected += column * x
    layers = Layer(weights, biases[:width], "relu"), Layer(np.eye(width, dtype=np.float32), np.zeros(width, np.float32))
    said = MlpPolicy(agent, layers).outputs(seen[None, :33])[0][0]
    np.testing.assert_array_equal(said, np.maximum(expected, 0))


def test_a_memory_remembers_from_zeros() -> None:
    policy, states = POLICIES["memory"], None
    expected_states = None
    views = np.random.default_rng(0).uniform(0, 3, (50, 1, AGENT.inputs)).astype(np.float32)
    for view in views:
        said, states = policy.outputs(view, states)
        expected, double = reference(policy, view, expected_states)
        expected_states = double.astype(np.float32)
        np.testing.assert_allclose(said, expected, atol=1e-5)


def one_to_one(activation: str) -> MlpPolicy:
    """A network of one weight of 1."""
    return MlpPolicy(Agent(("queue",)), (Layer(np.ones((1, 1)), np.zeros(1), activation),))  # type: ignore[arg-type]


def test_the_hyperbolic_tangent_is_exact_enough() -> None:
    x = np.concatenate([np.linspace(-15, 15, 200_001), [-1e30, 1e30, 0.0, 1e-30]]).astype(np.float32)
    said, _ = one_to_one("tanh").outputs(x[:, None])
    assert np.abs(said[:, 0] - np.tanh(x.astype(np.float64))).max() < 2e-7
    assert said[x == 0].tolist() == [[0.0]]
    assert np.abs(said).max() <= 1


def test_the_logistic_function_is_exact_enough() -> None:
    """A memory whose cell is let in by a gate of x, from a cell value of tanh(20) = 1."""
    memory = Lstm([[1], [0], [0], [0]], np.zeros((4, 1)), [0, 0, 20, 20])  # type: ignore[arg-type]
    policy = MlpPolicy(Agent(("queue",)), (Layer([[1]], [0]),), memory)  # type: ignore[arg-type]
    x = np.linspace(-50, 50, 100_001).astype(np.float32)
    _, after = policy.outputs(x[:, None])
    assert np.abs(after[:, 1] - 1 / (1 + np.exp(-x.astype(np.float64)))).max() < 2e-7


def test_rectified() -> None:
    said, _ = one_to_one("relu").outputs([[-2.0], [0.0], [3.0]])
    assert said.tolist() == [[0.0], [0.0], [3.0]]


def trials(policy: MlpPolicy | Law, jobs: int = 1) -> dict[str, np.ndarray]:
    """A few trials' columns."""
    networks = NetworkList([NETWORK, replace(NETWORK, id=8, senders=1), replace(NETWORK, id=9, switched="bytes")])
    batch = Engine(duration=5000.0, jobs=jobs).run(
        [compile_policy(policy)], networks, [0] * 6, [0, 1, 2] * 2, [1, 1, 1, 2, 2, 2], keep_flows=True
    )
    return {k: np.asarray(v) for k, v in batch.columns.items() if k != "rule_hits"}


def constant(law: Law, numbers: tuple[float, float, float], decisions: Decisions, scale: float = 0.5) -> MlpPolicy:
    """A network that says the same numbers whatever it sees."""
    agent = Agent(SIGNALS, 1, decisions, LawSteering(law, scale))
    return MlpPolicy(agent, (Layer(np.zeros((3, agent.inputs)), np.array(numbers)),))


@pytest.mark.parametrize("decisions", [EVERY_ACK, Decisions(1.0), Decisions(0.3, "smallest")], ids=str)
@pytest.mark.parametrize("features", [True, False])
def test_zeros_are_the_law(decisions: Decisions, features: bool) -> None:
    law = LAW if features else replace(LAW, features=())
    expected, real = trials(law), trials(constant(law, (0, 0, 0), decisions))
    assert int(expected["flow_delivered"].sum()) > 1000
    for key, value in expected.items():
        np.testing.assert_array_equal(real[key], value, err_msg=key)


@pytest.mark.parametrize("decisions", [EVERY_ACK, Decisions(1.0)], ids=str)
def test_numbers_move_the_laws_exponents(decisions: Decisions) -> None:
    """Constant numbers are other terms: their sums are exact where these are few binary digits."""
    law = Law.of({"increase": -2, "increase_window": 0, "decrease": 0.5, "pace": -0.25})
    moved = Law.of({"increase": -1.75, "increase_window": 0, "decrease": 0.25, "pace": -0.125})
    steered = trials(constant(law, (0.5, -0.5, 0.25), decisions))
    for key, value in trials(moved).items():
        np.testing.assert_array_equal(steered[key], value, err_msg=key)
    assert (trials(law)["sender_delivered"] != steered["sender_delivered"]).any()
    beyond = trials(constant(law, (5, -7, 1), decisions, scale=0.25))  # held within ±1
    for key, value in trials(constant(law, (1, -1, 1), decisions, scale=0.25)).items():
        np.testing.assert_array_equal(beyond[key], value, err_msg=key)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
class TestForms:
    """What holds for every form of a network."""

    def test_threads_change_nothing(self, policy: MlpPolicy) -> None:
        one, two = trials(policy, 1), trials(policy, 2)
        assert one["trial_delivered"].sum() > 100
        for name, column in one.items():
            np.testing.assert_array_equal(column, two[name], err_msg=name)

    def test_travels(self, policy: MlpPolicy) -> None:
        assert pickle.loads(pickle.dumps(policy)) == policy
        views = np.random.default_rng(1).uniform(0, 3, (20, policy.agent.inputs)).astype(np.float32)
        compiled = pickle.loads(pickle.dumps(compile_policy(policy)))
        states = np.zeros((20, 0 if policy.memory is None else 2 * policy.memory.cells), dtype=np.float32)
        np.testing.assert_array_equal(np.asarray(compiled.outputs(views, states)[0]), policy.outputs(views)[0])
        assert compiled.__getstate__() == compile_policy(policy).__getstate__()

    def test_a_file_is_the_policy(self, policy: MlpPolicy) -> None:
        file = PolicyFile(policy, "custom", None, {"seed": 1})
        text = policyfile.dumps(file)
        back = policyfile.loads(text)
        assert back == file
        assert hash(back.policy) == hash(policy)
        assert policyfile.dumps(back) == text
        for a, b in zip(policy.arrays(), back.policy.arrays(), strict=True):  # type: ignore[union-attr]
            np.testing.assert_array_equal(a, b)

    def test_is_described(self, policy: MlpPolicy) -> None:
        text = describe(PolicyFile(policy))
        assert f"trained network: {policy.parameters:,} parameters" in text
        assert "decides every 1 round trips" in text or "decides at every acknowledgement" in text


def test_a_network_reads_like_this() -> None:
    assert describe(PolicyFile(POLICIES["memory"], "custom")).splitlines() == [
        "policy      trained network: 1,313 parameters",
        "signals     send_ewma, receive_ewma, rtt_ratio, queue",
        "signal set  custom",
        "",
        f"4 signals of 3 decisions → LSTM of 12 cells → 8 {POLICIES['memory'].layers[0].activation} → 1 linear",
        "decides every 1 round trips",
        "steers the window: multiple 1, increment 0, pacing 0, initial 10, smallest 2, largest 2000",
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_shortest_numbers_are_exact(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    back = np.array(json.loads(json.dumps(shortest(array))))
    np.testing.assert_array_equal(back.astype(np.float32).view(np.uint32), array.view(np.uint32))


def test_shortest_numbers_are_short() -> None:
    assert shortest(np.array([0.1, 1 / 3, 1e-8], dtype=np.float32)) == [0.1, 0.33333334, 1e-08]


def test_any_weight_changes_the_policy() -> None:
    policy = POLICIES["memory"]
    weights = policy.layers[0].weights.copy()
    weights[0, 0] = np.nextafter(weights[0, 0], np.float32(9))
    changed = replace(policy, layers=(replace(policy.layers[0], weights=weights), *policy.layers[1:]))
    assert changed != policy
    assert replace(policy, agent=replace(policy.agent, steering=WindowSteering(0.5))) != policy


def changed(**keys: object) -> str:
    """A file with other keys."""
    document = json.loads(policyfile.dumps(PolicyFile(POLICIES["memory"])))
    return json.dumps({**document, **keys})


LAYER = {"weights": [[1.0] * 12], "biases": [0.0], "activation": "linear"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"signals": ["rtt"]}, "signal"),
        ({"signals": SIGNALS[:3]}, "network: the network takes 12 inputs, but the agent sees 9 numbers"),
        ({"layers": []}, "network: a network needs 1 to 16 layers"),
        ({"layers": [3]}, r"layers.0: must be keys with values"),
        ({"layers": [{**LAYER, "bias": 1}]}, r"layers.0.bias: unknown key \(did you mean 'biases'\?\)"),
        ({"layers": [{"weights": [[1]], "biases": [1]}]}, r"layers.0.activation: required key is missing"),
        (
            {"layers": [{**LAYER, "activation": "tan"}]},
            r"activation: .* found 'tan' \(did you mean 'tanh'\?\)",
        ),
        ({"layers": [{**LAYER, "weights": [[1], [1, 2]]}]}, r"layers.0: weights: rows must be equally long"),
        ({"layers": [{**LAYER, "weights": [["1"]]}]}, r"layers.0.weights.0.0: must be a number, found '1'"),
        ({"layers": [{**LAYER, "weights": [[1e39] * 12]}]}, r"layers.0: weights: must be finite numbers"),
        ({"layers": [{**LAYER, "biases": [1, 2]}]}, r"weights: 1 rows, but there are 2 biases"),
        ({"layers": [{**LAYER, "weights": [1.0]}]}, r"layers.0.weights.0: must be a list, found 1"),
        ({"layers": [{**LAYER, "weights": [[1.0] * 9]}]}, "a layer takes 9 inputs, but there are 12 before it"),
        (
            {"layers": [{**LAYER, "weights": [[1.0] * 12] * 2, "biases": [0, 0]}]},
            "2 outputs, but the steering needs",
        ),
        ({"memory": {"from_input": [[1]]}}, "memory.from_hidden: required key is missing"),
        ({"agent": {"history": 3, "steps": 1}}, r"agent.steps: unknown key"),
        ({"agent": {"steering": {"kind": "law"}}}, "agent: steering: law: a law is needed"),
        ({"agent": {"steering": {"kind": "law", "law": {"terms": {"up": 1}}}}}, "unknown name 'up'"),
        ({"agent": {"steering": {"kind": "law", "law": {"trms": {}}}}}, "did you mean 'terms'"),
        ({"agent": {"history": 0, "steering": {"kind": "window"}}}, "agent: history must be between 1 and 1000"),
        ({"agent": 3}, "agent: must be keys with values"),
        ({"rules": []}, "rules: unknown key"),
        ({"parameters": {}}, "parameters: unknown key"),
    ],
)
def test_bad_files_are_told(keys: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        policyfile.loads(changed(**keys))


def test_weights_beyond_all_measure_are_told() -> None:
    huge = Layer(np.full((1, 1), 3e38), np.full(1, 3e38))
    policy = MlpPolicy(Agent(("queue",)), (huge, Layer(np.full((1, 1), 3e38), np.zeros(1))))
    with pytest.raises(InputError, match=r"engine: a network.s output is no finite number"):
        Engine(duration=1000.0, jobs=1).run([compile_policy(policy)], NetworkList([NETWORK]), [0], [0], [1])
