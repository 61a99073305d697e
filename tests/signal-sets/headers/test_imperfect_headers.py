"""Headers whose numbers are late, estimated or missing, and counts of flows by a map: against exact headers of the
same packets, closed forms and the definition."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, compile_network
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.topology import Topology
from lcca.signal_sets.headers.costs import switch_cost
from lcca.signal_sets.headers.header import Header, header, packaged_headers
from lcca.signal_sets.headers.simulated import stamping

NETWORK = Network(3, 3.0, 24.0, 4, 60.0, 800.0, 200.0, 0.0)
LINE = replace(NETWORK, topology=Topology("line", hosts_per_router=2))
START = {"name": "start", "source": "expr:ts_out - ts_in + ts_in", "unit": "ns", "bits": 40, "agg": "max",
         "encode": {"kind": "linear", "step": 0.001}}  # fmt: skip
"""Says when a packet leaves a hop, for no two at the same time: what the sender sees tells whose stamp it is."""
QUEUE = {"name": "q", "source": "qlen_pkts", "bits": 32, "agg": "max"}
EXACT_FLOWS = {"name": "f", "source": "flows", "bits": 40, "agg": "max", "encode": {"kind": "linear", "step": "2^-20"}}


def described(*fields, **keys):
    return Header.model_validate(
        {"name": "own", "title": "Own", "placement": {"layer": "none"}, "fields": fields} | keys
    )


def off(field, **measure):
    return field | {"measure": measure}


def trace(used, network=NETWORK, duration=2000.0, seed=1, window=12):
    """What a policy that looks at nothing sees: the same packets whatever the header, whose bytes are free."""
    options = {"duration": duration, "model": Model().parts(), "script": []}
    made = compile_policy(WithHeader(FixedWindow(window), stamping(used, charged=False)))
    rows = _core.trace(made, compile_network(network), seed, **options)
    return {name: np.asarray(rows[name]) for name in rows}


# --- late numbers


def departures(exact):
    """Return when each packet left the one hop, those too whose ACKs tell nothing: ACKs come a fixed time later."""
    told = exact["queue_time"] > 0
    return exact["now_us"] - np.median((exact["now_us"] - exact["queue_time"])[told])


def late(starts, values, refresh, delay):
    """Return what each packet says by the definition; NaN where nothing is known yet."""
    readings, turn = [], None
    said = np.full(len(starts), math.nan)
    for i in np.argsort(starts, kind="stable"):
        now = np.floor(starts[i] / refresh) if refresh else i
        if now != turn:
            readings.append((starts[i] + delay, values[i]))
            turn = now
        said[i] = next((value for known, value in reversed(readings) if known <= starts[i]), math.nan)
    return said


@pytest.mark.parametrize(("refresh", "delay"), [(40.0, 0.0), (0.0, 33.0), (40.0, 33.0), (10.0, 95.0), (500.0, 700.0)])
def test_numbers_are_late_by_interval_and_delay(refresh, delay):
    exact = trace(described(START, QUEUE), window=30)
    rows = trace(described(START, off(QUEUE, refresh_us=refresh, delay_us=delay)), window=30)
    np.testing.assert_array_equal(rows["now_us"], exact["now_us"])
    told = exact["queue_time"] > 0  # not by a flow's first ACK
    np.testing.assert_array_equal(exact["queue"][told], exact["stamp_queue"][told])
    expected = late(departures(exact), exact["stamp_queue"], refresh, delay)
    known = told & ~np.isnan(expected)
    assert known.sum() > 500
    np.testing.assert_array_equal(rows["queue"][known], expected[known])
    assert len(np.unique(rows["queue"][known])) > 2
    if delay:
        assert (rows["queue"][told & np.isnan(expected)] == 0).all()


def test_a_record_that_is_not_known_yet_is_left_out():
    """The smallest of a path is that of hops that know theirs: no 0 of a record that was left out."""
    stack = {"kind": "per_hop", "max_hops": 8}
    field = {"name": "r", "source": "link_rate", "unit": "Gbit/s", "bits": 20, "agg": "per_hop",
             "encode": {"kind": "linear", "step": 0.01}}  # fmt: skip
    exact, rows = (
        trace(described(each, stack=stack, placement={"layer": "l3"}), LINE)
        for each in (field, off(field, delay_us=100))
    )
    assert set(np.unique(exact["capacity"])) - {0.0} == set(np.unique(rows["capacity"])) - {0.0}
    assert (rows["capacity"][rows["now_us"] < 100] == 0).all()
    assert (rows["capacity"][rows["now_us"] > 300] > 0).mean() > 0.9


# --- missing stamps


def fresh_share(used, network=NETWORK):
    """Return how many packets bring a number, and of how many; a sender that gets none keeps the one before."""
    exact, rows = trace(described(START), network, 6000.0), trace(used, network, 6000.0)
    told = exact["queue_time"] > 0
    fresh = rows["queue_time"] == exact["queue_time"]
    for sender in range(network.senders):
        own = np.flatnonzero(told & (rows["sender"] == sender))
        kept = own[1:][~fresh[own[1:]] & (rows["flow"][own[1:]] == rows["flow"][own[:-1]])]
        before = {at: rows["queue_time"][at_before] for at_before, at in pairwise(own)}
        np.testing.assert_array_equal(rows["queue_time"][kept], [before[at] for at in kept])
    return fresh[told].sum(), told.sum()


@pytest.mark.parametrize("keys", [{"stamp_loss": 0.75}, {"select": {"kind": "sample", "prob": 0.25}}], ids=str)
def test_stamps_are_there_as_often_as_said(keys):
    """Within four standard deviations of the binomial."""
    fresh, of = fresh_share(described(START, **keys))
    assert of > 5000
    assert abs(fresh - of / 4) < 4 * math.sqrt(of * 0.25 * 0.75)


def test_hops_lose_stamps_independently():
    """The largest of a path is its second hop's time, or its first hop's, or there is none: q, p q and p²."""
    exact, rows = (trace(described(START, **keys), LINE, 6000.0)["queue_time"] for keys in ({}, {"stamp_loss": 0.3}))
    told, senders = exact > 0, trace(described(START), LINE, 6000.0)["sender"]
    assert LINE.topology.hops(LINE.senders) == 2
    of, last = told.sum(), (rows == exact)[told].sum()
    assert abs(last - 0.7 * of) < 4 * math.sqrt(of * 0.21)
    own = [rows[told & (senders == sender)] for sender in range(LINE.senders)]
    none = sum((np.diff(each) == 0).sum() for each in own)
    assert abs(none - 0.09 * of) < 4 * math.sqrt(of * 0.09)


def test_a_throughput_needs_two_records_that_are_there():
    """HPCC's headers say what a link sends between two packets: with stamps lost that is right, and rarer."""
    network = Network(0, 25 / 12, 20.0, 1, math.inf, 1e9, 1.0, 0.0)
    hpcc = header("hpcc")
    rows = trace(hpcc.model_copy(update={"stamp_loss": 0.5}), network, 3000.0, window=120)
    assert np.diff(rows["link"][200:] == 0).any() or len(rows["link"]) > 3000
    assert rows["link"][200:].mean() == pytest.approx(1.0, abs=0.005)
    assert 0.6 < (np.diff(rows["link"][200:]) == 0).mean() < 1
    np.testing.assert_allclose(rows["queue"][200:], 120 - 20 * 25 / 12 - 1, atol=2)


