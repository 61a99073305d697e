"""Agents that steer flows of a fabric, against the transports that do the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

import lcca.gym_envs.registration  # noqa: E402, F401
from lcca.gym_envs.batch.vec_env import AgentSlotsVecEnv  # noqa: E402
from lcca.gym_envs.fabric.env import FabricFlowEnv  # noqa: E402
from lcca.gym_envs.fabric.fabrics import SmallFabric  # noqa: E402
from lcca.gym_envs.fabric.slots import FabricSlots  # noqa: E402
from lcca.gym_envs.fabric.trials import FabricTrials  # noqa: E402
from lcca.gym_envs.interface.episode import FLOW_ENDED, TRIAL_ENDED  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord  # noqa: E402
from lcca.remy_plus.policies.agents import (  # noqa: E402
    EVERY_ACK,
    Agent,
    Decisions,
    LawSteering,
    MlpPolicy,
    RateSteering,
    TableSteering,
    WindowSteering,
)
from lcca.remy_plus.policies.law import Law  # noqa: E402
from lcca.remy_plus.policies.policy import FixedRate, FixedWindow, Policy, WithHeader  # noqa: E402
from lcca.signal_sets.headers.header import header  # noqa: E402
from lcca.signal_sets.headers.simulated import stamping  # noqa: E402

from ..batch.slots_support import network  # noqa: E402

SMALL = SmallFabric(30, 100.0)
SIGNALS = ("rtt_ratio", "receive_ewma", "loss")
LAW = Law.of({"increase": -1, "boost": 2, "decrease": 0.5, "pace": -0.2}, {"queueing": (0.1, 0.3, -0.1)})
AGENTS = {
    "window": Agent(SIGNALS, 2, Decisions(1.0), WindowSteering(0.3, 2.0)),
    "paced": Agent((*SIGNALS, "queue", "link"), 1, EVERY_ACK, WindowSteering(0.1, pacing=0.5)),
    "rate": Agent(SIGNALS, 1, Decisions(0.5, "smallest"), RateSteering(largest=12)),
    "table": Agent(SIGNALS, 3, EVERY_ACK, TableSteering(((0, 1, 0), (-3, 1, 0), (2, 1, 0)), smallest=1)),
    "law": Agent(SIGNALS, 1, Decisions(0.5), LawSteering(LAW)),
}
COLUMNS = ("flow_fct_ns", "flow_delivered_bytes", "port_data_packets", "port_marked_packets", "retransmitted_packets")


def run(policy: Policy | str, seed: int) -> FabricRecord:
    flows = SMALL.flows(seed)
    engine = FabricEngine(policy, settings=SMALL.settings())
    return engine.run(SMALL.fabric, flows, seed, SMALL.horizon_ns(flows), last_round_ns=SMALL.end_ns)


def play(slots: FabricSlots, policy: MlpPolicy | None) -> int:
    """Play the first trial to its end, by a policy or by zeros; return its seed."""
    slots.reset(4)
    seed = slots.trial_seed
    while slots.record is None:
        said = np.zeros((slots.num_slots, slots.agent.numbers), dtype=np.float32)
        if policy is not None:
            said = policy.actions(policy.outputs(slots.observation)[0])
        slots.step(said)
    slots.close()
    return seed


def same(ours: FabricRecord, theirs: FabricRecord) -> bool:
    return all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in COLUMNS)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_the_fabrics_engine_does_what_the_slots_do(agent: Agent) -> None:
    slots = FabricSlots(FabricTrials(agent, SMALL), 30)
    seed = play(slots, network(agent))
    assert same(slots.record, run(network(agent), seed))
    assert not same(slots.record, run(network(agent), seed + 1)), "else it shows nothing"


@pytest.mark.parametrize(
    ("steering", "policy"),
    [(WindowSteering(initial=7.0), FixedWindow(7)), (RateSteering(initial=2.0), FixedRate(2.0))],
    ids=["window", "rate"],
)
@pytest.mark.parametrize("patience", [0.0, 1.5])
def test_an_agent_that_changes_nothing_is_a_fixed_control(steering: Any, policy: Policy, patience: float) -> None:
    """Also where all decide together: looks change nothing."""
    trials = FabricTrials(Agent(SIGNALS, 1, Decisions(1.0), steering), SMALL, patience_us=patience)
    slots = FabricSlots(trials, 30)
    assert same_after(slots, policy)


def same_after(slots: FabricSlots, policy: Policy) -> bool:
    seed = play(slots, None)
    return same(slots.record, run(policy, seed))


@pytest.mark.slow
def test_a_header_brings_its_signals() -> None:
    head = stamping(header("hpcc"))
    agent = Agent(("rtt_ratio", *head.signals), 1, EVERY_ACK, WindowSteering(0.2, 1.0))
    slots = FabricSlots(FabricTrials(agent, SMALL, header=head), 30)
    seed = play(slots, network(agent))
    assert same(slots.record, run(WithHeader(network(agent), head), seed))


def test_flows_without_a_slot_run_what_the_others_do() -> None:
    """Fixed windows for those that have one, the same as a policy for those that have none; and DCQCN is not that."""
    agent = Agent(SIGNALS, 1, Decisions(1.0), WindowSteering(initial=7.0))
    few = FabricSlots(FabricTrials(agent, SMALL, others=FabricEngine(FixedWindow(7))), 3)
    assert same_after(few, FixedWindow(7))
    assert not same_after(FabricSlots(FabricTrials(agent, SMALL), 3), FixedWindow(7))


@pytest.mark.parametrize("patience", [0.0, 2.0])
def test_rewards_add_up_to_slowdowns(patience: float) -> None:
    """To the last acknowledgement, whose times are the engine's where flows end with it."""
    agent = Agent(SIGNALS, 1, Decisions(1.0), WindowSteering(initial=7.0))

    class AtAck(SmallFabric):
        def settings(self) -> Any:
            return replace(super().settings(), fct_at_ack=True)

    place = AtAck(30, 100.0)
    slots = FabricSlots(FabricTrials(agent, place, patience_us=patience), 30)
    slots.reset(4)
    total, ends = 0.0, 0
    while slots.record is None:
        slots.step(np.zeros((30, 1)))
        total += float(slots.reward.sum())
        ends += int((slots.ended == FLOW_ENDED).sum())
    slots.close()
    record = slots.record
    if patience == 0:
        assert ends == np.isfinite(record["flow_fct_ns"]).sum()
        np.testing.assert_allclose(-total, (record["flow_fct_ns"] / record["flow_alone_ns"]).sum(), rtol=0.01)
    else:  # short ones may end before they decide
        assert 15 < ends <= 30


