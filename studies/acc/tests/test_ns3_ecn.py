"""`lcca/Ns3Ecn-v0`: the queue marks as it is told, readings and records add up, and seeds mean what they say."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from lcca.gym_envs.ns3.baselines import step_marking  # noqa: E402
from lcca.gym_envs.ns3.host import run_plan  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.studies.acc.marking.host import SwitchHost  # noqa: E402
from lcca.studies.acc.marking.incast import Incast  # noqa: E402
from lcca.studies.acc.marking.ns3_env import START, Ns3EcnEnv, state  # noqa: E402
from lcca.studies.acc.marking.settings import GRID, MarkSetting  # noqa: E402
from lcca.studies.acc.marking.switch import PredUtility  # noqa: E402
from lcca.workers.processes import run_all  # noqa: E402

pytestmark = pytest.mark.usefixtures("ns3")

SMALL = Incast(hosts=5, duration_us=3000, large_every_us=2000)
NEVER, ALWAYS = MarkSetting(1e6, 1e6), MarkSetting(0, 0)


@pytest.fixture(scope="module")
def played():
    """Plays a trial under one setting, in one process for all; returns its readings and its record."""
    env = Ns3EcnEnv(SMALL)

    def play(setting, seed=1, trace=1, incast=SMALL, interval=200.0):
        env.incast, env.interval_us = incast, interval
        _, info = env.reset(options={"trace": trace, "trial_seed": seed})
        readings, over = [], False
        while not over:
            before = info["now_us"]
            _, _, _, over, info = env.mark(setting)
            readings.append(info | {"time_us": info["now_us"] - before})
        return readings, env.record()

    yield play
    env.close()


def by_step(what):
    """A trial under a step at 20 packets, with our queue or with stock RED; in a process of its own."""
    plan = SMALL.plan(SMALL.trace(3), 1)
    if what == "red":
        return run_plan(plan | {"queue": "red", "queue_attributes": step_marking(20)})
    host = SwitchHost()
    host.begin(plan)
    host.advance(20, 20, 1.0, SMALL.duration_us)
    return host.collect()


@pytest.mark.slow
def test_a_step_marks_as_stock_red_does():
    found = dict(run_all(by_step, ["red", "marking"], 2))
    red, ours = found[0], found[1]
    assert red["marked"] > 100
    assert ours["marked"] == red["marked"]
    for column in ("sender", "start_us", "last_arrival_us", "sent", "delivered", "delay_sum_us"):
        assert ours["flows"][column] == red["flows"][column]


def test_marks_come_as_often_as_the_setting_says(played):
    """A share of all packets that wait at all: with thresholds 0 and 1e6, p is max_p · q / 1e6; here about max_p."""
    _, none = played(NEVER)
    _, every = played(ALWAYS)
    assert none.marked == 0
    assert every.marked > 400
    lengths = [np.arange(len(r.queue_us)) @ r.queue_us for r in (none, every)]
    assert lengths[0] > 2 * lengths[1], "marks keep the queue short"


def test_probabilities_are_those_of_the_line(played):
    """All packets are on their way before any is acknowledged, so that marks do not change what the next ones find.

    Steps at K tell how many packets find K or more waiting, N(K); the marks of a line are then their integral.
    """
    burst = Incast(
        hosts=40, small=(14_000, 14_000), small_every_us=1e6, large=(1, 1), large_every_us=1e6, duration_us=1000
    )
    thresholds = np.arange(0, 201, 25)
    found = np.array([played(MarkSetting(k, k), incast=burst, interval=1000.0)[1].marked for k in thresholds])
    assert (np.diff(found) < 0).all()
    expected = 0.5 * np.trapezoid(found, thresholds) / 200 + 0.5 * found[-1]
    line = MarkSetting(0, 200, 0.5)
    marked = [played(line, seed=seed, incast=burst, interval=1000.0)[1].marked for seed in range(6)]
    assert len(set(marked)) > 1, "each seed draws anew"
    assert np.mean(marked) == pytest.approx(expected, abs=4 * np.sqrt(found[0] / 4 / 6) + 2)


def test_records_add_up(played):
    enough = SMALL.model_copy(update={"duration_us": 2000.0})
    readings, record = played(MarkSetting(5, 50, 0.3), incast=enough)
    flows = enough.trace(1)
    sizes = np.array([size for connection in flows for _, size in connection])
    assert not np.isnan(record.fct_us).any()
    assert record.dropped == 0
    np.testing.assert_allclose(record.size_bytes, sizes * 1446)
    assert (record.slowdown > 0.999).all(), "no flow is faster than on an empty network"
    assert (record.size_bytes < 100e3).sum() == 5 * 2
    assert sum(r["time_us"] for r in readings) == pytest.approx(2000)
    assert record.queue_us.sum() == pytest.approx(2000, rel=1e-3)
    sent = sum(r["rate"] * r["time_us"] for r in readings) * SMALL.bytes_per_us
    assert sent == pytest.approx(sizes.sum() * 1500, rel=0.02), "every packet once"
    mean = sum(r["queue_packets"] * r["time_us"] for r in readings) / 2000
    assert mean == pytest.approx((np.arange(len(record.queue_us)) * record.queue_us).sum() / 2000, rel=0.01)
    marked = sum(r["marked"] * r["time_us"] for r in readings) * SMALL.bytes_per_us / 1500
    assert marked == pytest.approx(record.marked)


def test_an_alone_flow_is_ideal(played):
    alone = Incast(hosts=1, duration_us=2000, small_every_us=1000, large_every_us=5000, large=(3000, 3000))
    _, record = played(NEVER, incast=alone)
    np.testing.assert_allclose(record.slowdown[1:2], 1.0, atol=0.02)


def test_seeds_mean_what_they_say():
    env = Ns3EcnEnv(SMALL, traces=(1, 2, 3))
    env.action_space.seed(1)
    actions = [env.action_space.sample() for _ in range(20)]

    def rollout(**how):
        seen, info = env.reset(**how)
        views, rewards, over = [seen], [], False
        for action in actions:
            if over:
                break
            seen, reward, _, over, info = env.step(action)
            views.append(seen)
            rewards.append(reward)
        return np.array(views), rewards, info

    first = rollout(seed=4)
    assert first[2]["trace"] in (1, 2, 3)
    told = {"trace": 2, "trial_seed": 8}
    assert rollout(options=told)[2] | told == rollout(seed=9, options=told)[2]
    assert rollout(options={"trace": 2, "trial_seed": 9})[1] != rollout(options=told)[1], "other marks, same flows"
    assert first[2]["now_us"] == 3000
    env.close()


def test_states_are_as_documented():
    env = Ns3EcnEnv(SMALL, history=2)
    seen, _ = env.reset(seed=1)
    np.testing.assert_allclose(seen[:6], [0, 0, 0, START.min_k / 16, START.max_k / 100, START.max_p])
    assert not seen[6:].any()
    before = seen
    seen, reward, _, _, info = env.step(np.int64(251))
    np.testing.assert_array_equal(seen[6:], before[:6])
    queue = np.log2(1 + info["queue_packets"]) / np.log2(1 + SMALL.buffer)
    np.testing.assert_allclose(seen[:6], [queue, info["rate"], info["marked"], 1, 1, 1], rtol=1e-6)
    assert reward == PredUtility()(info["rate"], info["queue_packets"])
    np.testing.assert_array_equal(state(0, 0, 0, START, 10), before[:6])
    env.close()


def test_both_forms_of_actions_mean_the_grid():
    assert len(set(GRID)) == 252
    assert GRID[0] == MarkSetting(2, 20, 0.01)
    assert GRID[251] == MarkSetting(16, 100, 1.0)
    index, grid = Ns3EcnEnv(SMALL), Ns3EcnEnv(SMALL, actions="grid")
    assert index.setting(64) == grid.setting([1, 0, 1]) == MarkSetting(4, 20, 0.05)
    with pytest.raises(InputError, match="step: "):
        grid.setting([4, 0, 0])


@pytest.mark.slow
def test_utility_is_preds():
    utility = PredUtility()
    assert utility(1.0, 0.0) == utility(1.0, 15.0) == 1.0
    assert utility(0.5, 10) == pytest.approx(0.2 + 0.6)
    assert utility(1.0, 1e6) == pytest.approx(0.4)
    middle = (15 + 500e3 / 1500) / 2
    assert utility(0.0, middle) == pytest.approx(0.3)


@pytest.mark.slow
def test_bad_use_is_told():
    env = Ns3EcnEnv(SMALL)
    env.reset(seed=1)
    with pytest.raises(InputError, match="min_k"):
        env.mark(MarkSetting(5, 2))
    env.close()
    for wrong in ({"interval_us": 0.0}, {"history": 0}, {"actions": "both"}, {"traces": ()}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Ns3EcnEnv(SMALL, **wrong)
    with pytest.raises(InputError, match="no trial has ended"):
        Ns3EcnEnv(SMALL).record()
