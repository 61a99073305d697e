"""Long flows over a link whose rate follows steps: what theory says of windows, queues and shares."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from lcca.gym_envs.ns3.host import run_long_plan
from lcca.gym_envs.ns3.long_flows import Bottleneck, LongFlow, LongTrial
from lcca.gym_envs.ns3.long_plan import long_plan, run_long_trial, run_long_trials
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.families import FAMILIES, HAND_DESIGNED
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

pytestmark = pytest.mark.usefixtures("ns3")

PACKET_MB = 0.012  # megabits of a packet
LINK = Bottleneck(((0.0, 12.0),), rtt_ms=20.0, buffer_packets=40)
BDP = 20  # packets


def trial(*policies, link=LINK, duration=6.0, windows=((2.0, 6.0),), starts=(0.0, 0.0), **changes):
    flows = tuple(LongFlow(baseline(p) if isinstance(p, str) else p, s) for p, s in zip(policies, starts, strict=False))
    return LongTrial(link, flows, duration, windows, **changes)


def run(*policies, **changes):
    return run_long_trial(trial(*policies, **changes))


def mbps(counts, seconds):
    return counts.bytes * 8e-6 / seconds


# --- the link


def test_a_step_of_the_rate_doubles_what_a_window_above_bdp_gets():
    link = replace(LINK, rates=((0.0, 12.0), (3.0, 24.0), (5.0, 6.0)))
    windows = ((1.0, 3.0), (3.0, 5.0), (5.0, 6.0))
    counts = run(FixedWindow(48), link=link, windows=windows).windows[0]  # from 7 to 38 wait
    assert [c.dropped for c in counts] == [0, 0, 0]
    for found, (begin, end), rate in zip(counts, windows, (12.0, 24.0, 6.0), strict=True):
        assert found.packets * PACKET_MB == pytest.approx(rate * (end - begin), abs=PACKET_MB)  # within one packet
        assert found.bytes == found.packets * 1500


def test_what_is_left_of_a_packet_goes_on_at_the_new_rate():
    # Packets take 1 ms from 0.0626 ms on (two headers' transmissions and host links before); see the first departure.
    alone = run(FixedWindow(60), windows=((0.0, 1.0),), duration=1.0).windows[0][0].first_s
    change = alone - 0.0004  # with 0.4 ms of the first packet to go
    link = replace(LINK, rates=((0.0, 12.0), (change, 6.0)))
    halved = run(FixedWindow(60), link=link, windows=((0.0, 1.0),), duration=1.0).windows[0][0].first_s
    assert halved == pytest.approx(change + 0.0008, abs=1e-8)


def test_no_more_leaves_than_the_link_carries_and_what_comes_leaves_or_is_dropped():
    link = replace(LINK, rates=((0.0, 12.0), (1.3, 48.0), (2.1, 7.0), (3.3, 24.0)))
    windows = (*((i * 0.5, i * 0.5 + 0.5) for i in range(8)), (0.0, 4.0))
    result = run("bic", FixedWindow(90), link=link, duration=4.0, windows=windows)
    for (begin, end), *flows in zip(windows, *result.windows, strict=True):
        carried = sum(f.packets for f in flows) * PACKET_MB
        assert carried <= link.megabits(begin, end) + PACKET_MB
    whole = [flow[-1] for flow in result.windows]
    inside = sum(f.sent - f.dropped - f.packets for f in whole)
    assert 0 <= inside <= link.buffer_packets + 1
    assert sum(f.sent for f in whole) == result.packets and sum(f.dropped for f in whole) > 0


@pytest.mark.parametrize("window", [50, BDP + LINK.buffer_packets + 1], ids=["some-waiting", "full-buffer"])
def test_delay_and_rtt_of_a_window_are_what_little_says(window):
    # W packets over 12 Mb/s take W ms a round; all but propagation is spent at the link. With a full buffer that is
    # (buffer + 1) x 12,000 bits / rate + propagation.
    counts = run(FixedWindow(window)).windows[0][0]
    assert counts.rtt_ms == pytest.approx(window, rel=1e-6) and counts.dropped == 0
    assert counts.delay_ms == pytest.approx(window - 10.0, abs=0.05)  # acknowledgements take 0.036 ms
    assert counts.last_s - counts.first_s == pytest.approx((counts.packets - 1) * 1e-3, rel=1e-6)


def test_a_packet_more_does_not_fit():
    assert run(FixedWindow(BDP + LINK.buffer_packets + 2)).windows[0][0].dropped > 0


def test_random_loss_has_the_throughput_of_theory():
    # Reno under loss p, each packet acknowledged: sqrt(3/2p) packets a round (Mathis et al. 1997).
    link = replace(LINK, rtt_ms=60.0, loss=0.01)
    counts = run("newreno", link=link, duration=60.0, windows=((5.0, 60.0),)).windows[0][0]
    assert counts.dropped == 0 and counts.rtt_ms == pytest.approx(61.0, abs=3.0)
    assert counts.packets == pytest.approx(math.sqrt(150) * 55_000 / counts.rtt_ms, rel=0.25)


# --- flows


def test_newreno_with_a_buffer_of_a_bdp_never_lets_the_link_go_idle():
    # Half of BDP + buffer is a BDP (Appenzeller et al. 2004, section 2).
    link = replace(LINK, buffer_packets=BDP)
    counts = run("newreno", link=link, duration=20.0, windows=((5.0, 20.0),)).windows[0][0]
    assert mbps(counts, 15.0) == pytest.approx(12.0, rel=2e-3)
    loss = counts.dropped / counts.sent  # one in 3/8 W² (Mathis et al. 1997), less what grows until it is noticed
    assert 0.6 < loss / (8 / (3 * (2 * BDP + 1) ** 2)) < 1.1


@pytest.mark.slow
def test_newreno_with_a_smaller_buffer_has_the_throughput_of_theory():
    # Utilisation of a sawtooth from W/2 to W, W = (1 + b) BDP: the mean over time of min(1, window / BDP).
    b = 0.25
    link = Bottleneck(((0.0, 24.0),), 40.0, int(80 * b))
    counts = run("newreno", link=link, duration=40.0, windows=((10.0, 40.0),)).windows[0][0]
    low = (1 + b) / 2
    fill, full = 1 - low, (1 + b) ** 2 / 2 - 0.5  # time in RTTs below the BDP, and above, where RTTs are longer
    theory = ((1 - low**2) / 2 + full) / (fill + full)
    assert mbps(counts, 30.0) / 24.0 == pytest.approx(theory, abs=0.03)


@pytest.mark.slow
def test_two_newreno_flows_share():
    one, two = run("newreno", "newreno", duration=60.0, windows=((10.0, 60.0),), starts=(0.0, 0.05)).windows
    assert mbps(one[0], 50) + mbps(two[0], 50) == pytest.approx(12.0, rel=2e-3)
    assert mbps(one[0], 50) == pytest.approx(6.0, rel=0.2)


def test_each_flow_has_its_own_policy_and_start():
    windows = ((1.0, 3.0), (4.0, 8.0))
    first, second = run("cubic", FixedWindow(4), duration=8.0, windows=windows, starts=(0.0, 3.0)).windows
    assert mbps(first[0], 2.0) == pytest.approx(12.0, rel=0.01)
    nothing = second[0]
    assert (nothing.packets, nothing.sent) == (0, 0) and math.isnan(nothing.delay_ms) and math.isnan(nothing.first_s)
    assert second[1].packets == pytest.approx(4 * 4000 / second[1].rtt_ms, rel=0.01)  # Little
    assert mbps(first[1], 4.0) + mbps(second[1], 4.0) == pytest.approx(12.0, rel=0.01)


# --- handshakes and timeouts


SENT = 2  # where a window's count of packets that came to the link is


def sent_beside(window, *, starts, duration, windows, early=False, policy="newreno"):
    """Return how many packets a flow sends in windows beside a fixed window over a queue without end."""
    link = Bottleneck(((0.0, 12.0),), 10.0, 100_000)
    made = trial(FixedWindow(window), policy, link=link, duration=duration, windows=windows, starts=starts)
    plan = long_plan(made)
    plan["options"]["late_handshakes"] = not early
    return [row[SENT] for row in run_long_plan(plan)["windows"][len(windows) :]]


@pytest.mark.parametrize("rtt", [0.41, 1.5], ids=["beyond-the-smallest-timeout", "beyond-the-timeout-of-a-syn"])
def test_a_late_flow_knows_the_queue_from_its_handshake(rtt):
    # An RTT for the handshake, then slow start from ten packets, and nothing is sent again: the first timeout is three
    # RTTs (RFC 6298, section 2).
    ends = [3.0 + rtt * 0.99 * i for i in range(5)]
    windows = tuple(pairwise(ends))
    assert sent_beside(round(rtt * 1000), starts=(0.0, 3.0), duration=10.0, windows=windows) == [0, 10, 20, 40]


def test_a_handshake_that_is_answered_twice_leaves_a_policys_pace_alone():
    # The SYN is sent again after 1 s; the answer to that comes 1 s after the first packet.
    windows = tuple(pairwise(4.6 + 0.5 * i for i in range(8)))
    sent = sent_beside(1500, starts=(0.0, 3.0), duration=9.0, windows=windows, policy="fixed-rate:0.02")
    assert sent == pytest.approx([10] * 7, abs=1)


def test_a_flow_alone_shakes_hands_before_the_trial_whenever_it_begins():
    def packets(start):
        windows = ((start, start + 3.0), (start + 3.0, start + 7.0))
        return [c.packets for c in run("cubic", duration=8.0, starts=(start,), windows=windows).windows[0]]

    assert packets(0.5) == pytest.approx(packets(0.0), abs=1)


def test_a_doubled_timeout_stays_until_an_rtt_is_measured():
    # Begun as if the queue were empty, the flow times out once, at 200 ms; acknowledgements of what was sent again
    # measure no RTT. Then it grows by a packet an RTT from half its first window.
    first, last = sent_beside(500, starts=(0.0, 3.0), duration=24.0, windows=((3.0, 3.4), (22.0, 24.0)), early=True)
    assert first == 10 + 1
    rtt = 0.5 + 0.025  # s; its own packets wait too
    assert last == pytest.approx((5 + 19 / rtt) * 2 / rtt, rel=0.1)


def test_timeouts_double_while_nothing_comes_and_begin_anew_after_an_rtt_was_measured():
    # Outages of 5 s: sent again after 0.2 s, then 0.4, 0.8 and 1.6 s later (RFC 6298, section 5.5), in both.
    link = Bottleneck(((0.0, 12.0), (2.0, 1e-6), (7.0, 12.0), (12.0, 1e-6), (17.0, 12.0)), 10.0, 100_000)
    windows = ((2.05, 6.95), (12.05, 16.95))
    counts = run("vegas", link=link, duration=18.0, windows=windows).windows[0]
    assert [c.sent for c in counts] == [4, 4]


def test_constants_are_the_stock_ones():
    from lcca.ns3 import registered_controls

    known = registered_controls()
    for name in HAND_DESIGNED:
        if not name.startswith(("dctcp", "bbr-")):
            (_, control), *_ = long_plan(trial(name))["policies"]
            stock = known[control["type"].replace("lcca_ns3::StockBbr", "ns3::TcpBbr")]
            own = {key: stated(value) for key, value in control["attributes"].items()}
            assert own == {key: stated(value) for key, value in stock.items() if key != "Stream"}, name


def stated(text):
    """What ns-3 reads: a number (of ns) or a word."""
    try:
        return float(text.removesuffix("ns"))
    except ValueError:
        return text.lower().replace("-", "_")


def test_each_control_fills_the_link():
    names = [name for name in HAND_DESIGNED if not FAMILIES[name].markable]
    for name in names:
        found = mbps(run(name, duration=4.0, windows=((0.0, 4.0),)).windows[0][0], 4.0)
        assert (0.2 if name == "lp" else 0.8) * 12 < found <= 12.0, name  # TCP-LP gives way to its own queue


@pytest.mark.parametrize("threshold", [10, 20, 40])
def test_dctcp_keeps_its_queue_below_where_marks_begin(threshold):
    # Alizadeh et al., SIGCOMM 2010, section 3.3: one flow's queue goes from K + 1 down by ½ √(2 (C·RTT + K)) and back.
    link = replace(LINK, buffer_packets=100, mark_packets=threshold)
    counts = run("dctcp", link=link, duration=12.0, windows=((4.0, 12.0),)).windows[0][0]
    swing = math.sqrt(2 * (BDP + threshold)) / 2
    waiting_ms = counts.delay_ms - 10.0 - 1.0  # a packet takes a ms
    assert waiting_ms == pytest.approx(threshold + 1 - swing / 2, abs=1.0)
    assert counts.dropped == 0 and mbps(counts, 8.0) == pytest.approx(12.0, rel=1e-3)


def test_marks_begin_where_they_did_after_the_rate_has_changed():
    link = replace(LINK, rates=((0.0, 12.0), (4.0, 48.0)), buffer_packets=200, mark_packets=40)
    counts = run("dctcp", link=link, duration=12.0, windows=((6.0, 12.0),)).windows[0][0]
    waiting = (counts.delay_ms - 10.0) * 4 - 1  # 4 packets a ms
    swing = math.sqrt(2 * (4 * BDP + 40)) / 2
    assert waiting == pytest.approx(40 + 1 - swing / 2, abs=2.0)
    assert mbps(counts, 6.0) == pytest.approx(48.0, rel=1e-2)


def test_a_control_that_heeds_no_marks_does_as_without():
    flows = [run("cubic", link=link, duration=12.0, windows=((0.0, 12.0),)) for link in (LINK, marking(LINK))]
    assert flows[0].windows == flows[1].windows and flows[0].windows[0][0].dropped > 0


def marking(link):
    return replace(link, mark_packets=10)


def test_timestamps_cost_no_bytes():
    counts = run("ledbat").windows[0][0]
    assert counts.bytes == 1500 * counts.packets


# --- runs


def test_jobs_do_not_change_results_and_a_failure_is_alone():
    lossy = replace(LINK, loss=0.01)
    trials = [trial("bbr", duration=3.0, windows=((0.0, 3.0),), link=lossy, seed=s) for s in (1, 2)]
    trials.append(trial("ns3::TcpBic:Beta=x", duration=3.0, windows=((0.0, 3.0),)))
    one, two = (run_long_trials(trials, jobs) for jobs in (1, 2))
    assert [replace(r, cpu_s=0.0) for r in one] == [replace(r, cpu_s=0.0) for r in two]
    assert one[0].windows != one[1].windows and one[0].cpu_s > 0 and one[0].events > one[0].packets > 1000
    assert (one[2].windows == () and "is not properly formatted" in one[2].error) or "failed" in one[2].error


def test_what_is_compiled_already_runs_too():
    simulator = Ns3(jobs=1)
    for policy in (FixedWindow(10), baseline("yeah")):
        assert run(simulator.compile(policy)).windows == run(policy).windows


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("ns3::TcpBik", r"no congestion control 'ns3::TcpBik' \(did you mean 'ns3::TcpBic'\?\)"),
        ("ns3::TcpBic:Bata=1", r"ns3::TcpBic has no attribute 'Bata' \(did you mean 'Beta'\?\)"),
        ("dctcp", "dctcp: the link is drop-tail and marks nothing"),
        ("dctcp:mark_threshold=9", "dctcp: the link is drop-tail"),
        ("cubic:min_rto=500", "cubic: min_rto: the flows of a trial have it in common; leave it out"),
    ],
)
def test_bad_policies_are_told(policy, message):
    with pytest.raises(InputError, match=message):
        run(policy)


def test_the_link_says_when_it_marks():
    with pytest.raises(InputError, match="dctcp: the link says from when on it marks"):
        run("dctcp:mark_threshold=9", link=marking(LINK))


def test_headers_are_refused():
    with pytest.raises(InputError, match="packets have no headers of their own"):
        run(WithHeader(FixedWindow(5), stamping(header("hpcc"))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": ()}, "rates: times must begin at 0 s"),
        ({"rates": ((0.0, 1.0), (0.0, 2.0))}, "rates: times must begin at 0 s and increase"),
        ({"rates": ((0.0, 0.0),)}, "rates: must be > 0"),
        ({"rtt_ms": 0.0}, "rtt_ms"),
        ({"buffer_packets": 0}, "buffer_packets"),
        ({"loss": 1.0}, "loss"),
        ({"mark_packets": 0}, "mark_packets"),
    ],
)
def test_bad_links_are_told(change, message):
    with pytest.raises(InputError, match=message):
        replace(LINK, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"windows": ((2.0, 7.0),)}, "windows_s"),
        ({"windows": ()}, "windows_s"),
        ({"starts": (6.0,)}, "start_s"),
        ({"duration": 0.0}, "duration_s"),
        ({"min_rto_ms": 0.0}, "min_rto_ms"),
    ],
)
def test_bad_trials_are_told(change, message):
    with pytest.raises(InputError, match=message):
        trial("cubic", **change)
