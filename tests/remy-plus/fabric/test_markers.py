"""Markers of the fabric's switches against a queue replayed by hand."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.markers import MARKERS, Marking, marking

FRAME, COUNT, GBPS = 1048, 400, 10.0
SERVICE = FRAME * 8 / GBPS  # ns


def marked(marker: Marking, at_dequeue: bool = True, seed: int = 1, gbps: float = GBPS) -> FabricRecord:
    """Two senders without a window fill the port to host 0: it gets two packets while it sends one."""
    flows = FabricFlows(np.array([1, 2]), np.zeros(2), np.full(2, COUNT * 1000), np.array([0, 0.3 * SERVICE]))
    engine = FabricEngine("window", {"bdps": 0}, settings(marker=marker, mark_at_dequeue=at_dequeue))
    return engine.run(star(3, gbps), flows, seed)


def queues(at_dequeue: bool) -> np.ndarray:
    """Return the bytes that each packet finds or leaves behind at a port that serves in order.

    What arrives at the moment of a departure comes first.
    """
    arrive = np.sort(np.concatenate([np.arange(1, COUNT + 1), np.arange(1, COUNT + 1) + 0.3])) * SERVICE
    start = np.empty_like(arrive)
    free = 0.0
    for i, time in enumerate(arrive):
        start[i] = max(time, free)
        free = start[i] + SERVICE
    if at_dequeue:
        return np.array([((arrive < now + 1e-6) & (start > now + 1e-6)).sum() for now in start]) * FRAME
    return np.array([((arrive < now - 1e-6) & (start >= now - 1e-6)).sum() for now in arrive]) * FRAME


@pytest.mark.parametrize("at_dequeue", [True, False])
@pytest.mark.parametrize("k_bytes", [0, 20 * FRAME, 300 * FRAME])
def test_a_step_marks_what_is_beyond_it(k_bytes: float, at_dequeue: bool) -> None:
    found = marked(marking("step", k_bytes=k_bytes * 100 / GBPS), at_dequeue)["port_marked_packets"]
    assert found.sum() == found.max() == (queues(at_dequeue) > k_bytes).sum() > 0


@pytest.mark.parametrize("at_dequeue", [True, False])
def test_red_marks_in_proportion(at_dequeue: bool) -> None:
    low, high, most = 50 * FRAME, 300 * FRAME, 0.4
    red = marking("red", kmin_bytes=low * 100 / GBPS, kmax_bytes=high * 100 / GBPS, pmax=most)
    found = [marked(red, at_dequeue, seed)["port_marked_packets"].sum() for seed in range(20)]
    queue = queues(at_dequeue)
    chance = np.where(queue > high, 1, np.clip(queue - low, 0, None) / (high - low) * most)
    spread = np.sqrt((chance * (1 - chance)).sum() / 20)
    assert np.mean(found) == pytest.approx(chance.sum(), abs=4 * spread)
    assert len(set(found)) > 5


def test_a_step_is_red_without_a_slope() -> None:
    step, red = (
        marked(each, gbps=40)
        for each in (marking("step", k_bytes=2e5), marking("red", kmin_bytes=2e5, kmax_bytes=2e5, pmax=0.1))
    )
    for name, values in step.items():
        np.testing.assert_array_equal(values, red[name], err_msg=name)


@pytest.mark.parametrize("gbps", [25, 100])
@pytest.mark.parametrize(("kind", "thresholds"), [("step", {"k": 0.3}), ("red", {"kmin": 0.2, "kmax": 2})])
def test_thresholds_in_bandwidth_delay_products(kind: str, thresholds: dict[str, float], gbps: float) -> None:
    """They mark as those do that are worked out by hand for ports of 100 Gb/s from the fabric's base RTT."""
    marker = marking(kind, **{f"{name}_bdps": value for name, value in thresholds.items()})
    found = marked(marker, gbps=gbps)
    product = 100 * found["base_rtt_ns"] / 8  # bytes
    other = marking(kind, **{f"{name}_bytes": value * product for name, value in thresholds.items()})
    assert found["port_marked_packets"].sum() > 0
    for name, values in marked(other, gbps=gbps).items():
        np.testing.assert_array_equal(values, found[name], err_msg=name)
    assert marker.in_bdps and not other.in_bdps
    assert all(name.endswith(("bdps", "pmax")) for name in marker.searches())
    assert not any(name.endswith("bdps") for name in (*other.searches(), *other.content()["parameters"]))
    assert marking(kind, **marker.content()["parameters"]) == marker


@pytest.mark.parametrize("kind", MARKERS)
def test_every_marker(kind: str) -> None:
    """The defaults are possible, a seed means the same marks, and one flow alone is never marked."""
    first, again = (marked(marking(kind)) for _ in range(2))
    np.testing.assert_array_equal(first["port_marked_packets"], again["port_marked_packets"])
    assert first["port_marked_packets"].sum() > 0
    alone = FabricFlows(np.array([0]), np.array([1]), np.array([10**6]), np.zeros(1))
    engine = FabricEngine("window", settings=settings(marker=marking(kind)))
    assert engine.run(star(3), alone)["port_marked_packets"].sum() == 0
    assert MARKERS[kind].source and all(knob.meaning for knob in MARKERS[kind].knobs.values())


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("stop", {}, r"kind: 'stop' is not known \(did you mean 'step'\?\)"),
        ("step", {"kind": 1}, "kind: is not a parameter of step"),
        ("step", {"kmin_bytes": 1}, r"kmin_bytes: is not a parameter of step \(did you mean"),
        ("step", {"k_bytes": -1}, "k_bytes: must be from 0 to inf, got -1"),
        ("step", {"k_bytes": np.nan}, "k_bytes is not a number"),
        ("red", {"kmin_bytes": 2e6}, r"kmax_bytes: must be from 2e\+06 to inf"),
        ("red", {"kmin_bdps": 1}, "kmax_bdps: must be from 1 to inf, got 0"),
        ("step", {"k_bdps": -1}, "k_bdps: must be from 0 to inf, got -1"),
        ("step", {"k_bdps": 1, "k_bytes": 1}, "k_bytes: and thresholds in bandwidth-delay products exclude each other"),
        ("red", {"pmax": 1.1}, "pmax: must be from 0 to 1, got 1.1"),
        ("codel", {"interval_us": 0}, "interval_us: must be from 0.001 to"),
        ("pred", {"least_slope_per_mb": 0.2}, "least_slope_per_mb: must be from 0 to 0.1, got 0.2"),
        ("pred", {"fcs": 2}, "fcs: must be a whole number from 0 to 1, got 2"),
        ("pred", {"count_bits": 0}, "count_bits: must be from 1 to"),
    ],
)
def test_markers_that_cannot_be(kind: str, parameters: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        marking(kind, **parameters)
