"""`.dna` files: what is read from them, and what hostile ones end in."""

import dataclasses
import itertools
import math
import struct
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.inputs.files import LARGEST_FILE
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.files import dna, dna_tree
from lcca.remy_plus.files.dna_tree import R_PLUS_AXES, Tree
from lcca.remy_plus.policies.rules import MOST_RULES, bisect, one_rule

TOP = SIGNAL_CEILING
REMY_2013 = R_PLUS_AXES[:3]
axes = st.permutations(R_PLUS_AXES).flatmap(lambda names: st.integers(1, 4).map(lambda k: tuple(names[:k])))


def leaf(node, lower=(0, 0, 0), upper=(TOP, TOP, TOP), action=(1, 1.0, 1.5), names=REMY_2013):
    """Make a node a leaf with these bounds on the named axes."""
    for name, low, high in zip(names, lower, upper, strict=True):
        setattr(node.box.lower, name, low)
        setattr(node.box.upper, name, high)
    node.rule.increment, node.rule.multiple, node.rule.pacing = action
    return node


def remy_2013(*cuts, top=16384.0):
    """A tree as Remy wrote it in 2013: three signals, no axes listed, cut along the send EWMA."""
    root = Tree()
    for axis in REMY_2013:
        setattr(root.box.lower, axis, 0.0)
        setattr(root.box.upper, axis, top)
    edges = [0.0, *cuts, top]
    for i, (low, high) in enumerate(itertools.pairwise(edges)):
        leaf(root.children.add(), (low, 0, 0), (high, top, top), (i, 1.0, 2.0))
    return root


def wire(number, body):
    """A length-delimited field."""
    length = b""
    size = len(body)
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    tag = number << 3 | 2
    return (bytes([tag]) if tag < 128 else bytes([tag & 127 | 128, tag >> 7])) + length + bytes([size]) + body


@pytest.fixture
def small():
    """A table of eight rules over three signals."""
    return bisect(one_rule(("send_ewma", "rtt_ratio", "queue_ewma")), 0, [1.5, 2.0, 20.0])


# What is kept


@given(st.integers(0, 2**32 - 1), st.integers(0, 4), axes, st.sampled_from(["relative", "absolute"]))
@settings(max_examples=60, deadline=None)
def test_a_table_comes_back_as_it_was(grow, dna_of, seed, splits, names, pacing):
    table = grow(seed, splits, names, pacing)
    data = dna_of(table)
    imported = dna.loads(data)
    assert imported.table == table
    assert f"pacing taken as {'relative' if pacing == 'relative' else 'an absolute'}" in imported.notes[0]


def doubles(first, *values):
    """Consecutive double fields from a field number on."""
    tags = [(number << 3 | 1) for number in range(first, first + len(values))]
    return b"".join(
        bytes([tag & 127 | 128, tag >> 7]) + struct.pack("<d", v) for tag, v in zip(tags, values, strict=True)
    )


def test_the_fields_of_r_plus_are_read(dna_of):
    ceiling = [TOP] * 9
    box = wire(11, doubles(21, *[0.0] * 9)) + wire(12, doubles(21, *ceiling)) + b"\x68\x02\x68\x07"
    rule = b"\xf8\x01\x13" + doubles(32, 0.75, 1.25) + wire(34, box)  # sint32 -10 is 19 in zigzag
    settings = (0, 256, 1, 32, 4, 1), (0, 1, 0.01, 0.5, 4, 1), (0.1, 3, 0.05, 1, 4, 1.5)
    search = b"".join(wire(51 + i, doubles(41, *steps)) for i, steps in enumerate(settings))
    data = wire(1, box) + wire(2, wire(1, box) + wire(3, rule)) + wire(5, search)
    table = one_rule(("rtt_ratio", "queue_ewma")).with_action(0, -10, 0.75, 1.25)
    assert dna.loads(data).table == table
    assert dna_of(table) == data, "so that other tests have such files"


def test_raw_signals_are_read_where_that_is_asked_for(dna_of):
    raw = one_rule(("queue", "rtt_ratio", "link"))
    smoothed = dna.loads(dna_of(raw))
    assert smoothed.table.signals == ("queue_ewma", "rtt_ratio", "link_ewma")
    assert smoothed.notes[-1] == (
        "axes 7 and 8 taken as the smoothed signals: queue_ewma, link_ewma; "
        "if the table was made for the raw ones: lcca import --int-signals raw"
    )
    assert dna.loads(dna_of(raw), int_signals="raw").table == raw


