"""From descriptions of headers to what simulators do: the same codes, and what senders can read."""

from __future__ import annotations

import math
import pickle
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import Expression
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads, write
from lcca.remy_plus.policies.policy import Aimd, FixedRate, WithHeader, with_header
from lcca.remy_plus.policies.rules import one_rule
from lcca.signal_sets.headers.codec import coding, decoded, encoded
from lcca.signal_sets.headers.field import HeaderField
from lcca.signal_sets.headers.header import Header, described, header, header_of, packaged_headers
from lcca.signal_sets.headers.simulated import header_signals, stamping
from lcca.signal_sets.load import resolve

from .codec import field_codec

CATALOGUE = packaged_headers()
SIMULATED = [name for name in CATALOGUE if name != "bolt"]
FIELDS = [(name, field) for name, found in CATALOGUE.items() for field in found.fields]

SIGNALS = {
    "none": (),
    "ecn": ("mark",),
    "l4s": ("mark",),
    "nosignal-8b": ("link", "queue"),
    "csig-compact-abw": ("available_capacity",),
    "csig-compact-abwc": ("link",),
    "csig-compact-delay": ("hop_delay",),
    "csig-wide-abw": ("available_capacity",),
    "csig-wide-abwc": ("link",),
    "csig-wide-delay": ("hop_delay",),
    "csig-wide-nqd": ("queue_time",),
    "int-md": ("hop_delay", "queue", "link"),
    "ifa2": ("capacity", "mark", "hop_delay", "link", "queue"),
    "hpcc": ("capacity", "link", "queue"),
    "pint": ("load",),
    "poseidon": ("hop_delay",),
    "bolt": ("capacity", "mark", "queue_time"),
    "rcp-16": ("fair_rate",),
    "fair-share": ("capacity", "flows"),
    "fullest": ("load", "queue"),
    "rank": ("rank",),
    "rcp-32": ("fair_rate",),
    "xcp": ("xcp_feedback",),
}


class Draws(np.random.Generator):
    """Hands out given draws."""

    def __init__(self, draws):
        super().__init__(np.random.PCG64(0))
        self.draws = draws

    def random(self, shape):
        return self.draws.reshape(shape)


def agree(field, values):
    """Check that the engine's codes and numbers are the codec's, bit for bit."""
    codec = field_codec(field)
    draws = np.random.default_rng(7).random(len(values))
    codes = codec.encode(values, Draws(draws))
    np.testing.assert_array_equal(encoded(field, values, Draws(draws)), codes)
    np.testing.assert_array_equal(decoded(field, codes), codec.decode(codes))


def coding_content(field):
    return asdict(coding(field))


def numbers_for(field):
    """Numbers that matter to a field: those of its grid, their neighbours, and others over the whole range."""
    codec, random = field_codec(field), np.random.default_rng(3)
    if field.encode.kind == "enum":
        listed = coding(field).numbers
        return (
            np.array(listed) if field.encode.unlisted == "refuse" else np.concatenate([listed, random.random(50) * 500])
        )
    top = np.uint64(min(2**field.bits, len(getattr(field.encode, "values", ())) or 2**63) - 1 - bool(field.invalid))
    on = codec.decode(np.unique((random.random(200) * float(top)).astype(np.uint64)))
    on = on[np.isfinite(on)]
    beyond = codec.decode(top) * np.array([1.0, 1.3, 1.9, 2.0, 3.0])
    around = [beyond, on, np.nextafter(on, -np.inf), np.nextafter(on, np.inf), on * random.random(len(on))]
    return np.concatenate([*around, [0.0, 1e-9, 1.0, 1e6]])


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}.{field.name}" for name, field in FIELDS])
def test_the_engine_s_codes_are_the_codec_s(name, field):
    agree(field, numbers_for(field))


ROUNDINGS = st.sampled_from(["floor", "ceil", "nearest", "stochastic"])
STEPS = st.one_of(st.floats(1e-3, 1e3), st.integers(-12, 12).map(lambda exponent: 2.0**exponent))


def kind(name, **keys):
    return st.fixed_dictionaries({"kind": st.just(name)} | keys)


ENCODINGS = st.one_of(
    kind("linear", step=STEPS, round=ROUNDINGS),
    kind("linear", base=st.just(-7.5), max=st.floats(1.0, 1e6)),
    kind("linear", step=STEPS, overflow=st.just("wrap")),
    kind("uint", round=ROUNDINGS),
    kind("counter", step=STEPS),
    kind("log", base=st.floats(1.01, 1.2), min=st.just(0.01), zero=st.booleans(), round=ROUNDINGS),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    encode=ENCODINGS,
    bits=st.integers(1, 10),
    invalid=st.sampled_from([None, "all_ones", "zero"]),
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
)
def test_any_encoding_has_the_codec_s_codes(encode, bits, invalid, values):
    if encode["kind"] == "counter" or encode.get("overflow") == "wrap":
        invalid = None
    if invalid is not None and bits == 1:
        bits = 2
    field = HeaderField(name="x", source="util", bits=bits, encode=encode, agg="last", invalid=invalid)
    agree(field, np.array(values))


