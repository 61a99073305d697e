"""Learnt policies in the fabric, against the one-bottleneck engine: another simulator, the same rule table."""

import math

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, compile_network
from lcca.remy_plus.policies.policy import FixedWindow, Policy, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.workload import FlowSizes, OpenFlows

from .bare_support import BARE, PACKET_BYTES, POLICIES, RTT_US

FLOWS = 40
SIZES = FlowSizes("some", (1.0, 2.0), (0.0, 1.0))  # of no consequence: flows are given


def slowdowns(policy: Policy, rate: float, seed: int, rtt: float = RTT_US) -> tuple[np.ndarray, np.ndarray]:
    """Return the slowdowns of the same flows in the one-bottleneck engine and in a fabric's dumbbell.

    Each flow has hosts of its own, with links so fast that the bottleneck alone takes time. Packets/µs and µs.
    """
    random = np.random.default_rng(seed)
    starts = np.sort(random.uniform(0, 3000, FLOWS))
    sizes = np.ceil(random.exponential(100, FLOWS)).astype(np.int64)
    network = Network(0, rate, rtt, 1, math.inf, 1, 1, 0, open_flows=OpenFlows(0.5, SIZES))
    given = (np.array([0, FLOWS]), starts, sizes.astype(np.uint64))
    there = _core.run_flow_trace(
        compile_policy(policy), compile_network(network), *given, duration=1e6, model=Engine().model.parts(), jobs=1
    )
    gbps = rate * PACKET_BYTES * 8e-3
    fabric = dumbbell(FLOWS, gbps, 1e5 * gbps, rtt * 1e3 / 2 - 200, 100)
    hosts = np.arange(FLOWS)
    flows = FabricFlows(hosts, hosts + FLOWS, sizes * (PACKET_BYTES - 8), starts * 1e3)
    here = FabricEngine(policy, settings=BARE).run(fabric, flows)["flow_fct_ns"] / 1e3
    ideal = rtt + sizes / rate
    return there / ideal, here / ideal


@pytest.mark.parametrize("window", [5, 60])
def test_fixed_windows_take_as_long_flow_by_flow(window: int) -> None:
    there, here = slowdowns(FixedWindow(window), rate=3.0, seed=1)
    np.testing.assert_allclose(here, there, rtol=0.002)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e2e", "vegas-like"])
def test_rule_tables_score_the_same_over_50_networks(name: str) -> None:
    policy, random = load(POLICIES / f"{name}.json").policy, np.random.default_rng(7)
    rates, rtts = np.exp(random.uniform(np.log(1.5), np.log(6), 50)), random.uniform(30, 150, 50)
    bits = np.log2([slowdowns(policy, rates[i], i, rtts[i]) for i in range(50)])  # (networks, two engines, flows)
    there, here = np.moveaxis(bits, 1, 0)
    by_network = (here - there).mean(axis=1)
    assert abs(by_network.mean()) < 0.02 and np.abs(by_network).max() < 0.1
    assert np.corrcoef(there.ravel(), here.ravel())[0, 1] > 0.99


def test_signals_of_hops_come_with_their_bytes() -> None:
    topology = leaf_spine(tors=2, hosts_per_tor=2, spines=1)
    flow = FabricFlows(np.array([0]), np.array([3]), np.array([10**5]), np.array([0.0]))
    sent = {
        name: FabricEngine(load(POLICIES / f"{name}.json").policy).run(topology, flow)["port_data_bytes"][0]
        for name in ("e2e", "link+queue")
    }
    assert sent == {"e2e": 100 * 1056, "link+queue": 100 * 1090}


def test_a_signal_that_no_hop_tells_is_refused() -> None:
    topology = leaf_spine(tors=2, hosts_per_tor=2, spines=1)
    flow = FabricFlows(np.array([0]), np.array([3]), np.array([10**5]), np.array([0.0]))
    with pytest.raises(InputError, match="does not tell flows; without a header it tells available_capacity"):
        FabricEngine(one_rule(("flows",), "relative")).run(topology, flow)
