"""`lcca/Ns3Bottleneck-v0`: the fast engine's environment, played in ns-3."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from lcca.evaluation.scenarios.networks import NetworkSpace  # noqa: E402
from lcca.gym_envs.flow.bottleneck import BottleneckEnv  # noqa: E402
from lcca.gym_envs.flow.env import FlowEnv  # noqa: E402
from lcca.gym_envs.flow.ns3_bottleneck import Ns3BottleneckEnv  # noqa: E402
from lcca.gym_envs.interface.episode import Reward  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.gym_envs.ns3.plan import Ns3Options  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.remy_plus.network import Network  # noqa: E402
from lcca.remy_plus.policies.agents import EVERY_ACK, TableSteering  # noqa: E402
from lcca.remy_plus.policies.hand_designed import HandDesigned  # noqa: E402
from lcca.remy_plus.policies.policy import FixedWindow  # noqa: E402
from lcca.workers.session import SimulationLost  # noqa: E402

pytestmark = pytest.mark.usefixtures("ns3")

SPACE = NetworkSpace(
    link_rate={"min": 2, "max": 4, "step": 0.5},
    rtt={"min": 20, "max": 30, "step": 1},
    senders={"min": 1, "max": 4, "step": 1},
    buffer=150,
    mean_on=3000,
    mean_off=300,
    loss=0.001,
    duration=10_000,
)
FREE = Ns3Options(header_bytes=0)
LONG = Network(5, 3.0, 25.0, 2, 100, 1e9, 100.0, 0.0)
TOLERANCE = 0.05
"""Bits within which the simulators agree (`tests/gym-envs/ns3/test_ns3_agreement.py`)."""


def rollout(env: FlowEnv, seed: int, action: float | int) -> tuple[list[np.ndarray], list[float], dict]:
    seen, info = env.reset(seed=seed)
    views, rewards, over = [seen], [], False
    while not over:
        seen, reward, terminated, truncated, info = env.step(np.array(action))
        views.append(seen)
        rewards.append(reward)
        over = terminated or truncated
    return views, rewards, info


@pytest.mark.slow
def test_a_second_implementation_agrees():
    """A fixed window among others: mean throughput, delay and utility, their sum, over flows, each in bits.

    Nothing is lost: TCP sends again what the engine's sender gives up, so that flows whose first window is lost whole
    starve in the engine alone (docs/reproductions/ns-3.md).
    """
    throughput, delay = differences(1, 0), differences(0, 1)
    for found in (throughput, delay, throughput + delay):
        assert abs(found.mean()) < TOLERANCE
    assert np.std(throughput + delay) > 0


def differences(throughput, delay):
    """Return ns-3's gains less the engine's with these weights, one per trial."""
    agent = agent_with("e2e", 1, steering=TableSteering(((20, 0, 0),)))
    reward = Reward("gain", throughput_weight=throughput, delay_weight=delay)
    networks = [replace(network, loss=0.0) for network in SPACE.draw(3, 12)]
    engine = BottleneckEnv(agent, networks, reward, FixedWindow(15))
    ours = Ns3BottleneckEnv(agent, networks, reward, FixedWindow(15), options=FREE)
    pairs = [(rollout(engine, seed, 0), rollout(ours, seed, 0)) for seed in range(8)]
    assert all(a[2]["trial_seed"] == b[2]["trial_seed"] for a, b in pairs), "the same trials"
    ours.close()
    return np.array([sum(b[1]) - sum(a[1]) for a, b in pairs])


def test_observations_agree_where_nothing_is_random():
    """One long flow alone, of a fixed window: after the start every signal is the same in both, to 1 %."""
    agent = agent_with(("rtt_ratio", "queue", "receive_ewma", "send_ewma"), 1, EVERY_ACK, TableSteering(((40, 0, 0),)))
    options = {"trial_seed": 3}
    views = []
    for env in (BottleneckEnv(agent, LONG), Ns3BottleneckEnv(agent, LONG, options=FREE)):
        seen, _ = env.reset(options=options)
        for _ in range(2000):
            seen, *_ = env.step(0)
        views.append(seen)
        env.close()
    np.testing.assert_allclose(views[0], views[1], rtol=0.01)


@pytest.mark.slow
def test_rewards_of_all_kinds_agree_on_a_steady_flow():
    agent = agent_with("e2e", 1, steering=TableSteering(((60, 0, 0),)))
    for kind in ("utility", "power", "gain", "aurora", "orca"):
        paid = []  # those per interval as a mean: in one simulator a round trip may just fall short of the interval
        for env in (BottleneckEnv(agent, LONG, kind), Ns3BottleneckEnv(agent, LONG, kind, options=FREE)):
            env.reset(options={"trial_seed": 3})
            rewards = np.array([env.step(0)[1] for _ in range(100)])
            paid.append(rewards.sum() if kind in ("utility", "power", "gain") else rewards[rewards != 0].mean())
            env.close()
        assert paid[1] == pytest.approx(paid[0], rel=0.03, abs=0.02), kind


def test_a_held_flow_sends_nothing_before_it_decided():
    """The window is 2 from the first packet on: with the initial 10 in flight, delays would show a queue."""
    slow = Network(6, 0.1, 20.0, 1, 100, 1e9, 100.0, 0.0)
    agent = agent_with(("rtt_ratio", "queue"), 1, EVERY_ACK, TableSteering(((2, 0, 0),)))
    env = Ns3BottleneckEnv(agent, slow, options=FREE)
    env.reset(options={"trial_seed": 1})
    seen = [env.step(0)[0] for _ in range(10)]
    assert max(view[1] for view in seen) == 0, "two packets in flight never find one waiting"
    env.close()


def test_hand_designed_controls_may_be_the_others():
    env = Ns3BottleneckEnv("e2e", LONG, others=HandDesigned("dctcp"), duration=2000)
    _, rewards, info = rollout(env, 1, 0.0)
    assert len(rewards) > 5
    assert info["now_us"] == 2000
    env.close()


def test_an_abort_of_ns3_names_network_and_seed():
    broken = Ns3Options(queue="red", queue_attributes=(("NoSuchAttribute", "1"),))
    env = Ns3BottleneckEnv("e2e", LONG, options=broken)
    with pytest.raises(SimulationLost, match=r"network 5, seed 9: .*NoSuchAttribute"):
        env.reset(options={"trial_seed": 9})
    env.close()


def test_waiting_ends():
    env = Ns3BottleneckEnv("e2e", LONG, timeout=1e-4)
    with pytest.raises(SimulationLost, match=r"network 5, seed 9: no answer within 0.0001 s"):
        env.reset(options={"trial_seed": 9})
    env.close()


def test_a_flow_that_never_comes_on_is_told():
    with pytest.raises(InputError, match="no flow came on"):
        Ns3BottleneckEnv(duration=1e-2, networks=Network(1, 1.0, 10.0, 1, 10, 100.0, 1e9, 0.0)).reset(
            options={"trial_seed": 1}
        )
