"""DCQCN+: gaps, timers and steps by hand; a flow alone as with DCQCN; large incasts against DCQCN."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import dumbbell, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.control import Change
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.tuners.registry import tuning

from .test_control import Watcher, with_tuner

HOSTS = 16
ALL, NONE = marking("red", kmin_bytes=0, kmax_bytes=0), marking("step", k_bytes=1e12)
PLUS = dict(tuning("dcqcn-plus").parameters)
PLAIN = {name: value for name, value in PLUS.items() if name not in ("gap_per_flow_us", "marks_within_us")}


def incast(count: int, size: float = 1e9, over_ns: float = 10_000) -> FabricFlows:
    """Return flows of some hosts, several each, to one more."""
    start = np.linspace(0, over_ns, count)
    return FabricFlows(np.arange(count) % HOSTS + 1, np.zeros(count, int), np.full(count, int(size)), start)


def rates(count: int, change_us: float, **parameters: float) -> tuple[np.ndarray, np.ndarray]:
    """Return every 0.5 µs the rate of the first flow, Gb/s, where all is marked that leaves a queue until a change."""
    values = {**PLUS, "marks_within_us": 500, "decrease_us": 0.1, **parameters}
    engine = FabricEngine("dcqcn", values, settings(marker=ALL, retransmit_after_us=0))
    watcher = Watcher(every_us=change_us, at_look=0, change=Change(markers={None: NONE}))
    watch = Watch(500, flows=(0,))
    found = with_tuner(engine, watcher).run(star(HOSTS + 1), incast(count), horizon_ns=8e6, watch=watch)
    return found["sample_ns"] / 1000, found["sample_gbps"][:, 0]


@pytest.mark.parametrize(("count", "gap_us"), [(10, 50), (50, 50), (80, 80), (100, 100), (201, 200)])
def test_the_gap_between_notifications(count: int, gap_us: float) -> None:
    """1 µs for each flow, 50 µs at least; 201 flows are told as 200. Decreases of 0.05 % leave the queue as it is."""
    times, gbps = rates(count, 2000, initial_alpha=0.001, g=0)
    fell = times[1:][np.diff(gbps) < 0]
    gaps = np.diff(fell[fell > 700])
    assert len(gaps) >= 4
    apart = 1048 * 8 * count / 100e3  # µs between packets of a flow: the first mark after the gap makes the next one
    assert gap_us - 0.5 <= gaps.min() <= np.median(gaps) <= gap_us + 3 * apart + 0.5


@pytest.mark.parametrize(("count", "slowness"), [(32, 1), (100, 2), (200, 4)])
def test_timers_and_steps(count: int, slowness: float) -> None:
    """After the last mark: half of the way to the target, which then moves by an additive and by hyper steps."""
    steps = {"increase_gbps": 0.4, "hyper_gbps": 1.2}
    times, gbps = rates(count, 1000, initial_alpha=0.02, g=0, **steps)
    after = times[1:] > times[1:][np.diff(gbps) < 0].max()
    rose = np.flatnonzero((np.diff(gbps) > 0) & after)[:5]
    np.testing.assert_allclose(np.diff(times[rose]), 100 * slowness, atol=0.6)
    before, then = gbps[rose], gbps[rose + 1]
    targets = 2 * then - before
    expected = np.array([0.4, 1.2, 1.2, 1.2]) / slowness
    np.testing.assert_allclose(np.diff(targets), expected, rtol=1e-6)


def test_alpha_moves_the_more_seldom_the_more_flows() -> None:
    """With 200 flows every 200 µs: between two notifications 200 µs or little more apart it moves once, by g."""
    times, gbps = rates(200, 3000, initial_alpha=0.004, g=0.25)
    late = times > 700
    at = np.flatnonzero(np.diff(gbps[late]) < 0)
    alphas = 2 * (1 - gbps[late][at + 1] / gbps[late][at])
    moved = (1 - alphas[1:]) / (1 - alphas[:-1])
    assert len(moved) >= 8 and np.isclose(moved, 0.75, rtol=1e-6).mean() > 0.8


def same(one: FabricRecord, other: FabricRecord) -> bool:
    return all(np.array_equal(values, other[name], equal_nan=True) for name, values in one.items())


@pytest.mark.parametrize("count", [1, 40])
def test_as_dcqcn_while_flows_are_few(count: int) -> None:
    """A flow alone, and as many as the least gap is for."""
    topology, red = dumbbell(count, 10.0, 100.0), settings(marker=marking("red", kmin_bytes=1e4, kmax_bytes=2e5))
    hosts = np.arange(count)
    flows = FabricFlows(hosts, hosts + count, np.full(count, 2_000_000), np.zeros(count))
    plus = FabricEngine("dcqcn", tuner=tuning("dcqcn-plus"), settings=red).run(topology, flows)
    assert same(plus, FabricEngine("dcqcn", PLAIN, red).run(topology, flows))
    assert plus["port_marked_packets"].sum() > 10


@pytest.mark.parametrize("count", [128, 512])
def test_a_large_incast(count: int) -> None:
    """DCQCN's steps are too large for so many: it fills the buffer, DCQCN+ does not, and all get a share."""
    every, kept = settings(retransmit_after_us=0), range(count)
    ports = ((HOSTS + 1, 0),)
    found = {
        name: FabricEngine("dcqcn", values, every).run(
            star(HOSTS + 1), incast(count, over_ns=200_000), horizon_ns=20e6, watch=Watch(50_000, kept, ports)
        )
        for name, values in (("plain", PLAIN), ("plus", PLUS))
    }
    queues = {name: record["sample_queued_bytes"][200:, 0].mean() for name, record in found.items()}
    pauses = {name: record["port_pauses_sent"].sum() for name, record in found.items()}
    assert queues["plus"] < queues["plain"] / 4 and pauses["plus"] < 0.6 * pauses["plain"]
    delivered = found["plus"]["sample_delivered_bytes"]
    got = delivered[-1] - delivered[200]
    assert got.sum() ** 2 / (count * (got**2).sum()) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"notification_gap_us": 0}, "gap_per_flow_us: needs a notification_gap_us above 0"),
        ({"marks_within_us": 0}, "gap_per_flow_us: needs a marks_within_us above 0"),
        ({"gap_per_flow_us": 2000}, "gap_per_flow_us: must be from 0 to 1000"),
    ],
)
def test_what_cannot_be(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FabricEngine("dcqcn", {**PLUS, **parameters}).run(star(3), incast(2, 1000))