def test_files_are_read(tmp_path, small, dna_of):
    path = tmp_path / "small.dna"
    path.write_bytes(dna_of(small))
    assert dna.read(path).table == small
    with pytest.raises(InputError, match=r"missing\.dna: cannot be read: No such file"):
        dna.read(tmp_path / "missing.dna")
    path.write_bytes(b"\x0a")
    with pytest.raises(InputError, match=r"small\.dna: damaged or cut short at byte 1"):
        dna.read(path)


# What is assumed


def test_a_file_of_2013_has_three_signals_and_is_widened():
    imported = dna.loads(remy_2013(1.5, 1.5, 3.0).SerializeToString())
    table = imported.table
    assert table.signals == REMY_2013
    assert table.pacing_kind == "absolute"
    assert table.lower[:, 0].tolist() == [0, 1.5, 1.5, 3]
    assert table.upper[:, 0].tolist() == [1.5, 1.5, 3, TOP]
    assert (table.upper[:, 1:] == TOP).all()
    assert imported.notes == (
        "pacing taken as an absolute interval, because the file looks like one of Remy; if not: lcca import --pacing "
        "relative",
        *(f"{name} widened from 16384 to 163840" for name in REMY_2013),
        "1 of 4 rules have empty boxes and never act",
    )


def test_missing_axes_and_bounds_mean_the_defaults():
    root = Tree()
    root.rule.increment, root.rule.multiple, root.rule.pacing = 1, 1.0, 1.0
    table = dna.loads(root.SerializeToString()).table
    assert table.signals == R_PLUS_AXES[:4]
    assert (table.lower == 0).all() and (table.upper == TOP).all()
    root.box.upper.slow_receive_ewma = TOP
    assert dna.loads(root.SerializeToString()).table.signals == ("slow_receive_ewma",)


def test_boxes_are_cut_by_the_boxes_above_and_may_be_empty():
    root = Tree()
    root.box.active_axis.extend([0])
    branch = root.children.add()
    branch.box.active_axis.extend([0])
    branch.box.upper.send_ewma = 5.0
    leaf(branch.children.add(), (9,), (1,), names=("send_ewma",))  # upside down: never acts
    leaf(branch.children.add(), (0,), (TOP,), names=("send_ewma",))  # reaches beyond its parent
    leaf(root.children.add(), (5,), (TOP,), names=("send_ewma",))
    for node in (*branch.children, root.children[1]):
        node.box.active_axis.extend([0])
    table = dna.loads(root.SerializeToString()).table
    assert table.live.tolist() == [False, True, True]
    assert table.lower[1:, 0].tolist() == [0, 5]
    assert table.upper[1:, 0].tolist() == [5, TOP]


def test_nodes_may_use_different_axes():
    root = Tree()
    root.box.active_axis.extend([2])
    for axis, low, high in ((2, 0, 3), (2, 3, TOP)):
        node = root.children.add()
        node.box.active_axis.extend([axis])
        node.box.lower.rtt_ratio, node.box.upper.rtt_ratio = low, high
    for low, high in ((0, 0.5), (0.5, TOP)):
        leaf(root.children[0].children.add(), (low,), (high,), names=("link_ewma",)).box.active_axis.extend([8])
    root.children[1].rule.increment, root.children[1].rule.multiple, root.children[1].rule.pacing = (
        1,
        1.0,
        1.0,
    )
    table = dna.loads(root.SerializeToString()).table
    assert table.signals == ("rtt_ratio", "link_ewma")
    assert [table.find(point) for point in ([1, 0.2], [1, 0.7], [4, 0.2])] == [0, 1, 2]


@pytest.mark.parametrize(
    ("lowest", "start", "kind"), [(0.1, 1.5, "relative"), (0.25, 3, "absolute"), (0, 0, "absolute")]
)
def test_search_settings_tell_r_plus_from_remy(small, dna_of, lowest, start, kind):
    root = Tree.FromString(dna_of(small))
    root.search.pacing.lowest, root.search.pacing.start = lowest, start
    data = root.SerializeToString()
    assert dna.loads(data).table.pacing_kind == kind
    told = dna.loads(data, pacing="relative")
    assert told.table.pacing_kind == "relative"
    assert not any(note.startswith("pacing") for note in told.notes)


