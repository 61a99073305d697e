"""What the vocabulary can say, and what it answers to the rest."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import Expression
from lcca.signal_sets.headers.field import AGGREGATIONS
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.headers.sources import SOURCES, UNITS, convert
from lcca.signal_sets.headers.text import content, describe

FIELD = "  - {name: q, source: qlen_pkts, bits: 8, agg: max}\n"
TOP = "name: mine\ntitle: Mine\nplacement: {layer: l2}\n"
LINAER = "must be one of 'uint', 'linear', 'log', 'float', 'table', 'enum', 'flag', 'counter', found 'linaer'"
TWO_HOPS = "stack: {kind: per_hop, max_hops: 2}\n"


def read(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return header(path)


def wrong(tmp_path, text):
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return str(caught.value).replace(str(tmp_path) + "/", "").splitlines()


def test_a_candidate_is_a_few_lines(tmp_path):
    found = read(tmp_path, TOP + "fields:\n" + FIELD)
    assert (found.wire_bytes(), found.per_hop_bytes, found.direction) == (1, 0, "one_way")
    assert found.reflect is not None and found.reflect.via == "ack"
    assert type(found.name) is str
    assert hash(found) == hash(found.model_copy())
    with pytest.raises(ValidationError):
        found.name = "other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source: qlen", "there is no source 'qlen' (did you mean 'qlen_pkts'?); or expr: and a formula"),
        ("source: queue_depth", "there is no source 'queue_depth' (did you mean 'qlen_bytes'?)"),
        ("source: utilization", "there is no source 'utilization' (did you mean 'util'?)"),
        ("source: rtt", "there is no source 'rtt' (did you mean 'base_rtt'?)"),
        ("agg: median", "there is no aggregation 'median' (did you mean 'min'?); or with: and a field"),
        ("agg: with:p", "there is no field 'p' (known: q)"),
        ("unit: packts", "there is no unit 'packts' (did you mean 'packets'?)"),
        ("unit: us", "packets cannot be told in us: packets against time"),
        ("scope: src_one", "must be one of 'hop', 'src_once' or 'dst', found 'src_one' (did you mean 'src_once'?)"),
        ("when: qdely > 3", "'qdely > 3': there is no 'qdely' at a hop (did you mean 'qdelay'?)"),
        ("when: import os", "'import os' is no formula; it may have"),
        ("source: expr:qlen_pkts ** 2", "'qlen_pkts ** 2': no Pow here; a formula may have"),
        ("source: expr:flws", "'flws': there is no 'flws' at a hop (did you mean 'flows'?)"),
        ("value: 3", "only const and mark have a value"),
        ("only: t", "only needs select: {kind: one_of, by: FIELD, policy: ...}"),
        ("agg: per_hop", "per_hop needs stack: {kind: per_hop, max_hops: N}"),
        ("invalid: all_twos", "must be one of 'all_ones' or 'zero', found 'all_twos' (did you mean 'all_ones'?)"),
        ("bits: 65", "must be <= 64, found 65"),
        ("bits: 8.5", "must be a whole number, found 8.5"),
        ("bits: '8'", "'8' is text without a unit"),
        ("source: rank", "a rank is among bytes left: add a field with source: bytes_left, scope: src_once"),
        ("init: ce", "must be a number, got 'ce'"),
    ],
)
def test_a_field_outside_the_vocabulary_is_told_with_what_is_missing(tmp_path, text, message):
    key, _, value = text.partition(": ")
    keys = {"name": "q", "source": "qlen_pkts", "bits": "8", "agg": "max"} | {key: value}
    lines = "".join(
        f"    {name}: {what if what.startswith(chr(39)) or name == 'bits' else repr(what)}\n"
        for name, what in keys.items()
    )
    told = wrong(tmp_path, TOP + "fields:\n  -\n" + lines)
    assert told[0].startswith(f"mine.yaml:{6 + list(keys).index(key)}: fields.0.{key}: {message}"), told


@pytest.mark.parametrize(
    ("encode", "key", "message"),
    [
        ("{kind: linaer}", "encode.kind", LINAER),
        ("linaer", "encode.kind", LINAER),
        ("{stp: 1}", "encode.kind", "required key is missing; one of uint, linear, "),
        ("{kind: linear, stp: 1}", "encode.stp", "unknown key (did you mean 'step'?)"),
        ("{kind: linear}", "encode", "linear needs step or max, one of the two"),
        ("{kind: linear, step: 1, max: 2}", "encode", "linear needs step or max, one of the two"),
        ("{kind: linear, max: -1}", "encode.max", "must be > base (0), got -1"),
        ("{kind: linear, step: 2^x}", "encode.step", "must be a number, found '2^x'"),
        ("{kind: linear, step: 0}", "encode.step", "must be > 0, found 0"),
        (
            "{kind: linear, step: 1, round: half}",
            "encode.round",
            "must be one of 'floor', 'ceil', 'nearest' or 'stochastic', found 'half'",
        ),
        ("{kind: uint, overflow: clip}", "encode.overflow", "must be one of 'saturate' or 'wrap', found 'clip'"),
        ("{kind: log, base: 1, min: 1}", "encode.base", "must be > 1, found 1"),
        ("{kind: table, values: [1, 3, 2]}", "encode.values.2", "must be > 3, the one before; got 2"),
        ("{kind: enum, values: [a, 1]}", "encode", "values must be all names or all numbers"),
        ("{kind: enum, values: [a, a]}", "encode", "values must differ"),
        ("{kind: enum, values: [a], unlisted: nearest}", "encode.unlisted", "names have no nearest one: refuse"),
        ("{kind: float, mant: 3, exp: 4}", "bits", "mant 3 and exp 4 are 7 bits, the field has 8"),
        ("flag", "bits", "a flag has 1 bit, this field 8"),
        ("counter", "agg", "max compares codes, and those of counter have no order"),
    ],
)
def test_a_wrong_encoding_is_told(tmp_path, encode, key, message):
    told = wrong(tmp_path, TOP + f"fields:\n  - {{name: q, source: qlen_pkts, bits: 8, agg: max, encode: {encode}}}\n")
    assert any(line.startswith(f"mine.yaml:5: fields.0.{key}: {message}") for line in told), told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("directoin: one_way\n", "mine.yaml:4: directoin: unknown key (did you mean 'direction'?)"),
        ("direction: both\n", "mine.yaml:4: direction: must be one of 'one_way' or 'two_way', found 'both'"),
        ("stack: {kind: per_hop}\n", "mine.yaml:4: stack.max_hops: required key is missing"),
        ("stack: {kind: tree}\n", "mine.yaml:4: stack.kind: must be one of 'scalar', 'per_hop', found 'tree'"),
        (TWO_HOPS, "mine.yaml:4: stack.kind: per_hop needs at least one field with agg: per_hop"),
        (
            "stack: {kind: per_hop, max_hops: 2, overflow: stop_flag}\n",
            "mine.yaml:4: stack.overflow: overflow stop_flag",
        ),
        ("stack: {kind: per_hop, max_hops: 2, overflow: modulo}\n", "mine.yaml:4: stack.overflow: modulo overwrites"),
        (
            "stack: {kind: per_hop, max_hops: 2, prealloc: true}\n",
            "mine.yaml:4: stack.count_bits: prealloc needs a count",
        ),
        ("select: {kind: one_of, by: t, policy: fixed}\n", "mine.yaml:4: select.by: there is no field 't' (known: q)"),
        ("select: {kind: one_of, by: q, policy: fixed}\n", "mine.yaml:4: select.by: q must be an enum of names"),
        ("select: {kind: sample, prob: 0}\n", "mine.yaml:4: select.prob: must be > 0, found 0"),
        ("reflect: {via: horse}\n", "mine.yaml:4: reflect.via: must be one of 'ack', 'cnp' or 'option', found 'horse'"),
        (
            "switch_reply: {when: qlen_pkts > 3, fields: [p], bytes: 64}\n",
            "mine.yaml:4: switch_reply.fields: there is no field 'p' (known: q)",
        ),
        (
            "switch_reply: {when: qle > 3, fields: [q], bytes: 64}\n",
            "mine.yaml:4: switch_reply.when: 'qle > 3': there is no 'qle' at a hop",
        ),
    ],
)
def test_a_wrong_header_is_told(tmp_path, text, message):
    told = wrong(tmp_path, TOP + text + "fields:\n" + FIELD)
    assert any(line.startswith(message) for line in told), told


def test_fields_fit_together(tmp_path):
    two = "fields:\n" + FIELD + FIELD
    assert wrong(tmp_path, TOP + two) == ["mine.yaml:6: fields.1.name: 'q' is taken by an earlier field"]
    follow = "fields:\n  - {name: q, source: qid, bits: 8}\n  - {name: w, source: qid, bits: 8, agg: 'with:v'}\n"
    assert "there is no field 'v' (known: q, w)" in wrong(tmp_path, TOP + follow)[0]
    summed = (
        "fields:\n  - {name: q, source: qid, bits: 8, agg: sum}\n  - {name: w, source: qid, bits: 8, agg: 'with:q'}\n"
    )
    assert "with:q needs a field with agg min or max or last; q has sum" in wrong(tmp_path, TOP + summed)[0]
    windowed = "fields:\n  - {name: u, source: util, bits: 8, measure: {window: tumbling}}\n"
    assert wrong(tmp_path, TOP + windowed) == [
        "mine.yaml:5: fields.0.measure.interval_us: window tumbling needs an interval_us"
    ]
    free = TOP.replace("l2", "none") + TWO_HOPS + "fields:\n  - {name: q, source: qid, bits: 8, agg: per_hop}\n"
    assert wrong(tmp_path, free)[0] == "mine.yaml:3: placement.layer: none has room for no records; l2, l3 or l4"
    widths = TURNS.replace("only: b, source: qid, bits: 5", "only: b, source: qid, bits: 6")
    assert "adjacent fields with only share their bits" in wrong(tmp_path, TOP + widths)[0]
    assert "t has no 'c' (known: a, b)" in wrong(tmp_path, TOP + TURNS.replace("only: b", "only: c"))[0]


TURNS = """\
select: {kind: one_of, by: t, policy: fixed}
fields:
  - {name: t, source: const, bits: 3, encode: {kind: enum, values: [a, b]}, scope: src_once, agg: first, init: a}
  - {name: x, only: a, source: qid, bits: 5}
  - {name: y, only: b, source: qid, bits: 5}
