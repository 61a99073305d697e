"""Headers in the fast engine: what senders see, how old it is, and what the bytes cost."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import raw_stamping
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network, open_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.remy_plus.topology import Topology
from lcca.remy_plus.workload import FlowSizes, OpenFlows
from lcca.signal_sets.headers.header import Header, header, packaged_headers
from lcca.signal_sets.headers.simulated import header_signals, stamping

from .codec import field_codec

NETWORK = Network(3, 3.0, 24.0, 4, 60.0, 800.0, 200.0, 0.002)
LINE = replace(NETWORK, topology=Topology("line", hosts_per_router=2))
SIMULATED = [name for name in packaged_headers() if name not in ("bolt", "rank")]  # that are for networks
NEW = ("hop_delay", "queue_time", "flows", "mark")


def trace(policy, network=NETWORK, duration=2000.0, seed=1, **model):
    options = {"duration": duration, "model": Model(**model).parts(), "script": []}
    return _core.trace(compile_policy(policy), compile_network(network), seed, **options)


def run(policy, network=NETWORK, duration=4000.0, **model):
    engine = Engine(duration, Model(**model), jobs=1)
    return engine.run([compile_policy(policy)], NetworkList([network]), [0], [0], [5], keep_flows=True, keep_links=True)


def assert_equal(one, other):
    for name, column in one.columns.items():
        if name != "rule_hits":
            np.testing.assert_array_equal(column, other[name], err_msg=name)
    for a, b in zip(one.rule_hits, other.rule_hits, strict=True):
        np.testing.assert_array_equal(a, b)


def described(*fields, **keys):
    """A header of these fields, 4 bytes before them."""
    placement = {"layer": "l2", "fixed_bits": 32}
    return Header.model_validate({"name": "own", "title": "Own", "placement": placement, "fields": fields} | keys)


def table(*signals):
    """A rule table that looks at the signals, with cuts on the grid of trained ones."""
    cuts = {"link": 0.875, "queue": 5.0, "available_capacity": 0.5, "hop_delay": 2.0, "mark": 0.25}
    cut = bisect(one_rule(signals), 0, np.array([cuts.get(name, 1.0) for name in signals]))
    return replace(cut, increment=1.0 + np.arange(len(cut)) % 3, multiple=np.linspace(0.5, 1, len(cut)))


# --- the convention of the paper


@pytest.mark.parametrize("network", [NETWORK, LINE, replace(NETWORK, switched="bytes", mean_on=60.0)])
@pytest.mark.parametrize("policy", [table("link", "queue"), Aimd(), FixedWindow(9)], ids=["table", "aimd", "window"])
def test_free_exact_headers_are_the_papers_convention(policy, network):
    free = stamping(header("nosignal-8b"), charged=False)
    assert_equal(run(policy, network), run(WithHeader(policy, free), network))


@pytest.mark.parametrize("name", SIMULATED)
def test_bytes_alone_change_nothing_but_the_time_that_they_take(name):
    """A policy that looks at nothing: free headers leave no trace, others slow the link down by their share."""
    free = run(WithHeader(FixedWindow(30), stamping(header(name), charged=False)))
    assert_equal(run(FixedWindow(30)), free)
    charged = run(WithHeader(FixedWindow(30), stamping(header(name))))
    slower = 1 + header(name).wire_bytes(1) / 1500
    assert charged["trial_delivered"][0] == pytest.approx(free["trial_delivered"][0] / slower, rel=0.01)
    assert charged["trial_utilisation"][0] == pytest.approx(free["trial_utilisation"][0], abs=0.01)


def test_a_saturated_link_carries_packets_at_the_rate_that_headers_leave():
    """50 senders' worth of window on one link: packets leave every (1 + bytes/packet) / rate."""
    network = Network(0, 2.0, 10.0, 1, math.inf, 1e9, 1.0, 0.0)
    for name, packet_bytes in (("hpcc", 1500), ("nosignal-8b", 590), ("int-md", 1500)):
        made = stamping(header(name)).on_packets(packet_bytes)
        rows = trace(WithHeader(FixedWindow(100), made), network, 3000.0)
        gaps = np.diff(rows["now_us"][200:])
        expected = (1 + header(name).wire_bytes(1) / packet_bytes) / 2.0
        np.testing.assert_allclose(gaps, expected, rtol=1e-9)


