"""Hand-designed congestion controls as policies: names, parameters, files."""

import json
import pickle

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, load, loads
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.policies.families import FAMILIES, HAND_DESIGNED
from lcca.remy_plus.policies.hand_designed import HandDesigned, baseline, hand_designed, is_baseline, kind_of
from lcca.remy_plus.policies.policy import compile_policy
from lcca.remy_plus.tuners.tuned import named_transport


def test_their_names():
    of_the_paper = ("newreno", "cubic", "vegas", "bbr", "bbr-prime", "dctcp", "dctcp-prime")
    others = ("bic", "htcp", "illinois", "westwood", "yeah", "veno", "hybla", "highspeed", "scalable", "ledbat", "lp")
    assert HAND_DESIGNED == of_the_paper + others
    assert all(is_baseline(name) and baseline(name) == HandDesigned(name) for name in HAND_DESIGNED)


@pytest.mark.parametrize("name", HAND_DESIGNED)
def test_defaults_are_allowed_and_told(name):
    family = FAMILIES[name]
    for parameter in family.parameters:
        assert parameter.checked(parameter.default) == parameter.default
        assert parameter.meaning
    assert len({p.name for p in family.parameters}) == len(family.parameters)


def test_parameters_by_name():
    policy = baseline("vegas:alpha=3, beta=5")
    assert policy == HandDesigned("vegas", {"beta": 5, "alpha": 3}) and policy.changed == {"alpha": 3, "beta": 5}
    assert baseline("cubic:hystart=false,c=0.2").changed == {"hystart": False, "c": 0.2}
    assert baseline("bbr-prime:signal=link,high=0.9").changed == {"signal": "link", "high": 0.9}
    assert baseline("vegas:") == HandDesigned("vegas")


def test_equal_policies_are_equal():
    assert HandDesigned("vegas", {"alpha": 2.0}) == HandDesigned("vegas") != HandDesigned("vegas", {"alpha": 1})
    assert hash(HandDesigned("bbr", {"high_gain": 3})) == hash(HandDesigned("bbr", {"high_gain": 3.0}))
    assert pickle.loads(pickle.dumps(baseline("bbr:high_gain=3"))) == HandDesigned("bbr", {"high_gain": 3})


OTHERS = (
    "dctcp:g=0.125,mark_threshold=20",
    "bbr:as_in_ns3=true",
    "dctcp@pred:qla=0",
    "ns3::TcpBic:Beta=0.7,min_rto=500",
)


@pytest.mark.parametrize("name", [*HAND_DESIGNED, *OTHERS])
def test_files_read_back(name):
    text = dumps(PolicyFile(baseline(name), provenance={"baseline": name}))
    assert loads(text).policy == baseline(name)
    assert dumps(loads(text)) == text
    document = json.loads(text)
    assert document["kind"] == "classical" and document["name"] == kind_of(name)
    assert ("marker" in document) == ("@" in name)
    assert document["parameters"]["time_scale"] == 1000.0  # defaults are written: a file means the same for ever


def test_a_class_of_ns3_has_its_own_attributes():
    policy = baseline("ns3::TcpBic:Beta=0.7,FastConvergence=false,min_rto=500")
    assert is_baseline("ns3::TcpBic") and baseline("ns3::TcpBic") != policy
    assert policy.changed == {"Beta": "0.7", "FastConvergence": "false", "min_rto": 500.0}
    assert pickle.loads(pickle.dumps(policy)) == policy == HandDesigned("ns3::TcpBic", dict(policy.parameters))
    assert HandDesigned("ns3::TcpBic", {"Beta": 0.7, "FastConvergence": False, "min_rto": 500}) == policy
    assert "Beta             0.7  (changed)\n" in describe(PolicyFile(policy))


def test_a_marker_is_named_as_on_the_fabric():
    policy = baseline("dctcp:g=0.125@red:pmax=0.1")
    assert is_baseline("dctcp@red") and policy.parameters["g"] == 0.125
    assert policy.marker == named_transport("dctcp@red:pmax=0.1").marker
    assert policy != baseline("dctcp:g=0.125@red") != baseline("dctcp:g=0.125")
    assert pickle.loads(pickle.dumps(policy)) == policy and hash(pickle.loads(pickle.dumps(policy))) == hash(policy)
    changed = policy.with_parameters({"red.pmax": 0.3, "g": 0.25})
    assert changed == baseline("dctcp:g=0.25@red:pmax=0.3")
    assert changed.named_parameters["red.kmin_bytes"] == 400e3
    assert "red.pmax  0.3\n" in describe(PolicyFile(changed))


