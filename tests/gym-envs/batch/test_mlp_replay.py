"""A trained network meets the same trial in the engine as in the slots where it would be trained, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.gym_envs.batch.agent_slots import Rules
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNALS as ENGINE_SIGNALS
from lcca.remy_plus.engine import Engine
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
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy

from .slots_support import BYTES, FLOW_COLUMNS, SHORT, TIME, engine_flows, network, one_environment

INDEX = {name: i for i, name in enumerate(ENGINE_SIGNALS)}
SIGNALS = ("send_ewma", "receive_ewma", "rtt_ratio", "queue", "loss")
TABLE = TableSteering(((0, 1, 0), (-3, 1, 0.5), (2, 1, 0), (0, 1.5, 1), (0, 0.7, 0)), smallest=1)
LAW = Law.of({"increase": -1, "boost": 2, "decrease": 0.5, "pace": -0.2}, {"queueing": (0.1, 0.3, -0.1)})
AGENTS = {
    "per round trip": Agent(SIGNALS, 3, Decisions(1.0), WindowSteering(0.5, 2.0)),
    "smallest round trip": Agent(SIGNALS, 2, Decisions(0.5, "smallest"), WindowSteering(0.3, pacing=0.5)),
    "per acknowledgement": Agent(SIGNALS, 1, EVERY_ACK, WindowSteering(0.05, 1.0)),
    "rate": Agent(SIGNALS, 2, Decisions(1.0), RateSteering()),
    "table": Agent(SIGNALS, 2, EVERY_ACK, TABLE),
    "law": Agent(SIGNALS, 2, Decisions(0.5, "smallest"), LawSteering(LAW)),
    "law per acknowledgement": Agent(SIGNALS, 1, EVERY_ACK, LawSteering(LAW, 0.2)),
}
DURATION = 4_000.0
NETWORKS = {"time": TIME, "short": SHORT, "bytes": BYTES}


def play(policy: MlpPolicy, core: _core.AgentSlots) -> int:
    """Play the trial to its end with the network; a flow's memory begins with zeros. Return the decisions."""
    size = 0 if policy.memory is None else 2 * policy.memory.cells
    states = np.zeros((core.slots, size), dtype=np.float32)
    steps = 0
    while len(core.ready):
        ready = np.array(core.ready)
        views = np.array(core.observation)[ready]
        states[ready[np.array(core.ended)[ready] != 0]] = 0  # of the flow before
        said, states[ready] = policy.outputs(views, states[ready])
        steps += len(ready)
        core.step(policy.actions(said))
    return steps


def record_of(policy: MlpPolicy, net: Network, seed: int) -> dict[str, NDArray[np.float64]]:
    """The flows of a trial that is played through the slots."""
    core = one_environment(Rules(policy.agent, duration=DURATION), net, seed)
    assert play(policy, core) > 20
    return dict(core.record(0))


