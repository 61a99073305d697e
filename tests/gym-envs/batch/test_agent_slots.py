"""AgentSlots: batches of environments, their rows, rewards and ends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import psutil
import pytest

from lcca.evaluation.trials.utilities import UTILITIES
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import FLOW_ENDED, TRIAL_ENDED, Reward
from lcca.inputs.errors import InputError
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.agents import EVERY_ACK, Agent, Decisions, TableSteering, WindowSteering
from lcca.remy_plus.policies.policy import FixedWindow

from .slots_support import BYTES, SHORT, TIME, always, engine_flows, one_environment, window_rules

E2E = ("send_ewma", "receive_ewma", "rtt_ratio", "slow_receive_ewma")
ALWAYS_ON = Network(1, 3.0, 25.0, 3, 60, 1e9, 100.0, 0.002)
ALONE = Network(1, 3.0, 25.0, 1, 100, 1e9, 1.0, 0.0)

CORE = {"all_senders": True, "whole_rows": False, "endless": True, "keep_records": False, "jobs": 1}

ACKS = Agent(E2E, 2, EVERY_ACK, WindowSteering(multiple=0.05, increment=1.0, pacing=0.5))


def digest(slots: AgentSlots, steps: int, seed: int = 3) -> tuple[float, ...]:
    random = np.random.default_rng(seed)
    total = np.zeros(4)
    for _ in range(steps):
        rows = slots.num_slots if slots.whole_rows else len(slots.ready)
        slots.step(random.uniform(-1, 1, (rows, slots.rules.agent.numbers)))
        ready = np.arange(slots.num_slots) if slots.whole_rows else slots.ready
        weights = 1 + ready
        total += [
            (slots.observation[ready].sum(axis=1) * weights).sum(),
            (slots.reward[ready] * weights).sum(),
            (slots.ended[ready] * weights).sum(),
            weights.sum(),
        ]
    return tuple(total)


@pytest.mark.parametrize("whole_rows", [False, True])
def test_threads_do_not_change_anything(whole_rows: bool) -> None:
    def run(jobs: int) -> tuple[float, ...]:
        rules = Rules(ACKS, patience=4.0 if whole_rows else 0.0)
        slots = AgentSlots(rules, [TIME, SHORT, BYTES], environments=17, whole_rows=whole_rows, jobs=jobs)
        slots.reset(5)
        return digest(slots, 300)

    assert run(1) == run(3)


def test_resets_repeat_and_seeds_differ() -> None:
    slots = AgentSlots(Rules(ACKS), [TIME], environments=3)
    slots.reset(1)
    first = digest(slots, 100)
    slots.reset(1)
    assert digest(slots, 100) == first
    slots.reset(2)
    assert digest(slots, 100) != first


def test_one_slot_per_network_decides_at_a_time() -> None:
    slots = AgentSlots(Rules(ACKS), [TIME, BYTES], environments=6)
    slots.reset()
    for _ in range(200):
        assert list(slots.slot_environment[slots.ready]) == [0, 1, 2, 3, 4, 5]
        slots.step(np.zeros((6, 3)))


def test_patience_lets_flows_decide_together() -> None:
    agent = Agent(E2E, decisions=Decisions(1.0))
    slots = AgentSlots(Rules(agent, patience=8.0), [ALWAYS_ON], environments=4, whole_rows=True)
    slots.reset()
    for _ in range(30):
        slots.step(np.zeros((slots.num_slots, 1)))
    together = []
    for _ in range(50):
        slots.step(np.zeros((slots.num_slots, 1)))
        together.append(slots.acting.mean())
    assert np.mean(together) > 0.95


@pytest.mark.parametrize("network", [TIME, SHORT, BYTES], ids=["time", "short", "bytes"])
def test_every_flow_of_the_trial_is_an_episode(network: Network) -> None:
    core = one_environment(window_rules(15), network, 8)
    ends = np.zeros((network.senders, 3), dtype=int)
    while len(core.ready):
        core.step(always(0)(core))
        rows = range(network.senders) if core.over[0] else core.ready
        for slot in rows:
            ends[slot, core.ended[slot]] += 1
    flows = engine_flows(FixedWindow(15), network, 8)
    begun = np.bincount(flows["sender"].astype(int), minlength=network.senders)
    finished = np.bincount(flows["sender"].astype(int), flows["end_us"] < 10_000, minlength=network.senders)
    np.testing.assert_array_equal(ends[:, FLOW_ENDED] + ends[:, TRIAL_ENDED], begun)
    np.testing.assert_array_equal(ends[:, FLOW_ENDED], finished)


@pytest.mark.slow
def test_slots_turn_over_trial_after_trial() -> None:
    slots = AgentSlots(Rules(ACKS), [BYTES], environments=2)
    slots.reset()
    seen = set()
    ended = 0
    for _ in range(40_000):
        slots.step(np.zeros((2, 3)))
        ended += int((slots.ended[slots.ready] > 0).sum())
        seen.add(tuple(slots.core.trial_seed))
    assert int(np.asarray(slots.core.trials).min()) >= 3
    assert len(seen) >= 5
    assert ended > 200


def test_slots_without_a_flow_see_minus_one_and_have_no_reward() -> None:
    slots = AgentSlots(Rules(ACKS, patience=4.0), [TIME], environments=4, whole_rows=True)
    slots.reset()
    idle_rows = 0
    for _ in range(2000):
        before = (slots.observation == -1).all(axis=1)
        slots.step(np.zeros((slots.num_slots, 3)))
        idle = (slots.observation == -1).all(axis=1)
        still = before & idle
        idle_rows += int(still.sum())
        assert not slots.acting[idle].any()
        assert (slots.reward[still] == 0).all()
    assert idle_rows > 0


@pytest.mark.parametrize("decisions", [EVERY_ACK, Decisions(1.0)], ids=["acks", "round-trips"])
@pytest.mark.parametrize("name", ["default", "2d"])
def test_gains_sum_to_the_campaigns_utility(decisions: Decisions, name: str) -> None:
    utility = UTILITIES[name]
    reward = Reward("gain", utility.throughput_weight, utility.delay_weight)
    core = one_environment(window_rules(30, reward, decisions), ALWAYS_ON, 2)
    sums = np.zeros(3)
    while len(core.ready):
        core.step(always(0)(core))
        rows = range(3) if core.over[0] else core.ready
        for slot in rows:
            sums[slot] += core.reward[slot]
    record = core.record(0)
    throughput = record["delivered"] / record["share_us"]
    delay = record["delay_sum_us"] / record["delivered"]
    base = ALWAYS_ON.rtt + 1 / ALWAYS_ON.link_rate
    ideal = utility.of(ALWAYS_ON.link_rate, base)
    expected = (utility.of(throughput, delay) - ideal)[np.argsort(record["sender"])]
    np.testing.assert_allclose(sums, expected, atol=1e-4)


@pytest.mark.parametrize("decisions", [EVERY_ACK, Decisions(1.0), Decisions(7.0)], ids=str)
@pytest.mark.parametrize("interval", [0.0, 3.0])
def test_linear_rewards_sum_over_packets(decisions: Decisions, interval: float) -> None:
    """Whatever the intervals: of one flow that is alone, from its record."""
    reward = Reward("linear", 1.0, 0.5, interval=interval)
    core = one_environment(window_rules(100, reward, decisions), ALONE, 2)
    total = 0.0
    while len(core.ready):
        core.step(always(0)(core))
        total += float(core.reward[0])
    record = core.record(0)
    base = 25 + 1 / 3
    expected = (1.5 * record["delivered"] - 0.5 * record["delay_sum_us"] / base) / 3.0 / base
    assert total == pytest.approx(float(expected.sum()), rel=1e-4)


def steady(reward: Reward, window: int = 30) -> tuple[float, float]:
    """Mean reward per µs, and mean per step, of one flow alone with a window below the link's capacity."""
    core = one_environment(window_rules(window, reward, Decisions(4.0)), ALONE, 1)
    rewards, times = [], []
    while len(core.ready):
        core.step(always(0)(core))
        rewards.append(float(core.reward[0]))
        times.append(core.now(0))
    return sum(rewards[5:-1]) / (times[-2] - times[4]), float(np.mean(rewards[5:-1]))


