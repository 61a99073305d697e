"""What the collector hands on is what the flows experience through."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules
from lcca.gym_envs.interface.episode import Reward
from lcca.remy_plus.policies.agents import Agent
from lcca.trainers.drl.collector import Collector, Experience, joined
from lcca.trainers.drl.monitor import Monitor

AGENT = Agent(("rtt_ratio", "receive_ewma"))


def collected(space: NetworkSpace, counts: list[int], environments: int = 6) -> tuple[AgentSlots, Experience]:
    """Decisions of random actions, the row of each as its log-probability."""
    rules = Rules(AGENT, Reward("gain"), duration=space.duration)
    slots = AgentSlots(rules, space.draw(1, 64), environments=environments, seed=2, jobs=1)
    slots.reset()
    random, row = np.random.default_rng(3), 0

    def decide(view):  # type: ignore[no-untyped-def]
        nonlocal row
        kept = np.arange(row, row + len(view), dtype=np.float32)
        row += len(view)
        return random.uniform(-1, 1, (len(view), 1)).astype(np.float32), kept

    collector = Collector(slots, 1)
    return slots, joined([collector.collect(count, decide) for count in counts])


def test_no_decision_is_lost_nor_told_twice(space: NetworkSpace) -> None:
    slots, experience = collected(space, [500, 700])
    rows = experience.log_probability.astype(int)
    assert len(set(rows)) == len(rows) >= 1200
    waiting = set(range(rows.max() + 1)) - set(rows)
    assert len(waiting) <= slots.num_slots  # at most one per slot still waits


def test_flows_are_told_from_their_first_decision_to_their_end(space: NetworkSpace) -> None:
    _, experience = collected(space, [3000])
    for slot in np.unique(experience.slot):
        own = experience.slot == slot
        goes_on = experience.ended[own][:-1] == 0
        np.testing.assert_array_equal(experience.after[own][:-1][goes_on], experience.view[own][1:][goes_on])
    assert (experience.ended != 0).sum() > 20
    assert (experience.elapsed > 0).all()


def test_a_flow_alone_shares_with_nobody(space: NetworkSpace) -> None:
    alone = NetworkSpace.model_validate({**space.model_dump(), "senders": 1})
    _, experience = collected(alone, [500])
    np.testing.assert_allclose(experience.common, experience.reward, atol=1e-5)
    np.testing.assert_array_equal(experience.state[:, 1:], experience.view)
    together = collected(space, [2000])[1]
    assert not np.allclose(together.common, together.reward)
    np.testing.assert_array_equal(together.shared(0), together.reward)
    np.testing.assert_array_equal(together.shared(1), together.common)


def test_monitors_file_has_every_flow_once(space: NetworkSpace, tmp_path: Path) -> None:
    """Added up a second time, decision by decision, over parts that cut flows; read by Stable-Baselines3."""
    results = pytest.importorskip("stable_baselines3.common.monitor", reason="stable-baselines3 is not installed")
    _, experience = collected(space, [3000])
    flows, current = [], {}
    for slot, reward, ended in zip(experience.slot, experience.reward, experience.ended, strict=True):
        current.setdefault(int(slot), []).append(float(reward))
        if ended:
            own = current.pop(int(slot))
            flows.append((len(own), sum(own)))
    monitor = Monitor(tmp_path / "logs" / "it.monitor.csv", "ppo")
    for first, last in ((0, 700), (700, 701), (701, len(experience))):
        monitor.take(Experience(*(getattr(experience, each.name)[first:last] for each in fields(Experience))))
    monitor.write()
    monitor.begin()
    monitor.write()
    found = results.load_results(str(tmp_path / "logs"))
    assert len(flows) > 20
    np.testing.assert_allclose(sorted(zip(found["l"], found["r"], strict=True)), sorted(flows), atol=2e-6)
