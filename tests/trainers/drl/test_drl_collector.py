"""What the collector hands on is what the flows experience through."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import Reward
from lcca.inputs.errors import InputError
from lcca.remy_plus.files.policyjson import LawContent
from lcca.remy_plus.policies.agents import Agent, LawSteering, MlpPolicy, TableSteering, WindowSteering
from lcca.remy_plus.policies.layers import Layer
from lcca.trainers.drl.collector import Collector, Experience, Floats
from lcca.trainers.drl.monitor import Monitor

AGENT = Agent(("rtt_ratio", "receive_ewma"))
INPUTS = AGENT.inputs
LAW = LawSteering(LawContent.model_validate({"terms": {"increase": -1, "boost": 2, "decrease": 0.5}}).law())
AGENTS = {
    "window": AGENT,
    "three": Agent(AGENT.signals, 2, steering=WindowSteering(increment=1.0, pacing=0.5)),
    "law": Agent(AGENT.signals, steering=LAW),
}
DEVIATION = 0.3
PRIVILEGES = np.arange(128, dtype=np.float32).reshape(64, 2)


def network_of(agent: Agent, outputs: int) -> MlpPolicy:
    """Random weights."""
    random = np.random.default_rng(1)
    weights = [random.normal(0, 0.4, shape).astype(np.float32) for shape in ((8, agent.inputs), (outputs, 8))]
    return MlpPolicy(agent, (Layer(weights[0], weights[1][0], "tanh"), Layer(weights[1], weights[0][:outputs, 0])))


def slots_of(space: NetworkSpace, agent: Agent = AGENT, jobs: int = 1, patience: float = 0) -> AgentSlots:
    """Six environments."""
    rules = Rules(agent, Reward("gain"), duration=space.duration, patience=patience)
    slots = AgentSlots(rules, space.draw(1, 64), environments=6, seed=2, jobs=jobs)
    slots.reset()
    return slots


def collected(
    space: NetworkSpace,
    counts: list[int],
    privileges: Floats | None = PRIVILEGES,
    often: int = 0,
    agent: Agent = AGENT,
    **more: Any,
) -> list[Experience]:
    """Rollouts of so many decisions each, one after another."""
    slots, numbers = slots_of(space, agent, **more), agent.numbers
    collector = Collector(slots, privileges, seed=3)
    return [
        collector.collect(count, network_of(agent, numbers), numbers * [DEVIATION], often=often) for count in counts
    ]


def same(these: Experience, those: Experience) -> bool:
    """Bit for bit."""
    return all(
        getattr(these, each.name).tobytes() == getattr(those, each.name).tobytes() for each in fields(Experience)
    )


@pytest.mark.parametrize(
    ("which", "patience"), [("window", 0), ("window", 0.5), ("three", 0), ("three", 0.5), ("law", 0)]
)
def test_the_same_actions_in_the_slots_bring_the_same(space: NetworkSpace, which: str, patience: float) -> None:
    """Two rollouts, replayed through `AgentSlots.step`; what concerns all flows of a network is added up anew."""
    agent, rollouts = AGENTS[which], collected(space, [1000, 1000], agent=AGENTS[which], patience=patience)
    inputs = agent.inputs
    rows = [(experience, row) for experience in rollouts for row in range(len(experience))]
    slots = slots_of(space, agent, patience=patience)
    waiting = {slot: [row for row in rows if row[0].slot[row[1]] == slot] for slot in range(slots.num_slots)}
    decided: dict[int, tuple[Experience, int]] = {}
    begun: dict[int, tuple[float, float]] = {}
    seen = np.zeros((slots.num_slots, inputs))
    ever = np.zeros(slots.num_slots, dtype=bool)
    got = np.zeros((6, 2))  # by environment, rewards and time of all flows so far
    checked, lost = 0, set[int]()  # environments in which an outcome came after the rollouts
    while len(lost) < 6:
        ready, home = slots.ready, slots.slot_environment
        had = [slot for slot in ready if slot in decided and home[slot] not in lost]
        for slot in had:
            got[home[slot]] += slots.reward[slot], slots.elapsed[slot]
        for slot in had:
            experience, row = decided.pop(slot)
            assert experience.reward[row] == slots.reward[slot] and experience.elapsed[row] == slots.elapsed[slot]
            assert experience.ended[row] == slots.ended[slot]
            rewards, time = got[home[slot]] - begun[slot]
            common = slots.reward[slot] if slots.ended[slot] else slots.elapsed[slot] * rewards / time
            assert experience.common[row] == pytest.approx(common, rel=1e-4, abs=1e-6)
            if slots.ended[slot]:
                after = experience.after[experience.after_of == row][0]
                np.testing.assert_array_equal(after[:inputs], slots.last_observation[slot])
                np.testing.assert_array_equal(after[inputs:], experience.seen[row][inputs:])
            checked += 1
        seen[ready], ever[ready] = slots.observation[ready], True
        action = np.zeros((len(ready), agent.numbers), dtype=np.float32)
        for i, slot in enumerate(ready):
            if not waiting[slot] or home[slot] in lost:
                lost.add(int(home[slot]))
                continue
            experience, row = decided[slot] = waiting[slot].pop(0)
            together = (home == home[slot]) & ever
            expected = [*seen[slot], np.log2(1 + slots.active_flows[slot]), *seen[together].mean(axis=0)]
            np.testing.assert_allclose(experience.seen[row][:-2], expected, rtol=1e-5, atol=2e-6)
            np.testing.assert_array_equal(experience.seen[row][:inputs], seen[slot].astype(np.float32))
            np.testing.assert_array_equal(experience.seen[row][-2:], PRIVILEGES[slots.network_index[slot]])
            assert experience.network[row] == slots.network_index[slot]
            begun[slot], action[i] = tuple(got[home[slot]]), experience.action[row]
        slots.step(action)
    assert checked > 500


def test_flows_go_from_their_first_decision_to_their_end(space: NetworkSpace) -> None:
    """Rows that a rollout ends with are those that the next one goes on from."""
    first, second = collected(space, [1500, 1500])
    assert len(first) == len(second) == 1500
    for experience in (first, second):
        goes_on = np.flatnonzero(experience.next >= 0)
        assert (experience.next[goes_on] > goes_on).all() and (experience.ended[goes_on] == 0).all()
        np.testing.assert_array_equal(experience.slot[goes_on], experience.slot[experience.next[goes_on]])
        np.testing.assert_array_equal(np.sort(experience.after_of), np.flatnonzero(experience.next < 0))
        assert (experience.ended != 0).sum() > 10 and (experience.elapsed > 0).all()
    pending = first.after[first.ended[first.after_of] == 0]
    slots = first.slot[first.after_of[first.ended[first.after_of] == 0]]
    assert len(slots) > 3
    for slot, after in zip(slots, pending, strict=True):
        np.testing.assert_array_equal(after, second.seen[np.flatnonzero(second.slot == slot)[0]])


@pytest.mark.parametrize("patience", [0, 0.5])
def test_neither_pieces_nor_threads_change_a_bit(space: NetworkSpace, patience: float) -> None:
    whole = collected(space, [1000, 500], patience=patience)
    for changes in ({"often": 7}, {"jobs": 2}):
        assert all(map(same, whole, collected(space, [1000, 500], patience=patience, **changes)))


def test_parts_and_views_are_those_of_the_whole(space: NetworkSpace) -> None:
    whole = collected(space, [1000])[0]
    alone = collected(space, [1000], privileges=None)[0]
    np.testing.assert_array_equal(alone.seen, whole.seen[:, :INPUTS])
    parts: list[Experience] = []
    collector = Collector(slots_of(space), PRIVILEGES, seed=3)
    collector.collect(1000, network_of(AGENT, 1), [DEVIATION], lambda part: not parts.append(part), often=60)
    assert sum(map(len, parts)) == 1000 and len(parts) == 17
    assert sorted(np.concatenate([part.reward for part in parts])) == sorted(whole.reward)


def test_noise_is_normal_and_its_probability_scipys(space: NetworkSpace) -> None:
    agent = AGENTS["three"]
    experience = collected(space, [4000], agent=agent)[0]
    said = network_of(agent, 3).outputs(experience.seen[:, : agent.inputs])[0]
    noise = (experience.action - said) / DEVIATION
    assert stats.kstest(noise.ravel(), "norm").pvalue > 0.01
    beside = np.corrcoef(np.concatenate([noise[1:], noise[:-1]], axis=1).T) - np.eye(6)
    assert np.abs(beside[:3]).max() < 0.06
    expected = stats.norm.logpdf(experience.action, said, DEVIATION).sum(axis=1)
    np.testing.assert_allclose(experience.log_probability, expected, atol=1e-4)


def test_entries_of_a_table_come_as_often_as_the_network_says(space: NetworkSpace) -> None:
    agent = Agent(AGENT.signals, steering=TableSteering())
    policy = network_of(agent, 5)
    experience = Collector(slots_of(space, agent), None, seed=3).collect(6000, policy, [])
    said = policy.outputs(experience.seen)[0].astype(float)
    chances = np.exp(said) / np.exp(said).sum(axis=1, keepdims=True)
    chosen = experience.action[:, 0].astype(int)
    np.testing.assert_allclose(experience.log_probability, np.log(chances[np.arange(6000), chosen]), atol=1e-5)
    expected, spread = chances.sum(axis=0), np.sqrt((chances * (1 - chances)).sum(axis=0))
    assert (np.abs(np.bincount(chosen, minlength=5) - expected) < 4 * spread).all()


def test_a_flow_alone_shares_with_nobody(space: NetworkSpace) -> None:
    alone = NetworkSpace.model_validate({**space.model_dump(), "senders": 1})
    experience = collected(alone, [500])[0]
    np.testing.assert_allclose(experience.common, experience.reward, atol=1e-5)
    np.testing.assert_allclose(experience.seen[:, INPUTS + 1 : -2], experience.seen[:, :INPUTS], rtol=1e-6)
    together = collected(space, [2000])[0]
    assert not np.allclose(together.common, together.reward)
    np.testing.assert_array_equal(together.shared(0), together.reward)
    np.testing.assert_array_equal(together.shared(1), together.common)


def test_what_diverged_or_does_not_fit_is_an_error(space: NetworkSpace) -> None:
    slots, policy = slots_of(space, jobs=2), network_of(AGENT, 1)
    collector = Collector(slots, PRIVILEGES, seed=3)
    for deviations in ([], [0.0], [-0.1], [float("nan")], [0.1, 0.1]):
        with pytest.raises(InputError, match="deviation"):
            collector.collect(50, policy, deviations)
    table = Agent(AGENT.signals, steering=TableSteering())
    with pytest.raises(InputError, match="another agent"):
        collector.collect(50, network_of(table, 5), [])
    slots.set_networks(space.draw(2, 70))
    with pytest.raises(InputError, match="other networks"):
        collector.collect(50, policy, [0.1])
    slots = slots_of(space, jobs=2)
    collector, huge = Collector(slots, None, seed=3), np.full((1, 8), 3e38, np.float32)
    diverged = replace(policy, layers=(policy.layers[0], replace(policy.layers[1], weights=huge)))
    with pytest.raises(InputError, match="no finite number; try a smaller learning_rate"):
        collector.collect(50, diverged, [0.1])
    with pytest.raises(InputError, match="cannot go on"):
        collector.collect(50, policy, [0.1])
    slots.step(np.zeros((len(slots.ready), 1)))  # the slots are whole


def test_monitors_file_has_every_flow_once(space: NetworkSpace, tmp_path: Path) -> None:
    """Added up a second time, decision by decision, over rollouts that cut flows; read by Stable-Baselines3."""
    results = pytest.importorskip("stable_baselines3.common.monitor", reason="stable-baselines3 is not installed")
    rollouts = collected(space, [700, 6, 2300])
    flows, current = [], {}
    monitor = Monitor(tmp_path / "logs" / "it.monitor.csv", "ppo")
    for experience in rollouts:
        for slot, reward, ended in zip(experience.slot, experience.reward, experience.ended, strict=True):
            current.setdefault(int(slot), []).append(float(reward))
            if ended:
                own = current.pop(int(slot))
                flows.append((len(own), sum(own)))
        monitor.take(experience)
    monitor.write()
    monitor.begin()
    monitor.write()
    found = results.load_results(str(tmp_path / "logs"))
    assert len(flows) > 20
    np.testing.assert_allclose(sorted(zip(found["l"], found["r"], strict=True)), sorted(flows), atol=2e-6)