def test_utility_is_a_time_integral() -> None:
    """Window 30 alone: T = 30 / RTT, no queue but the train's own."""
    per_us, _ = steady(Reward("utility", delay_weight=0.0))
    base = 25 + 1 / 3
    rtt = 30 / 3 + 25 if 30 / 3 > base else base
    assert per_us * base == pytest.approx(math.log2(30 / rtt / 3.0), abs=0.03)


@pytest.mark.parametrize(("throughput_weight", "delay_weight"), [(1.0, 0.0), (1.0, 1.0), (2.0, 1.0)])
def test_power_is_the_utility_without_its_logarithm(throughput_weight: float, delay_weight: float) -> None:
    """Of a steady flow, so that means of logarithms are logarithms of means."""
    weights = {"throughput_weight": throughput_weight, "delay_weight": delay_weight}
    power, _ = steady(Reward("power", **weights))  # type: ignore[arg-type]
    utility, _ = steady(Reward("utility", **weights))  # type: ignore[arg-type]
    base = 25 + 1 / 3
    assert math.log2(power * base) * throughput_weight == pytest.approx(utility * base, abs=0.03)


def test_aurora_and_orca_rewards() -> None:
    """No losses; 30 packets per RTT; a train of 30 waits 14.5 services on average where it is sent at once."""
    base = 25 + 1 / 3
    _, aurora = steady(Reward("aurora"))
    assert aurora == pytest.approx(0.001 * (10 * 30 / base * 100 - 1000 * base / 100), rel=0.05)
    _, orca = steady(Reward("orca"))
    assert orca == pytest.approx(30 / base / 3.0, rel=0.05)


