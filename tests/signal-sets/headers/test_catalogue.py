"""The catalogue against the figures of its sources, typed in here."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.codec import initial_code
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import Header, header, packaged_headers
from lcca.signal_sets.headers.parts import PerHop
from lcca.signal_sets.headers.simulated import not_simulated, require_simulated
from lcca.signal_sets.headers.text import describe, layout

from .codec import field_codec

# name: (bytes as it leaves the sender, bytes that each hop adds, bytes after five hops)
BYTES = {
    "none": (0, 0, 0),  # Swift, TIMELY: nothing in the network
    "ecn": (0, 0, 0),  # RFC 3168: two bits of IP
    "l4s": (0, 0, 0),  # RFC 9331
    "nosignal-8b": (8, 0, 8),  # No Signal to Rule Them All, section 4.3
    "csig-compact-abw": (4, 0, 4),  # draft-ravi-ippm-csig-01 and UEC 1.1: 4 B and 8 B
    "csig-compact-abwc": (4, 0, 4),
    "csig-compact-delay": (4, 0, 4),
    "csig-wide-abw": (8, 0, 8),
    "csig-wide-abwc": (8, 0, 8),
    "csig-wide-delay": (8, 0, 8),
    "csig-wide-nqd": (8, 0, 8),
    "int-md": (16, 16, 96),  # INT 2.1: 12 + 4; node id, hop latency, queue, utilisation; five hops 96 B
    "ifa2": (8, 32, 168),  # draft-kumar-ippm-ifa-08: five hops 168 B
    "hpcc": (42, 0, 42),  # HPCC's ns-3 release: 5 * 8 + 2, always
    "pint": (1, 0, 1),  # HPCC's ns-3 release: eight bits at base 1.05
    "poseidon": (8, 0, 8),  # carried as CSIG max(PD), wide
    "bolt": (21, 0, 21),  # Bolt's ns-3 release
    "fair-share": (4, 0, 4),
    "fullest": (4, 0, 4),  # 16 bits each of U and queue
    "rank": (2, 0, 2),
    "rcp-16": (4, 0, 4),  # a rate and an RTT of 16 bits each
    "rcp-32": (8, 0, 8),
    "xcp": (20, 0, 20),  # draft-falk-xcp-spec: five words
}

COMPACT = [
    ("t", 16, 3),
    ("r", 19, 1),
    ("?", 20, 5),
    ("lm", 25, 6),
    ("d", 31, 1),
]  # UEC 1.1: TPID16, t3, r1, s5, lm6, d1
WIDE = [("lm", 16, 15), ("d", 31, 1), ("t", 32, 4), ("?", 36, 20), ("r", 56, 8)]  # TPID16, lm15, d1, t4, s20, r8


def csig(shape, name):
    return [(name if field == "?" else field, offset, bits) for field, offset, bits in shape]


def in_turn(start, *widths):
    """Names and widths one after the other."""
    found = []
    for name, bits in widths:
        found.append((name, start, bits))
        start += bits
    return found


# Once per packet, from the first bit of the header on: (field, offset, bits).
HEADS = {
    "none": [("host_ts", 0, 32)],
    "ecn": [("ecn", 0, 2)],
    "l4s": [("ecn", 0, 2)],
    "nosignal-8b": [("link", 0, 32), ("queue", 32, 32)],
    **{f"csig-compact-{name}": csig(COMPACT, name) for name in ("abw", "abwc", "delay")},
    **{f"csig-wide-{name}": csig(WIDE, name) for name in ("abw", "abwc", "delay", "nqd")},
    "poseidon": csig(WIDE, "delay"),
    # Ver4 D1 E1 M1 R12 HopML5 RemainingHop8 | Instr16 DomainID16 | DSInstr16 DSFlags16, behind a shim of 4 B
    "int-md": in_turn(
        *(32, ("ver", 4), ("d", 1), ("e", 1), ("m", 1), ("r", 12), ("hop_ml", 5), ("remaining_hops", 8)),
        *(("instructions", 16), ("domain", 16), ("ds_instructions", 16), ("ds_flags", 16)),
    ),
    # ver4 gns4 nexthdr8 flags8 maxlen8 | request8 action8 hoplimit8 curlen8
    "ifa2": in_turn(
        *(0, ("ver", 4), ("gns", 4), ("next_header", 8), ("flags", 8), ("max_length", 8)),
        *(("request", 8), ("action", 8), ("hop_limit", 8), ("length", 8)),
    ),
    "hpcc": [],
    "pint": [("u", 0, 8)],
    "fair-share": [("capacity", 0, 16), ("flows", 16, 16)],
    "fullest": [("load", 0, 16), ("queue", 16, 16)],
    "rank": [("left", 0, 8), ("rank", 8, 8)],
    "rcp-16": [("rate", 0, 16), ("rtt", 16, 16)],
    "rcp-32": [("rate", 0, 32), ("rtt", 32, 32)],
    "xcp": in_turn(
        *(0, ("protocol", 8), ("length", 8), ("version", 4), ("format", 4), ("unused", 8)),
        *(("rtt", 32), ("x", 32), ("feedback", 32), ("reverse_feedback", 32)),
    ),
    # ports 2+2, seq 4, flags 2, msgid 2, drainTime 4, ts 4, hopcnt 1; flags from LINK400G (bit 15) to DATA (bit 0)
    "bolt": in_turn(
        *(0, ("port_source", 16), ("port_destination", 16), ("sequence", 32), ("rate", 5), ("ai", 1), ("dec", 1)),
        *(("inc", 1), ("first", 1), ("last", 1), ("fin", 1), ("bts", 1), ("chop", 1), ("nack", 1), ("ack", 1)),
        *(("data", 1), ("message", 16), ("drain", 32), ("ts", 32), ("hops", 8)),
    ),
}

# Each hop's record.
RECORDS = {
    # bit0 node id 4 B, bit2 hop latency 4, bit3 qid8 + qocc24, bit7 egress TX util 4
    "int-md": in_turn(0, ("node_id", 32), ("hop_latency", 32), ("queue_id", 8), ("queue", 24), ("tx_util", 32)),
    # LNS4 devid20 TTL8 | speed4 ECN2 qid6 rx_sec20 | dport16 sport16 | rx_nsec32 | residence32 | txbytes32 |
    # rsvd16 qcells16 | rsvd32
    "ifa2": in_turn(
        *(0, ("lns", 4), ("device", 20), ("ttl", 8), ("speed", 4), ("congestion", 2), ("queue_id", 6)),
        *(("rx_seconds", 20), ("port_out", 16), ("port_in", 16), ("rx_nanoseconds", 32), ("residence", 32)),
        *(("tx_bytes", 32), ("reserved", 16), ("queue", 16), ("reserved_too", 32)),
    ),
    "hpcc": in_turn(0, ("rate", 3), ("ts", 24), ("tx_bytes", 20), ("queue", 17)),  # IntHop, 64 bits
}


def test_the_catalogue_is_complete():
    assert set(packaged_headers()) == set(BYTES) == set(HEADS)


@pytest.mark.parametrize("name", BYTES)
def test_bytes_on_the_wire(name):
    found = header(name)
    assert (found.wire_bytes(), found.per_hop_bytes, found.wire_bytes(5)) == BYTES[name]
    assert found.name == name and found.reference and found.doc


@pytest.mark.parametrize("name", BYTES)
def test_bit_layout(name):
    places = layout(header(name))
    assert [(at.field.name, at.offset, at.field.bits) for at in places if not at.in_record] == HEADS[name]
    assert [(at.field.name, at.offset, at.field.bits) for at in places if at.in_record] == RECORDS.get(name, [])


@pytest.mark.parametrize(
    ("name", "field", "agg"),
    [
        *((f"csig-{form}-{signal}", signal, "min") for form in ("compact", "wide") for signal in ("abw", "abwc")),
        *((f"csig-{form}-delay", "delay", "max") for form in ("compact", "wide")),
        ("csig-wide-nqd", "nqd", "max"),
        ("csig-wide-nqd", "lm", "with:nqd"),
        ("csig-wide-nqd", "d", "or"),
        ("ecn", "ecn", "or"),
        ("l4s", "ecn", "or"),
        ("none", "host_ts", "first"),
        ("nosignal-8b", "link", "max"),
        ("nosignal-8b", "queue", "max"),
        ("pint", "u", "max"),
        ("poseidon", "delay", "max"),
        ("bolt", "drain", "max"),
        ("bolt", "inc", "and"),
        ("bolt", "dec", "or"),
        ("bolt", "rate", "with:drain"),
        ("bolt", "hops", "count"),
    ],
)
def test_aggregations(name, field, agg):
    assert header(name).field(field).agg == agg


@pytest.mark.parametrize("name", ["csig-compact-abw", "csig-compact-abwc", "csig-wide-abw", "csig-wide-abwc"])
def test_csig_measures_capacity_over_128_us(name):
    measure = header(name).field(name.rpartition("-")[2]).measure
    assert (measure.window, measure.interval_us) == ("tumbling", 128)


@pytest.mark.parametrize("name", ["abw", "abwc", "delay"])
def test_compact_csig_has_32_buckets(name):
    assert len(header(f"csig-compact-{name}").field(name).encode.values) == 32


def test_wide_csig_has_the_draft_s_example_quanta():
    """Appendix A: 8 Mb/s and 128 ns; UEC's types are 0 abw, 1 abw/c, 2 delay, 3 nqd."""
    assert field_codec(header("csig-wide-abw").field("abw")).decode([1, 2]).tolist() == [8, 16]
    assert header("csig-wide-abw").field("abw").told_in == "Mbit/s"
    assert field_codec(header("csig-wide-delay").field("delay")).decode_one(1) == 128
    types = field_codec(header("csig-wide-abw").field("t"))
    assert [types.encode_one(name) for name in ("abw", "abwc", "delay", "nqd")] == [0, 1, 2, 3]


