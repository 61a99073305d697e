"""What each marker of the fabric's switches promises, against queues replayed by hand and against theory."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.markers import Marking, marking

FRAME, GBPS = 1048, 10.0
SERVICE = FRAME * 8 / GBPS / 1000  # µs


def flood(marker: Marking, senders: int, starts_us: list[float], packets: int = 400, seed: int = 1) -> FabricRecord:
    """Let senders without a window, and with starts a little apart, fill the port to host 0."""
    at = np.add.outer(np.array(starts_us), np.arange(senders) * 0.3 / (senders - 1) * SERVICE) * 1000
    src = np.tile(np.arange(1, senders + 1), len(starts_us))
    flows = FabricFlows(src, np.zeros(len(src)), np.full(len(src), packets * 1000), at.ravel())
    engine = FabricEngine("window", {"bdps": 0}, settings(marker=marker))
    return engine.run(star(senders + 1, GBPS), flows, seed)


def replay(senders: int, packets: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when the packets of such a flood leave the queue, how long they waited, and what they leave behind."""
    offsets = np.arange(senders) * 0.3 / (senders - 1)
    arrive = np.sort(np.add.outer(np.arange(1, packets + 1), offsets).ravel()) * SERVICE
    start = arrive[0] + SERVICE * np.arange(len(arrive))
    behind = np.searchsorted(arrive, start + 1e-9, side="right") - np.arange(1, len(arrive) + 1)
    return start, start - arrive, behind * FRAME


def marks_of(record: FabricRecord) -> int:
    return int(record["port_marked_packets"].sum())


def marks_within(first_us: float, gap_us: float, end_us: float, begin_with: int = 1) -> int:
    """Return how many marks come at `first`, and then after gap / √n for n from `begin_with` on, before the end."""
    at = first_us + np.concatenate([[0], np.cumsum(gap_us / np.sqrt(np.arange(begin_with, 10_000)))])
    return int((at < end_us).sum())


@pytest.mark.parametrize("kind", ["ecn-sharp", "codel"])
@pytest.mark.parametrize(("target", "interval"), [(10, 60), (40, 40)])
def test_persistent_queues_are_marked_ever_more_often(kind: str, target: float, interval: float) -> None:
    instant = {"instant_us": 1e6} if kind == "ecn-sharp" else {}
    found = marks_of(flood(marking(kind, target_us=target, interval_us=interval, **instant), 2, [0]))
    start, waited, behind = replay(2)
    above = start[(waited >= target) & ((behind > FRAME) | (kind == "ecn-sharp"))]
    first = start[start > above[0] + interval][0]
    assert found == marks_within(first, interval, above[-1] + SERVICE / 2) > 10


def test_ecn_sharp_marks_all_that_waited_too_long() -> None:
    found = marks_of(flood(marking("ecn-sharp", instant_us=100, interval_us=1e6), 2, [0]))
    assert found == (replay(2)[1] > 100).sum() > 0


def test_codel_goes_on_from_where_it_stopped() -> None:
    interval, target = 60.0, 10.0
    codel = marking("codel", target_us=target, interval_us=interval)
    start, waited, behind = replay(2)
    above = start[(waited >= target) & (behind > FRAME)]
    first, end = start[start >= above[0] + interval][0], above[-1] + SERVICE / 2
    once = marks_within(first, interval, end)
    again = marks_within(first, interval, end, begin_with=once - 1)
    soon, late = 800.0, 2000.0  # the first queue is gone after 680 µs
    assert marks_of(flood(codel, 2, [0, soon])) == once + again > 2 * once
    assert marks_of(flood(codel, 2, [0, late])) == 2 * once


def test_pie_follows_the_delay_and_where_it_goes() -> None:
    target, update = 20.0, 30.0
    found = [
        marks_of(flood(marking("pie", target_us=target, update_us=update, burst_us=0), 2, [0], seed=seed))
        for seed in range(20)
    ]
    start, _, behind = replay(2)
    chance = _pie(start, behind, target, update)
    spread = np.sqrt((chance * (1 - chance)).sum() / 20)
    assert np.mean(found) == pytest.approx(chance.sum(), abs=4 * spread)
    assert chance.sum() > 20 * spread