def test_headers_that_grow_cost_more_on_every_hop_and_on_the_way_back():
    """A lone packet crosses 6 hops of the line: its delay is the sum of services that grow by a record."""
    lone = Network(0, 1.0, 60.0, 1, math.inf, 1e9, 1.0, 0.0, topology=Topology("line"))
    hops = lone.topology.hops(1)
    delay = {}
    for name in ("int-md", "none"):
        rows = trace(WithHeader(FixedWindow(1), stamping(header(name))), lone, 2000.0)
        delay[name] = (rows["now_us"] - rows["sent_us"])[0]
    found = header("int-md")
    there = sum(found.wire_bytes(hop) for hop in range(1, hops + 1))
    back = hops * found.reflected_bytes(hops)
    assert delay["int-md"] - delay["none"] == pytest.approx((there + back) / 1500, rel=1e-9)


# --- what senders see


@pytest.mark.parametrize("network", [NETWORK, LINE], ids=["dumbbell", "line"])
@pytest.mark.parametrize("name", ["csig-compact-delay", "csig-wide-delay", "csig-wide-nqd", "poseidon"])
def test_decoded_delays_stay_inside_their_bucket(name, network):
    """The bucket of what the path had: same packets with and without the header, for its bytes are free."""
    made = stamping(header(name), charged=False)
    (signal,) = made.signals
    field = next(f for f in header(name).fields if f.name in ("delay", "nqd"))
    fine = field.model_dump() | {"only": None, "when": "always", "bits": 52, "encode": {"kind": "linear", "step": 1e-3}}
    seen = trace(WithHeader(Aimd(), made), network)[signal] * 1000
    exact = trace(WithHeader(Aimd(), stamping(described(fine), charged=False)), network)[signal] * 1000
    grid = field_codec(field).decode(np.arange(2 ** min(field.bits, 13), dtype=np.uint64))
    found = np.searchsorted(grid, seen + 1e-6, side="right") - 1
    np.testing.assert_allclose(grid[found], seen, rtol=1e-12)
    assert len(np.unique(found)) > 3
    assert (seen - 2e-3 <= exact).all()
    assert (exact < grid[found + 1] + 2e-3).all()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rate=st.floats(0.5, 5), senders=st.integers(1, 6), window=st.integers(1, 40), seed=st.integers(1, 100))
def test_five_bits_of_available_capacity_stay_inside_their_bucket(rate, senders, window, seed):
    network = Network(1, rate, 15.0, senders, 50.0, 500.0, 100.0, 0.0)
    compact, wide = (stamping(header(f"csig-{form}-abw"), charged=False) for form in ("compact", "wide"))
    policy = FixedWindow(window)
    few, many = (trace(WithHeader(policy, s), network, 800.0, seed)["available_capacity"] for s in (compact, wide))
    edges = np.array(compact.fields[0].coding.numbers) / (8 * 1500)
    found = np.searchsorted(edges, few * (1 + 1e-12), side="right") - 1
    np.testing.assert_allclose(edges[found], few, rtol=1e-12)
    upper = np.append(edges[1:], np.inf)[found]
    step = 8 / (8 * 1500)
    assert (many >= few - step).all()
    assert (many < upper).all()


def test_new_signals_need_no_header():
    assert compile_policy(table(*NEW)).__getstate__()[0] == "with-header"
    rows = trace(WithHeader(Aimd(), raw_stamping(NEW)), LINE, mark_above=5.0)
    for name in NEW:
        assert 0 < rows[name].max() < 1e4, name
    assert set(np.unique(rows["flows"])) <= set(range(5))
    with pytest.raises(InputError, match="the signal load is what a header makes of it"):
        compile_policy(one_rule(("load",)))


def test_raw_delay_and_queueing_time_are_those_of_the_packet():
    rows = trace(table("hop_delay", "queue_time"), NETWORK)
    known = rows["hop_delay"] > 0
    waited = rows["now_us"] - rows["sent_us"] - NETWORK.rtt
    np.testing.assert_allclose(rows["hop_delay"][known], waited[known], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rows["queue_time"][known], waited[known] - 1 / 3, rtol=1e-9, atol=1e-9)