@pytest.mark.parametrize("net", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("cells", [pytest.param(0, marks=pytest.mark.slow), 6], ids=["dense", "memory"])
def test_the_engine_does_what_the_slots_do(agent: Agent, net: Network, cells: int) -> None:
    policy = network(agent, cells)
    record, expected = record_of(policy, net, 3), engine_flows(policy, net, 3, DURATION)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


def test_an_agent_sees_the_laws_features() -> None:
    """Computed a second time from the raw signals."""
    seen = ("age", "since_queue", "queued_share", "rtt_difference", "rtt_difference_2", "rtt_difference_8")
    seen += ("smallest_ack_gap", "smallest_gap_ratio", "gap_ratio")
    core = one_environment(Rules(Agent(seen, 1, Decisions(1.0), LawSteering(LAW)), duration=DURATION), TIME, 3)
    looked = 0
    while len(core.ready):
        slots = [int(slot) for slot in core.ready]
        views = np.array(core.observation)[slots]
        for slot, view, raw in zip(slots, views, np.asarray(core.signals(slots)), strict=True):
            window, gap = core.control(slot)[0], raw[INDEX["smallest_ack_gap"]]
            if raw[INDEX["age"]] > 0:
                per_gap = 1 / gap if gap > 0 else 0.0
                q, q2, q8 = (per_gap * raw[INDEX[f"rtt_difference{end}"]] for end in ("", "_2", "_8"))
                expected = {
                    "queueing": np.log2(1 + q) / 2 - 0.5,
                    "queueing_2": np.log2(1 + q2) / 2 - 0.5,
                    "queueing_8": np.log2(1 + q8) / 2 - 0.5,
                    "smallest_gap_ratio": np.log2(1 + 16 * raw[INDEX["smallest_gap_ratio"]]) / 2 - 1.5,
                    "age_2": 1 / (1 + raw[INDEX["age"]] / 2),
                    "age_16": 1 / (1 + raw[INDEX["age"]] / 16),
                    "queued_share": 2 * raw[INDEX["queued_share"]] - 1,
                    "since_queue": np.log2(1 + raw[INDEX["since_queue"]]) / 2,
                    "gap_ratio": np.log2(1 + raw[INDEX["gap_ratio"]]) - 1,
                    "queueing_trend": (q - q2) / 4,
                    "window": (np.log2(window) - 4) / 2,
                }
                own = np.clip([expected[name] for name in FEATURES], -2, 2)
                np.testing.assert_allclose(view[: len(FEATURES)], own, atol=1e-5)
                assert view[len(FEATURES) + seen.index("queued_share")] == pytest.approx(expected["queued_share"])
                looked += 1
            else:
                assert not view.any()  # before a flow's first acknowledgement
        core.step(np.tile(np.float32([0.3, -0.2, 0.1]), (len(slots), 1)))
    assert looked > 100


def test_a_law_does_not_wait() -> None:
    with pytest.raises(InputError, match="patience must be 0"):
        one_environment(Rules(AGENTS["law"], patience=1.0), TIME, 3)


def test_networks_differ() -> None:
    """Else the comparison above would show nothing."""
    agent = AGENTS["per round trip"]
    sent = {tuple(engine_flows(network(agent, cells, seed), TIME, 3)["sent"]) for cells in (0, 6) for seed in (1, 2)}
    assert len(sent) == 4


@pytest.mark.parametrize("patience", [0.0, 4.0])
def test_a_network_among_agents(patience: float) -> None:
    """The senders that an agent does not steer may be driven by a network."""
    policy = network(AGENTS["per round trip"])
    rules = Rules(Agent(SIGNALS, 1, EVERY_ACK, TableSteering(((15, 0, 0),))), others=policy, patience=patience)
    core = one_environment(rules, TIME, 3, slots=1)
    while len(core.ready):
        core.step(np.zeros((len(core.ready), 1), dtype=np.float32))
    sent = core.record(0)["sent"]
    assert sent.sum() != engine_flows(FixedWindow(15), TIME, 3)["sent"].sum()


@pytest.mark.usefixtures("ns3")
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@pytest.mark.parametrize("cells", [pytest.param(0, marks=pytest.mark.slow), 6], ids=["dense", "memory"])
def test_ns3_runs_the_same_network(agent: Agent, cells: int) -> None:
    """Without losses both simulators deliver about the same, as they do under rule tables."""
    policy = network(agent, cells, seed=4)
    nets = NetworkList([Network(i, 2.7, 50.0, 2, 1e6, 1500.0, 1000.0, 0.0) for i in range(3)])
    which, index, seeds = [0] * len(nets), range(len(nets)), [1] * len(nets)
    ns3 = Ns3(5_000.0, jobs=1, options=Ns3Options(header_bytes=0))
    real = ns3.run([ns3.compile(policy)], nets, which, index, seeds)
    fast = Engine(5_000.0, jobs=1).run([compile_policy(policy)], nets, which, index, seeds)
    delivered = [int(b["sender_delivered"].sum()) for b in (real, fast)]
    delays = [b["sender_delay_sum_us"].sum() / b["sender_delivered"].sum() for b in (real, fast)]
    assert delivered[1] > 300
    assert delivered[0] == pytest.approx(delivered[1], rel=0.03)
    assert delays[0] == pytest.approx(delays[1], rel=0.04)