def _pie(start: np.ndarray, behind: np.ndarray, target: float, update: float) -> np.ndarray:
    """Return each packet's probability, by RFC 8033 with delays in ms."""
    delays = behind * 8 / GBPS / 1e6
    scales = [(1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2), (2, 1)]
    chance, old, p, due = np.zeros(len(start)), 0.0, 0.0, start[0] + update
    for i, now in enumerate(start):
        while due <= now:
            delay = max(0.0, delays[i - 1] - (due - start[i - 1]) / 1000)
            step = 0.125 * (delay - target / 1000) + 1.25 * (delay - old)
            step /= next(by for below, by in scales if p < below)
            p = min(1.0, max(0.0, p + (min(step, 0.02) if p >= 0.1 else step)))
            old, due = delay, due + update
        spared = (old < target / 2000 and p < 0.2) or behind[i] <= 2 * FRAME
        chance[i] = 0 if spared else p
    return chance


@pytest.mark.parametrize("bits", [120, 2])
def test_preds_slope_is_in_proportion_to_the_flows_that_it_counts(bits: int) -> None:
    senders, slope, kmin = 6, 0.05, 20 * FRAME
    pred = marking("pred", qla=0, slope_per_mb=slope, kmin_bytes=kmin, kmax_bytes=1e9, count_bits=bits)
    found = [marks_of(flood(pred, senders, [0], 200, seed)) for seed in range(20)]
    _, _, behind = replay(senders, 200)
    chance = min(senders, bits) * slope * np.clip(behind - kmin, 0, None) / 1e6
    spread = np.sqrt((chance * (1 - chance)).sum() / 20)
    assert np.mean(found) == pytest.approx(chance.sum(), abs=4 * spread)
    assert chance.max() < 1 and chance.sum() > 10 * spread


def queue_of(marker: Marking, senders: int, us: float = 20_000) -> float:
    """Return the mean queue, in bytes, at the port to host 0 with long DCTCP flows."""
    sizes = np.full(senders, int(us * GBPS * 1000 / 8 / senders))
    flows = FabricFlows(np.arange(1, senders + 1), np.zeros(senders), sizes, np.arange(senders) * 1000.0)
    engine = FabricEngine("dctcp-window", settings=settings(marker=marker))
    record = engine.run(star(senders + 1, GBPS, delay_ns=10_000), flows)
    return float(np.max(record["port_mean_queued_bytes"]))


def test_pie_holds_the_delay_at_its_target() -> None:
    short, long = (queue_of(marking("pie", target_us=target, update_us=50), 8) for target in (30, 90))
    assert short * 8 / GBPS / 1000 == pytest.approx(30, rel=0.3)
    assert long * 8 / GBPS / 1000 == pytest.approx(90, rel=0.3)


def test_preds_count_of_flows_keeps_the_queue_short() -> None:
    """RED's queue grows with the number of flows; with the count in the slope it does not (Fig. 13b of the paper)."""
    red, fcs = (
        {n: queue_of(marking("pred", qla=0, fcs=fcs, slope_per_mb=slope), n) for n in (4, 24)}
        for fcs, slope in ((0, 0.4), (1, 0.1))
    )
    assert red[24] - 15e3 > 1.5 * (red[4] - 15e3)
    assert fcs[24] - 15e3 < 0.7 * (red[24] - 15e3)


def test_preds_trials_shorten_a_queue_that_is_too_long() -> None:
    """From a slope that is too small, more marks are found to be better, and slope or threshold move."""
    stays, moves = (queue_of(marking("pred", qla=qla, slope_per_mb=0.05), 4, 60_000) for qla in (0, 1))
    assert moves < 0.9 * stays


@pytest.mark.parametrize("kind", ["ecn-sharp", "codel"])
def test_waits_are_not_known_at_enqueue(kind: str) -> None:
    flows = FabricFlows(np.array([1]), np.array([0]), np.array([1000]), np.zeros(1))
    with pytest.raises((InputError, ValueError), match="mark_at_dequeue"):
        FabricEngine("window", settings=settings(marker=marking(kind), mark_at_dequeue=False)).run(star(2), flows)
