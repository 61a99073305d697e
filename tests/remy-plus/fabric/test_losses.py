"""How transports that have a window react to losses, and how often θ-PowerTCP moves its rate."""

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import dumbbell, star
from lcca.remy_plus.fabric.engine import FabricEngine, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.markers import marking

NEVER_MARKED = marking("step", k_bytes=1e12)


def one(size: int) -> FabricFlows:
    return FabricFlows(np.array([0]), np.array([1]), np.array([size]), np.zeros(1))


@pytest.mark.parametrize(
    ("transport", "parameters", "packets"),
    [
        # RFC 5681: one packet after a timeout, and after every other one.
        ("dctcp-window", {"initial": 64}, [64, 1, 1, 1, 1, 1]),
        # Swift, Algorithm 1: half after each, and the smallest window after the fifth in a row.
        ("swift", {"most": 64}, [52, 26, 13, 7, 4, 1]),
    ],
)
def test_timeouts_shrink_the_window(transport: str, parameters: dict[str, float], packets: list[int]) -> None:
    """A switch that drops every packet: what is under way after each timeout is the window, in whole packets."""
    engine = FabricEngine(transport, parameters, settings(lossless=False, buffer_bytes=500, retransmit_after_us=100))
    found = engine.run(star(2), one(10**6), horizon_ns=590e3, watch=Watch(every_ns=50e3, flows=[0]))
    assert (found["sample_under_way_bytes"][1::2, 0] / 1000).tolist() == packets


@pytest.mark.parametrize(("transport", "parameters"), [("dctcp-window", {}), ("swift", {"base_us": 500, "range": 0})])
def test_a_window_halves_as_a_packet_is_lost(transport: str, parameters: dict[str, float]) -> None:
    """A tail-drop queue at a bottleneck: the window goes from half of the room there is to all of it.

    A queue may have half of the buffer (alpha 1); going back, nearly nothing is under way for a moment.
    """
    lossy = settings(lossless=False, buffer_bytes=2e5, alpha=1, marker=NEVER_MARKED, nack_gap_us=200)
    engine = FabricEngine(transport, parameters, lossy)
    topology, end = dumbbell(1, bottleneck_gbps=10), 4e7
    found = engine.run(topology, one(10**9), horizon_ns=end, watch=Watch(every_ns=10e3, flows=[0]))
    delivered = found["flow_delivered_bytes"][0]
    assert found["port_drops"].sum() > 0
    assert delivered * 8 / end > 0.9 * 10 * 1000 / 1048
    room = (2e5 / 2 + 10 * found["base_rtt_ns"] / 8) * 1000 / 1048
    late = found["sample_under_way_bytes"][1000:, 0]
    assert np.quantile(late, 0.02) == pytest.approx(room / 2, rel=0.1)
    assert late.max() == pytest.approx(room, rel=0.05)


def test_theta_powertcp_moves_once_per_rtt() -> None:
    """Algorithm 2: the window follows once per RTT, not at every ACK."""
    flows = FabricFlows(np.arange(1, 5), np.zeros(4, int), np.full(4, 10**9), np.zeros(4))
    watch = Watch(every_ns=100, flows=[0])
    found = FabricEngine("theta-powertcp").run(star(5), flows, horizon_ns=5e5, watch=watch)
    moves = np.flatnonzero(np.diff(found["sample_gbps"][:, 0])) * 100
    assert len(moves) > 40
    assert np.diff(moves).min() >= found["base_rtt_ns"] - 300
