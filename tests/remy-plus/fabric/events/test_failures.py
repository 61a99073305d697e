"""Links that slow down, fail and come back: times by hand, what is lost, and that nothing hangs."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.events import LinkChange, LinkEvents
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.fluid import run_fluid
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.signal_sets.load import resolve

POLICIES = Path(__file__).parents[4] / "configs" / "policies"
FRAME, ACK = 1048 * 8 / 100, 60 * 8 / 100  # ns, at 100 Gb/s
DELAY = 1000.0
OPEN = {"bdps": 1000.0}  # a window that never closes
INF = math.inf

Change = tuple[float, int, int, float | None]
"""When (ns), both ends, Gb/s."""


def with_events(topology: FabricTopology, *events: Sequence[Change], convergence_ns: float = 100e3) -> FabricTopology:
    changes = [LinkChange(*change, number) for number, event in enumerate(events) for change in event]
    changes.sort(key=lambda each: each.at_ns)
    return replace(topology, events=LinkEvents(changes, convergence_ns))


def flows(*ends: tuple[int, int], size: int = 10**6, start_ns: float = 0.0) -> FabricFlows:
    src, dst = np.array(ends).T
    return FabricFlows(src, dst, np.full(len(src), size), np.full(len(src), start_ns))


def sent_one_after_another(arrivals: np.ndarray, slow: tuple[float, float] | None) -> np.ndarray:
    """Return when frames have crossed a link that is at a quarter of its rate from one moment to before another."""
    found, free = [], 0.0
    for arrival in arrivals:
        start = max(arrival, free)
        free = start + FRAME * (4 if slow and slow[0] <= start < slow[1] else 1)
        found.append(free + DELAY)
    return np.array(found)


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("back_ns", [30e3, INF])
def test_a_link_slows_down_for_a_while(link: int, back_ns: float) -> None:
    """A lone flow on a star, with the sender's link or the receiver's at 25 Gb/s: exact times of storing on the way."""
    event: list[Change] = [(20e3, link, 2, 25.0), (back_ns, link, 2, 100.0)]
    topology = with_events(star(2), event[: 1 + (back_ns < INF)])
    found = FabricEngine("window", OPEN).run(topology, flows((0, 1)))
    slow = (20e3, back_ns)
    at_switch = sent_one_after_another(np.zeros(1000), slow if link == 0 else None)
    at_end = sent_one_after_another(at_switch, slow if link == 1 else None)
    assert found["flow_fct_ns"][0] == pytest.approx(at_end[-1], abs=1e-3)
    usual = FabricEngine("window", OPEN).run(star(2), flows((0, 1)))
    assert found["flow_ideal_ns"][0] == usual["flow_ideal_ns"][0] == usual["flow_fct_ns"][0]
    assert found["event_lost_packets"].tolist() == [0] and found["port_lost_packets"].sum() == 0


TWO_SPINES = leaf_spine(2, 1, 2)  # hosts 0 and 1, ToRs 2 and 3, spines 4 and 5


def spine_of(found: FabricRecord, flow: int = 0) -> int:
    """Return the switch that a flow's data crosses between the ToRs."""
    return int(found["port_peer"][found["flow_ports"][flow, 1]])


@pytest.mark.parametrize("convergence_ns", [10e3, 40e3 + FRAME / 2])
def test_a_lone_flow_loses_its_spine(convergence_ns: float) -> None:
    """Frames on the link and those that follow are lost; the first one that goes another way makes a NACK."""
    engine, one = FabricEngine("window", OPEN), flows((0, 1), size=2 * 10**6)
    spine, at_ns = spine_of(engine.run(TWO_SPINES, one)), 30e3
    event: list[Change] = [(at_ns, 2, spine, 0.0)]
    found = engine.run(with_events(TWO_SPINES, event, convergence_ns=convergence_ns), one)
    at_tor = (np.arange(2000) + 1) * FRAME + DELAY
    at_spine = at_tor + FRAME + DELAY
    lost = np.flatnonzero((at_spine >= at_ns) & (at_tor < at_ns + convergence_ns))
    assert found["event_lost_packets"].tolist() == [len(lost)]
    # ACKs may have crossed the spine too, whose other link is up: they have not been lost.
    nack = at_tor[lost[-1] + 1] + 3 * (FRAME + DELAY) + 4 * (ACK + DELAY)
    again = math.floor(nack / FRAME) + 1  # frames that have begun by then
    fct = (again + 2000 - lost[0] + 3) * FRAME + 4 * DELAY
    assert found["flow_fct_ns"][0] == pytest.approx(fct, abs=1e-3)
    assert found["retransmitted_packets"] == again - lost[0]
    assert found["flow_delivered_bytes"][0] == 2 * 10**6


