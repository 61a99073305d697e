"""Open flows given one by one: the same as random ones, causal, and checked."""

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList, open_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.record import Record
from lcca.remy_plus.workload import FlowSizes, OpenFlows
from lcca.studies.cceval.importance.flow_trace import flow_trace

MIXED = FlowSizes("mixed", (1.0, 10.0, 100.0), (0.0, 0.8, 1.0))
LINK = open_network(3, 2.0, 20.0, OpenFlows(0.6, MIXED))
AIMD = Aimd()
ENGINE = Engine(3000.0, jobs=1)


def random_flows(policy: Policy, seeds: list[int]) -> Record:
    zeros = [0] * len(seeds)
    return ENGINE.run([compile_policy(policy)], NetworkList([LINK]), zeros, zeros, seeds, keep_flows=True)


def given(begin, arrival, size, policy: Policy = AIMD, engine: Engine = ENGINE, network: Network = LINK):
    return flow_trace(engine, compile_policy(policy), network, begin, arrival, size)


@pytest.mark.parametrize("policy", [Aimd(), FixedWindow(10), FixedRate(0.5)], ids=lambda p: type(p).__name__)
def test_random_flows_given_again_take_as_long(policy: Policy) -> None:
    batch = random_flows(policy, [1, 2, 3])
    start, size = batch.floats("flow_start_us"), batch.floats("flow_length")
    expected = batch.floats("flow_last_arrival_us") - start
    for jobs in (1, 2):
        found = given(batch["flow_begin"], start, size, policy, Engine(3000.0, jobs=jobs))
        assert len(found) > 100 and (found == expected).all()


def test_later_flows_do_not_change_earlier_completions() -> None:
    batch = random_flows(Aimd(), [4])
    start, size = batch.floats("flow_start_us"), batch.floats("flow_length")
    whole = given([0, len(start)], start, size)
    half = len(start) // 2
    part = given([0, half], start[:half], size[:half])
    done = start[:half] + whole[:half] <= start[half]
    assert done.sum() > 10 and (part[done] == whole[:half][done]).all()
    assert (part <= whole[:half] + 1e-9).mean() > 0.9  # less company


def test_a_flow_alone_and_trials_without_flows() -> None:
    found = given([0, 0, 1, 1, 3], [5.0, 0.0, 0.0], [1, 1, 1])
    assert found == pytest.approx([20.5, 20.5, 21.0])  # rtt 20 µs, 0.5 µs a packet, two at one instant


@pytest.mark.parametrize(
    ("begin", "arrival", "size", "message"),
    [
        ([0, 2], [1.0], [1], "begin must rise from 0"),
        ([1, 1], [1.0], [1], "begin must rise from 0"),
        ([0, 3, 2], [1.0, 2.0], [1, 1], "begin must rise from 0"),
        ([0, 1], [1.0], [1, 1], "one entry per flow"),
        ([0, 2], [2.0, 1.0], [1, 1], "arrive in order"),
        ([0, 1], [-1.0], [1], "arrive in order"),
        ([0, 1], [3001.0], [1], "arrive in order"),
        ([0, 1], [float("nan")], [1], "arrive in order"),
        ([0, 1], [1.0], [0], "sizes must be between 1"),
    ],
)
def test_impossible_flows_are_refused(begin, arrival, size, message: str) -> None:
    with pytest.raises(InputError, match=message):
        given(begin, arrival, size)


def test_only_open_networks_take_flows() -> None:
    closed = Network(0, 1.0, 10.0, 1, 100, 100.0, 100.0, 0.0)
    with pytest.raises(InputError, match="open networks only"):
        given([0, 1], [1.0], [1], network=closed)