# --- estimates


@pytest.mark.parametrize(
    ("keys", "mean", "deviation"),
    [
        ({"noise": 0.15}, 0, 0.15 * 36),
        ({"bias": 0.25}, 0.25 * 36, 0),
        ({"bias": -0.25, "noise": 0.1}, -0.25 * 36, 0.1 * 36),
        ({"shift": 2, "shift_noise": 3}, 2, 3),
        ({"noise": 0.1, "shift_noise": 2, "bias": 0.1}, 3.6, math.hypot(3.6, 2)),
    ],
    ids=str,
)
def test_errors_have_the_mean_and_the_deviation_that_are_said(keys, mean, deviation):
    rate = {"name": "r", "source": "link_rate", "unit": "Gbit/s", "bits": 40, "agg": "min",
            "encode": {"kind": "linear", "step": "2^-20"}}  # fmt: skip
    rows = trace(described(off(rate, **keys)), duration=3000.0)
    one = rows["capacity"] > 0
    error = rows["capacity"][one] * 12 - 36  # 3 packets of 1500 bytes a µs are 36 Gbit/s
    count = one.sum()
    assert count > 4000
    assert error.mean() == pytest.approx(mean, abs=4 * deviation / math.sqrt(count) + 1e-5)
    assert error.std() == pytest.approx(deviation, rel=4 / math.sqrt(2 * count), abs=1e-5)
    if deviation:
        assert abs(np.corrcoef(error[1:], error[:-1])[0, 1]) < 4 / math.sqrt(count)
        assert (len(np.unique(error)) == count) or len(np.unique(error)) > 0.95 * count