def test_a_name_loads(tmp_path):
    assert load("bbr").policy == HandDesigned("bbr")
    path = tmp_path / "policy.json"
    path.write_text('{"format": 1, "kind": "classical", "name": "cubic", "parameters": {"beta": 0.5}}')
    assert load(path).policy == baseline("cubic:beta=0.5")


def test_a_description():
    text = describe(PolicyFile(baseline("vegas:alpha=3")))
    assert "Vegas" in text and "alpha           3 packets  (changed)" in text and "beta            4 packets\n" in text


@pytest.mark.parametrize("name", HAND_DESIGNED)
def test_the_fast_engine_refuses(name):
    with pytest.raises(InputError, match=f"^{name} runs in ns-3 only: use --simulator ns3$"):
        compile_policy(baseline(name))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bbrr", r"unknown baseline 'bbrr' \(did you mean 'bbr'\?\)"),
        ("vegas:alfa=2", r"vegas has no parameter 'alfa' \(did you mean 'alpha'\?\)"),
        ("vegas:alpha=5", "alpha must not be above beta"),
        ("vegas:alpha=1.5", "alpha: must be a whole number from 0 to 1000 packets, got 1.5"),
        ("vegas:alpha", "parameters are written name=value, as in 'vegas:alpha=2,beta=4'"),
        ("vegas:alpha=1,alpha=2", "alpha: given twice"),
        ("cubic:hystart=maybe", "hystart: must be true or false, got 'maybe'"),
        ("cubic:hystart=1", "hystart: must be true or false"),
        ("cubic:beta=1", "beta: must be a number from 0.01 to 0.999"),
        ("cubic:c=nan", "c: must be a number"),
        ("bbr-prime:signal=qeue", "signal: must be 'none' or 'link' or 'queue' or 'rtt', got 'qeue'"),
        ("bbr-prime:high=inf", "high: must be a number of 0 or more, or 'auto', got inf"),
        ("yeahh", r"unknown baseline 'yeahh' \(did you mean 'yeah'\?\)"),
        ("ns3::TcpBic:min_rtt=1", r"ns3::TcpBic has no parameter 'min_rtt' \(did you mean 'min_rto'\?\)"),
        ("ns3::TcpBic@red", "ns3::TcpBic does not heed marks"),
        ("ns3:TcpBic", "unknown baseline 'ns3:TcpBic'"),
        ("dctcp@rad", r"dctcp@rad: kind: 'rad' is not known \(did you mean 'red'\?\)"),
        ("dctcp@red:pmin=1", "dctcp@red: pmin: is not a parameter of red"),
        ("dctcp@red:pmax=2", "dctcp@red: pmax"),
        ("dctcp@red@expert", "in ns-3 there is one marker, and no tuner"),
        ("dctcp@", "dctcp@: kind: '' is not known"),
        ("dctcp:mark_threshold=20@red", "mark_threshold is that of its own queues"),
        ("vegas@red", r"vegas does not heed marks: leave out @red \(in ns-3 dctcp does\)"),
        ("dctcp-prime@red", "dctcp-prime does not heed marks"),
        ("aimd@red", "unknown baseline 'aimd@red'"),
        ("dctcp:mark_threshold=1", "mark_threshold: must be a number from 2 to 1e.06 packets, or 'auto', got 1"),
    ],
)
def test_bad_names_are_told(name, message):
    with pytest.raises(InputError, match=message):
        baseline(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": 1, "kind": "classical"}', "name: required key is missing"),
        ('{"format": 1, "kind": "classical", "name": "cubik"}', r"parameters: .*did you mean 'cubic'"),
        ('{"format": 1, "kind": "classical", "name": "bbr", "parameters": {"high_gain": "x"}}', "high_gain: must be"),
        (
            '{"format": 1, "kind": "classical", "name": "dctcp", "marker": {"kind": "red", "parameters": {"pmax": 2}}}',
            "marker: pmax",
        ),
        ('{"format": 1, "kind": "classical", "name": "bbr", "rules": []}', "rules: unknown key"),
        ('{"format": 1, "kind": "aimd", "name": "bbr"}', "name: unknown key"),
    ],
)
def test_bad_files_are_told(text, message):
    with pytest.raises(InputError, match=message):
        loads(text)


def test_only_names_of_families():
    with pytest.raises(InputError, match="unknown congestion control 'reno'"):
        hand_designed("reno")
    with pytest.raises(InputError, match="unknown congestion control 'reno'"):
        HandDesigned("reno")
