"""`policy.json` and loading policies of any form."""

import dataclasses
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.remy_plus.files import dna, policyfile
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, load, loads, read, write
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow
from lcca.remy_plus.policies.rules import bisect, one_rule

OTHERS = [FixedWindow(20), FixedRate(0.3), Aimd(), Aimd(2, 0.7, 10)]
names = st.text(st.characters(codec="utf-8"), max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
provenances = st.dictionaries(names, values, max_size=3)


@pytest.fixture
def document():
    """A good document of two rules to spoil."""
    table = bisect(one_rule(("send_ewma",)), 0, [1.5])
    return json.loads(dumps(PolicyFile(table, signal_set="custom", provenance={"seed": 1}, rule_hits=(3, 4))))


# What is kept


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(0, 4), provenances, st.sampled_from(["relative", "absolute"]))
@settings(max_examples=40, deadline=None)
def test_rule_tables_survive(grow, seed, splits, provenance, pacing):
    table = grow(seed, splits, pacing_kind=pacing)
    file = PolicyFile(table, "e2e", None, provenance, tuple(range(len(table))))
    text = dumps(file)
    assert loads(text) == file
    assert dumps(loads(text)) == text
    hash(file)


@pytest.mark.parametrize("policy", OTHERS)
def test_other_policies_survive(policy):
    file = PolicyFile(policy, provenance={"version": "0.1.0"})
    assert loads(dumps(file)) == file
    assert dumps(loads(dumps(file))) == dumps(file)


def test_bytes_are_pinned():
    assert dumps(PolicyFile(Aimd(), provenance={"seed": 3, "config_hash": "ab"})) == (
        '{\n "format": 1,\n "header": null,\n "kind": "aimd",\n "parameters": {\n  "decrease": 0.5,\n'
        '  "increase": 1.0,\n  "initial_window": 2.0\n },\n "provenance": {\n  "config_hash": "ab",\n'
        '  "seed": 3\n },\n "signal_set": null,\n "signals": []\n}\n'
    )


def test_the_format_of_a_rule_table(document):
    assert set(document) == {
        "format", "kind", "signals", "signal_set", "header", "pacing", "rules", "provenance",
    }  # fmt: skip
    assert document["rules"][1] == {
        "lower": [1.5], "upper": [163840.0], "increment": 1, "multiple": 1.0, "pacing": 1.5, "rule_hits": 4,
    }  # fmt: skip


def test_real_windows_survive_and_whole_ones_are_not_said(document):
    table = dataclasses.replace(one_rule(("rtt_ratio",)), windows="real").with_action(0, -0.25, 0.995, 1)
    text = dumps(PolicyFile(table))
    assert loads(text).policy == table and '"windows": "real"' in text and '"increment": -0.25' in text
    assert "windows" not in document
    assert loads(json.dumps(document | {"windows": "whole"})) == loads(json.dumps(document))
    for bad in ("ral", None, 1):
        with pytest.raises(InputError, match="windows"):
            loads(json.dumps(document | {"windows": bad}))


def test_written_atomically_and_read(tmp_path):
    path = tmp_path / "policy.json"
    write(path, PolicyFile(FixedWindow(3)))
    write(path, PolicyFile(FixedWindow(4)))
    assert read(path).policy == FixedWindow(4)
    assert [file.name for file in tmp_path.iterdir()] == ["policy.json"]


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "policy.json"
    write(path, PolicyFile(FixedWindow(3)))

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"policy\.json: cannot be written: No space left on device"):
        write(path, PolicyFile(FixedWindow(4)))
    assert read(path).policy == FixedWindow(3)
    assert [file.name for file in tmp_path.iterdir()] == ["policy.json"]


# What is refused


