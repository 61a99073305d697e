"""A policy that is replayed through the slots gives the engine's trials, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcca.gym_envs.batch.agent_slots import Rules
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNALS
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.agents import EVERY_ACK
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy
from lcca.remy_plus.topology import Topology

from .slots_support import (
    BYTES,
    FLOW_COLUMNS,
    SHORT,
    TIME,
    actions_of,
    always,
    engine_flows,
    one_environment,
    play,
    random_table,
    replayed,
    rule_chooser,
    window_rules,
)

LINE = replace(TIME, id=11, senders=2, topology=Topology.of("line"))


@pytest.mark.parametrize("network", [TIME, SHORT, BYTES], ids=["time", "short", "bytes"])
@pytest.mark.parametrize("seed", [1, 2])
def test_rule_tables_meet_the_same_trial(network: Network, seed: int) -> None:
    table = random_table(seed)
    core = one_environment(Rules(replayed(actions_of(table)), late=True), network, seed)
    assert play(core, rule_chooser(table)) > 100
    record, expected = core.record(0), engine_flows(table, network, seed)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


@pytest.mark.parametrize("network", [TIME, SHORT, BYTES], ids=["time", "short", "bytes"])
def test_fixed_windows_meet_the_same_trial(network: Network) -> None:
    core = one_environment(window_rules(15), network, 5)
    play(core, always(0))
    record, expected = core.record(0), engine_flows(FixedWindow(15), network, 5)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


@pytest.mark.parametrize("patience", [0.0, 4.0])
def test_the_others_follow_their_policy(patience: float) -> None:
    """One steered sender among three of AIMD: as if all were, if it is steered as AIMD would not be told apart."""
    rules = window_rules(15, others=FixedWindow(15), patience=patience)
    core = one_environment(rules, TIME, 5, slots=1)
    play(core, always(0))
    record, expected = core.record(0), engine_flows(FixedWindow(15), TIME, 5)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


def test_cross_traffic_of_a_topology_follows_the_others() -> None:
    table = random_table(3)
    rules = Rules(replayed(actions_of(table)), late=True, others=table)
    core = one_environment(rules, LINE, 4)
    play(core, rule_chooser(table))
    record, expected = core.record(0), engine_flows(table, LINE, 4)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


def test_others_may_look_at_formulas() -> None:
    """As they look at the signals that these equal, and not as they would without."""
    table, sent = random_table(3), []
    for last in (table.signals[-1], f"own = {table.signals[-1]}", f"own = 2 * {table.signals[-1]} + 1"):
        others = replace(table, signals=(*table.signals[:-1], last))
        core = one_environment(window_rules(15, others=others), TIME, 5, slots=1)
        play(core, always(0))
        sent.append(core.record(0)["sent"].tolist())
    assert sent[0] == sent[1] != sent[2]


def test_observations_are_the_engines_signals() -> None:
    """Every decision of every slot sees the signals of the engine's trace, scaled, in the order of the trace."""
    agent = replayed(((15, 0, 0),), EVERY_ACK)
    core = one_environment(Rules(agent), TIME, 5)
    seen: dict[int, list[np.ndarray]] = {slot: [] for slot in range(TIME.senders)}
    while len(core.ready):
        for slot in core.ready:
            seen[int(slot)].append(np.array(core.observation[slot]))
        core.step(always(0)(core))
    model = Model()
    trace = _core.trace(
        compile_policy(FixedWindow(15)),
        NetworkList([TIME]).compiled(compile_network)[0],
        5,
        duration=10_000.0,
        model=model.parts(),
        script=[],
    )
    signals = np.stack([trace[name] for name in SIGNALS], axis=1)
    mine = (trace["on"] == 1) & (trace["current"] == 1)
    expected = np.asarray(agent.compile().see(np.ascontiguousarray(signals)))
    for slot, rows in seen.items():
        acked = [row for row in rows if row.any()]
        of_slot = expected[mine & (trace["sender"] == slot)]
        np.testing.assert_array_equal(np.array(acked), of_slot[of_slot.any(axis=1)])


def test_decisions_in_round_trips_are_that_far_apart() -> None:
    alone = Network(1, 3.0, 25.0, 1, 100, 1e9, 1.0, 0.0)
    rules = window_rules(15)
    rules = replace(rules, agent=replace(rules.agent, decisions=replace(EVERY_ACK, rtts=2.0)))
    core = one_environment(rules, alone, 1)
    times = []
    while len(core.ready):
        times.append(core.now(0))
        core.step(always(0)(core))
    gaps = np.diff(times[2:])
    rtt = 25 + 1 / 3
    assert (gaps >= 2 * rtt - 1e-6).all()
    assert np.mean(gaps) < 3.2 * rtt  # a window of 15 comes back within one RTT, in a train


def test_an_action_acts_at_the_instant_of_its_acknowledgement() -> None:
    """A window cut from 20 to 10 as the 1st acknowledgement comes: the next 10 of them allow no packet."""
    alone = Network(1, 3.0, 25.0, 1, 100, 1e9, 1.0, 0.0)
    core = one_environment(Rules(replayed(((20, 0, 0), (10, 0, 0)))), alone, 1)
    core.step(np.array([[0]], dtype=np.float32))
    sent = []
    for _ in range(25):
        core.step(np.array([[1]], dtype=np.float32))
        sent.append(core.control(0)[2])
    assert sent[:12] == [20] * 10 + [21, 22]
