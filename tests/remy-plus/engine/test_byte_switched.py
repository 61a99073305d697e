"""Byte-switched senders: a flow, and its share of time, last until nothing of it is under way any more."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.record import Record
from lcca.remy_plus.topology import Topology

NETWORK = Network(0, 3.0, 15.0, 1, math.inf, 30.0, 200.0, 0.0, "bytes")
POLICIES = (FixedWindow(1), FixedWindow(20), FixedWindow(10_000), FixedRate(0.4), Aimd())


def run(network: Network, policy: Policy, duration: float = 10_000.0) -> Record:
    return Engine(duration, jobs=1).run(
        [compile_policy(policy)], NetworkList([network]), [0], [0], [1], keep_flows=True
    )


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("topology", ["dumbbell", "line", "reverse-path"])
def test_a_flow_ends_as_its_last_packet_arrives(policy: Policy, topology: str) -> None:
    record = run(replace(NETWORK, senders=3, topology=Topology.of(topology)), policy)
    done = record["flow_finished"] == 1
    assert done.sum() > 30
    np.testing.assert_array_equal(record["flow_end_us"][done], record["flow_last_arrival_us"][done])
    np.testing.assert_array_equal(record["flow_delivered"][done], record["flow_length"][done])


def test_whatever_the_window_one_sender_gets_what_its_flows_take() -> None:
    """A window as long as the flow takes rtt + length / link_rate, whose share is all of it: T is below the link's."""
    record = run(NETWORK, FixedWindow(10_000))
    done = record["flow_finished"] == 1
    time = (record["flow_end_us"] - record["flow_start_us"])[done]
    np.testing.assert_allclose(time, 15.0 + record["flow_length"][done] / 3.0)
    np.testing.assert_allclose(record["flow_share_us"][done], time)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_shares_of_all_are_the_time_in_which_anything_is_under_way(policy: Policy) -> None:
    record = run(replace(NETWORK, senders=5, loss=0.02, buffer=9.0), policy)
    begin, end = record.floats("flow_start_us"), record.floats("flow_end_us")
    order = np.argsort(begin)
    reached = np.maximum.accumulate(end[order])
    idle = (begin[order][1:] - reached[:-1]).clip(min=0).sum()
    assert record.floats("sender_share_us").sum() == pytest.approx(reached[-1] - begin.min() - idle)
    assert record["sender_delivered"].sum() <= 3.0 * record.floats("sender_share_us").sum()
    gone = sum(record[f"flow_{fate}"] for fate in ("delivered", "lost", "dropped"))
    done = record["flow_finished"] == 1
    np.testing.assert_array_equal(gone[done], record["flow_length"][done])


def test_a_policy_that_loses_everything_is_starved_and_an_empty_trial_says_nothing() -> None:
    lossy = replace(NETWORK, senders=3, mean_on=0.1, loss=1 - 1e-9)
    empty = replace(NETWORK, id=1, mean_off=1e9)
    policies = {str(policy): policy for policy in POLICIES}
    trials = run_trials(Engine(jobs=1), policies, [lossy, empty], [1], UTILITIES["default"], keep_delays=False)
    scores = trials.pivot(index="policy", columns="network", values="score_bits")
    assert (scores[0] == UTILITIES["default"].worst).all()
    assert scores[1].isna().all()