def test_marks_tell_whether_the_queue_passed_the_step():
    """The EWMA of what the exact queue says, as DCTCP's receivers echo it packet by packet."""
    both = described(
        {"name": "q", "source": "qlen_pkts", "bits": 32, "agg": "max"},
        {"name": "m", "source": "mark", "bits": 1, "encode": "flag", "agg": "or"},
    )
    assert _core.dctcp_threshold(3.0, 24.0) == pytest.approx(0.17 * 3 * 24)
    for above, step in ((45.0, 45.0), (0.0, 0.17 * 3 * 24)):
        rows = trace(WithHeader(Aimd(), stamping(both)), NETWORK, mark_above=above)
        one = (rows["sender"] == 0) & (rows["flow"] == rows["flow"][rows["sender"] == 0][0]) & (rows["current"] == 1)
        mark, average = rows["mark"][one], 0.0
        assert 0 < mark.mean() < 1
        assert above in (0, *rows["queue"][one])  # a queue at the step is not beyond it
        for queue, found in zip(rows["queue"][one][1:], mark[1:], strict=True):
            average += (float(queue > step) - average) / 8
            assert found == pytest.approx(average, abs=1e-12)


def test_ecn_and_l4s_mark_alike_within_a_datacenter():
    rows = [trace(WithHeader(Aimd(), stamping(header(name)))) for name in ("ecn", "l4s")]
    assert rows[0]["mark"].max() > 0.5
    np.testing.assert_array_equal(rows[0]["mark"], rows[1]["mark"])


def test_hpcc_s_counters_tell_throughput_and_its_queue_is_the_queue():
    network = Network(0, 25 / 12, 20.0, 1, math.inf, 1e9, 1.0, 0.0)  # 25 Gbit/s at 1500 bytes
    made = stamping(header("hpcc"), charged=False)
    half = trace(WithHeader(FixedRate(25 / 24), made), network, 3000.0)
    assert half["link"][10:].mean() == pytest.approx(0.5, abs=0.002)
    full = trace(WithHeader(FixedWindow(120), made), network, 3000.0)
    assert full["link"][200:].mean() == pytest.approx(1.0, abs=0.002)
    assert np.median(full["queue"][200:]) == pytest.approx(120 - 20 * 25 / 12 - 1, abs=2)
    told = np.floor(full["stamp_queue"] * 1500 / 80) * 80 / 1500  # in steps of 80 bytes
    np.testing.assert_allclose(full["queue"][1:], told[1:], rtol=1e-12)


def test_ifa_and_int_see_the_link_that_hpcc_sees():
    network = Network(0, 25 / 12, 20.0, 1, math.inf, 1e9, 1.0, 0.0)
    for name, expected in (("ifa2", 0.6), ("int-md", 0.6), ("hpcc", 0.6), ("csig-wide-abwc", 0.6)):
        rows = trace(WithHeader(FixedRate(0.6 * 25 / 12), stamping(header(name), charged=False)), network, 3000.0)
        assert rows["link"][600:].mean() == pytest.approx(expected, abs=0.05), name


def test_pints_average_is_hpccs_load():
    """A queue that stays: U is 1 plus the queue over the bandwidth-delay product, within 5 % of its grid."""
    network = Network(0, 25 / 12, 30.0, 1, math.inf, 1e9, 1.0, 0.0)
    made = stamping(header("pint"), charged=False)
    rows = trace(WithHeader(FixedWindow(125), made), network, 5000.0)
    queue = 125 - 30 * 25 / 12 - 1
    expected = 1 + queue / (30 * 25 / 12)
    assert rows["load"][1000:].mean() == pytest.approx(expected, rel=0.05)
    assert len(np.unique(rows["load"][1000:])) > 1  # rounded at random
    np.testing.assert_array_equal(rows["load"], trace(WithHeader(FixedWindow(125), made), network, 5000.0)["load"])


# --- along the path


