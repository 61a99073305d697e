"""Open-loop traffic against queueing theory."""

import math

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList, open_network
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, compile_policy
from lcca.remy_plus.workload import FlowSizes, OpenFlows

ONE = FlowSizes("one packet", (0.0, 1.0), (0.0, 1.0))
MIXED = FlowSizes("mixed", (1.0, 10.0, 100.0), (0.0, 0.8, 1.0))


def flows_of(policy, flows, seed=1, duration=200_000.0, rate=2.0, rtt=20.0):
    networks = NetworkList([open_network(3, rate, rtt, flows)])
    return Engine(duration, jobs=1).run([compile_policy(policy)], networks, [0], [0], [seed], keep_flows=True)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_one_packet_flows_wait_as_in_m_d_1(load: float) -> None:
    batch = flows_of(FixedWindow(10), OpenFlows(load, ONE), duration=4e5)
    wait = batch.floats("flow_last_arrival_us") - batch.floats("flow_start_us") - 20.0 - 0.5
    theory = load * 0.5 / (2 * (1 - load))  # Pollaczek–Khinchine with constant service of 0.5 µs
    error = theory * math.sqrt(2 / (1 - load) / (len(wait) * (1 - load)))  # autocorrelated; generous
    assert wait.mean() == pytest.approx(theory, abs=6 * error)


def test_flows_arrive_as_a_poisson_process_with_the_sizes_asked_for() -> None:
    flows = OpenFlows(0.5, MIXED)
    batch = flows_of(Aimd(), flows, duration=1e6)
    start, length = batch.floats("flow_start_us"), batch.floats("flow_length")
    expected = flows.arrival_rate(2.0) * 1e6
    assert len(start) == pytest.approx(expected, abs=4 * math.sqrt(expected))
    gaps = np.diff(start)
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.03)
    assert length.mean() == pytest.approx(MIXED.mean_packets, rel=4 * length.std() / length.mean() / len(length) ** 0.5)
    assert (length <= 10).mean() == pytest.approx(0.8, abs=0.01)


def test_every_flow_completes_and_none_beats_the_empty_link() -> None:
    batch = flows_of(Aimd(), OpenFlows(0.7, MIXED))
    size = batch.floats("flow_length")
    assert batch["flow_finished"].all()
    assert (batch.floats("flow_delivered") == size).all()
    fct = batch.floats("flow_last_arrival_us") - batch.floats("flow_start_us")
    assert (fct >= 20 + size / 2 - 1e-6).all()


def test_impossible_open_flows_are_refused() -> None:
    with pytest.raises(InputError, match="load must be between 0 and 1, got 1"):
        OpenFlows(1.0, ONE)
    with pytest.raises(InputError, match="senders 1, loss 0 and buffer inf"):
        Network(0, 1.0, 1.0, 2, math.inf, 1.0, 0.0, 0.0, open_flows=OpenFlows(0.5, ONE))
    with pytest.raises(InputError, match="must go from 0 to 1"):
        FlowSizes("bad", (0.0, 1.0), (0.1, 1.0))


def test_mean_size_counts_whole_packets() -> None:
    assert ONE.mean_packets == 1
    assert FlowSizes("two", (0.0, 2.0), (0.0, 1.0)).mean_packets == pytest.approx(1.5)
