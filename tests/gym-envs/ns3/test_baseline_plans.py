"""Hand-designed congestion controls on the way to ns-3: what becomes of their parameters. Needs no ns-3."""

import math
from dataclasses import replace
from typing import Any

import pytest

from lcca.gym_envs.ns3.baselines import bounded_threshold, step_marking, with_hand_designed
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.families import FAMILIES, HAND_DESIGNED
from lcca.remy_plus.policies.hand_designed import hand_designed
from lcca.remy_plus.switches.markers import marking

NETWORK = Network(0, link_rate=2.0, rtt=100.0, senders=2, buffer=200, mean_on=1000.0, mean_off=1000.0, loss=0.0)
EMPTY: dict[str, Any] = {"policy": None, "queue": "drop-tail", "queue_attributes": {}, "options": {"packet_bytes": 590}}


def planned(name: str, network: Network = NETWORK) -> dict[str, Any]:
    return with_hand_designed(EMPTY, hand_designed(name), network)


def control(name: str) -> dict[str, Any]:
    kind, found = planned(name)["policy"]
    assert kind == "stock"
    return dict(found)


@pytest.mark.parametrize("name", HAND_DESIGNED)
def test_the_plan_of_each(name):
    plan = planned(name)
    assert plan["options"] == {"packet_bytes": 590, "time_scale": 1000.0, "min_rto": 1000.0, "initial_window": 10}
    assert plan["policy"][1]["type"].startswith(("ns3::", "lcca_ns3::"))
    assert EMPTY["queue"] == "drop-tail" and EMPTY["policy"] is None  # nothing was changed in place


@pytest.mark.parametrize("name", HAND_DESIGNED)
def test_every_parameter_reaches_ns3(name):
    own = {p.attribute for p in FAMILIES[name].parameters if p.attribute and "::" not in p.attribute}
    assert set(control(name)["attributes"]) == own


def test_times_are_stretched():
    assert control("bbr")["attributes"]["ProbeRttDuration"] == "200000000ns"  # 200 ms, ns-3's default
    assert control("bbr:time_scale=1")["attributes"]["ProbeRttDuration"] == "200000ns"
    assert control("cubic:delta=6")["attributes"]["CubicDelta"] == "6000000ns"


def test_milliseconds_taken_for_microseconds_twice_are_refused():
    """A network of 20 ms would have an RTT of 20 s."""
    slow = replace(NETWORK, rtt=20_000.0)
    with pytest.raises(InputError, match="an rtt of 20000 µs is one of 20 s: write cubic:time_scale=1"):
        with_hand_designed(EMPTY, hand_designed("cubic"), slow)
    assert with_hand_designed(EMPTY, hand_designed("cubic:time_scale=1"), slow)["options"]["time_scale"] == 1


def test_words_and_flags_are_those_of_ns3():
    attributes = control("cubic:hystart=false,hystart_detect=packet-train")["attributes"]
    assert (attributes["HyStart"], attributes["HyStartDetect"], attributes["Beta"]) == ("false", "PACKET_TRAIN", "0.7")


def test_signals_say_which_header_they_need():
    needs = {s: (c["needs_queue"], c["needs_link"]) for s in ("none", "queue", "link", "rtt") if (c := prime(s))}
    assert needs == {"none": (False, False), "queue": (True, False), "link": (False, True), "rtt": (False, False)}


def prime(signal: str) -> dict[str, Any]:
    return control(f"bbr-prime:signal={signal}")


def test_thresholds_of_bbr_prime_follow_the_signal():
    found = {s: (prime(s)["attributes"]["High"], prime(s)["attributes"]["Low"]) for s in ("link", "queue")}
    assert found == {"link": ("0.95", "0.9"), "queue": ("10.0", "0.0")}  # Table 4, for throughput
    assert control("bbr-prime:high=2.5")["attributes"]["High"] == "2.5"
    assert control("bbr-prime:probe_rtt_above=off")["attributes"]["ProbeRttAbove"] == "-1"


def test_dctcp_brings_its_queue():
    plan = planned("dctcp:mark_threshold=20")
    assert plan["queue"] == "red" and plan["queue_attributes"] == step_marking(20)
    assert plan["policy"][1]["ecn"]
    marked = planned("dctcp@red:pmax=0.1")
    assert marked["queue"] == "marker" and marked["marker"] == ("red", dict(marking("red", pmax=0.1).parameters))
    assert marked["policy"] == planned("dctcp")["policy"] and "marker" not in plan
    prime = planned("dctcp-prime:threshold=20")
    assert prime["queue"] == "drop-tail" and prime["policy"][1]["congested"] == ("queue", 20.0)


@pytest.mark.parametrize(
    ("rtt", "buffer", "expected"),
    [(100.0, 200, 34), (10.0, 200, 10), (100.0, 40, 20), (100.0, 1, 2), (100.0, math.inf, 34)],
)
def test_the_automatic_threshold(rtt, buffer, expected):
    network = Network(0, 2.0, rtt, 2, buffer, 1000.0, 1000.0, 0.0)
    assert bounded_threshold(hand_designed("dctcp"), network) == expected
    assert bounded_threshold(hand_designed("dctcp-prime"), network) == expected


@pytest.mark.parametrize(("rate", "rtt", "expected"), [(2.0, 100.0, 34.0), (2.0, 10.0, 3.4), (0.1, 10.0, 1.0)])
def test_the_engines_threshold_has_no_such_bounds(rate, rtt, expected):
    assert _core.dctcp_threshold(rate, rtt) == pytest.approx(expected)


def test_the_threshold_of_other_signals():
    found = [control(f"dctcp-prime:signal={s}")["congested"] for s in ("link", "rtt")]
    assert found == [("link", 0.95), ("rtt", 1.17)]