def test_an_error_stays_with_its_reading():
    rate = {"name": "r", "source": "link_rate", "bits": 64, "agg": "min"}
    rows = trace(described(off(rate, noise=0.2, refresh_us=100)))
    assert 15 <= len(np.unique(rows["capacity"][rows["capacity"] > 0])) <= 2000 / 100 + 1


def test_estimates_are_never_below_nothing_and_saturate():
    few = EXACT_FLOWS | {"bits": 3, "encode": "uint"}
    assert trace(described(off(few, shift=100)))["flows"].max() == 7
    assert trace(described(off(few, bias=-1, shift=-5)))["flows"].max() == 0


# --- the number of flows by a map


def occupancy(flows, bits):
    """Return mean and standard deviation of m ln(m / zeros), from the chances of every number of zeros."""
    chance = np.zeros(bits + 1)
    chance[bits] = 1
    for _ in range(flows):
        zeros = np.arange(bits + 1)
        chance = chance * (bits - zeros) / bits + np.append(chance[1:] * zeros[1:], 0) / bits
    estimate = bits * np.log(bits / np.maximum(np.arange(bits + 1), 1))
    mean = chance @ estimate
    return mean, math.sqrt(chance @ (estimate - mean) ** 2)


def by_map(bits, interval=60.0):
    return described(off(EXACT_FLOWS, window="aged", interval_us=interval, memory_bits=bits))


@pytest.mark.parametrize("bits", [8, 32, 128])
def test_a_map_estimates_as_linear_counting_does(bits):
    """Over networks with senders that stay: hashes differ from network to network. Whang et al. 1990, equation 10."""
    flows, networks = 12, 400
    found = []
    for number in range(networks):
        network = Network(number, 5.0, 20.0, flows, math.inf, 1e9, 1.0, 0.0)
        found.append(trace(by_map(bits), network, 180.0, window=4)["flows"][-1])
    mean, deviation = occupancy(flows, bits)
    load = flows / bits
    if bits > 8:
        assert deviation == pytest.approx(math.sqrt(bits * (math.exp(load) - load - 1)), rel=0.1)
    assert np.mean(found) == pytest.approx(mean, abs=4 * deviation / math.sqrt(networks))
    assert np.std(found) == pytest.approx(deviation, rel=0.2)


def test_hops_hash_apart():
    """The last router's senders cross a link with 12 flows, then one with six of these: were the hashes the same, the
    second map would have no bit that the first has not."""
    more = 0
    for number in range(60):
        line = Network(number, 5.0, 60.0, 12, math.inf, 1e9, 1.0, 0.0, topology=Topology("line", hosts_per_router=6))
        field = off(EXACT_FLOWS, window="aged", interval_us=200, memory_bits=8)
        rows = [trace(described(field | {"agg": agg}), line, 300.0, window=4) for agg in ("first", "last")]
        own = np.flatnonzero(rows[0]["sender"] >= 6)[-1]
        more += rows[1]["flows"][own] > rows[0]["flows"][own]
    assert 0 < more < 15


def test_a_map_forgets_after_one_interval_to_two():
    """A flow counts in the interval of its latest packet and in the next one, by the packets' own times."""
    interval = 35.0
    network = replace(NETWORK, senders=6, mean_on=90.0, mean_off=90.0)
    starts = trace(described(START), network, 5000.0)
    rows = trace(by_map(1 << 16, interval), network, 5000.0)
    told = np.flatnonzero(starts["queue_time"] > 0)
    order = np.argsort(starts["queue_time"][told], kind="stable")
    latest, compared = {}, 0
    for at in told[order]:
        now = starts["queue_time"][at]
        latest[rows["sender"][at]] = np.floor(now / interval)
        if now < 5000 - 100:
            expected = sum(turn >= np.floor(now / interval) - 1 for turn in latest.values())
            compared += rows["flows"][at] == pytest.approx(expected, abs=0.01)
    assert len(np.unique(np.round(rows["flows"][told]))) >= 4
    assert compared > 0.97 * len(told)  # packets without an ACK of their own are not in the trace