def test_one_flow_among_others() -> None:
    """The same flow in a trial that is run by hand, with the others' transport."""
    env = FabricFlowEnv("e2e", SMALL, others="dctcp-window", smallest_bytes=50_000)
    _, info = env.reset(seed=3)
    again = env.reset(options={"trial_seed": info["trial_seed"], "flow": info["flow"]})[1]
    assert again == info
    assert info["size_bytes"] == SMALL.flows(info["trial_seed"]).size_bytes[info["flow"]] >= 50_000
    total, over, steps = 0.0, False, 0
    while not over:
        _, reward, over, truncated, now = env.step([0.0])
        assert not truncated
        total, steps = total + reward, steps + 1
    assert now["now_us"] > info["now_us"]
    assert total <= -1
    assert steps > 1
    with pytest.raises(InputError, match="call reset first"):
        env.step([0.0])


def test_a_trial_that_ends_truncates() -> None:
    class Short(SmallFabric):
        def horizon_ns(self, flows: Any) -> float:
            return 60_000

    agent = Agent(SIGNALS, 1, Decisions(1.0), WindowSteering(initial=2.0))
    slots = FabricSlots(FabricTrials(agent, Short(30, 100.0), "dcqcn", "power"), 30)
    slots.reset(1)
    seen = set()
    for _ in range(4000):
        slots.step(np.zeros((30, 1)))
        seen |= set(slots.ended.tolist())
        if TRIAL_ENDED in seen:
            break
    assert TRIAL_ENDED in seen
    assert slots.acting.any(), "the next trial has begun"
    slots.close()


def test_vector_forms() -> None:
    env = gymnasium.make_vec("lcca/FabricFlow-v0", num_envs=6, vectorization_mode="vector_entry_point", scenario=SMALL)
    seen, info = env.reset(seed=2)
    assert seen.shape == (6, 4) == env.observation_space.shape
    assert info["acting"].any()
    for _ in range(50):
        seen, *_, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
    vec = AgentSlotsVecEnv(FabricSlots(FabricTrials(AGENTS["window"], SMALL, patience_us=2.0), 5))
    assert vec.reset().shape == (5, 6)
    assert vec.step(np.zeros((5, 2)))[0].shape == (5, 6)
    env.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agent": Agent(("flows",))}, "does not tell flows"),
        ({"others": "rcp"}, "packets carry what"),
        ({"others": "dcqcn@acc"}, "."),
        ({"others": "mix:0.5(dctcp|timely)"}, "name no mixture"),
        ({"reward": "best"}, "reward"),
        ({"patience_us": -1.0}, "patience_us"),
        ({"agent": AGENTS["law"], "patience_us": 1.0}, "law goes on"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FabricTrials(**({"agent": AGENTS["window"], "scenario": SMALL} | changes))
    slots = FabricSlots(FabricTrials(AGENTS["table"], SMALL), 3)
    slots.reset()
    for bad in (np.zeros(5), [[3], [0], [0]], np.full((3, 1), np.nan)):
        with pytest.raises(InputError, match="slots: "):
            slots.step(bad)
    slots.close()


@pytest.mark.parametrize("others", ["nscc", "ndp", "homa"])
def test_agents_steer_no_flows_beside_hosts_of_another_kind(others: str) -> None:
    with pytest.raises(InputError, match="others: have hosts of their own"):
        FabricSlots(FabricTrials(AGENTS["window"], SMALL, others=others), 3).reset()


def test_a_reward_of_ones_own_sees_the_step() -> None:
    env = FabricFlowEnv(reward=lambda seen, action, info: info["now_us"] + float(action[0]))
    env.reset(seed=1)
    seen, reward, *_, info = env.step(np.array([0.5], dtype=np.float32))
    assert reward == info["now_us"] + 0.5 and seen.size
    with pytest.raises(InputError, match="reward: must be a kind"):
        FabricTrials(AGENTS["rate"], SMALL, reward=len)  # type: ignore[arg-type]