def test_bounds_on_r_plus_signals_tell_r_plus_from_remy(small, dna_of):
    root = Tree.FromString(dna_of(small))
    root.ClearField("search")
    assert dna.loads(root.SerializeToString()).table.pacing_kind == "relative"
    remy = Tree.FromString(dna_of(dataclasses.replace(one_rule(REMY_2013), pacing_kind="absolute")))
    remy.ClearField("search")
    assert dna.loads(remy.SerializeToString()).table.pacing_kind == "absolute"


def test_fields_that_we_do_not_know_are_skipped(small, dna_of):
    data = dna_of(small) + wire(4, b"\x08\x01") + wire(6, b"\x00" * 50)
    assert dna.loads(data).table == small


# What is refused


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\x00" * 8, "not a .dna file: byte 0 is no field of a protobuf"),
        (b"hello, world", "not a .dna file|cut short"),
        (b"\x0b\x0c", "not a .dna file"),
        (b"\x12" + b"\xff" * 11, "not a .dna file"),
        (b"\x12\x05\x12\x00", "damaged or cut short at byte 2: a field goes beyond the end"),
        (b"\x1a\x02\x08", "cut short"),
        (wire(1, b"\x5a\x03\xa9\x01\x00"), "damaged inside a node"),
        (wire(1, b""), "neither a rule nor children"),
        (wire(2, b""), "the node after 0 rules has neither a rule nor children"),
        (wire(3, b""), r"rules.0\.increment: missing"),
        (wire(1, b"\x68\x09") + wire(3, b""), r"active axes \[9\]: only 0 to 8 exist"),
        (wire(1, b"\x68\x01\x68\x01") + wire(3, b""), r"active axes \[1, 1\].*each once"),
        (wire(1, wire(13, bytes(1000))) + wire(3, b""), "active axes"),
        (b"\x12\x00" * (2 * MOST_RULES + 1), "more than 100,000 rules"),
        (b"\x1a\x00" * (10 * MOST_RULES + 1), "more than 100,000 rules"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_damaged_files_end_in_one_error(data, message):
    with pytest.raises(InputError, match=message) as caught:
        dna.loads(data)
    assert "\n" not in str(caught.value)


def test_huge_files_are_not_parsed(tmp_path):
    path = tmp_path / "huge.dna"
    with open(path, "wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(InputError, match=r"huge\.dna: larger than 65,536 KiB"):
        dna.read(path)
    with pytest.raises(InputError, match="larger than 65,536 KiB"):
        dna.loads(bytes(LARGEST_FILE + 1))


def test_nesting_has_a_limit():
    data = leaf(Tree()).SerializeToString()
    for _ in range(dna_tree.DEEPEST - 1):
        data = wire(2, data)
    assert len(dna.loads(data).table) == 1
    with pytest.raises(InputError, match="nested deeper than 90 levels"):
        dna.loads(wire(2, data))


def test_hostile_nesting_costs_nothing():
    data = b""
    while len(data) < 200_000:
        data = wire(2, data)
    began = time.process_time()
    with pytest.raises(InputError, match="nested deeper"):
        dna.loads(data)
    assert time.process_time() - began < 1


def test_leaf_and_branch_at_once_is_refused():
    root = remy_2013(1.0)
    leaf(root.children[1]).children.add().CopyFrom(leaf(Tree()))
    with pytest.raises(InputError, match="the node after 1 rules has both a rule and children"):
        dna.loads(root.SerializeToString())


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1e-9, TOP * 2])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_bounds_must_lie_in_the_domain(bad, side):
    root = remy_2013(1.0)
    getattr(root.children[1].box, side).receive_ewma = bad
    with pytest.raises(InputError, match=r"the node after 1 rules: bound .* of receive_ewma is outside"):
        dna.loads(root.SerializeToString())