def test_ecn_s_codepoints():
    ecn = field_codec(header("ecn").field("ecn"))
    assert [ecn.encode_one(name) for name in ("not_ect", "ect1", "ect0", "ce")] == [0, 1, 2, 3]
    assert [initial_code(header(name).field("ecn")) for name in ("ecn", "l4s")] == [2, 1]


def test_int_md_s_codes():
    """Version 2, four words a hop, eight hops left, instructions 0, 2, 3 and 7; a push reads newest first."""
    found = header("int-md")
    sent = {name: initial_code(found.field(name)) for name in ("ver", "hop_ml", "remaining_hops", "instructions")}
    assert sent == {"ver": 2, "hop_ml": 4, "remaining_hops": 8, "instructions": 0xB100}
    assert isinstance(found.stack, PerHop) and found.stack.order == "push" and found.stack.flag == "e"
    assert field_codec(found.field("hop_latency")).encode_one(float("nan")) == 2**32 - 1


def test_ifa_s_speeds():
    """0 is 10G, 6 is 400G."""
    speed = field_codec(header("ifa2").field("speed"))
    assert [speed.decode_one(code) for code in (0, 6)] == [10, 400]
    assert header("ifa2").wire_bytes(100) == 8 + 31 * 32


def test_hpcc_s_record():
    """25, 50, 100, 200, 400G; ns modulo 2^24 (16.78 ms); 128 B and 80 B, each cut to its bits."""
    found = header("hpcc")
    rate, ts, tx, queue = (field_codec(found.field(name)) for name in ("rate", "ts", "tx_bytes", "queue"))
    assert rate.decode(np.arange(5)).tolist() == [25, 50, 100, 200, 400]
    assert ts.encode([2.0**24 - 1, 2.0**24 + 5]).tolist() == [2**24 - 1, 5]
    assert tx.encode([127, 128, 2.0**20 * 128]).tolist() == [0, 1, 0]
    assert queue.encode([79, 80, 2.0**17 * 80]).tolist() == [0, 1, 0]