# --- what is the same as before, costs and refusals


def test_headers_without_imperfections_are_described_as_before():
    """Names by the content do not change: trainings and trials that are kept stay valid."""
    later = {"refresh_us", "delay_us", "bias", "noise", "shift", "shift_noise", "stamp_loss"}
    for name, each in packaged_headers().items():
        dumped = each.model_dump(mode="json")
        assert not later & dumped.keys()
        assert not any(later & field["measure"].keys() for field in dumped["fields"])
        if name not in ("bolt",):
            content = stamping(each).content()
            assert "stamp_loss" not in content
            assert not any({"refresh", "delay", "bias"} & field.keys() for field in content["fields"])


def test_what_is_said_is_kept():
    used = described(off(QUEUE, refresh_us="0.1 ms", delay_us=5, noise=0.5), stamp_loss=0.25)
    assert Header.model_validate(used.model_dump(mode="json")) == used
    content = stamping(used).content()
    assert content["stamp_loss"] == 0.25
    assert {key: content["fields"][0][key] for key in ("refresh", "delay", "noise")} == {
        "refresh": 100.0, "delay": 5.0, "noise": 0.5}  # fmt: skip


def test_a_switch_pays_for_its_map_and_for_readings():
    """Two maps that take turns, their count and the interval's number; a reading and the number of its interval."""
    exact, mapped, read = (
        switch_cost(described(each))
        for each in (
            off(EXACT_FLOWS, window="aged", interval_us=50, memory_bits=0),
            off(EXACT_FLOWS, window="aged", interval_us=50, memory_bits=64),
            off(EXACT_FLOWS, window="aged", interval_us=50, memory_bits=64, refresh_us=100),
        )
    )
    assert exact.state_bits is None
    assert mapped.state_bits == 2 * 64 + 2 * 32
    assert read.state_bits == mapped.state_bits + 2 * 32
    assert read.operations == mapped.operations + 2


@pytest.mark.parametrize(
    ("fields", "keys", "message"),
    [
        ([off(EXACT_FLOWS | {"source": "hop_count"}, noise=0.1)], {}, "hop_count is of the packet at hand: leave out"),
        ([off({"name": "m", "source": "mark", "bits": 1, "encode": "flag", "agg": "or"}, delay_us=5)], {},
         "mark is of the packet at hand"),
        ([off(QUEUE | {"agg": "count", "encode": "uint"}, bias=0.1)], {}, "count counts hops: leave out bias"),
        ([off({"name": "t", "source": "tx_bytes", "bits": 32, "encode": "counter", "agg": "last"}, noise=0.1)], {},
         "counter has no nearby numbers: leave out noise"),
        ([QUEUE | {"scope": "src_once", "agg": "last"}], {"stamp_loss": 0.1}, "hops write nothing here: leave it out"),
        ([off(QUEUE, bias=-2)], {}, "greater than or equal to -1"),
        ([QUEUE], {"stamp_loss": 1}, "less than 1"),
        ([QUEUE, off({"name": "x", "source": "expr:q + qlen_pkts", "bits": 9}, delay_us=1)], {},
         "a formula of what the packet brings"),
        ([QUEUE | {"agg": "per_hop"}], {"stack": {"kind": "per_hop", "max_hops": 65}, "stamp_loss": 0.1},
         "at most 64 where hops may leave records out"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(fields, keys, message):
    with pytest.raises(ValidationError, match=message):
        described(*fields, **keys)


def test_the_engine_refuses_too():
    made = stamping(described(QUEUE))
    with pytest.raises((InputError, ValueError), match="stamps are lost with a probability from 0 to below 1"):
        compile_policy(WithHeader(FixedWindow(3), replace(made, stamp_loss=1.0)))
