"""Hosts that note ACKs late: what a policy sees of it, and what stays as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import FixedWindow, compile_policy
from lcca.remy_plus.topology import Topology

NETWORK = Network(3, 2.0, 20.0, 1, 100.0, 1e9, 1.0, 0.01)
WATCHER = """
class Watcher:
    signals = ()

    def start(self):
        return 1000, 2.0

    def on_ack(self, ack):
        with open({log!r}, "a") as log:
            print(ack.now, ack.rtt, file=log)
        return 1000, 2.0
"""


@pytest.mark.parametrize("topology", [Topology(), Topology("line")])
def test_round_trips_are_longer_by_an_exponential_time_and_stay_in_order(tmp_path: Path, topology: Topology) -> None:
    """At half a packet per µs and a jitter of 0.2 µs ACKs seldom wait for one another."""
    file, log = tmp_path / "watcher.py", tmp_path / "log"
    file.write_text(WATCHER.format(log=str(log)))
    policy, seen = compile_policy(load(f"{file}:Watcher").policy), {}
    for jitter in (0.0, 0.2):
        log.write_text("")  # it was rehearsed
        on = replace(NETWORK, topology=topology, jitter=jitter)
        Engine(8000.0, jobs=1).run([policy], NetworkList([on]), [0], [0], [1])
        seen[jitter] = np.loadtxt(log)
    late = seen[0.2][:, 0] - seen[0.0][:, 0]
    np.testing.assert_allclose(late, seen[0.2][:, 1] - seen[0.0][:, 1], atol=1e-9)
    assert (late > 0).all() and (np.diff(seen[0.2][:, 0]) >= 0).all()
    assert late.mean() == pytest.approx(0.2, rel=0.06)
    assert np.median(late) == pytest.approx(0.2 * np.log(2), rel=0.06)


def test_a_window_sends_when_acks_come_whatever_its_host_notes() -> None:
    policy = compile_policy(FixedWindow(30))
    once, late = (
        Engine(4000.0, jobs=1).run([policy], NetworkList([replace(NETWORK, jitter=jitter)]), [0], [0], [5])
        for jitter in (0.0, 3.0)
    )
    for name in ("trial_sent", "trial_delivered", "trial_utilisation", "sender_delay_sum_us"):
        np.testing.assert_array_equal(once[name], late[name])


def test_it_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(InputError, match="network 3: jitter must be at least 0 and less than 1e9 µs, got -1"):
        replace(NETWORK, jitter=-1.0)
    with pytest.raises(InputError, match="network 3: jitter: of hosts that the fast engine alone has, not ns-3"):
        trial_plan(replace(NETWORK, jitter=0.1), (), 1, 100.0, Model(), Ns3Options(), False)