def spoil(document, where, value):
    """Set, or with `...` delete, the value at a path like ("rules", 0, "lower")."""
    *path, last = where
    node = document
    for key in path:
        node = node[key]
    if value is ...:
        del node[last]
    else:
        node[last] = value


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (["format"], 2, "format: 2 is not known to this version; it must be 1"),
        (["format"], ..., "format: required key is missing"),
        (["format"], True, "format: true is not known"),
        (["kind"], "rule_table", r"kind: must be one of .* found 'rule_table' \(did you mean 'rule-table'\?\)"),
        (
            ["kind"],
            ["aimd"],
            "kind: must be one of 'rule-table', 'mlp', 'law', 'fabric-law', 'path-law', 'aimd', 'fixed-window'",
        ),
        (["sigals"], [], r"sigals: unknown key \(did you mean 'signals'\?\)"),
        (["parameters"], {}, "parameters: unknown key"),
        (["signals"], [], "signals: must have at least 1 item"),
        (["signals"], "send_ewma", "signals: must be a list"),
        (["signals"], ["send_emwa"], r"signals.0: unknown signal 'send_emwa' \(did you mean 'send_ewma'"),
        (["signals"], [["x"]], r"signals.0: must be text"),
        (["signal_set"], 3, "signal_set: must be text"),
        (["header"], 3, "header: must be text, found 3, or must be keys with values"),
        (["provenance"], [], "provenance: must be keys with values"),
        (["pacing"], ..., "pacing: required key is missing"),
        (["pacing"], 1, "pacing: must be 'relative', 'absolute', a signal, or .*, got 1"),
        (["pacing"], [], "pacing: must be 'relative'"),
        (["rules"], ..., "rules: required key is missing"),
        (["rules"], [], "rules: must have at least 1 item"),
        (["rules"], [3], r"rules.0: must be keys with values"),
        (["rules", 0, "lowr"], [1], r"rules.0.lowr: unknown key \(did you mean 'lower'\?\)"),
        (["rules", 0, "lower"], ..., "rules.0.lower: required key is missing"),
        (["rules", 0, "lower"], [0, 0], r"rules.0.lower: must be a list of 1 numbers"),
        (["rules", 0, "lower"], ["0"], r"rules.0.lower.0: must be a number, found '0'"),
        (["rules", 0, "lower"], [None], r"rules.0.lower.0: must be a number, found nothing"),
        (["rules", 1, "upper"], [10**400], "a number of 401 digits is too large"),
        (["rules", 1, "upper"], [2e5], r"rules.1: send_ewma from 1.5 to 200000"),
        (["rules", 1, "multiple"], True, r"rules.1.multiple: must be a number, found true"),
        (["rules", 1, "pacing"], ..., r"rules.1.pacing: required key is missing"),
        (["rules", 1, "increment"], 0.5, r"rules.1.increment: must be a whole number"),
        (["rules", 1, "increment"], 2_000_000, r"rules.1.increment: .* up to ±1,000,000, got 2e\+06"),
        (["rules", 1, "multiple"], 1001, r"rules.1.multiple: must be between 0 and 1000, got 1001"),
        (["rules", 1, "rule_hits"], 1.5, r"rules.1.rule_hits: must be a whole number"),
        (["rules", 1, "rule_hits"], -1, r"rules.1.rule_hits: must be >= 0"),
        (["rules", 1, "lower"], [1.0], "rules 0 and 1 overlap at send_ewma=1"),
        (["rules", 1, "lower"], [2.0], "no rule holds send_ewma=1.5"),
    ],
)
def test_bad_documents_are_told(document, where, value, message):
    spoil(document, where, value)
    with pytest.raises(InputError, match=message):
        loads(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: not JSON"),
        ("[]", "an object with 'format' and 'kind' is needed"),
        ("{", "line 1: not JSON"),
        ('{"format": 1,\n"format": 1}', "'format': this key stands twice"),
        ('{"format": NaN}', "NaN is no number of JSON"),
        ('{"format": -Infinity}', "-Infinity is no number of JSON"),
        ('{"format": 1' + "0" * 5000 + "}", "a number of 5,001 digits is too large"),
        ("[" * 200_000, "nested too deep"),
        ('{"a":' * 200_000, "nested too deep"),
        ("{}", "kind: required key is missing"),
        ('{"format": 1}', "kind: required key is missing"),
        ('{"format": 1, "kind": "aimd", "signals": ["loss"]}', r"signals: must have at most 0 items"),
        ('{"format": 1, "kind": "aimd", "parameters": []}', "parameters: must be keys with values"),
        (
            '{"format": 1, "kind": "aimd", "parameters": {"incrase": 1}}',
            r"unknown key 'incrase' \(did you mean",
        ),
        ('{"format": 1, "kind": "aimd", "parameters": {"decrease": 1e999}}', "parameters: decrease: must be"),
        ('{"format": 1, "kind": "fixed-window"}', "parameters: window needed"),
        (
            '{"format": 1, "kind": "fixed-window", "parameters": {"window": "1"}}',
            "parameters: window: must be",
        ),
        ('{"format": 1, "kind": "fixed-window", "rules": []}', "rules: unknown key"),
    ],
    ids=lambda value: value[:40],
)
def test_bad_texts_are_told(text, message):
    with pytest.raises(InputError, match=message) as caught:
        loads(text)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@given(
    st.recursive(
        values,
        lambda inner: st.dictionaries(
            st.sampled_from(["format", "kind", "signals", "rules", "pacing", "lower", "upper", "parameters", "window"]),
            inner,
        ),
        max_leaves=20,
    )
)
@settings(max_examples=200, deadline=None)
def test_random_documents_never_crash(document):
    try:
        loads(json.dumps(document))
    except InputError as error:
        assert str(error)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_random_damage_never_crashes(data):
    table = bisect(one_rule(("send_ewma",)), 0, [1.5])
    text = list(dumps(PolicyFile(table)))
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from('0e-.1{}[]", aN'))
    try:
        loads("".join(text))
    except InputError as error:
        assert str(error)


