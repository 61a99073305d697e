"""The engine against queueing theory, against arithmetic by hand, and against its own traces added up differently.

Tests of distributions have a fixed seed and level `LEVEL`: they pass or fail alike on every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network, open_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.remy_plus.record import Record
from lcca.remy_plus.workload import FlowSizes, OpenFlows

LEVEL = 1e-3  # chance of a false alarm, had the seeds not been fixed
INF = math.inf
FOREVER = 1e15  # µs: on for the whole trial
AT_ONCE = 1e-6  # µs: on from the start

ALWAYS_ON = Network(0, 3.0, 25.0, 1, INF, FOREVER, AT_ONCE, 0.0)
COMING_AND_GOING = Network(0, 2.7, 25.3, 5, 40.0, 130.0, 70.0, 0.0)


def run(network: Network, policy: Policy, duration: float, seeds: int = 1, **options: bool) -> Record:
    chosen = np.arange(seeds)
    nothing = np.zeros(seeds)
    engine = Engine(duration=duration)
    return engine.run([compile_policy(policy)], NetworkList([network]), nothing, nothing, chosen, **options)


def trace(network: Network, policy: Policy, duration: float, model: Model | None = None) -> dict[str, np.ndarray]:
    """One trial with seed 0, a row per packet received."""
    model = model or Model()
    return _core.trace(
        compile_policy(policy),
        compile_network(network),
        0,
        duration=duration,
        model=model.parts(),
        script=[],
    )


def starts(network: Network, rows: dict[str, np.ndarray]) -> np.ndarray:
    """When each packet started service; nothing may be lost, or starts are missing."""
    return rows["now_us"] - network.rtt - 1 / network.link_rate


# --- queueing theory


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waiting_time_of_m_d_1(load: float) -> None:
    """Flows of one packet that come by themselves: Poisson arrivals at a constant server."""
    rate, one = 2.0, FlowSizes("one", (1.0, 1.0), (0.0, 1.0))
    network = open_network(0, rate, 5.0, OpenFlows(load, one))
    batch = run(network, FixedWindow(1), duration=40_000.0, seeds=24)
    waits = batch.floats("sender_delay_sum_us") / batch.floats("sender_delivered") - 5.0 - 1 / rate
    expected = load / (2 * rate * (1 - load))  # Pollaczek-Khinchine
    error = waits.std(ddof=1) / math.sqrt(24)
    assert error < 0.015 * expected
    assert abs(waits.mean() - expected) < stats.t.ppf(1 - LEVEL / 2, 23) * error
    in_queue = batch.floats("trial_queue_mean_packets").mean()
    assert math.isclose(in_queue, load * rate * expected, rel_tol=0.03)  # Little


def test_a_large_window_fills_the_link_and_the_queue() -> None:
    window, duration = 200, 30_000.0
    batch = run(ALWAYS_ON, FixedWindow(window), duration)
    rate, rtt = ALWAYS_ON.link_rate, ALWAYS_ON.rtt
    waiting = window - rate * rtt - 1  # one more is in service
    assert math.isclose(batch.floats("trial_utilisation")[0], 1, abs_tol=1e-6)
    assert abs(batch.floats("sender_delivered")[0] - rate * (duration - rtt)) <= 1
    assert math.isclose(batch.floats("trial_queue_mean_packets")[0], waiting, rel_tol=2e-3)
    rows = trace(ALWAYS_ON, FixedWindow(window), 1000.0)
    later = rows["now_us"] > 200
    np.testing.assert_allclose((rows["now_us"] - rows["sent_us"])[later], window / rate)
    assert set(rows["stamp_queue"][later]) <= {waiting, waiting - 1}


@pytest.mark.parametrize("window", [1, 7, 70])
def test_a_small_window_limits_throughput(window: int) -> None:
    duration = 20_000.0
    batch = run(ALWAYS_ON, FixedWindow(window), duration)
    round_trip = ALWAYS_ON.rtt + 1 / ALWAYS_ON.link_rate
    assert abs(batch.floats("sender_delivered")[0] - window * duration / round_trip) <= window + 1
    # All that waits is the first burst: its packets wait 0, 1, …, window − 1 services; then packets are spaced.
    waited = window * (window - 1) / 2 / ALWAYS_ON.link_rate
    assert math.isclose(batch.floats("trial_queue_mean_packets")[0] * duration, waited, rel_tol=1e-6, abs_tol=1e-6)


def test_a_rate_below_capacity_has_no_queue() -> None:
    rows = trace(ALWAYS_ON, FixedRate(2.9), 2000.0)
    assert len(rows["now_us"]) == pytest.approx(2.9 * (2000 - 25), abs=2)
    assert (rows["stamp_queue"] == 0).all()
    np.testing.assert_allclose(rows["now_us"] - rows["sent_us"], 25 + 1 / 3.0, rtol=1e-12)
    np.testing.assert_allclose(np.diff(rows["sent_us"]), 1 / 2.9, rtol=1e-9)


def test_a_rate_above_capacity_has_a_growing_queue() -> None:
    """The queue grows by rate − capacity; its time average is half of what it is at the end."""
    batch = run(ALWAYS_ON, FixedRate(4.0), 10_000.0)
    assert math.isclose(batch.floats("trial_queue_mean_packets")[0], (4 - 3) * 10_000 / 2, rel_tol=1e-3)
    assert math.isclose(batch.floats("trial_utilisation")[0], 1, abs_tol=1e-4)


@pytest.mark.parametrize("buffer", [INF, 12.0])
def test_little(buffer: float) -> None:
    """The mean queue is the time that packets wait, added up packet by packet, up to the end of the trial."""
    network = replace(COMING_AND_GOING, buffer=buffer)
    rows = trace(network, FixedWindow(60), 3500.0)
    begun = rows["sent_us"] < 3000
    end = rows["sent_us"][begun][(rows["now_us"] - rows["sent_us"])[begun].argmax()]  # when the queue is longest
    ours = run(network, FixedWindow(60), end).floats("trial_queue_mean_packets")[0]
    begun = rows["sent_us"] <= end
    waits = np.minimum(starts(network, rows), end) - rows["sent_us"]
    assert math.isclose(ours, waits[begun].clip(min=0).sum() / end, rel_tol=1e-9)
    assert (starts(network, rows)[begun] > end).sum() > 5  # the end matters


def test_aimd_under_random_loss() -> None:
    """Mean window c / sqrt(p): c = 1.22 for equally spaced losses (Mathis 1997), 1.31 for random ones (Ott 1996)."""
    loss = 4e-4
    network = replace(ALWAYS_ON, link_rate=100.0, rtt=20.0, loss=loss)
    batch = run(network, Aimd(), 200_000.0, seeds=8)
    assert batch.floats("sender_lost").sum() > 2000
    throughput = batch.floats("sender_delivered") / 200_000
    window = throughput.mean() * (20 + 0.01)
    assert 1.22 < window * math.sqrt(loss) < 1.36


def test_aimd_sawtooth_in_a_small_buffer() -> None:
    """The window goes between half of the most that link and buffer hold and all of it."""
    buffer = 10.0
    network = replace(ALWAYS_ON, rtt=50.0, buffer=buffer)
    full = network.link_rate * network.rtt + 1  # packets that keep the link busy
    most = full + buffer
    windows = np.linspace(most / 2, most, 10_001)
    rounds = np.maximum(windows, full) / network.link_rate  # µs that a window takes
    expected = windows.sum() / rounds.sum()
    batch = run(network, Aimd(), 400_000.0)
    assert math.isclose(batch.floats("sender_delivered")[0] / 400_000, expected, rel_tol=0.02)
    assert expected < 0.85 * network.link_rate


def test_aimd_fills_the_link_with_a_buffer_of_one_window() -> None:
    network = replace(ALWAYS_ON, buffer=100.0)
    assert run(network, Aimd(), 200_000.0).floats("trial_utilisation")[0] > 0.995


def test_aimd_flows_share_alike() -> None:
    network = Network(0, 3.0, 25.0, 4, 30.0, FOREVER, AT_ONCE, 1e-3)
    delivered = run(network, Aimd(), 300_000.0).floats("sender_delivered")
    assert delivered.std() < 0.05 * delivered.mean()


# --- conservation

_without_header = [name for name in SIGNALS if name not in ONLY_IN_HEADERS]
_signals = st.lists(st.sampled_from(_without_header), min_size=1, max_size=4, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> RuleTable:
    table = one_rule(tuple(draw(_signals)), draw(st.sampled_from(["relative", "absolute"])))
    for _ in range(draw(st.integers(0, 2))):
        cut = [draw(st.floats(0.01, 20)) for _ in table.signals]
        rule = draw(st.integers(0, len(table) - 1))
        inside = np.clip(cut, table.lower[rule] + 1e-3, table.upper[rule] - 1e-3)
        table = bisect(table, rule, inside)
    for rule in range(len(table)):
        action = draw(st.integers(-5, 60)), draw(st.floats(0, 1)), draw(st.floats(0.05, 3))
        table = table.with_action(rule, *action)
    return table


_policies = st.one_of(
    st.builds(FixedWindow, st.integers(1, 200)),
    st.builds(FixedRate, st.floats(0.05, 8)),
    st.builds(Aimd, st.floats(0.1, 4), st.floats(0.1, 0.9), st.floats(1, 50)),
    tables(),
)
_networks = st.builds(
    Network,
    id=st.integers(0, 10**6),
    link_rate=st.floats(0.2, 5),
    rtt=st.floats(0, 40),
    senders=st.integers(1, 6),
    buffer=st.sampled_from([0.0, 1.0, 7.0, 60.0, INF]),
    mean_on=st.floats(0.5, 300),
    mean_off=st.floats(1, 200),
    loss=st.sampled_from([0.0, 0.01, 0.3]),
    switched=st.sampled_from(["time", "bytes"]),
)
_quietly = settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@_quietly
@given(network=_networks, policy=_policies)
def test_packets_are_conserved(network: Network, policy: Policy) -> None:
    """sent = delivered + lost + dropped + under way, for every flow and in total."""
    end = 600.0
    batch = run(network, policy, end, keep_flows=True)
    flow = {name: batch[f"flow_{name}"] for name in ("sent", "delivered", "lost", "dropped", "end_us", "sender")}
    gone = flow["delivered"] + flow["lost"] + flow["dropped"]
    under_way = flow["sent"] - gone
    assert (under_way >= 0).all()
    held = network.buffer + 1 + network.link_rate * network.rtt + 1  # packets that queue, link and path hold
    assert under_way.sum() <= held
    longest = (network.buffer + 1) / network.link_rate + network.rtt
    assert (under_way[flow["end_us"] + longest < end] == 0).all()
    for name in ("sent", "delivered", "lost", "dropped"):
        by_sender = np.bincount(flow["sender"], weights=flow[name], minlength=network.senders)
        np.testing.assert_array_equal(batch[f"sender_{name}"], by_sender)
    assert batch["trial_sent"][0] == flow["sent"].sum()
    utilisation = batch.floats("trial_utilisation")[0]
    assert flow["delivered"].sum() <= utilisation * network.link_rate * end + 1e-6
    assert 0 <= utilisation <= 1 + 1e-9


@_quietly
@given(network=_networks, policy=_policies)
def test_stamps_and_signals_stay_in_range(network: Network, policy: Policy) -> None:
    rows = trace(network, policy, 400.0)
    assert (rows["stamp_queue"] >= 0).all()
    assert (rows["stamp_queue"] <= max(0.0, network.buffer - 1)).all()
    assert ((0 <= rows["stamp_link"]) & (rows["stamp_link"] <= 1)).all()
    for name in SIGNALS:
        assert ((0 <= rows[name]) & (rows[name] < SIGNAL_CEILING)).all(), name
    ratio = rows["rtt_ratio"]
    assert ((ratio == 0) | (ratio >= 1)).all()
    for name in ("loss", "link", "link_ewma"):
        assert (rows[name] <= 1).all(), name


def test_uses_count_every_lookup() -> None:
    """One at the start of each flow, one at each packet received (R+)."""
    table = bisect(one_rule(("rtt_ratio", "queue")), 0, np.array([1.05, 3.0]))
    batch = run(replace(COMING_AND_GOING, loss=0.01), table, 2000.0)
    lookups = batch["sender_flows"].sum() + batch["sender_delivered"].sum()
    assert sum(int(hits.sum()) for hits in batch.rule_hits) == lookups
    rows = trace(replace(COMING_AND_GOING, loss=0.01), table, 2000.0)
    at_feedback = np.bincount(rows["rule"], minlength=len(table))
    assert (np.abs(batch.rule_hits[0] - at_feedback) <= batch["sender_flows"].sum()).all()


# --- chance


def test_loss_is_binomial() -> None:
    batch = run(replace(ALWAYS_ON, loss=0.01), FixedRate(2.0), 60_000.0, seeds=8)
    lost, through = int(batch["sender_lost"].sum()), int(batch["sender_delivered"].sum())
    assert stats.binomtest(lost, lost + through, 0.01).pvalue > LEVEL
    assert lost > 5000


def flows_of(network: Network, policy: Policy, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and lengths of the first flows of each sender: (senders of all trials, first)."""
    batch = run(network, policy, 30 * first * (network.mean_on + network.mean_off), seeds=100, keep_flows=True)
    trial = np.repeat(np.arange(batch.trials), np.diff(batch["flow_begin"]))
    owner = trial * network.senders + batch["flow_sender"]
    order = np.lexsort((batch["flow_start_us"], owner))
    _, begin, count = np.unique(owner[order], return_index=True, return_counts=True)
    assert (count >= first).all()  # the trial is so long that none of them is cut off
    rows = order[begin[:, None] + np.arange(first)]
    assert batch["flow_finished"][rows].all()
    return batch["flow_start_us"][rows], batch["flow_end_us"][rows], batch["flow_length"][rows]