def test_a_closed_window_waits_for_the_timer() -> None:
    """With a window of 20 packets all that is under way is lost: it is sent again 200 µs after the last progress."""
    engine = FabricEngine(
        "window", {"bdps": 20_000 * 8 / 100 / 8000}, settings(base_rtt_ns=8000, retransmit_after_us=200)
    )
    one = flows((0, 1), size=10**6)
    spine, at_ns = spine_of(engine.run(TWO_SPINES, one)), 50e3
    event: list[Change] = [(at_ns, 2, spine, 0.0)]
    found = engine.run(with_events(TWO_SPINES, event, convergence_ns=10e3), one, watch=Watch(1000.0, [0]))
    delivered, acked_by = found["sample_delivered_bytes"][:, 0], at_ns + 2 * (FRAME + DELAY) + 4 * (ACK + DELAY)
    stopped = delivered[int(acked_by // 1000)]
    back = np.flatnonzero(delivered > stopped)[0] * 1000.0
    there = 4 * (FRAME + DELAY)
    assert 200e3 + there <= back - (at_ns - DELAY) and back <= acked_by + 200e3 + there + 1000
    assert 0 < found["event_lost_packets"][0] <= 20
    assert found["retransmitted_packets"] == found["event_lost_packets"][0]
    usual = engine.run(TWO_SPINES, one)["flow_fct_ns"][0]
    assert found["flow_fct_ns"][0] == pytest.approx(usual + 200e3, abs=16e3)  # two round trips
    assert back - at_ns <= found["event_recovery_ns"][0] <= back - at_ns + 30e3  # the first windows have gaps


def test_hosts_keep_what_waits_for_their_link() -> None:
    """A sender's link is down for 50 µs: frames on it are lost, the others leave later."""
    engine, one = FabricEngine("window", OPEN), flows((0, 1), size=10**6)
    found = engine.run(with_events(star(2), [(20e3, 0, 2, 0.0), (70e3, 0, 2, 100.0)]), one)
    at_switch = (np.arange(1000) + 1) * FRAME + DELAY
    lost = np.flatnonzero((at_switch >= 20e3) & (np.arange(1000) * FRAME < 20e3))
    assert found["event_lost_packets"].tolist() == [len(lost)]
    nack = 70e3 + 2 * (FRAME + DELAY) + 2 * (ACK + DELAY)
    again = math.floor((nack - 70e3) / FRAME) + 1
    assert found["flow_fct_ns"][0] == pytest.approx(70e3 + (again + 1000 - lost[0] + 1) * FRAME + 2 * DELAY, abs=1e-3)


def test_links_come_back_as_they_were_built() -> None:
    """With another rate on the way back: a flow each way, after a failure, takes what it takes without one."""
    uneven = FabricTopology(
        2, 1, np.array([0, 1]), np.array([2, 2]), *np.full((2, 2), [[100.0], [DELAY]]), np.array([40.0, 40.0])
    )
    both, engine = flows((0, 1), (1, 0), start_ns=50e3), FabricEngine("window", OPEN)
    down: list[Change] = [(10e3, 0, 2, 0.0), (20e3, 0, 2, None)]
    usual, found = (engine.run(each, both) for each in (uneven, with_events(uneven, down, convergence_ns=1e3)))
    np.testing.assert_array_equal(found["flow_fct_ns"], usual["flow_fct_ns"])
    assert usual["flow_fct_ns"][0] > 2 * 10**6 * 8 / 100


def test_routes_come_back_after_a_repair() -> None:
    """A flow that begins while its spine is known to be down goes the other way, and one after it is up again not."""
    engine = FabricEngine("window", OPEN)
    spine = spine_of(engine.run(TWO_SPINES, flows((0, 1))))
    event: list[Change] = [(0.0, 2, spine, 0.0), (500e3, 2, spine, 100.0)]
    topology = with_events(TWO_SPINES, event, convergence_ns=10e3)

    def crossed(start_ns: float) -> float:
        found = engine.run(topology, flows((0, 1), start_ns=start_ns))
        assert found["port_lost_packets"].sum() == 0
        return float(found["port_data_packets"][(found["port_node"] == 2) & (found["port_peer"] == spine)][0])

    assert [crossed(start) for start in (20e3, 511e3)] == [0, 1000]
    assert 0 < crossed(480e3) < 1000  # begins on the other one


@pytest.mark.parametrize("transport", ["hpcc", "powertcp"])
def test_stamps_of_two_ways_are_not_compared(transport: str) -> None:
    """Without a loss a flow goes back to its spine, which nothing has crossed for long, at about the same rate."""
    engine, one = FabricEngine(transport), flows((0, 1), size=3 * 10**6, start_ns=20e3)
    spine = spine_of(engine.run(TWO_SPINES, one))
    event: list[Change] = [(0.0, 2, spine, 0.0), (150e3, 2, spine, 100.0)]
    topology = with_events(TWO_SPINES, event, convergence_ns=10e3)
    found = engine.run(topology, one, watch=Watch(100.0, [0]))
    assert found["port_lost_packets"].sum() == 0 and found["retransmitted_packets"] == 0
    crossed = found["port_data_packets"][(found["port_node"] == spine)].sum()
    assert 1000 < crossed < 2500
    gbps = found["sample_gbps"][:, 0]
    assert gbps[1600:2500].min() > 0.9 * gbps[1500]


def test_fixed_ways_stay() -> None:
    """The ways of a trace do not change: what goes to a link that is down is lost until it is back."""
    given = FabricFlows(
        np.array([0]), np.array([1]), np.array([10**5]), np.zeros(1), path=((2, 4, 3),), ack_path=((3, 5, 2),)
    )
    topology = with_events(TWO_SPINES, [(0.0, 2, 4, 0.0), (700e3, 2, 4, 100.0)], convergence_ns=0)
    found = FabricEngine("window", OPEN, settings(retransmit_after_us=500)).run(topology, given)
    assert found["event_lost_packets"].tolist() == [200]  # at once, and after 500 µs
    assert found["flow_fct_ns"][0] == pytest.approx(1000e3 + 103 * FRAME + 4 * DELAY, abs=1)


BUSY = flows(*((i, (i + 5) % 16) for i in range(16)), *((i, (i + 8) % 16) for i in range(16)), size=300_000)
FOUR_RACKS = leaf_spine(4, 4, 2)  # hosts 0 to 15, ToRs 16 to 19, spines 20 and 21
TRANSPORTS = ("dctcp", "hpcc", "dcqcn", "swift", "timely", "powertcp", "rcp", "dctcp-window", "window")


def switch_down(topology: FabricTopology, switch: int, at_ns: float, back_ns: float = INF) -> list[Change]:
    down = [(at_ns, switch, peer, 0.0) for peer in topology.neighbours[switch]]
    return down + [(back_ns, switch, peer, 100.0) for peer in topology.neighbours[switch]] * (back_ns < INF)


SELECTIVE = ("nscc", "rccc", "nscc+rccc", "ndp", "eqds")


def same(found: FabricRecord, again: FabricRecord) -> None:
    for name in found:
        if not name.startswith("sample"):
            np.testing.assert_array_equal(found[name], again[name], err_msg=name)


@pytest.mark.parametrize("transport", [*SELECTIVE, "homa", "dctcp"])
@pytest.mark.parametrize("queues", [{}, {"lossless": False, "buffer_bytes": 2e5}, {"queue_bdps": 1.5}])
@pytest.mark.parametrize("adaptive", [False, True])
def test_selective_hosts_outlive_failures(transport: str, queues: dict[str, float], adaptive: bool) -> None:
    """A spine restarts and a host's link flaps: all flows end, and looks at a run change nothing."""
    engine = FabricEngine(transport, {}, settings(**queues, adaptive=adaptive, retransmit_after_us=100, selective=True))
    flap: list[Change] = [change for at in (30e3, 60e3) for change in ((at, 5, 17, 0.0), (at + 10e3, 5, 17, 100.0))]
    topology = with_events(FOUR_RACKS, flap, switch_down(FOUR_RACKS, 20, 40e3, 90e3), convergence_ns=20e3)
    found, again = engine.run(topology, BUSY), engine.run(topology, BUSY, watch=Watch(777.0, [0, 3]))
    np.testing.assert_array_equal(found["flow_delivered_bytes"], 300_000)
    assert np.isfinite(found["flow_fct_ns"]).all() and np.isfinite(found["event_recovery_ns"]).all()
    assert (found["event_lost_packets"] > 0).all()
    assert found["port_lost_packets"].sum() == found["event_lost_packets"].sum()
    same(found, again)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("lossless", [True, False])
def test_packets_are_sent_or_lost_and_runs_end(transport: str, lossless: bool) -> None:
    """All that hosts send is answered, dropped or lost; a flow whose receiver is cut off for ever ends the run.

    With no gap between NACKs every data packet that arrives is answered once; the receiver that is cut off never was
    reached, so that no answer waits for its link. Of its flow one packet may be under way at the end.
    """
    cut_off = FabricFlows(
        *(np.append(getattr(BUSY, name), more) for name, more in (("src", 0), ("dst", 16), ("size_bytes", 1000))),
        np.append(BUSY.start_ns, 0.0),
    )
    links = zip(FOUR_RACKS.a + (FOUR_RACKS.a >= 16), FOUR_RACKS.b + (FOUR_RACKS.b >= 16), strict=True)
    a, b = np.array([*links, (16, 17)]).T
    wider = FabricTopology(17, 6, a, b, np.full(len(a), 100.0), np.full(len(a), DELAY))
    topology = with_events(
        wider,
        [(0.0, 16, 17, 0.0)],
        [(30e3, 17, 21, 0.0), (60e3, 17, 21, 100.0), (90e3, 17, 21, 0.0), (130e3, 17, 21, 100.0)],
        switch_down(wider, 22, 50e3, 250e3),
        convergence_ns=20e3,
    )
    tight = settings(lossless=lossless, buffer_bytes=2e5, retransmit_after_us=100, nack_gap_us=0, give_up_after_us=2000)
    engine = FabricEngine(transport, {}, tight)
    found, again = engine.run(topology, cut_off), engine.run(topology, cut_off, watch=Watch(777.0, [0, 3]))
    ended = np.isfinite(found["flow_fct_ns"])
    assert ended[:-1].all() and not ended[-1] and found["flow_delivered_bytes"][-1] == 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"][:-1], 300_000)
    last = np.nanmax(found["flow_fct_ns"])
    assert found["end_ns"] <= max(last, 270e3) + 2000e3 + 200e3
    assert found["port_lost_packets"].sum() == found["event_lost_packets"].sum()
    assert (found["event_lost_packets"] > 0).all()
    hosts = found["port_node"] < 17
    sent, answered = (found[f"port_{kind}_packets"][hosts].sum() for kind in ("data", "ack"))
    if not found["port_drops"].any():  # which are of ACKs too
        assert sent - answered - found["port_lost_packets"].sum() in (0, 1)
    else:
        assert answered + found["port_lost_packets"].sum() <= sent
        assert sent <= answered + found["port_lost_packets"].sum() + found["port_drops"].sum()
    same(found, again)


@pytest.mark.parametrize("transport", ["dcqcn", "nscc", "nscc+rccc"])
def test_nothing_hangs_without_spines(transport: str) -> None:
    """All spines are down for ever and timers go on: patience ends the run, though packets are always under way."""
    down = [each for spine in (20, 21) for each in switch_down(FOUR_RACKS, spine, 20e3)]
    engine = FabricEngine(transport, {}, settings(retransmit_after_us=5, give_up_after_us=1000))
    found = engine.run(with_events(FOUR_RACKS, down), BUSY)
    across = BUSY.src // 4 != BUSY.dst // 4
    assert not np.isfinite(found["flow_fct_ns"][across]).any()
    assert 1000e3 < found["end_ns"] < 1200e3
    assert found["event_recovery_ns"].tolist() == [INF]
    assert found["event_lost_packets"][0] > 1000


def test_patience_waits_for_a_repair() -> None:
    """A link that comes back after longer than the patience: the flow goes on."""
    event: list[Change] = [(20e3, 1, 2, 0.0), (5e6, 1, 2, 100.0)]
    engine = FabricEngine("window", OPEN, settings(give_up_after_us=1000, retransmit_after_us=300))
    found = engine.run(with_events(star(2), event), flows((0, 1)))
    assert 5e6 < found["flow_fct_ns"][0] < 5.4e6
    assert found["event_recovery_ns"][0] == pytest.approx(found["flow_fct_ns"][0] - 20e3, abs=100e3)


@pytest.mark.parametrize("priorities", [1, 3])
def test_pauses_do_not_outlive_a_link(priorities: int) -> None:
    """Senders are paused as their links fail; after the repair all goes on. Without the failure nothing is lost."""
    incast = flows(*((i, 0) for i in range(1, 9)), size=200_000)
    tight = settings(buffer_bytes=4e4, alpha=1, priorities=priorities)
    engine = FabricEngine("window", OPEN, tight)
    usual = engine.run(star(9), incast)
    assert (usual["port_paused_ns"][1:9] > 0.7 * usual["end_ns"]).all() and usual["port_drops"].sum() == 0
    down = [change for host in range(1, 9) for change in ((40e3, host, 9, 0.0), (60e3, host, 9, 100.0))]
    found = engine.run(with_events(star(9), down), incast)
    np.testing.assert_array_equal(found["flow_delivered_bytes"], 200_000)
    assert found["end_ns"] < usual["end_ns"] + 20e3 + 1500e3
    assert (found["port_paused_ns"] <= found["end_ns"] - 20e3).all()


def test_a_port_pauses_its_peer_again() -> None:
    """The links of paused senders fail for 1 µs: headroom for what two pauses leave on the way is enough."""
    incast = flows(*((i, 0) for i in range(1, 9)), size=200_000)
    engine = FabricEngine("window", OPEN, settings(buffer_bytes=4e4, alpha=1, headroom_delays=8))
    down = [change for host in range(1, 9) for change in ((47e3, host, 9, 0.0), (48e3, host, 9, 100.0))]
    found = engine.run(with_events(star(9), down), incast)
    assert found["port_drops"].sum() == 0
    assert (found["port_pauses_received"][1:9] >= 2).all()


def test_pauses_between_switches_do_not_outlive_a_link() -> None:
    """The link that both directions of a dumbbell share flaps while one end has paused the other."""
    both = flows(*((i, i + 4) for i in range(4)), *((i + 4, i) for i in range(4)), (0, 5), (1, 5), (2, 5), size=300_000)
    tight = settings(buffer_bytes=1e5, alpha=1, retransmit_after_us=200)
    topology, engine = dumbbell(4, 400.0), FabricEngine("window", OPEN, tight)
    usual = engine.run(topology, both)
    between = np.minimum(usual["port_node"], usual["port_peer"]) >= 8
    assert (usual["port_pauses_received"][between] > 0).any()
    flaps: list[Change] = [
        change for k in range(20) for change in ((20e3 + 9e3 * k, 8, 9, 0.0), (22e3 + 9e3 * k, 8, 9, 400.0))
    ]
    found = engine.run(with_events(topology, flaps), both)
    np.testing.assert_array_equal(found["flow_delivered_bytes"], 300_000)
    assert len(found["event_ns"]) == 1 and found["event_lost_packets"][0] > 0


def test_events_that_hit_nothing_change_nothing() -> None:
    """The links of a spine that a flow and its ACKs do not cross: but for the events, the record has the same bits."""
    engine, one = FabricEngine("hpcc"), flows((0, 1))
    runs = [(seed, engine.run(TWO_SPINES, one, seed)) for seed in range(1, 20)]
    used = [(run["port_data_packets"] + run["port_ack_packets"])[run["port_node"] == 4].any() for _, run in runs]
    seed, usual = runs[used.index(False)]
    found = engine.run(with_events(TWO_SPINES, switch_down(TWO_SPINES, 4, 20e3, 50e3)), one, seed)
    for name, value in usual.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    assert found["event_recovery_ns"].tolist() == [0]


def recovery(found: FabricRecord, at_ns: float) -> float:
    """Return the recovery of an event at a whole multiple of 10 µs, from samples: a second implementation."""
    step = round(at_ns / 10e3)
    delivered = found["sample_delivered_bytes"]
    end = found["flow_start_ns"] + np.where(np.isnan(found["flow_fct_ns"]), INF, found["flow_fct_ns"])
    active = (found["flow_start_ns"] <= at_ns) & (end > at_ns)
    usual = (delivered[step] - delivered[max(step - 10, 0)])[active] / min(step, 10)
    got = np.diff(delivered[step:, active], axis=0)
    times = found["sample_ns"][step + 1 :]
    got = np.where(end[active] <= times[:, None], np.maximum(got, usual), got)
    deficit = np.cumsum(0.9 * usual.sum() - got.sum(axis=1))
    most = int(np.argmax(deficit)) if len(deficit) else 0
    if not len(deficit) or deficit[most] <= 0:
        return 0.0
    last_end = end[active].max()
    if most == len(deficit) - 1:
        return float(last_end - at_ns)
    return float(min(times[most], last_end) - at_ns)


@pytest.mark.parametrize("transport", [*TRANSPORTS, *SELECTIVE])
@pytest.mark.parametrize("back_ns", [210e3, INF])
def test_recovery_is_what_samples_say(transport: str, back_ns: float) -> None:
    """A spine dies among flows of several lengths; the flows of the reference are all sampled."""
    sizes = np.random.default_rng(1).integers(10**5, 3 * 10**6, 32)
    mixed = replace(BUSY, size_bytes=sizes)
    engine = FabricEngine(transport, {}, settings(retransmit_after_us=150))
    event = switch_down(FOUR_RACKS, 20, 110e3, back_ns)
    found = engine.run(with_events(FOUR_RACKS, event, convergence_ns=30e3), mixed, watch=Watch(10e3, range(32)))
    wanted = recovery(found, 110e3)
    assert found["event_recovery_ns"].tolist() == [pytest.approx(wanted, abs=1e-3)]
    assert wanted > 0 and found["event_lost_packets"][0] > 0


def test_the_next_event_does_not_count_for_the_one_before() -> None:
    """Two failures of the only link, for 50 and 100 µs: each takes that and a NACK's round trip."""
    down: list[list[Change]] = [[(at, 0, 2, 0.0), (back, 0, 2, 100.0)] for at, back in ((200e3, 250e3), (400e3, 500e3))]
    engine = FabricEngine("window", {}, settings(retransmit_after_us=200))
    found = engine.run(with_events(star(2), *down), flows((0, 1), size=2 * 10**7))
    first, second = found["event_recovery_ns"]
    assert 50e3 <= first <= 70e3 and 100e3 <= second <= 120e3


def test_adaptive_switches_know_their_own_links() -> None:
    """Only what is on the link is lost, or waits for it, long before routing knows."""
    engine = FabricEngine("nscc", {}, settings(adaptive=True))
    found = engine.run(with_events(TWO_SPINES, [(30e3, 2, 4, 0.0)]), flows((0, 1), size=10**6))
    assert 0 < found["event_lost_packets"][0] < 20
    assert found["retransmitted_packets"] <= 20
    assert found["port_mean_queued_bytes"][(found["port_node"] == 2) & (found["port_peer"] == 4)] < 100
    assert np.isfinite(found["flow_fct_ns"][0])


def test_what_has_no_way_is_lost_by_the_failure_that_routing_knows() -> None:
    """An earlier event, which only slows the link, has lost nothing."""
    one_spine = leaf_spine(2, 1, 1)
    topology = with_events(one_spine, [(10e3, 2, 4, 50.0)], [(30e3, 3, 4, 0.0)], convergence_ns=0)
    found = FabricEngine("window", OPEN, settings(give_up_after_us=100)).run(topology, flows((0, 1)))
    assert found["event_lost_packets"][0] == 0 and found["event_lost_packets"][1] > 100
    came_in = (found["port_node"] == 2) & (found["port_peer"] == 0)
    assert found["port_lost_packets"][came_in][0] > 0


def test_packets_cross_eight_links_at_most() -> None:
    """On a ring the two ways to the receiver open and close in turn, so that packets could go to and fro for ever."""
    hosts, ring = [(0, 2), (1, 4)], [(2, 3), (3, 4), (4, 5), (2, 5)]
    a, b = np.array(hosts + ring).T
    topology = FabricTopology(2, 4, a, b, np.full(6, 100.0), np.full(6, DELAY))
    turn = 2 * (FRAME + DELAY)
    flips: list[Change] = [(0.0, 3, 4, 0.0)]
    for k in range(1, 200):
        (shut, opened) = ((5, 3), (3, 5))[k % 2 == 0]
        flips += [(k * turn, opened, 4, 100.0), (k * turn, shut, 4, 0.0)]
    flips = [(0.0, 3, 4, 0.0), *((at, min(x, 4), max(x, 4), gbps) for at, x, _, gbps in flips[1:])]
    found = FabricEngine("window", OPEN, settings(retransmit_after_us=0, nack_gap_us=1e6)).run(
        with_events(topology, flips, convergence_ns=0), flows((0, 1)), horizon_ns=400e3
    )
    sent = found["port_data_packets"][found["port_node"] == 0].sum()
    assert sent < found["port_data_packets"].sum() <= 8 * sent
    crossings = found["port_data_packets"][(found["port_node"] == 2)].sum()
    assert crossings > 1.5 * sent  # many did come back


@pytest.mark.parametrize("transport", ["rcp", str(POLICIES / "rcp-16.json")], ids=["rcp", "rcp-16"])
def test_rates_that_ports_tell_follow_their_links(transport: str) -> None:
    """RCP, by itself and as a policy with its header, at a bottleneck that slows down: the queue does not stay."""
    engine = FabricEngine(transport if transport == "rcp" else resolve(transport, "fabric").policy)
    topology = with_events(dumbbell(1), [(300e3, 2, 3, 25.0)])
    watch = Watch(10e3, [0], [(2, 3)])
    found = engine.run(topology, flows((0, 1), size=10**8), horizon_ns=3e6, watch=watch)
    queued = found["sample_queued_bytes"][:, 0]
    assert queued.max() > 50e3 and queued[250:].max() < 5e3
    late = np.diff(found["sample_delivered_bytes"][250:, 0]).mean() * 8 / 10e3
    assert late > 0.85 * 25 * 1000 / 1100


@pytest.mark.parametrize(
    ("change", "convergence_ns", "words"),
    [
        ((0.0, 0, 1, 0.0), 0.0, "topology: nodes 0 and 1 have no link to change"),
        ((-1.0, 0, 2, 0.0), 0.0, "event 0: must begin within"),
        ((0.0, 0, 2, -2.0), 0.0, "event 0: a link needs"),
        ((0.0, 0, 2, 0.0), -1.0, "convergence: must be within"),
    ],
)
def test_events_that_cannot_be(change: Change, convergence_ns: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        FabricEngine("window").run(with_events(star(2), [change], convergence_ns=convergence_ns), flows((0, 1)))


def test_fluids_have_no_events() -> None:
    topology, one = with_events(star(2), [(0.0, 0, 2, 0.0)]), flows((0, 1))
    with pytest.raises(InputError, match="max-min cannot have events"):
        FabricEngine("max-min").run(topology, one)
    with pytest.raises(InputError, match="simulator fluid cannot have events"):
        run_fluid(FabricEngine("dctcp"), topology, one, 1, 1e9)


def test_thresholds_go_by_the_rate_as_built_or_by_the_current_one() -> None:
    """As on a fabric whose link was built slow, or as many times as high; of marks, and of queues of their own."""
    fast = leaf_spine(2, 2, 1, 100, 100, DELAY, DELAY)
    uplink = fast.b == 6
    slow = replace(fast, gbps=np.where(uplink, 25.0, fast.gbps))
    change: list[Change] = [(1.0, int(a), 6, 25.0) for a in fast.a[uplink]]
    slowed, sent = with_events(fast, change), flows((0, 2), (1, 3), size=5 * 10**6, start_ns=10.0)
    for transport, changes in (("dctcp", {"base_rtt_ns": 10_000}), ("nscc", {"base_rtt_ns": 10_000, "queue_bdps": 1})):
        runs = [
            FabricEngine(transport, settings=settings(lossless=False, thresholds_by_rate=by_rate, **changes)).run(
                on, sent
            )
            for on, by_rate in ((slow, False), (slowed, True), (slowed, False))
        ]
        for name in ("port_mean_queued_bytes", "port_marked_packets", "port_trims"):
            np.testing.assert_allclose(runs[1][name], runs[0][name], rtol=1e-6, err_msg=name)
        queues = [each["port_mean_queued_bytes"].max() for each in runs]
        assert queues[2] > 2 * queues[0]
