"""TCP's buffers of `gym-envs/ns3/src/buffers` against ns-3's own, which a process has that loads ns-3 first."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from lcca.gym_envs.ns3.baselines import with_hand_designed
from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongTrial
from lcca.gym_envs.ns3.long_plan import long_plan
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import baseline, hand_designed
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy

pytestmark = pytest.mark.usefixtures("ns3")

LINK = Bottleneck(((0.0, 24.0),), rtt_ms=40.0, buffer_packets=320)  # 80 packets under way, four times as many wait
OTHERS = """
import pickle, sys
from lcca.ns3 import buffer_work, run_trial
found = [run_trial(plan) for plan in pickle.load(sys.stdin.buffer)]
pickle.dump((found, buffer_work()), sys.stdout.buffer)
"""


def long(name, packet_bytes=1500, flows=1, **changes):
    link = replace(LINK, **{key: changes.pop(key) for key in ("buffer_packets", "loss") if key in changes})
    end = changes.pop("seconds", 2.0)
    plan = long_plan(LongTrial(link, (LongFlow(baseline(name)),) * flows, end, ((0.0, end),), **changes))
    return plan | {"options": plan["options"] | {"packet_bytes": packet_bytes}}


def short(name, network):
    policy = tuple(compile_policy(FixedWindow(1)).__getstate__())
    plan = trial_plan(network, policy, 1, 4000.0, Model(), Ns3Options(), True)
    return with_hand_designed(plan, hand_designed(name), network)


PLANS = {
    "slow start beyond a large buffer": lambda: long("newreno", buffer_packets=160),
    "random loss": lambda: long("newreno", loss=0.02),
    "losses of both kinds": lambda: long("bbr", loss=0.01, buffer_packets=20),
    "retransmissions lost": lambda: long("cubic", loss=0.2),
    "timeouts, spurious ones too": lambda: long("cubic", min_rto_ms=45.0, loss=0.01),
    "a burst that is lost": lambda: long("newreno", initial_window=300, buffer_packets=10),
    "small packets": lambda: long("cubic", packet_bytes=137, loss=0.005),
    "two flows": lambda: long("cubic", packet_bytes=1001, flows=2),
    "marks": lambda: short("dctcp", Network(3, 1.0, 100.0, 4, 30, 1e12, 1e-6, 0.01)),
    "flows with an end": lambda: short("newreno", Network(4, 1.0, 20.0, 2, 8, 25.3, 100.0, 0.03, "bytes")),
}


@cache
def ours():
    from lcca.ns3 import run_trial

    return [repr(run_trial(make())) for make in PLANS.values()]


@cache
def stock():
    import lcca.ns3  # noqa: F401 its libraries are mapped then

    (library,) = set(re.findall(r"/\S+/libns3[\d.]*-internet\.so", Path("/proc/self/maps").read_text()))
    given = pickle.dumps([make() for make in PLANS.values()])
    found = subprocess.run(
        [sys.executable, "-c", OTHERS], input=given, env={"LD_PRELOAD": library}, stdout=subprocess.PIPE, check=True
    )
    results, work = pickle.loads(found.stdout)
    return [repr(result) for result in results], work


@pytest.mark.slow
@pytest.mark.parametrize("at", range(len(PLANS)), ids=list(PLANS))
def test_results_are_those_of_ns3_bit_by_bit(at):
    assert ours()[at] == stock()[0][at]


def run(plan):
    from lcca.ns3 import buffer_work, run_trial

    before = buffer_work()
    found = run_trial(plan)
    return found, {name: count - before[name] for name, count in buffer_work().items()}


def test_these_buffers_are_in_use_and_ns3s_own_were_there():
    found, work = run(PLANS["random loss"]())
    assert work["calls"] > 2 * found["sent"]  # for each packet one to send it, one to receive it
    assert stock()[1] == {"calls": 0, "visited": 0, "stock": 0}


def test_four_times_the_window_cost_at_most_four_times_the_work():
    visited = []
    for buffer_packets in (320, 1360):  # windows of 400 and 1,440 packets
        found, work = run(long("newreno", buffer_packets=buffer_packets, seconds=3.0))
        dropped = found["windows"][0][3]
        assert dropped > buffer_packets  # slow start ends in a window of losses, each of which is to be found
        assert work["stock"] < 0.01 * found["sent"]
        visited.append(work["visited"])
    assert visited[1] < 4 * visited[0]