@settings(max_examples=30, deadline=None)
@given(
    mant=st.integers(0, 30),
    exp=st.integers(1, 8),
    step=st.floats(1e-3, 1e3),
    values=st.lists(st.floats(0, 1e12), min_size=1, max_size=30),
)
def test_large_floats_have_the_codec_s_codes(mant, exp, step, values):
    encode = {"kind": "float", "mant": mant, "exp": exp, "step": step, "round": "nearest"}
    agree(HeaderField(name="x", source="util", bits=mant + exp, encode=encode), np.array(values))


@pytest.mark.parametrize(
    ("keys", "codes"),
    [
        ({}, [16]),
        ({}, [-1]),
        ({}, [1.0]),
        ({"encode": {"kind": "table", "values": [1, 2]}}, [2]),
        ({"encode": {"kind": "table", "values": [1, 2]}, "invalid": "all_ones"}, [15, 14]),
    ],
)
def test_what_is_no_code_is_refused(keys, codes):
    with pytest.raises(InputError, match="codes are whole numbers from 0 to 1"):
        decoded(HeaderField(name="x", source="util", bits=4, **keys), codes)


def test_what_a_field_cannot_say_is_refused():
    with pytest.raises(InputError, match=r"field x: .*cannot say"):
        encoded(HeaderField(name="x", source="util", bits=4), [1.0, math.nan])


@pytest.mark.parametrize("bits", [53, 63, 64])
def test_the_largest_fields_saturate_alike(bits):
    field = HeaderField(name="x", source="qlen_bytes", bits=bits)
    agree(field, np.array([0.0, 1.0, 2.0**52, 2.0**53 + 2, 2.0**62, 2.0**64, 1e30]))


