"""Schedules of collectives: who learns of whom, how much is sent, and how long it takes on a star, in closed form."""

import numpy as np
import pytest

from lcca.evaluation.fabric.workload.collectives.bounds import Packets, Ways, chain_ns
from lcca.evaluation.fabric.workload.collectives.schedule import Schedule
from lcca.evaluation.fabric.workload.collectives.schedules import (
    all_to_all,
    double_tree,
    halving_doubling,
    parents,
    peers,
    pipeline,
    ring,
)
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.settings import settings

DELAY_NS, GBPS = 1000.0, 100.0
PAYLOAD, OVERHEAD, ACK = 1000, 48, 1
"""ACKs of one byte: what comes back hardly delays what goes out."""


def run(schedule: Schedule, ranks: int) -> tuple[float, int]:
    """Return when the last message is received on a star (ns), rank by host, and how many packets there are."""
    flows = schedule.flows(np.arange(ranks), 0.0, np.zeros(len(schedule), dtype=np.int64))
    engine = FabricEngine("window", {"bdps": 1000}, settings(ack_bytes=ACK, lossless=False, buffer_bytes=1e12))
    found = engine.run(star(ranks, GBPS, DELAY_NS), flows)
    assert not np.isnan(found["flow_fct_ns"]).any()
    return float((found["flow_start_ns"] + found["flow_fct_ns"]).max()), int((-(-flows.size_bytes // PAYLOAD)).sum())


def alone_ns(size: int) -> float:
    """Return α + S/B: what a message of whole packets takes on the star until its last byte is received."""
    packet_ns = (PAYLOAD + OVERHEAD) * 8 / GBPS
    return 2 * DELAY_NS + (size // PAYLOAD + 1) * packet_ns


def near(found_ns: float, wanted_ns: float, acks: int) -> bool:
    """Tell whether a time is the closed form, but for ACKs that packets waited for."""
    return wanted_ns - 1e-3 <= found_ns <= wanted_ns + acks * ACK * 8 / GBPS


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
@pytest.mark.parametrize("halves", [1, 2])
def test_a_ring_takes_its_steps_one_after_the_other(ranks: int, halves: int) -> None:
    """(n − 1)(α + S/nB) for a reduce-scatter, twice that for an all-reduce."""
    steps = halves * (ranks - 1)
    took_ns, _ = run(ring(ranks, ranks * 20_000, steps), ranks)
    assert near(took_ns, steps * alone_ns(20_000), steps * 21)


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_halving_and_doubling_takes_twice_its_levels(ranks: int) -> None:
    """2kα + 2(n − 1)/n · S/B."""
    parts = [16_000 * ranks >> (level + 1) for level in range(ranks.bit_length() - 1)]
    took_ns, _ = run(halving_doubling(ranks, 16_000 * ranks), ranks)
    assert near(took_ns, 2 * sum(map(alone_ns, parts)), 4 * sum(parts) // PAYLOAD)


@pytest.mark.parametrize("stages", [2, 4])
@pytest.mark.parametrize("microbatches", [1, 5])
def test_a_pipeline_takes_its_bubble(stages: int, microbatches: int) -> None:
    """(m + p − 1)(f + b) less the last b, and a message in each of the 2(p − 1) steps."""
    forward, backward = 30_000.0, 50_000.0
    took_ns, packets = run(pipeline(stages, microbatches, 10_000, forward, backward), stages)
    wanted = (microbatches + stages - 1) * (forward + backward) - backward + 2 * (stages - 1) * alone_ns(10_000)
    assert near(took_ns, wanted, packets)


@pytest.mark.parametrize("ranks", [2, 3, 6, 8, 13, 16])
def test_trees_have_every_rank_once(ranks: int) -> None:
    """One root; who is no leaf in one tree is a leaf in the other (Sanders, Speck, Träff 2009) for even numbers."""
    inner = []
    for mirrored in (False, True):
        above = parents(ranks, mirrored)
        assert above.count(-1) == 1
        for rank in range(ranks):
            way = [rank]
            while above[way[-1]] >= 0:
                way.append(above[way[-1]])
                assert len(way) <= ranks
        assert max(above.count(rank) for rank in range(ranks)) <= 2
        inner.append({rank for rank in above if rank >= 0 and above[rank] >= 0})
    if ranks % 2 == 0:
        assert not inner[0] & inner[1]


@pytest.mark.parametrize("order", ["staggered", "triangular"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 16, 24])
def test_every_peer_is_met_once(ranks: int, order: str) -> None:
    assert sorted(peers(ranks, order)) == list(range(1, ranks))


def test_the_triangular_order_is_the_published_one() -> None:
    assert peers(16, "triangular")[:5] == [1, 3, 6, 10, 15]


@pytest.mark.parametrize("window", [0, 1, 3])
def test_an_exchange_takes_its_bytes(window: int) -> None:
    """Every rank sends as much to each other one: with no window its link is never idle, and receivers meet no two."""
    ranks, size = 5, 20_000
    took_ns, packets = run(all_to_all(ranks, np.full((ranks, ranks), size), window=window), ranks)
    least_ns = alone_ns((ranks - 1) * size)
    if window == 0:
        assert least_ns - 1e-3 <= took_ns <= 1.3 * least_ns
    if window == 1:
        assert near(took_ns, (ranks - 1) * (alone_ns(size)) + (ranks - 2) * 2 * (DELAY_NS + ACK * 8 / GBPS), packets)


def reach(schedule: Schedule, ranks: int) -> list[set[int]]:
    """Return of whose buffers each rank has heard in the end: by what it received, and the sender before that."""
    knows: list[set[int]] = []
    found = [{rank} for rank in range(ranks)]
    for row in range(len(schedule)):
        own = {schedule.src[row]}
        if schedule.after[row] >= 0:
            awaited = schedule.sets[schedule.after[row]]
            for each, moment in zip(awaited.flows.tolist(), awaited.moments(), strict=True):
                if moment == "received":
                    assert schedule.dst[each] == schedule.src[row]
                    own |= knows[each]
                if moment == "begun":
                    assert schedule.src[each] == schedule.src[row]
                    own |= knows[each]
        knows.append(own)
        found[schedule.dst[row]] |= own
    return found


@pytest.mark.parametrize(
    ("schedule", "ranks"),
    [
        (ring(6, 6_000, 10), 6),
        (ring(5, 5_000, 4), 5),
        (ring(4, 64_000, 6, channels=2, loops=3, slots=2), 4),
        (halving_doubling(8, 8_000), 8),
        (double_tree(7, 7_000), 7),
        (double_tree(8, 8_000, 3), 8),
        (all_to_all(5, np.full((5, 5), 100), "triangular", 2), 5),
    ],
)
def test_everyone_hears_of_everyone(schedule: Schedule, ranks: int) -> None:
    assert reach(schedule, ranks) == [set(range(ranks))] * ranks


@pytest.mark.parametrize(
    ("schedule", "ranks", "bytes_"),
    [
        (ring(6, 6_000, 10), 6, 10_000),
        (ring(6, 7_200, 10, channels=2, loops=3, slots=2), 6, 12_000),
        (halving_doubling(8, 8_000), 8, 14_000),
        (all_to_all(5, np.full((5, 5), 100)), 5, 400),
    ],
)
def test_ranks_send_what_the_collective_has_to_move(schedule: Schedule, ranks: int, bytes_: int) -> None:
    """As busbw of nccl-tests has it: 2(n − 1)/n of the buffer for an all-reduce, the rest of it for an exchange."""
    sent = np.bincount(schedule.src, schedule.size, ranks)
    np.testing.assert_array_equal(sent, bytes_)
    np.testing.assert_array_equal(np.bincount(schedule.dst, schedule.size, ranks), sent)


def test_pieces_overlap() -> None:
    """Slots that cover a round trip hide α; with one slot each piece has its own."""
    ranks, size, loops = 4, 1_600_000, 20
    whole, _ = run(ring(ranks, size, 6), ranks)
    pieces, _ = run(ring(ranks, size, 6, loops=loops), ranks)
    slow, _ = run(ring(ranks, size, 6, loops=loops, slots=1), ranks)
    piece = size // ranks // loops
    bytes_ns = 6 * loops * (alone_ns(piece) - alone_ns(0))
    assert bytes_ns < pieces < 1.1 * whole < slow
    assert slow >= loops * 6 * (alone_ns(piece) + 2 * DELAY_NS) - 2 * DELAY_NS - 1


@pytest.mark.parametrize(
    "schedule",
    [ring(6, 120_000, 10), halving_doubling(8, 64_000), double_tree(7, 70_000, 2), pipeline(3, 4, 5_000, 1e4, 2e4)],
)
def test_nothing_ends_before_its_bound(schedule: Schedule) -> None:
    ranks = max(schedule.src) + 1
    ways, packets = Ways(star(ranks, GBPS, DELAY_NS)), Packets(PAYLOAD, OVERHEAD)
    ends = (np.array(schedule.src), np.array(schedule.dst), np.array(schedule.size))
    chain = chain_ns(schedule, ways.alone_ns(*ends, packets), {})
    took_ns, _ = run(schedule, ranks)
    assert max(chain, ways.cut_ns(*ends, packets)) <= took_ns + 1e-3