def is_exponential(values: np.ndarray, mean: float) -> bool:
    return bool(stats.kstest(values.ravel(), stats.expon(scale=mean).cdf).pvalue > LEVEL)


def test_on_and_off_times_are_exponential() -> None:
    network = Network(0, 1.0, 1.0, 10, 10.0, 90.0, 40.0, 0.0)
    begin, end, _ = flows_of(network, FixedRate(0.001), first=4)
    assert begin.size == 4000
    assert is_exponential(begin[:, 0], 40)
    assert is_exponential(begin[:, 1:] - end[:, :-1], 40)
    assert is_exponential(end - begin, 90)
    assert not is_exponential(end - begin, 100)  # the test would see an error of this size


def test_flow_lengths_are_rounded_up_exponentials() -> None:
    mean = 4.0
    network = Network(0, 5.0, 1.0, 10, INF, mean, 100.0, 0.0, "bytes")
    begin, end, length = flows_of(network, FixedWindow(1000), first=4)
    assert (end - begin >= 1.0 + length / 5.0 - 1e-9).all()  # until the last packet has arrived
    assert is_exponential(begin[:, 1:] - end[:, :-1], 100)
    kinds = np.arange(1, 13)
    chances = np.exp(-(kinds - 1) / mean) - np.exp(-kinds / mean)
    observed = np.array([(length == k).sum() for k in kinds] + [(length > 12).sum()])
    expected = np.append(chances, 1 - chances.sum()) * length.size
    assert length.min() == 1
    assert stats.chisquare(observed, expected).pvalue > LEVEL