def test_bolt_s_rates_are_one_bit_each():
    """LINK10G is the lowest of the five, LINK400G the highest."""
    rate = field_codec(header("bolt").field("rate"))
    assert [rate.encode_one(speed) for speed in (10, 25, 40, 100, 400)] == [1, 2, 4, 8, 16]


def test_bolt_s_own_packets_are_refused_by_name():
    assert [name for name, found in packaged_headers().items() if not_simulated(found)] == ["bolt"]
    with pytest.raises(InputError, match="header bolt: switch_reply is not simulated yet"):
        require_simulated(header("bolt"))
    require_simulated(header("hpcc"))
    require_simulated(header("bolt").model_copy(update={"switch_reply": None}))


@pytest.mark.parametrize(
    ("name", "bytes_back"), [("hpcc", 42), ("ecn", 0), ("none", 0), ("nosignal-8b", 8), ("int-md", 96)]
)
def test_what_reflecting_costs(name, bytes_back):
    assert header(name).reflected_bytes(5) == bytes_back


# By hand: each field's source, formula, encoding and aggregation.
COSTS = {
    "none": (0, 0),  # the sender writes
    "ecn": (0, 1 + 2),  # the AQM's bit, and that it was set: one read of `mark`
    "rcp-16": (4 * 32, 6 + 2),
    "csig-compact-delay": (0, 2 + 2 + 1 + 3 * 2),  # delay, `not d`, lm's and d's own
    "fair-share": (2 * 1024 + 2 * 32, (1 + 2) + (6 + 2)),
    "fullest": (2 * 32 + 2 * 32, (4 + 5 + 1 + 1) + 4 + 2 + (1 + 2)),  # use, queue's mean, two constants; * / * +
    "rank": (2 * 1024 + 31 * 32, 40 + 2),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_in_a_switch(name):
    assert switch_cost(header(name)) == COSTS[name]


def test_exact_counts_take_a_list_of_flows():
    whole = header("rank").model_dump(mode="json")
    whole["fields"][1]["measure"]["memory_bits"] = 0
    assert switch_cost(Header.model_validate(whole)).state_bits is None
    assert "list of flows a port" in describe(Header.model_validate(whole))


def test_unknown_names_get_a_suggestion():
    with pytest.raises(InputError, match=r"unknown header 'hpc' \(did you mean 'hpcc'\?\); a file ends in .yaml"):
        header("hpc")
    with pytest.raises(InputError, match=r"header hpcc has no field 'queu' \(did you mean 'queue'\?\)"):
        header("hpcc").field("queu")