"""


def test_all_errors_come_at_once_by_line(tmp_path):
    text = "titel: X\nfields:\n  - {name: q, source: qlen, bits: 0}\nplacement: {layer: l9}\nname: x\n"
    told = wrong(tmp_path, text)
    assert [line.split(": ")[:2] for line in told] == [
        ["mine.yaml:1", "title"],
        ["mine.yaml:1", "titel"],
        ["mine.yaml:3", "fields.0.source"],
        ["mine.yaml:3", "fields.0.bits"],
        ["mine.yaml:4", "placement.layer"],
    ]


@given(st.text(max_size=80))
@settings(max_examples=100, deadline=None)
def test_random_text_never_crashes(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "random-header.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        header(path)


def test_growth_and_padding(tmp_path):
    text = TOP.replace("{layer: l2}", "{layer: l4, fixed_bits: 20, pad_to_bits: 32}")
    fields = "fields:\n" + FIELD + "  - {name: r, source: qid, bits: 33, agg: per_hop}\n"
    found = read(tmp_path, text + "stack: {kind: per_hop, max_hops: 3, count_bits: 4}\n" + fields)
    assert [found.wire_bytes(hops) for hops in (0, 1, 3, 9)] == [5, 13, 29, 29]
    assert (found.head_bytes, found.record_bytes, found.per_hop_bytes, found.count_bytes) == (4, 8, 8, 1)


def test_json_and_text_tell_the_same_bytes():
    told = content(header("int-md"))
    assert set(told) == {"name", "wire_bytes", "per_hop_bytes", "state_bits", "operations", "fields"}
    assert sum(field["bits"] for field in told["fields"] if field["in_record"]) == 8 * told["per_hop_bytes"]
    assert "16 B + 16 B/hop on the wire" in describe(header("int-md"))
    assert "not simulated" in describe(header("bolt"))


@pytest.mark.parametrize("agg", AGGREGATIONS)
def test_every_aggregation_is_spoken(agg):
    keys = {"name": "x", "source": "qid", "bits": 8, "agg": agg}
    stack = {"kind": "per_hop", "max_hops": 1} if agg == "per_hop" else {"kind": "scalar"}
    made = Header.model_validate(
        {"name": "x", "title": "X", "placement": {"layer": "l2"}, "stack": stack, "fields": [keys]}
    )
    assert made.fields[0].agg == agg


def test_the_documentation_s_candidate_is_what_it_says(tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    text = (docs / "reference" / "headers.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", (docs / "tutorial" / "which-header.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    found = read(tmp_path, example[1])
    assert found.wire_bytes() == 4 and describe(found) in text


# Formulas.


@pytest.mark.parametrize(
    ("text", "known", "value"),
    [
        ("qlen_bytes >= 62000 and not dec", {"qlen_bytes": 62000, "dec": 0}, 1),
        ("qlen_bytes >= 62000 and not dec", {"qlen_bytes": 62000, "dec": 1}, 0),
        ("1 < x < 3 or x == 7", {"x": 7}, 1),
        ("min(x, 3) * 2 - max(1, x) / 4", {"x": 8}, 4),
        ("ceil(x) + floor(x) - -1", {"x": 1.5}, 4),
        ("ts_in % 1000000000 // 10", {"ts_in": 3e9 + 25}, 2),
    ],
)
def test_formulas(text, known, value):
    names = list(known)
    formula = Expression(text).postfix()
    tokens = [("field", float(names.index(v))) if kind == "name" else (kind, v) for kind, v in formula]
    nothing = [0.0] * len(_core.SOURCE_NAMES)
    assert _core.formula_value(tokens, nothing, [float(known[name]) for name in names]) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("open('x')", r"no open\(\) here"),
        ("x.y", "no Attribute here"),
        ("'text'", "no 'text' here"),
        ("True", "no True here"),
        ("[x]", "no List here"),
        ("lambda: 1", "no Lambda here"),
        ("x if y else z", "no IfExp here"),
        ("min(*x)", "no Starred here"),
        ("min()", r"no min\(\) here"),
        ("x is y", "no Is here"),
        ("1 / 0", "1 / 0 is no finite number"),
        ("x > 1 and -(0 / 0)", r"0 / 0\) is no finite number"),
        ("x % (1 - 1)", r"x % \(1 - 1\) is no finite number"),
        ("max(x, 1e308 * 10)", r"1e\+308 \* 10 is no finite number"),
        ("x + 0x" + 258 * "F", r"no number above 1\.8e\+308 here"),
        ("", "is no formula"),
        ("x +", "is no formula"),
        ("x" * 301, "at most 300 characters"),
        ("(" * 250, "is no formula"),
    ],
)
def test_what_is_no_formula_is_told(text, message):
    with pytest.raises(InputError, match=message):
        Expression(text)


# Units.


def test_units_convert_within_what_they_measure():
    assert convert(3, "us", "ns") == 3000
    assert convert(1, "byte/s", "bit/s") == 8
    assert convert(50, "percent", "share") == 0.5
    with pytest.raises(InputError, match="ns cannot be told in bytes: time against data"):
        convert(1, "ns", "bytes")


@pytest.mark.parametrize("name", SOURCES)
def test_sources_have_known_units(name):
    assert SOURCES[name].unit in UNITS and SOURCES[name].doc
