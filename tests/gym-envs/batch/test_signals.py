"""Agents in environments see the signals that policies see, whatever brings them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcca.gym_envs.batch.agent_slots import Rules
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import CARRIED, SIGNALS
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.agents import EVERY_ACK, Agent, LawSteering, MlpPolicy, WindowSteering
from lcca.remy_plus.policies.explicit import FairShare, Rcp
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.layers import Layer
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

from .slots_support import FLOW_COLUMNS, TIME, engine_flows, one_environment

FREE = tuple(name for name in SIGNALS if CARRIED.get(name, "queue") not in ONLY_IN_HEADERS)
"""All but `load` and `rank`, which headers define."""

CONTROL = """
class Fixed:
    signals = {signals}

    def start(self):
        return 45.0, 0.0

    def on_ack(self, ack):
        import {keeper}
        {keeper}.append((ack.now, *(getattr(ack, name) for name in self.signals)))
        return 45.0, 0.0
"""
seen_by_control: list[tuple[float, ...]] = []


def mlp(agent: Agent, seed: int = 1) -> MlpPolicy:
    random = np.random.default_rng(seed)
    return MlpPolicy(
        agent,
        (
            Layer(random.normal(0, 0.5, (8, agent.inputs)), random.normal(0, 0.3, 8), "tanh"),
            Layer(random.normal(0, 1, (agent.numbers, 8)), random.normal(0, 0.3, agent.numbers), "linear"),
        ),
    )


def flows_of(policy: MlpPolicy, rules: Rules, network: Network) -> dict[str, np.ndarray]:
    core = one_environment(rules, network, 3)
    while len(core.ready):
        ready = np.array(core.ready)
        core.step(policy.actions(policy.outputs(np.array(core.observation)[ready])[0]))
    return dict(core.record(0))


def test_all_but_two_signals_are_free() -> None:
    assert set(SIGNALS) - set(FREE) == {"load", "rank"}


@pytest.mark.parametrize("signal", FREE)
def test_an_agent_that_sees_a_signal_plays_the_engines_trial(signal: str) -> None:
    """The policy goes by what the agent sees, so that equal flows are equal views."""
    agent = Agent((signal,), 2, EVERY_ACK, WindowSteering(0.1, 1.0))
    policy = mlp(agent)
    record = flows_of(policy, Rules(agent, duration=3_000.0), TIME)
    expected = engine_flows(policy, TIME, 3, 3_000.0)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[name], expected[name], err_msg=name)


def test_values_are_those_that_a_class_in_python_is_told(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every signal of every acknowledgement, against the engine's own report to another kind of policy."""
    monkeypatch.setitem(__import__("sys").modules, "kept_signals", seen_by_control)  # type: ignore[arg-type]
    seen_by_control.clear()
    path = tmp_path / "fixed.py"
    path.write_text(CONTROL.format(signals=FREE, keeper="kept_signals"))
    alone = replace(TIME, senders=2)
    policy = PythonControl.named(f"{path}:Fixed")
    Engine(2_000.0, jobs=1).run([compile_policy(policy)], NetworkList([alone]), [0], [0], [3])
    agent = Agent(FREE, 1, EVERY_ACK, WindowSteering(initial=45.0))
    core = one_environment(Rules(agent, duration=2_000.0), alone, 3)
    rows = []
    places = [SIGNALS.index(name) for name in FREE]
    compiled = agent.compile()
    while len(core.ready):
        (slot,) = (int(each) for each in core.ready)
        raw = np.asarray(core.signals([slot]))
        if raw.any():  # else at the start of a flow, or its first acknowledgement
            rows.append((core.now(0), *raw[0, places]))
            np.testing.assert_array_equal(np.asarray(core.observation)[slot], compiled.see(raw)[0])
        core.step(np.zeros((1, 1), dtype=np.float32))
    assert len(rows) > 500
    by_time = {row[0]: row for row in seen_by_control}
    assert len(by_time) < 1.03 * len(rows), "the rest came to senders that were off"
    np.testing.assert_array_equal(np.array(rows), np.array([by_time[row[0]] for row in rows]))
    for at, name in enumerate(FREE):
        assert np.ptp(np.array(rows)[:, 1 + at]) > 0 or name == "capacity", name


@pytest.mark.parametrize("name", ["hpcc", "fair-share"])
def test_a_header_brings_what_it_carries_at_its_cost(name: str) -> None:
    head = stamping(header(name))
    agent = Agent(("rtt_ratio", *head.signals), 1, EVERY_ACK, WindowSteering(0.1, 1.0))
    policy = mlp(agent)
    record = flows_of(policy, Rules(agent, duration=3_000.0, header=head), TIME)
    expected = engine_flows(WithHeader(policy, head), TIME, 3, 3_000.0)
    for column in FLOW_COLUMNS:
        np.testing.assert_array_equal(record[column], expected[column], err_msg=column)
    free = engine_flows(WithHeader(policy, stamping(header(name), charged=False)), TIME, 3, 3_000.0)
    assert not np.array_equal(record["delay_sum_us"], free["delay_sum_us"])


@pytest.mark.parametrize("others", [FairShare(), Rcp()])
def test_others_have_what_they_need(others: FairShare | Rcp) -> None:
    """An agent that says nothing among senders that go by hops' numbers."""
    agent = Agent(("flows", "rtt_ratio"), 1, EVERY_ACK, WindowSteering(initial=12.0))
    core = one_environment(Rules(agent, others=others, duration=3_000.0), TIME, 3, slots=1)
    while len(core.ready):
        core.step(np.zeros((len(core.ready), 1), dtype=np.float32))
    sent = core.record(0)["sent"]
    assert sent.sum() != engine_flows(FixedWindow(12), TIME, 3, 3_000.0)["sent"].sum()
    assert sent.sum() != engine_flows(others, TIME, 3, 3_000.0)["sent"].sum()


def test_what_cannot_be_is_refused() -> None:
    head = stamping(header("hpcc"))
    with pytest.raises(InputError, match="load is what a header makes"):
        one_environment(Rules(Agent(("load",))), TIME, 3)
    with pytest.raises(InputError, match="does not carry the signal flows"):
        one_environment(Rules(Agent(("flows",)), header=head), TIME, 3)
    with pytest.raises(InputError, match="packets have one header"):
        other = WithHeader(FixedWindow(3), stamping(header("fair-share")))
        one_environment(Rules(Agent(("rtt_ratio",)), others=other, header=head), TIME, 3, slots=1)


def test_a_law_under_an_agent_has_its_own_signals() -> None:
    """A law that goes by the number of flows, which its agent does not see: zeros are the law, to the bit."""
    law = Law.of(
        {"increase": -1, "boost": 2, "decrease": 0.5, "pace": -0.2}, {"flows": (0.4, -0.3, 0.2)}, inputs=("flows",)
    )
    assert "flows" in law.signals
    core = one_environment(Rules(Agent(("rtt_ratio",), 1, EVERY_ACK, LawSteering(law)), duration=3_000.0), TIME, 3)
    while len(core.ready):
        core.step(np.zeros((len(core.ready), 3), dtype=np.float32))
    expected = engine_flows(law, TIME, 3, 3_000.0)
    for name in FLOW_COLUMNS:
        np.testing.assert_array_equal(core.record(0)[name], expected[name], err_msg=name)