# --- shares of time


def shares(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """∫ dt / (flows that are on) over each flow, by cutting time at every switch."""
    cuts = np.unique(np.concatenate([begin, end]))
    middle = (cuts[:-1] + cuts[1:]) / 2
    on = (begin[:, None] <= middle) & (middle < end[:, None])
    weights = np.diff(cuts) / np.maximum(on.sum(axis=0), 1)
    return (on * weights).sum(axis=1)


@pytest.mark.parametrize("switched", ["time", "bytes"])
def test_shares_of_time(switched: str) -> None:
    network = replace(COMING_AND_GOING, mean_off=300.0, switched=switched)
    batch = run(network, FixedWindow(20), 8000.0, keep_flows=True)
    begin, end = batch.floats("flow_start_us"), batch.floats("flow_end_us")
    expected = shares(begin, end)
    np.testing.assert_allclose(batch["flow_share_us"], expected, rtol=1e-9, atol=1e-9)
    order = np.argsort(begin)
    reached = np.maximum.accumulate(end[order])
    gaps = (begin[order][1:] - reached[:-1]).clip(min=0).sum()
    assert math.isclose(batch.floats("sender_share_us").sum(), end.max() - begin.min() - gaps, rel_tol=1e-9)
    assert gaps > 0 and len(begin) > 50


# --- the queue and the stamps, rebuilt from the trace


def test_the_queue_never_passes_the_buffer() -> None:
    network = replace(COMING_AND_GOING, buffer=15.0)
    rows = trace(network, FixedWindow(30), 3000.0)
    begin, sent = starts(network, rows), rows["sent_us"]
    waiting = np.arange(len(sent)) - np.searchsorted(begin, sent + 1e-7)  # of the packets before, when each comes
    waits = begin > sent + 1e-7
    assert waiting[waits].max() == 14  # with the newcomer the buffer is full
    assert run(network, FixedWindow(30), 3000.0).floats("sender_dropped").sum() > 100


def test_queue_stamps() -> None:
    """What is left waiting when a packet starts service."""
    rows = trace(COMING_AND_GOING, FixedWindow(20), 3000.0)
    begin, sent = starts(COMING_AND_GOING, rows), rows["sent_us"]
    served = begin < 3000 - 100  # all that came before their start has been received
    left = np.searchsorted(sent, begin - 1e-7) - np.arange(len(sent)) - 1
    tied = np.searchsorted(sent, begin + 1e-7) != np.searchsorted(sent, begin - 1e-7)
    clear = served & ~tied
    np.testing.assert_array_equal(rows["stamp_queue"][clear], left[clear])
    direct = served & (np.abs(begin - sent) < 1e-7)
    assert (rows["stamp_queue"][direct] == 0).all()
    assert clear.sum() > 1000 and left[clear].max() > 10


def utilisation(begin: np.ndarray, rate: float, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The link signal from the times at which packets started service, and where rounding leaves no doubt."""
    bucket = model.link_interval / 10
    window = np.maximum(np.floor(begin / bucket) - 9, 0) * bucket
    counted = np.arange(1, len(begin) + 1) - np.searchsorted(begin, window - 1e-9)
    doubtful = np.searchsorted(begin, window - 1e-6) != np.searchsorted(begin, window + 1e-6)
    doubtful |= np.abs(begin / bucket - np.round(begin / bucket)) < 1e-6
    if model.rplus_link_window:
        return counted / model.link_interval / rate, ~doubtful
    return np.minimum(1, counted / np.maximum((begin - window) * rate, 1)), ~doubtful


@pytest.mark.parametrize("rplus", [False, True])
@pytest.mark.parametrize("interval", [3.0, 10.0, 100.0])
def test_link_stamps(interval: float, rplus: bool) -> None:
    model = Model(interval, rplus)
    rows = trace(COMING_AND_GOING, FixedWindow(12), 3000.0, model)
    expected, clear = utilisation(starts(COMING_AND_GOING, rows), COMING_AND_GOING.link_rate, model)
    np.testing.assert_allclose(rows["stamp_link"][clear], expected[clear], rtol=1e-9)
    assert clear.mean() > 0.9
    assert np.quantile(rows["stamp_link"], 0.9) - np.quantile(rows["stamp_link"], 0.1) > 0.2


def test_available_capacity_is_what_the_link_has_left() -> None:
    rows = trace(COMING_AND_GOING, FixedWindow(12), 3000.0)
    known = (rows["current"] == 1) & (rows["rtt_ratio"] > 0)
    spare = COMING_AND_GOING.link_rate * (1 - rows["stamp_link"])
    np.testing.assert_allclose(rows["available_capacity"][known], spare[known], rtol=1e-12, atol=1e-12)


def smoothed(samples: Sequence[float], weight: float) -> np.ndarray:
    value, values = 0.0, []
    for sample in samples:
        value += weight * (sample - value)
        values.append(value)
    return np.array(values)


def test_signals_of_one_flow() -> None:
    """Each signal from what the packets themselves tell."""
    network = replace(ALWAYS_ON, loss=0.02, buffer=20.0)
    rows = trace(network, Aimd(), 2000.0)
    now, sent, sequence = rows["now_us"], rows["sent_us"], rows["sequence"]
    rtt = now - sent
    between = {
        "send_ewma": smoothed(np.diff(sent), 1 / 8),
        "receive_ewma": smoothed(np.diff(now), 1 / 8),
        "slow_receive_ewma": smoothed(np.diff(now), 1 / 256),
        "rtt_ratio": (rtt / np.minimum.accumulate(rtt))[1:],
        "rtt_difference": (rtt - np.minimum.accumulate(rtt))[1:],
        "queue": rows["stamp_queue"][1:],
        "link": rows["stamp_link"][1:],
        "queue_ewma": smoothed(rows["stamp_queue"][1:], 1 / 8),
        "link_ewma": smoothed(rows["stamp_link"][1:], 1 / 8),
        "available_capacity_ewma": smoothed(network.link_rate * (1 - rows["stamp_link"][1:]), 1 / 8),
        "loss": smoothed(np.diff(sequence, prepend=-1) > 1, 1 / 8)[1:],
    }
    between["queueing_delay"] = between["receive_ewma"] * np.diff(sequence)
    with np.errstate(divide="ignore"):  # packets sent together
        between["send_ratio"] = np.minimum(between["receive_ewma"] / between["send_ewma"], SIGNAL_CEILING - 1)
    between["slow_receive_ratio"] = between["receive_ewma"] / between["slow_receive_ewma"]
    one_way = rtt - network.rtt / 2
    between["one_way_ratio"] = (one_way / np.minimum.accumulate(one_way))[1:]
    between |= remembered(now, sent)
    in_headers = {"hop_delay", "queue_time", "flows", "mark", "capacity", "fair_rate", "xcp_feedback"}
    in_headers |= ONLY_IN_HEADERS
    assert set(between) | {"available_capacity"} | in_headers == set(SIGNALS)
    for name, values in between.items():
        np.testing.assert_allclose(rows[name][1:], values, rtol=1e-9, atol=1e-9, err_msg=name)


def remembered(now: np.ndarray, sent: np.ndarray) -> dict[str, np.ndarray]:
    """What a sender remembers of its ACKs, from the second on, ACK by ACK."""
    rtt, gaps = now - sent, np.diff(now)
    base = np.minimum.accumulate(rtt)[1:]
    queueing, counted = rtt[1:] - base, np.maximum(gaps, base / 2048)
    smallest = np.minimum.accumulate(counted)
    queued = queueing > smallest / 8
    last_queue = np.maximum.accumulate(np.where(queued, now[1:], sent[0]))
    over, share, short, long = {2: queueing[0], 8: queueing[0]}, 0.5, counted[0], counted[0]
    rows: dict[str, list[float]] = {name: [] for name in ("queued_share", "2", "8", "short", "long")}
    for i, gap in enumerate(gaps):
        for rtts in over:
            over[rtts] += min(1, gap / rtts / base[i]) * (queueing[i] - over[rtts])
            rows[str(rtts)].append(over[rtts])
        share += min(1 / 4, gap / 2 / base[i]) * (queued[i] - share)
        short, long = short + (gap - short) / 8, long + (gap - long) / 64
        for name, value in (("queued_share", share), ("short", short), ("long", long)):
            rows[name].append(value)
    mean, slow = np.array(rows["short"]), np.array(rows["long"])
    return {
        "age": (now[1:] - sent[0]) / base,
        "since_queue": (now[1:] - last_queue) / base,
        "queued_share": np.array(rows["queued_share"]),
        "slow_rtt_difference": smoothed(queueing, 1 / 128),
        "rtt_difference_2": np.array(rows["2"]),
        "rtt_difference_8": np.array(rows["8"]),
        "smallest_ack_gap": smallest,
        "smallest_gap_ratio": np.minimum(smallest / mean, 1),
        "gap_ratio": mean / slow,
    }


def test_percentiles_are_those_of_the_trace() -> None:
    batch = run(COMING_AND_GOING, FixedWindow(20), 3000.0, keep_delays=True, keep_flows=True)
    rows = trace(COMING_AND_GOING, FixedWindow(20), 3000.0)
    delays = np.sort(rows["now_us"] - rows["sent_us"])
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
        expected = delays[math.ceil(share * len(delays)) - 1]
        assert math.isclose(batch.floats(f"trial_rtt_{name}_us")[0], expected, rel_tol=1e-6)
    queue = np.sort(rows["stamp_queue"])
    assert batch["trial_queue_p99_packets"][0] == queue[math.ceil(0.99 * len(queue)) - 1]
    assert math.isclose(batch.floats("flow_delay_sum_us").sum(), delays.sum(), rel_tol=1e-9)


def _rounded_down(values: np.ndarray) -> np.ndarray:
    """As the census counts values: in single precision, and on a multiple of 2^-31 where that is coarser."""
    on_grid = np.where(values < 2**-8, np.floor(values * 2**31) / 2**31, values)
    nearest = on_grid.astype(np.float32)
    return np.where(nearest > on_grid, np.nextafter(nearest, np.float32(0)), nearest)


def test_cuts_part_the_values_of_the_trace_most_evenly() -> None:
    signals = ("rtt_ratio", "receive_ewma", "queue", "loss")
    table = bisect(one_rule(signals), 0, np.array([1.05, 1.0, 3.0, np.nan]))
    compiled, networks = compile_policy(table), NetworkList([COMING_AND_GOING])
    rows = trace(COMING_AND_GOING, table, 3000.0)
    for rule in np.flatnonzero(np.bincount(rows["rule"]) > 20):
        found = Engine(duration=3000.0).cuts(compiled, networks, [0], [0], int(rule), signals)
        used = (rows["rule"] == rule) & (rows["current"] == 1)
        for name, cut in zip(signals, found, strict=True):
            values = np.sort(_rounded_down(rows[name][used]))
            if values[0] == values[-1]:
                assert np.isnan(cut)
                continue
            distinct = np.unique(values)[1:]
            balance = np.abs(np.searchsorted(values, distinct) / len(values) - 0.5)
            reached = abs(np.searchsorted(values, np.float32(cut)) / len(values) - 0.5)
            assert cut in distinct and reached <= balance.min() + 1 / len(values)


# --- edges


@pytest.mark.parametrize(
    "change",
    [{"buffer": 0.0}, {"rtt": 0.0}, {"mean_off": 0.0}, {"loss": 1e-300}, {"buffer": 0.0, "rtt": 0.0, "mean_off": 0.0}],
    ids=str,
)
def test_edges_of_networks_run(change: dict[str, float]) -> None:
    network = replace(COMING_AND_GOING, **change)
    for policy in (FixedWindow(5), FixedRate(1.0), Aimd()):
        batch = run(network, policy, 1000.0)
        assert batch["trial_delivered"][0] > 50
        assert batch["sender_lost"].sum() == 0


def test_a_buffer_of_none_holds_none() -> None:
    network = replace(COMING_AND_GOING, buffer=0.0)
    rows = trace(network, FixedWindow(5), 1000.0)
    assert (rows["stamp_queue"] == 0).all()
    np.testing.assert_allclose(rows["now_us"] - rows["sent_us"], network.rtt + 1 / network.link_rate, rtol=1e-12)


def test_a_window_of_none_sends_none_and_is_told() -> None:
    table = one_rule(("rtt_ratio",)).with_action(0, 0, 1.0, 1.0)
    batch = run(ALWAYS_ON, table, 1000.0)
    assert batch["sender_sent"][0] == 0
    assert batch["sender_stalled"][0] == 1


def test_a_sender_that_comes_on_after_the_end() -> None:
    batch = run(replace(ALWAYS_ON, mean_off=1e9), FixedWindow(5), 10.0)
    assert batch["sender_flows"][0] == 0
    assert batch.floats("sender_share_us")[0] == 0
    assert batch.floats("sender_first_on_us")[0] == INF


@pytest.mark.parametrize("duration", [0.0, -1.0, INF, math.nan])
def test_impossible_durations(duration: float) -> None:
    with pytest.raises(ValueError, match="duration must be > 0"):
        run(ALWAYS_ON, FixedWindow(5), duration)
    with pytest.raises(ValueError, match="duration must be > 0"):
        trace(ALWAYS_ON, FixedWindow(5), duration)


def test_flows_without_pause_between_them() -> None:
    """Byte-switched senders that are never off would follow flow with flow at one instant, for ever."""
    with pytest.raises(ValueError, match="mean_off must be > 0 when byte-switched"):
        replace(COMING_AND_GOING, mean_off=0.0, switched="bytes")


@pytest.mark.full
def test_an_endless_queue_ends_with_an_error() -> None:
    """16 million packets under way are 0.8 GB."""
    with pytest.raises(ValueError, match="finite buffer"):
        run(ALWAYS_ON, FixedRate(1000.0), 1e9)