@pytest.mark.parametrize("field", ["multiple", "pacing"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_actions_must_be_finite(field, bad):
    root = remy_2013(1.0)
    setattr(root.children[1].rule, field, bad)
    with pytest.raises(InputError, match=rf"rules.1\.{field}"):
        dna.loads(root.SerializeToString())


def test_overlaps_and_leaks_are_named():
    root = remy_2013(1.0, 2.0)
    root.children[1].box.lower.send_ewma = 0.5
    with pytest.raises(InputError, match=r"rules 0 and 1 overlap at send_ewma=0\.5"):
        dna.loads(root.SerializeToString())
    root.children[1].box.lower.send_ewma = 1.25
    with pytest.raises(InputError, match="no rule holds send_ewma=1, receive_ewma=0, rtt_ratio=0"):
        dna.loads(root.SerializeToString())
    root.children[1].box.lower.send_ewma = 1.0
    root.box.lower.rtt_ratio = 1.0
    with pytest.raises(InputError, match="no rule holds"):
        dna.loads(root.SerializeToString())


def test_bad_options_are_told(dna_of):
    data = dna_of(one_rule(SIGNALS[:4]))
    with pytest.raises(InputError, match="pacing: must be"):
        dna.loads(data, pacing="ticks")
    with pytest.raises(InputError, match="int_signals: must be"):
        dna.loads(data, int_signals="both")


def loads_or_input_error(data):
    try:
        table = dna.loads(data).table
    except InputError as error:
        assert str(error)
    else:
        assert table.digest


@given(st.binary(max_size=200))
@example(b"\x12\x80")
@settings(max_examples=300, deadline=None)
def test_random_bytes_never_crash(data):
    loads_or_input_error(data)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_files_never_crash(dna_of, data):
    table = bisect(one_rule(("send_ewma", "queue_ewma")), 0, [1.5, 20.0])
    good = bytearray(dna_of(table))
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    loads_or_input_error(bytes(good[: data.draw(st.integers(0, len(good)))]))


def test_every_cut_short_file_is_refused(small, dna_of):
    data = dna_of(small)
    whole = {len(data)}
    root = Tree.FromString(data)
    root.ClearField("search")
    whole.add(len(root.SerializeToString()))  # the search settings may be missing
    for length in range(len(data)):
        if length not in whole:
            with pytest.raises(InputError):
                dna.loads(data[:length])


# Reference files

COUNTS = {
    "RemyCC-2013-delta0.1": (162, 12, 3, "absolute"),
    "RemyCC-2013-delta1": (190, 24, 3, "absolute"),
    "RemyCC-2013-delta10": (197, 76, 3, "absolute"),
    "RemyCC-2014-100x": (91, 0, 4, "absolute"),
    "onerule-e2e": (1, 0, 4, "relative"),
    "onerule-linkqueue": (1, 0, 6, "relative"),
    "syn-all9-192": (192, 0, 9, "relative"),
    "syn-e2e-64": (64, 0, 4, "relative"),
    "syn-link-64": (64, 0, 5, "relative"),
    "syn-linkqueue-96": (96, 0, 6, "relative"),
    "syn-queue-64": (64, 0, 5, "relative"),
    "trained/s10-e2e.0": (16, 0, 4, "relative"),
    "trained/t2k-e2e.0": (16, 0, 4, "relative"),
    "trained/t2k-e2e.1": (31, 0, 4, "relative"),
    "trained/t2k-e2e.2": (46, 0, 4, "relative"),
    "trained/t2k-link.0": (32, 0, 5, "relative"),
    "trained/t2k-link.1": (63, 0, 5, "relative"),
    "trained/t2k-linkqueue.0": (64, 0, 6, "relative"),
    "trained/t2k-queue.0": (32, 0, 5, "relative"),
    "trained/t2k-queue.1": (63, 0, 5, "relative"),
    "trained/t2k-s04-linkqueue.0": (64, 0, 6, "relative"),
    "trained/t2k-s04-linkqueue.1": (127, 0, 6, "relative"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_reference_files(reference, dna_of, name):
    rules, dead, signals, pacing = COUNTS[name]
    table = dna.read(reference / "data" / "dna" / f"{name}.dna").table
    assert len(table) == rules
    assert int((~table.live).sum()) == dead
    assert len(table.signals) == signals
    assert table.pacing_kind == pacing
    assert dna.loads(dna_of(table)).table == table


def test_no_reference_file_is_left_out(reference):
    folder = reference / "data" / "dna"
    found = {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.dna")}
    assert set(COUNTS) == found


def test_our_split_order_is_that_of_r_plus(reference):
    """A checkpoint after one round is one split of one rule: ours has its boxes in its order."""
    for path in sorted((reference / "data" / "dna" / "trained").glob("*.0.dna")):
        table = dna.read(path).table
        ours = bisect(one_rule(table.signals), 0, table.upper[0])
        np.testing.assert_array_equal(ours.lower, table.lower)
        np.testing.assert_array_equal(ours.upper, table.upper)