@pytest.mark.parametrize("bad", [{"x": float("nan")}, {"x": {1, 2}}, {"x": 10**5000}, {1: 0, "1": 0}])
def test_provenance_must_be_json(bad):
    with pytest.raises(InputError, match="provenance or header: cannot be written as JSON"):
        dumps(PolicyFile(Aimd(), provenance=bad))


def test_uses_must_fit():
    with pytest.raises(InputError, match="rule_hits: 2 counts"):
        PolicyFile(one_rule(("loss",)), rule_hits=(1, 2))
    with pytest.raises(InputError, match="rule_hits: 1 counts"):
        PolicyFile(Aimd(), rule_hits=(1,))


# Loading whatever it is


def test_load_tells_files_and_names_apart(tmp_path, monkeypatch, dna_of):
    table = one_rule(("rtt_ratio",))
    monkeypatch.chdir(tmp_path)
    write("a.json", PolicyFile(table, "custom"))
    (tmp_path / "a.dna").write_bytes(dna_of(table))
    os.link("a.json", "plain")
    os.link("a.dna", "run.3")
    assert load("a.json") == load("plain") == PolicyFile(table, "custom")
    assert load("a.dna").policy == load("run.3").policy == table
    assert load("fixed-window:7").policy == FixedWindow(7)
    assert load("a.dna").provenance["imported_from"] == "a.dna"
    assert load("a.dna").provenance["notes"] == list(dna.read("a.dna").notes)
    assert loads(dumps(load("a.dna"))) == load("a.dna")
    os.link("a.json", "aimd")
    assert load("aimd").policy == table  # a file of that name wins


def test_load_minds_the_pacing(tmp_path, dna_of):
    table = one_rule(("rtt_ratio",))
    (tmp_path / "a.dna").write_bytes(dna_of(table))
    write(tmp_path / "a.json", PolicyFile(table))
    absolute = dataclasses.replace(table, pacing_kind="absolute")
    assert load(tmp_path / "a.dna", pacing="absolute").policy == absolute
    assert load(tmp_path / "a.json", pacing="relative").policy == table
    with pytest.raises(InputError, match=r"a\.json: its pacing is relative; leave the pacing option out"):
        load(tmp_path / "a.json", pacing="absolute")


def test_load_errors_begin_with_the_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    (tmp_path / "b.json").write_text("{}")
    (tmp_path / "c.dna").write_bytes(b"{}")
    (tmp_path / "d").mkdir()
    for name, message in {
        "a.json": r"a\.json: not UTF-8 text \(byte 0\)",
        "b.json": r"b\.json: kind: required key is missing",
        "c.dna": r"c\.dna: not a \.dna file",
        "d": "d: cannot be read: Is a directory",
        "e.json": r"e\.json: cannot be read: No such file",
        "x/aimd": "x/aimd: cannot be read: No such file",
        "aimdd": r"aimdd: no such file, and no baseline of that name \(did you mean 'aimd'",
        "": "no such file",
        "a\0b.json": "cannot be read",
    }.items():
        with pytest.raises(InputError, match=message):
            load(name)


def test_every_reference_file_loads(reference):
    for path in sorted((reference / "data" / "dna").rglob("*.dna")):
        file = load(path)
        assert policyfile.loads(dumps(file)) == file