def test_a_flow_that_falls_silent_costs_a_bounded_price() -> None:
    agent = Agent(E2E, steering=WindowSteering(multiple=1.0, smallest=1.0))
    rules = Rules(agent, Reward("utility"), patience=8.0)
    slots = AgentSlots(rules, [replace(ALWAYS_ON, mean_on=3000.0, loss=0.05)], environments=4, whole_rows=True)
    slots.reset()
    random = np.random.default_rng(1)
    worst = 0.0
    for _ in range(600):
        slots.step(random.uniform(-1, 1, (slots.num_slots, 1)))
        worst = min(worst, float(slots.reward.min()))
    assert worst == -80.0


def test_short_steps_pay_when_an_interval_is_full() -> None:
    core = one_environment(window_rules(30, Reward("utility")), ALONE, 1)
    rewards = []
    while len(core.ready):
        core.step(always(0)(core))
        rewards.append(float(core.reward[0]))
    paid = np.flatnonzero(rewards)
    assert 20 < np.diff(paid)[3:-2].mean() < 40  # acknowledgements per RTT


@pytest.mark.slow
def test_memory_does_not_grow() -> None:
    slots = AgentSlots(Rules(ACKS), [TIME, BYTES], environments=8, jobs=2)
    slots.reset()
    random = np.random.default_rng(1)

    def run(steps: int) -> int:
        for _ in range(steps):
            slots.step(random.uniform(-1, 1, (8, 3)))
        return int(psutil.Process().memory_info().rss)

    before = run(20_000)
    assert run(40_000) - before < 4e6
    assert int(np.asarray(slots.core.trials).min()) > 4


def test_a_curriculum_reaches_every_network() -> None:
    slots = AgentSlots(Rules(ACKS, duration=500.0), [replace(TIME, mean_off=20.0)], environments=2)
    slots.reset()
    slots.set_networks([replace(TIME, id=70, mean_off=20.0), replace(TIME, id=71, mean_off=20.0)])
    for _ in range(20_000):
        slots.step(np.zeros((2, 3)))
        if int(np.asarray(slots.core.trials).min()) > 6:
            break
    assert {network.id for network in slots.networks.networks} == {70, 71}
    assert set(slots.network_index) <= {0, 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AgentSlots(Rules(ACKS), []), "at least one"),
        (lambda: AgentSlots(Rules(ACKS), [TIME], slots=1), "no others"),
        (lambda: AgentSlots(Rules(ACKS), [TIME], slots=9), "no network has senders"),
        (lambda: Rules(ACKS, patience=-1).core([1], **CORE), "patience"),
        (lambda: Rules(ACKS, duration=math.inf).core([1], **CORE), "duration"),
        (lambda: Reward("profit"), "utility, power, linear, gain, aurora or orca"),  # type: ignore[arg-type]
        (lambda: Reward(delay_weight=-1), "weights"),
    ],
)
def test_what_is_impossible_is_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("bad", [np.zeros((5, 3)), np.zeros((4, 2)), np.full((4, 3), np.nan)])
def test_bad_actions_are_refused(bad: np.ndarray) -> None:
    slots = AgentSlots(Rules(ACKS), [TIME], environments=4)
    slots.reset()
    with pytest.raises(InputError, match="action"):
        slots.step(bad)


def test_an_index_beyond_the_table_is_refused() -> None:
    slots = AgentSlots(Rules(Agent(E2E, steering=TableSteering())), [TIME], environments=1)
    slots.reset()
    slots.step([4])
    with pytest.raises(InputError, match="index"):
        slots.step([5])


def test_trials_that_never_begin_are_told() -> None:
    slots = AgentSlots(Rules(ACKS, duration=1e-3), [TIME], environments=1)
    with pytest.raises(RuntimeError, match="no flow began"):
        slots.reset()