def along(agg):
    queue = {"name": "q", "source": "qlen_pkts", "bits": 32, "encode": "uint", "agg": agg}
    hops = [{"name": "n", "source": "hop_count", "bits": 8, "agg": "count"}] if agg == "sum" else []
    return stamping(described(queue, *hops, direction="two_way"), charged=False)


def test_smallest_mean_and_largest_along_the_path():
    least, mean, most = (trace(WithHeader(Aimd(), along(agg)), LINE)["queue"] for agg in ("min", "sum", "max"))
    assert (least <= mean).all()
    assert (mean <= most).all()
    assert least.mean() < mean.mean() < most.mean()


def test_the_largest_is_that_of_the_plain_signal():
    plain = trace(Aimd(), LINE)
    np.testing.assert_array_equal(trace(WithHeader(Aimd(), along("max")), LINE)["queue"], plain["queue"])


def test_one_way_headers_are_locked_at_the_receiver():
    reverse = replace(NETWORK, topology=Topology("reverse-path", reverse_senders=4))
    queue = {"name": "q", "source": "qlen_pkts", "bits": 32, "encode": "uint", "agg": "max"}
    ways = [stamping(described(queue, direction=way), charged=False) for way in ("one_way", "two_way")]
    locked, both = (trace(WithHeader(Aimd(), way), reverse)["queue"] for way in ways)
    assert (locked <= both).all()
    assert locked.mean() < both.mean()


def test_records_beyond_the_room_are_left_out_or_overwrite():
    long = replace(NETWORK, topology=Topology("line", hosts_per_router=1), senders=6)
    hops = long.topology.hops(6)
    assert hops > 2
    field = {"name": "q", "source": "qlen_pkts", "bits": 32, "agg": "per_hop"}
    stacks = [
        {"kind": "per_hop", "max_hops": 2},
        {"kind": "per_hop", "max_hops": 2, "prealloc": True, "count_bits": 8, "overflow": "modulo"},
        {"kind": "per_hop", "max_hops": hops},
    ]
    first, last, all_of_them = (
        trace(WithHeader(Aimd(), stamping(described(field, stack=stack), charged=False)), long)["queue"]
        for stack in stacks
    )
    assert (first <= all_of_them).all()
    assert (last <= all_of_them).all()
    assert (first != last).any()


# --- windows, choices, reflection


def test_windows_of_the_link_agree_in_the_mean_and_differ_in_speed():
    deviation = {}
    for window in ("rolling", "tumbling", "ewma"):
        for interval in (10.0, 100.0):
            field = {"name": "u", "source": "util", "bits": 32, "encode": {"kind": "linear", "step": "2^-31"},
                     "agg": "max", "measure": {"window": window, "interval_us": interval}}  # fmt: skip
            made = stamping(described(field), charged=False)
            rows = trace(WithHeader(FixedRate(0.4), made), NETWORK, 4000.0)
            settled = rows["now_us"] > 500
            deviation[window, interval] = rows["link"][settled].std()
            used = (np.diff(rows["now_us"][settled]) > 0).sum() / (rows["now_us"][-1] - 500) / 3.0
            assert rows["link"][settled].mean() == pytest.approx(used, abs=0.12), (window, interval)
        assert deviation[window, 100.0] < deviation[window, 10.0]


def test_one_of_headers_take_turns():
    told = header("csig-compact-abw").model_dump()
    delay = header("csig-compact-delay").field("delay").model_dump() | {"when": "always"}
    told["fields"] = [*told["fields"][:3], delay, *told["fields"][3:]]
    told["select"] = {"kind": "one_of", "by": "t", "policy": "round_robin"}
    for turns in ("round_robin", "random", "fixed"):
        told["select"]["policy"] = turns
        found = Header.model_validate(told)
        assert header_signals(found) == ("available_capacity", "hop_delay")
        rows = trace(WithHeader(FixedWindow(30), stamping(found)))
        assert rows["available_capacity"].max() > 0
        assert (rows["hop_delay"].max() > 0) == (turns != "fixed")
        one = rows["sender"] == 0
        repeats = [(np.diff(rows[name][one]) == 0).mean() for name in ("available_capacity", "hop_delay")]
        assert min(repeats) > 0.4


