"""Whole headers to bytes and back, and the way of a code through the hops."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.signal_sets.headers.catalogue import header, packaged_headers
from lcca.signal_sets.headers.codec import initial_code
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.hop import Written, combine, initial
from lcca.signal_sets.headers.packing import Content, pack, unpack
from lcca.signal_sets.headers.parts import PerHop, Placement, Scalar

WIDTHS = st.lists(st.integers(1, 64), min_size=1, max_size=8)


@st.composite
def described(draw):
    """Any header, and codes for it."""
    head, record = draw(WIDTHS), draw(WIDTHS)
    fields = [HeaderField(name=f"h{i}", source="qid", bits=bits) for i, bits in enumerate(head)]
    prealloc = draw(st.booleans())
    stack = draw(st.sampled_from([Scalar(), PerHop(max_hops=4, prealloc=prealloc, count_bits=8 if prealloc else 0)]))
    if isinstance(stack, PerHop):
        fields += [HeaderField(name=f"r{i}", source="qid", bits=bits, agg="per_hop") for i, bits in enumerate(record)]
    pad = draw(st.sampled_from([8, 16, 32]))
    place = Placement(layer="l3", fixed_bits=draw(st.integers(0, 40)), pad_to_bits=pad)
    made = Header(name="any", title="Any", placement=place, stack=stack, fields=tuple(fields))
    hops = draw(st.integers(0, 4)) if isinstance(stack, PerHop) else 0
    heads = codes_of(draw, [field for field in fields if not field.per_hop])
    records = [codes_of(draw, [field for field in fields if field.per_hop]) for _ in range(hops)]
    fixed = draw(st.integers(0, 2**place.fixed_bits - 1))
    return made, Content(heads, tuple(records), hops, fixed)


def codes_of(draw, fields):
    return {field.name: draw(st.integers(0, 2**field.bits - 1)) for field in fields}


@given(described())
@settings(deadline=None)
def test_bytes_come_apart_again(case):
    made, content = case
    data = pack(made, content)
    found = unpack(made, data)
    assert len(data) == made.wire_bytes(len(content.records))
    assert (found.head, found.fixed, found.hops) == (content.head, content.fixed, content.hops)
    assert found.records[: content.hops] == content.records
    assert all(not any(record.values()) for record in found.records[content.hops :])


@given(st.sampled_from(sorted(packaged_headers())), st.binary(max_size=250))
@settings(deadline=None, max_examples=200)
def test_any_bytes_of_the_right_number_are_read_and_no_others(name, data):
    found = header(name)
    try:
        read = unpack(found, data)
    except InputError as error:
        assert f"has not {len(data)} bytes" in str(error)
        return
    assert len(data) in (found.wire_bytes(len(read.records)), found.head_bytes)


def test_most_significant_bit_first():
    made = Header(
        name="x",
        title="X",
        placement=Placement(layer="l2", fixed_bits=4, pad_to_bits=16),
        fields=(HeaderField(name="a", source="qid", bits=3), HeaderField(name="b", source="qid", bits=6)),
    )
    assert pack(made, Content({"a": 5, "b": 33}, fixed=0xF)) == bytes([0b1111_101_1, 0b00001_000])


ONE_OF = """\
name: rotating
title: Rotating
placement: {layer: l2}
select: {kind: one_of, by: t, policy: round_robin}
fields:
  - {name: t, source: const, bits: 3, encode: {kind: enum, values: [abw, delay]}, scope: src_once, init: abw}
  - {name: abw, only: abw, source: abw, bits: 5, encode: {kind: linear, max: 1.0e+11}, agg: min}
  - {name: delay, only: delay, source: hop_delay, bits: 5, encode: {kind: linear, step: 128}, agg: max}
"""


def test_fields_that_take_turns_share_their_bits(tmp_path):
    path = tmp_path / "rotating.yaml"
    path.write_text(ONE_OF)
    found = header(path)
    assert found.wire_bytes() == 1
    assert initial(found).head == {"t": 0, "abw": 31}
    assert initial(found, "delay").head == {"t": 1, "delay": 0}
    assert pack(found, Content({"t": 1, "delay": 9})) == bytes([0b001_01001])
    assert unpack(found, bytes([0b001_01001])).head == {"t": 1, "delay": 9}
    assert unpack(found, bytes([0b111_01001])).head == {"t": 7}
    with pytest.raises(InputError, match="no field of this packet: abw"):
        pack(found, Content({"t": 1, "delay": 9, "abw": 1}))
    with pytest.raises(InputError, match=r"'dely' is not listed.*did you mean 'delay'"):
        initial(found, "dely")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (Content({"link": 1}), "no code for field queue"),
        (Content({"link": 1, "queue": 2, "x": 0}), "no field of this packet: x"),
        (Content({"link": 1, "queue": 2**32}), "queue has 32 bits, its code 4294967296 does not fit"),
        (Content({"link": 1, "queue": -1}), "does not fit"),
        (Content({"link": 1, "queue": 1}, ({},)), "has room for 0 records, got 1"),
        (Content({"link": 1, "queue": 1}, fixed=1), "fixed bits has 0 bits"),
    ],
)
def test_wrong_contents_are_told(content, text):
    with pytest.raises(InputError, match=text):
        pack(header("nosignal-8b"), content)


def field(agg, **keys):
    return HeaderField(name="x", source="qid", **({"bits": 8, "agg": agg} | keys))


@pytest.mark.parametrize(
    ("described", "carried", "local", "written"),
    [
        (field("min"), 5, 3, (3, True)),
        (field("min"), 3, 3, (3, False)),
        (field("max"), 5, 7, (7, True)),
        (field("max"), 5, 3, (5, False)),
        (field("sum"), 250, 4, (254, True)),
        (field("sum"), 250, 40, (255, True)),
        (field("sum", encode={"kind": "uint", "overflow": "wrap"}), 250, 40, (34, True)),
        (field("count"), 5, 0, (6, True)),
        (field("or"), 0b10, 0b11, (0b11, True)),
        (field("or"), 0b11, 0b10, (0b11, False)),
        (field("and"), 0b11, 0b10, (0b10, True)),
        (field("last"), 5, 3, (3, True)),
        (field("first"), 5, 3, (5, False)),
        (field("max", invalid="all_ones"), 5, 255, (5, False)),
        (field("max", invalid="all_ones"), 255, 5, (5, True)),
        (field("min", invalid="zero"), 0, 5, (5, True)),
        (field("sum", invalid="all_ones"), 250, 40, (254, True)),
    ],
)
def test_what_a_hop_makes_of_a_field(described, carried, local, written):
    assert combine(described, carried, local) == Written(*written)


def test_first_and_with_follow_others():
    assert combine(field("first"), 0, 3, first=True) == Written(3, True)
    assert combine(field("with:y"), 5, 3, replaced=True) == Written(3, True)
    assert combine(field("with:y"), 5, 3, replaced=False) == Written(5, False)
    with pytest.raises(InputError, match="has a record for each hop"):
        combine(field("per_hop"), 0, 1)


@given(st.lists(st.integers(0, 255), min_size=1), st.sampled_from(["min", "max", "or", "and"]))
def test_the_sender_s_code_gives_way_to_any_hop_s(values, agg):
    described, code = field(agg), initial_code(field(agg))
    for value in values:
        code = combine(described, code, value).code
    expected = values[0]
    for value in values[1:]:
        expected = {"min": min, "max": max, "or": int.__or__, "and": int.__and__}[agg](expected, value)
    assert code == expected