@pytest.mark.parametrize(
    "text",
    [
        "ceil(512 * (util + 8000000000 * qlen_bytes / (link_rate * 30000))) / 512",
        "qlen_bytes < 62000 and (flows > 3 or hop_count >= 2)",
        "-qlen_pkts // 7 % 5",
        "ts_in % 1000000000",
        "min(util, 0.5, flows) + max(qdelay, 3) - floor(-util)",
        "1 < hop_count <= 2 or not mark",
    ],
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_formulas_have_python_s_value(text, data):
    formula = Expression(text)
    known = {name: data.draw(st.floats(0.5, 1e7) | st.integers(1, 3).map(float)) for name in _core.SOURCE_NAMES}
    tokens = [("source", v) if kind == "name" else (kind, v) for kind, v in formula.postfix()]
    values = [known[name] for name in _core.SOURCE_NAMES]
    assert _core.formula_value(tokens, values, []) == float(eval(text, {"ceil": math.ceil, "floor": math.floor}, known))


# --- what senders read


@pytest.mark.parametrize("name", CATALOGUE)
def test_signals_of_the_catalogue(name):
    assert header_signals(header(name)) == SIGNALS[name]


@pytest.mark.parametrize("name", SIMULATED)
def test_stampings_are_plain_data_with_the_header_s_bytes(name):
    made, found = stamping(header(name)), header(name)
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(made) == hash(stamping(header(name)))
    assert made.sent_bytes[0] == found.wire_bytes()
    assert made.sent_bytes[-1] == found.wire_bytes(made.max_hops)
    assert stamping(found, charged=False).sent_bytes == (0,)
    assert made.charged == (found.wire_bytes() > 0)
    assert set(made.signals) == set(SIGNALS[name])


def test_what_cannot_be_simulated_is_refused_with_the_reason():
    with pytest.raises(InputError, match=r"header bolt: switch_reply is not simulated yet \(hops send no packets"):
        stamping(header("bolt"))
    told = header("bolt").model_dump() | {"switch_reply": None}
    assert stamping(Header.model_validate(told)).signals == SIGNALS["bolt"]
    cnp = header("ecn").model_dump() | {"reflect": {"via": "cnp", "min_gap_us": 4.0}}
    with pytest.raises(InputError, match=r"header ecn: reflect\.via is not simulated yet"):
        stamping(Header.model_validate(cnp))


def own(**field):
    field = {"name": "x", "bits": 8, "agg": "max"} | field
    return Header(name="own", title="Own", placement={"layer": "l2"}, fields=[field])


def test_sources_that_hops_do_not_have_are_refused_where_signals_need_them():
    with pytest.raises(InputError, match="field x: buf_bytes is not simulated: ports have buffers of their own"):
        stamping(own(source="expr:qlen_bytes / (1 + buf_bytes)", unit="share"))
    assert stamping(own(source="buf_bytes")).signals == ()
    with pytest.raises(InputError, match="field x: util is measured as packets leave"):
        stamping(own(source="util", measure={"at": "enqueue"}))


def test_hops_that_say_a_rate_have_their_authors_gains_unless_a_header_says_otherwise():
    assert stamping(header("rcp-32")).fields[0].gains == (0.4, 1.0, 0.95, 0.0)
    assert stamping(header("xcp")).fields[0].gains == (0.4, 0.226, 0.1, 0.0)
    mine = own(source="fair_rate", agg="min", measure={"alpha": 0.2, "update_us": 5})
    assert stamping(mine).fields[0].gains == (0.2, 1.0, 0.95, 5.0)
    with pytest.raises(ValidationError, match="belong to the sources fair_rate and xcp_feedback"):
        own(source="util", measure={"alpha": 0.2})


def test_formulas_do_not_read_what_the_same_hop_wrote_before():
    early = {"name": "full", "source": "expr:qlen_pkts > 9", "bits": 1, "encode": "flag", "agg": "or"}
    late = {"name": "q", "source": "qlen_pkts", "bits": 8, "agg": "max", "when": "not full"}
    keys = {"name": "own", "title": "Own", "placement": {"layer": "l2"}}
    both = Header.model_validate(keys | {"fields": [early, late]})
    assert stamping(both).signals == ("mark", "queue")
    apart = Header.model_validate(keys | {"fields": [early | {"measure": {"at": "enqueue"}}, late]})
    with pytest.raises(InputError, match="field q reads full at dequeue, which its hop writes at enqueue"):
        stamping(apart)


def test_policies_may_use_what_their_header_carries():
    abw = stamping(header("csig-compact-abw"))
    assert WithHeader(one_rule(("rtt_ratio", "available_capacity_ewma")), abw).stamping == abw
    with pytest.raises(InputError, match=r"does not carry the signal queue_ewma \(it carries: available_capacity\)"):
        WithHeader(one_rule(("queue_ewma",)), abw)
    with pytest.raises(InputError, match="a WithHeader cannot have a header"):
        with_header(WithHeader(Aimd(), abw), abw)
    assert with_header(Aimd(), None) == Aimd()


# --- policy files


def test_policy_files_hold_names_and_descriptions(tmp_path):
    def runs(file, **options):
        write(tmp_path / "policy.json", file)
        return resolve(str(tmp_path / "policy.json"), "engine", **options).policy

    table = one_rule(("link",))
    named = PolicyFile(table, header=described(header("nosignal-8b")))
    assert named.header == "nosignal-8b"
    mine = own(source="util", encode={"kind": "linear", "max": 1.0})
    told = loads(dumps(PolicyFile(table, header=described(mine))))
    assert header_of(told.header) == mine
    assert runs(told) == WithHeader(table, stamping(mine))
    assert runs(named, charged=False) == WithHeader(table, stamping(header("nosignal-8b"), charged=False))
    assert runs(PolicyFile(FixedRate(1.0))) == FixedRate(1.0)


def test_wrong_headers_of_policy_files_are_told(tmp_path):
    write(tmp_path / "policy.json", PolicyFile(Aimd(), header="nosignal"))
    with pytest.raises(
        InputError, match=r"policy\.json: header: unknown header 'nosignal' \(did you mean 'nosignal-8b'"
    ):
        resolve(str(tmp_path / "policy.json"), "engine")
    told = described(own(source="util"))
    with pytest.raises(InputError, match=r"header: fields.0.agg: there is no aggregation"):
        header_of(told | {"fields": [told["fields"][0] | {"agg": "median"}]})
    with pytest.raises(InputError, match=r"header: fields.0.bits: must be a number, found .six."):
        header_of(told | {"fields": [told["fields"][0] | {"bits": "six"}]})


@pytest.mark.parametrize("name", SIMULATED)
def test_the_content_is_all_that_there_is(name: str) -> None:
    """In the order of declaration, but for what was not always there, where it says nothing: hashes cover it."""
    found = stamping(header(name))
    whole = asdict(found)
    imperfect = ("refresh", "delay", "bias", "noise", "shift", "shift_noise", "stamp_loss")
    later = {"rtts": 0.0, "memory_bits": None} | dict.fromkeys(imperfect, 0.0)
    for each in whole["fields"]:
        del each["begins"]  # no simulation depends on the place on the wire
    for each in (whole, *whole["fields"]):
        for key in [key for key, nothing in later.items() if key in each and each[key] == nothing]:
            del each[key]
    assert repr(found.content()) == repr(whole)
