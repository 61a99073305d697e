"""Homa by theory: lone messages to the nanosecond, incasts as the shortest first, what may be granted and not here."""

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import dumbbell, star
from lcca.remy_plus.fabric.engine import Watch

from .homa_support import GRANT, OVERHEAD, PAYLOAD, homa, incast, lone_ns, messages

FULL_NS = (PAYLOAD + OVERHEAD) * 0.08
ROUND_TRIP_NS = 2 * (FULL_NS + 1000) + 2 * (GRANT * 0.08 + 1000)
WINDOW = int(np.ceil(ROUND_TRIP_NS / FULL_NS))
"""Packets that keep a link of the star busy until grants for more are there."""

SIZES = (100_000, 300_000, 200_000, 500_000, 400_000, 800_000, 700_000, 600_000)


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 10_000, 49_321, 50_000, 51_000, 100_000, 1_234_567])
def test_a_lone_message_goes_on_without_a_gap(size: int) -> None:
    """Grants for what does not go unasked come in time."""
    found = homa().run(star(3), messages((0, 1, size, 0)))
    assert found["flow_fct_ns"][0] == pytest.approx(lone_ns(size, 2, 100, 1000), abs=1e-6)


@pytest.mark.parametrize("size", [1000, 2000, 10_000, 51_000, 1_234_567])
def test_where_one_packet_goes_unasked_the_rest_waits_a_round_trip(size: int) -> None:
    found = homa({"unscheduled_share": 0.0}).run(star(3), messages((0, 1, size, 0)))
    lost = ROUND_TRIP_NS - FULL_NS if size > PAYLOAD else 0
    assert found["flow_fct_ns"][0] == pytest.approx(lone_ns(size, 2, 100, 1000) + lost, abs=1e-6)


@pytest.mark.parametrize("size", [1, 1000, 3000, 400_000])
def test_with_an_end_at_its_ack_a_message_takes_the_way_of_one_ack_more(size: int) -> None:
    found = homa(fct_at_ack=True).run(dumbbell(1), messages((0, 1, size, 0)))
    wanted = lone_ns(size, 3, 100, 1000) + 3 * (GRANT * 0.08 + 1000)
    assert found["flow_fct_ns"][0] == pytest.approx(wanted, abs=1e-6)


def test_half_a_bandwidth_delay_product_leaves_gaps() -> None:
    """A window goes out each round trip."""
    topology, size = star(3), 5_000_000
    window = int(np.ceil(0.5 * ROUND_TRIP_NS / FULL_NS))
    found = homa({"rtt_bdps": 0.5}).run(topology, messages((0, 1, size, 0)))
    assert found["flow_fct_ns"][0] == pytest.approx(size / PAYLOAD / window * ROUND_TRIP_NS, rel=0.01)


@pytest.mark.parametrize("grant_bytes", [0, 5000, 20_000])
def test_grants_are_as_many_as_they_need_be(grant_bytes: float) -> None:
    """One for every so many bytes beyond the window, and one ACK."""
    packets = 500
    found = homa({"grant_bytes": grant_bytes}).run(star(3), messages((0, 1, packets * PAYLOAD, 0)))
    sent = found["port_ack_packets"][(found["port_node"] == 1)][0]
    assert sent == np.ceil((packets - WINDOW) / max(grant_bytes / PAYLOAD, 1)) + 1


@pytest.mark.parametrize("sizes", [SIZES[:2], SIZES])
@pytest.mark.parametrize("overcommitment", [1, 2])
def test_an_incast_ends_as_the_shortest_first(sizes: tuple[int, ...], overcommitment: int) -> None:
    """What went unasked is there first, from all; the rest message by message, and the link is never idle.

    With two messages granted at once, a packet of the other one may be ahead.
    """
    found = homa({"overcommitment": overcommitment}).run(star(9), incast(*sizes))
    order = np.argsort(sizes)
    unasked = WINDOW * len(sizes)
    rest = np.cumsum(np.array(sizes)[order] / PAYLOAD - WINDOW)
    wanted = 2000 + FULL_NS + (unasked + rest) * FULL_NS
    late = found["flow_fct_ns"][order] - wanted
    assert (late > -1e-3).all() and (late < (overcommitment - 1) * FULL_NS + 1e-3).all()
    assert late[-1] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("overcommitment", [0, 1, 3, 8])
@pytest.mark.parametrize("unscheduled_share", [0.0, 0.5, 1.0])
def test_the_link_to_the_receiver_is_never_idle(overcommitment: int, unscheduled_share: float) -> None:
    parameters = {"overcommitment": overcommitment, "unscheduled_share": unscheduled_share}
    found = homa(parameters).run(star(9), incast(*SIZES))
    busy = 2000 + FULL_NS + sum(SIZES) / PAYLOAD * FULL_NS
    lost = (1 - unscheduled_share) * ROUND_TRIP_NS
    assert busy <= found["flow_fct_ns"].max() + 1e-6 <= busy + lost + 1e-3


@pytest.mark.parametrize("overcommitment", [1, 2, 4])
def test_overcommitment_bounds_what_is_under_way(overcommitment: int) -> None:
    """Each granted message has a window at most, and one more may have all of its grants and not be there.

    Of one window that keeps the link busy half are grants on their way, the other ones wait in the switch.
    """
    watch = Watch(500, list(range(8)), [(9, 0)])
    parameters = {"overcommitment": overcommitment, "unscheduled_share": 0.0}
    found = homa(parameters).run(star(9), incast(*SIZES), watch=watch)
    ended = found["sample_delivered_bytes"] == np.array(SIZES)
    sent = np.where(ended, np.array(SIZES), found["sample_under_way_bytes"])  # without an ACK before the end
    away = (sent - found["sample_delivered_bytes"]).sum(axis=1)
    assert away.max() <= ((overcommitment + 1) * WINDOW + 8) * PAYLOAD
    assert away.max() >= (overcommitment - 0.5) * WINDOW * PAYLOAD
    assert found["sample_queued_bytes"].max() <= ((overcommitment + 1) * WINDOW + 8) * (PAYLOAD + OVERHEAD)


def test_a_sender_sends_its_shortest_message_first() -> None:
    """The short one waits for the packet that is on the wire, no longer, though the long one has the link."""
    start = 20_000.0
    found = homa().run(star(4), messages((0, 1, 10**6, 0), (0, 2, 5000, start)))
    alone = lone_ns(5000, 2, 100, 1000)
    assert alone < found["flow_fct_ns"][1] < alone + FULL_NS
    assert found["flow_fct_ns"][0] == pytest.approx(lone_ns(10**6, 2, 100, 1000) + 5 * FULL_NS, abs=1e-6)


def test_a_short_message_goes_before_a_long_one_in_switches() -> None:
    start = 20_000.0
    found = homa().run(star(4), messages((0, 2, 10**6, 0), (1, 2, 5000, start)))
    alone = lone_ns(5000, 2, 100, 1000)
    assert alone <= found["flow_fct_ns"][1] < alone + FULL_NS


def test_a_receiver_grants_one_message_of_a_sender() -> None:
    """With two of them the other sender has no less."""
    long = 10**6
    found = homa({"overcommitment": 2, "unscheduled_share": 0.0}).run(
        star(4), messages((0, 3, long, 0), (0, 3, long + 1, 0), (1, 3, long + 2, 0)), watch=Watch(10_000, [0, 1, 2])
    )
    at = 3
    assert (
        found["sample_under_way_bytes"][at, 2] >= WINDOW * PAYLOAD > found["sample_under_way_bytes"][at, 1] == PAYLOAD
    )