def test_sampled_headers_cost_and_tell_less():
    queue = {"name": "q", "source": "qlen_pkts", "bits": 2016, "agg": "max"} | {"bits": 64}
    whole, some = (
        stamping(described(queue, placement={"layer": "l2", "fixed_bits": 2048}, select=select))
        for select in ({"kind": "all"}, {"kind": "sample", "prob": 0.25})
    )
    batches = [run(WithHeader(FixedWindow(30), made)) for made in (whole, some)]
    share = 264 / 1500
    ratio = batches[1]["trial_delivered"][0] / batches[0]["trial_delivered"][0]
    assert ratio == pytest.approx((1 + share) / (1 + share / 4), rel=0.02)
    rows = trace(WithHeader(FixedWindow(30), some))
    one = rows["sender"] == 0
    assert (np.diff(rows["queue"][one]) == 0).mean() > 0.6


def test_receivers_may_reflect_seldom():
    queue = {"name": "q", "source": "qlen_pkts", "bits": 32, "agg": "max"}
    for reflect in ({"via": "ack", "every_packets": 10}, {"via": "ack", "every_us": 20.0}):
        rows = trace(WithHeader(FixedWindow(30), stamping(described(queue, reflect=reflect))))
        one = rows["sender"] == 0
        assert (np.diff(rows["queue"][one]) == 0).mean() > 0.8
    with pytest.raises(InputError, match="does not carry the signal queue"):
        WithHeader(table("queue"), stamping(described(queue, reflect=None)))


def test_bolts_drain_time_without_its_own_packets():
    told = header("bolt").model_dump() | {"switch_reply": None}
    rows = trace(WithHeader(FixedWindow(30), stamping(Header.model_validate(told))))
    assert set(np.unique(rows["queue_time"] > 0)) == {False, True}
    assert rows["queue_time"][rows["queue_time"] > 0].min() >= 62000 / (3 * 1500)
    assert rows["mark"].max() > 0


# --- as any other policy


def test_batches_mix_policies_with_different_headers_and_without():
    policies = [Aimd(), *(WithHeader(Aimd(), stamping(header(name))) for name in ("hpcc", "int-md", "ecn"))]
    engine, networks = Engine(2000.0, jobs=2), NetworkList([NETWORK, LINE])
    index, where = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    both = engine.run([compile_policy(p) for p in policies], networks, index, where, np.full(8, 9))
    for i in range(8):
        alone = engine.run([compile_policy(policies[index[i]])], networks, [0], [where[i]], [9])
        assert alone["trial_delivered"][0] == both["trial_delivered"][i]


def test_compiled_policies_keep_their_header_through_changes_and_pickles():
    compiled = compile_policy(WithHeader(FixedWindow(30), stamping(header("hpcc"))))
    networks = NetworkList([NETWORK])
    other, plain = pickle.loads(pickle.dumps(compiled)), compile_policy(FixedWindow(30))
    batch = Engine(1000.0).run([compiled, other, plain], networks, [0, 1, 2], [0, 0, 0], [1, 1, 1])
    one, same, free = batch["trial_delivered"]
    assert one == same < free
    changed = compile_policy(WithHeader(table("queue"), stamping(header("hpcc")))).with_action(0, 2, 0.9, 0.5)
    assert changed.__getstate__()[2] == stamping(header("hpcc")).content()


def test_open_flows_have_no_headers():
    flows = OpenFlows(0.5, FlowSizes("own", (1.0, 10.0), (0.0, 1.0)))
    with pytest.raises(InputError, match="open flows with headers are not simulated"):
        run(WithHeader(Aimd(), stamping(header("ecn"))), open_network(0, 1.0, 10.0, flows))


def test_damaged_descriptions_are_refused_by_the_engine():
    made = stamping(header("nosignal-8b"))
    wrong = replace(made, fields=(replace(made.fields[0], agg="with", follows=7), *made.fields[1:]))
    with pytest.raises(InputError, match=r"header nosignal-8b: .*follows one that is not there"):
        compile_policy(WithHeader(Aimd(), wrong))
