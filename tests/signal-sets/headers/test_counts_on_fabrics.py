"""Counts and ranks of flows that a fabric's ports write, against what follows from the packets that left the port."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.engine import Model
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, compiled
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, compile_network
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.switches.markers import marking
from lcca.signal_sets.headers.header import Header, header
from lcca.signal_sets.headers.simulated import stamping

SENDERS = 40
PAYLOAD, FRAME_NS, LINK_NS = 1000, 1056 * 0.08, 1000.0
INTERVAL_US = 7.3
WATCHER = """
class Watcher:
    signals = {signals}
    flows = []

    def start(self):
        self.flow = len(self.flows)
        self.flows.append(self)
        return {window}, 0

    def on_ack(self, ack):
        with open({log!r}, "a") as log:
            print(self.flow, ack.now, ack.sequence, *(getattr(ack, name) for name in self.signals), file=log)
        return {window}, 0
"""


def measured(name: str, field: str, **keys: object) -> Header:
    """Return a header of the catalogue, one of whose fields is measured in another way."""
    whole = header(name).model_dump(mode="json")
    for each in whole["fields"]:
        if each["name"] == field:
            each["measure"] |= {"window": "aged", "interval_us": INTERVAL_US, "interval_rtts": None, **keys}
    return Header.model_validate(whole)


def fine(keys: dict[str, object], **measure: object) -> Header:
    """Return `fair-share` with fractions of flows, with keys of a header and of how flows are measured."""
    whole = measured("fair-share", "flows", **measure).model_dump(mode="json")
    whole["fields"][1] |= {"bits": 32, "encode": {"kind": "linear", "step": "2^-20"}}
    return Header.model_validate(whole | keys)


def watched(tmp_path, used: Header, signals: tuple[str, ...], flows: FabricFlows, fabric, window=20) -> np.ndarray:
    """Return what every ACK said, in the order of departures: flow, time (µs), number of the packet, signals."""
    file, log = tmp_path / "watcher.py", tmp_path / "log"
    file.write_text(WATCHER.format(signals=signals, window=window, log=str(log)))
    policy = WithHeader(load(f"{file}:Watcher").policy, stamping(used))
    log.write_text("")  # it was rehearsed
    FabricEngine(policy, settings=FabricSettings(fct_at_ack=True)).run(fabric, flows)
    rows = np.loadtxt(log)
    return rows[np.argsort(rows[:, 1], kind="stable")]


def many_to_one(seed: int) -> FabricFlows:
    """Return flows of whole packets, each of its own sender, to the last host; they start one by one."""
    rng = np.random.default_rng(seed)
    size = PAYLOAD * rng.integers(1, 120, SENDERS)
    start = np.sort(rng.uniform(1, 60e3, SENDERS))
    start[0] = 0
    return FabricFlows(np.arange(SENDERS), np.full(SENDERS, SENDERS), size, start)


def told(rows: np.ndarray) -> np.ndarray:
    """Where signals are known: a flow's first ACK starts its clocks, as its second does if it began at time 0."""
    return rows[:, 2] > 1


def departures(rows: np.ndarray, used: Header) -> tuple[np.ndarray, np.ndarray]:
    """Return flows and times (µs) of the packets as they leave the one port: ACKs come back a fixed time later."""
    first = (FRAME_NS + 0.08 * used.wire_bytes() + LINK_NS) / 1e3
    return rows[:, 0].astype(int), rows[:, 1] - rows[0, 1] + first


def lately(flow: np.ndarray, time: np.ndarray, interval: float):
    """Yield for every packet the latest packets, by flow, of the interval at hand and the one before."""
    latest: dict[int, int] = {}
    turns = np.floor(time / interval)
    for i in range(len(flow)):
        latest[flow[i]] = i
        yield i, [at for at in latest.values() if turns[at] >= turns[i] - 1]


def exact_counts(flow: np.ndarray, time: np.ndarray, interval: float = INTERVAL_US) -> np.ndarray:
    return np.array([len(seen) for _, seen in lately(flow, time, interval)])


def exact_ranks(flow: np.ndarray, time: np.ndarray, left: np.ndarray, interval: float = INTERVAL_US) -> np.ndarray:
    return np.array([sum(0 < left[at] < left[i] for at in seen) for i, seen in lately(flow, time, interval)])


def said_left(flows: FabricFlows, flow: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return what packets say is left: the next kB of 0, 1, 1.06, 1.06², …"""
    grid = np.concatenate([[0.0], 1.06 ** np.arange(255)])
    return grid[np.searchsorted(grid, (flows.size_bytes[flow] - PAYLOAD * (number + 1)) / 1e3)]


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_counts_are_of_flows_with_packets_in_two_intervals(tmp_path, seed: int) -> None:
    used = measured("fair-share", "flows", memory_bits=0)
    rows = watched(tmp_path, used, ("flows", "capacity"), many_to_one(seed), star(SENDERS + 1))
    exact = exact_counts(*departures(rows, used))
    assert exact.max() > 12
    np.testing.assert_array_equal(rows[told(rows), 3], exact[told(rows)])
    np.testing.assert_allclose(rows[told(rows), 4], 100e3 / 8 / 1056, rtol=1e-3)  # packets/µs


@pytest.mark.parametrize("seed", [1, 2])
def test_exact_ranks_are_of_flows_with_fewer_bytes_left(tmp_path, seed: int) -> None:
    used, flows = measured("rank", "rank", memory_bits=0), many_to_one(seed)
    rows = watched(tmp_path, used, ("rank",), flows, star(SENDERS + 1))
    flow, time = departures(rows, used)
    exact = exact_ranks(flow, time, said_left(flows, flow, rows[:, 2]))
    assert exact.max() > 8
    np.testing.assert_array_equal(rows[told(rows), 3], exact[told(rows)])


@pytest.mark.slow
@pytest.mark.parametrize(("refresh", "delay"), [(11.0, 0.0), (0.0, 4.5), (11.0, 4.5)])
def test_late_counts_are_earlier_ones(tmp_path, refresh: float, delay: float) -> None:
    """Of the packets that left since the latest reading, what the first said that is `delay` old; none before it."""
    used = measured("fair-share", "flows", memory_bits=0, refresh_us=refresh, delay_us=delay)
    rows = watched(tmp_path, used, ("flows",), many_to_one(1), star(SENDERS + 1))
    flow, time = departures(rows, used)
    exact, readings, said, turn = exact_counts(flow, time), [], np.zeros(len(rows)), -1.0
    for i, now in enumerate(time):
        if not refresh or np.floor(now / refresh) != turn:
            readings.append((now + delay, exact[i]))
        turn = np.floor(now / refresh) if refresh else turn
        said[i] = max((each for each in readings if each[0] <= now + 1e-9), default=(0, 0))[1]
    known = told(rows) & (said > 0)
    assert known.sum() > 1000
    assert (said != exact)[known].mean() > 0.2
    assert np.mean(rows[known, 3] == said[known]) > 0.999  # times in the log are rounded


def test_lost_stamps_leave_the_number_before(tmp_path) -> None:
    """A lone flow by 100 Gb/s: a third of its packets bring an estimate of their own, by the binomial."""
    used = fine({"stamp_loss": 2 / 3}, memory_bits=0, shift=5, shift_noise=1)
    lone = FabricFlows(np.array([0]), np.array([1]), np.array([6000 * PAYLOAD]), np.array([0.0]))
    rows = watched(tmp_path, used, ("flows",), lone, star(2))
    own = 1 + (np.diff(rows[2:, 3]) != 0).sum()
    assert abs(own - len(rows) / 3) < 4 * np.sqrt(len(rows) * 2 / 9)
    values = np.unique(rows[2:, 3])
    assert values.mean() == pytest.approx(6, abs=4 / np.sqrt(own))
    assert values.std() == pytest.approx(1, rel=4 / np.sqrt(2 * own))


def test_sampled_headers_tell_and_cost_in_a_share_of_the_packets(tmp_path) -> None:
    """A lone flow fills its link: packets with an estimate of their own, and those that take longer, are the same."""
    keys = {"select": {"kind": "sample", "prob": 0.25}, "placement": {"layer": "l3", "fixed_bits": 2000}}
    used = fine(keys, memory_bits=0, shift=5, shift_noise=1)
    lone = FabricFlows(np.array([0]), np.array([1]), np.array([6000 * PAYLOAD]), np.array([0.0]))
    rows = watched(tmp_path, used, ("flows",), lone, star(2), window=100)[1000:]
    of, own = len(rows) - 1, (np.diff(rows[:, 3]) != 0).sum()
    assert abs(own - 0.25 * of) < 4 * np.sqrt(of * 0.25 * 0.75)
    later_ns = 1e3 * (rows[-1, 1] - rows[0, 1]) - of * FRAME_NS
    assert later_ns / (0.08 * used.wire_bytes()) == pytest.approx(own, abs=2)


@pytest.mark.parametrize(("bias", "noise"), [(0.5, 0.0), (-0.25, 0.0), (-0.25, 0.1), (0.0, 0.15)])
def test_estimates_are_off_by_shares_of_the_count(tmp_path, bias: float, noise: float) -> None:
    used = fine({}, memory_bits=0, bias=bias, noise=noise)
    rows = watched(tmp_path, used, ("flows",), many_to_one(1), star(SENDERS + 1))
    exact, said = exact_counts(*departures(rows, used))[told(rows)], rows[told(rows), 3]
    if not noise:
        np.testing.assert_array_equal(said, (1 + bias) * exact)
        return
    error = said / exact - 1
    assert error.mean() == pytest.approx(bias, abs=4 * noise / np.sqrt(len(error)))
    assert error.std() == pytest.approx(noise, rel=4 / np.sqrt(2 * len(error)))
    assert abs(np.corrcoef(error[1:], error[:-1])[0, 1]) < 4 / np.sqrt(len(error))


def test_a_field_of_few_bits_says_its_largest_code_at_most(tmp_path) -> None:
    whole = measured("fair-share", "flows", memory_bits=0).model_dump(mode="json")
    whole["fields"][1]["bits"] = 3
    used = Header.model_validate(whole)
    rows = watched(tmp_path, used, ("flows",), many_to_one(1), star(SENDERS + 1))
    exact = exact_counts(*departures(rows, used))
    assert exact.min() < 7 < exact.max()
    np.testing.assert_array_equal(rows[told(rows), 3], np.minimum(exact, 7)[told(rows)])


def test_a_full_map_says_what_it_can_count_to(tmp_path) -> None:
    """No bit of m is 0, which counts as one: m ln m, of however many flows more (of 40, but for chances of 10⁻¹¹)."""
    size, start = np.full(SENDERS, 60 * PAYLOAD), np.zeros(SENDERS)
    together = FabricFlows(np.arange(SENDERS), np.full(SENDERS, SENDERS), size, start)
    rows = watched(tmp_path, fine({}, memory_bits=4), ("flows",), together, star(SENDERS + 1))[200:]
    np.testing.assert_allclose(rows[:, 3], 4 * math.log(4), atol=2**-20)


def test_a_map_of_bits_counts_within_the_error_of_linear_counting(tmp_path) -> None:
    """Standard error √(m (eᵗ − t − 1)) of n = t m flows (Whang et al. 1990, equation 10)."""
    for bits in (64, 1024):
        used = measured("fair-share", "flows", memory_bits=bits)
        rows = watched(tmp_path, used, ("flows",), many_to_one(3), star(SENDERS + 1))
        exact = exact_counts(*departures(rows, used))
        spread = np.sqrt(bits * (np.exp(exact / bits) - exact / bits - 1))
        error = (rows[:, 3] - exact)[told(rows)]
        assert np.sqrt(np.mean((error / spread[told(rows)]) ** 2)) < 2
        assert np.abs(error).mean() < {64: 1.5, 1024: 0.3}[bits] < exact.mean() / 5


def test_cells_rank_by_powers_of_two(tmp_path) -> None:
    """With so many cells that no two flows share one, a rank is the number of flows in smaller buckets."""
    used, flows = measured("rank", "rank", memory_bits=1 << 20), many_to_one(1)
    rows = watched(tmp_path, used, ("rank",), flows, star(SENDERS + 1))
    flow, time = departures(rows, used)
    left = said_left(flows, flow, rows[:, 2]) * 1e3
    bucket = np.where(left > 0, np.maximum(np.floor(np.log2(np.maximum(left, 1) / 4096)), -1) + 2, 0)
    exact = exact_ranks(flow, time, bucket)
    assert exact.max() > 8
    np.testing.assert_array_equal(rows[told(rows), 3], exact[told(rows)])


def test_few_cells_rank_about_as_exact_counts_do(tmp_path) -> None:
    """Flows in a bucket pass for equal, so that ranks are too small by some of them, and flows share cells."""
    flows, ranks = many_to_one(4), {}
    for bits in (0, 1024):
        used = measured("rank", "rank", memory_bits=bits)
        ranks[bits] = watched(tmp_path, used, ("rank",), flows, star(SENDERS + 1))[:, 3]
    assert np.corrcoef(ranks[0], ranks[1024])[0, 1] > 0.8
    assert 0 < np.mean(ranks[0] - ranks[1024]) < ranks[0].mean() / 3


# --- on a leaf-spine fabric, with a policy that looks


LEAF_SPINE = leaf_spine(tors=2, hosts_per_tor=3, spines=2)
LOOKED_AT = {
    "ecn": ("mark", 0.05),
    "hpcc": ("link", 0.9),
    "csig-compact-abw": ("available_capacity", 1e5),
    "csig-wide-delay": ("hop_delay", 2.0),
    "rcp-16": ("fair_rate", 1e5),
    "fair-share": ("flows", 3.0),
    "fullest": ("load", 0.95),
    "rank": ("rank", 2.0),
}


def by_limit(signal: str, limit: float) -> RuleTable:
    """Return a table that adds a packet at every ACK below a limit, and takes a tenth away from it on."""
    edges, steps = np.array([0.0, limit, SIGNAL_CEILING])[:, None], np.array([1.0, 0.0])
    return RuleTable((signal,), edges[:-1], edges[1:], steps, np.array([1.0, 0.9]), np.zeros(2))


def random_flows(seed: int) -> FabricFlows:
    rng = np.random.default_rng(seed)
    src = rng.integers(6, size=60)
    size, start = (10 ** rng.uniform(3, 6, 60)).astype(int), np.sort(rng.uniform(0, 300e3, 60))
    return FabricFlows(src, (src + rng.integers(1, 6, 60)) % 6, size, start)


def looked_at(name: str, seed: int = 1) -> dict[str, np.ndarray]:
    """Return what a run recorded, and `signal`: the policy's at every ACK."""
    signal, limit = LOOKED_AT[name]
    settings = FabricSettings(marker=marking("step", k_bytes=30e3))
    policy = compiled(WithHeader(by_limit(signal, limit), stamping(header(name))), settings)
    record = FabricEngine(replace(policy, keep_every=1), settings=settings).run(LEAF_SPINE, random_flows(seed))
    return dict(record) | {"signal": record["look_up_values"][:, SIGNALS.index(signal)]}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_values_are_in_their_ranges_and_move(name: str) -> None:
    record = looked_at(name)
    assert np.isfinite(record["flow_fct_ns"]).all()
    low, high = {
        "mark": (0, 1),
        "link": (0, 2),  # differences of counters in steps
        "available_capacity": (0, 200 / 8e-3 / 1056),  # packets/µs of the fastest link
        "hop_delay": (0, record["port_most_queued_bytes"].max() * 0.08e-3 + 1),  # µs
        "fair_rate": (0, 100 / 8e-3 / 1056),
        "flows": (0, 60),
        "load": (0, 32),
        "rank": (0, 59),
    }[LOOKED_AT[name][0]]
    seen = record["signal"]
    assert low <= seen.min() and seen.max() <= high
    assert len(np.unique(seen)) > 3
    if name == "rank":
        assert seen.max() == round(seen.max()) >= 2


@pytest.mark.parametrize("name", ["fair-share", "fullest", "rank"])
def test_threads_change_no_bit(name: str) -> None:
    alone = [looked_at(name, seed) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda seed: looked_at(name, seed), range(6)))
    for one, other in zip(alone, together, strict=True):
        for column, values in one.items():
            np.testing.assert_array_equal(values, other[column], err_msg=column)


@pytest.mark.parametrize("memory_bits", [0, 1024])
def test_a_lone_flow_is_one_flow_of_rank_none(tmp_path, memory_bits: int) -> None:
    lone = FabricFlows(np.array([0]), np.array([3]), np.array([100 * PAYLOAD]), np.array([10.0]))
    for name, signal, number in (("fair-share", "flows", 1), ("rank", "rank", 0)):
        used = measured(name, signal, memory_bits=memory_bits)
        rows = watched(tmp_path, used, (signal,), lone, LEAF_SPINE)
        assert set(rows[1:, 3]) == {number}


def test_utilisation_is_that_of_a_full_link_and_its_queue(tmp_path) -> None:
    """Two windows of 80 packets fill the link, and what is not on the way waits: U = 1 + queue/(C·T)."""
    two = FabricFlows(np.array([0, 1]), np.array([2, 2]), np.full(2, 2000 * PAYLOAD), np.array([0.0, 10.0]))
    rows = watched(tmp_path, header("fullest"), ("load", "queue"), two, star(3), window=80)
    later = rows[len(rows) // 2 : -400]
    frame, rtt_ns = 1056 + 4, 4 * LINK_NS + 2 * (FRAME_NS + 60 * 0.08)
    assert 100 < later[:, 4].mean() * 1056 / frame < 110  # of 160, those that are not on the way
    np.testing.assert_allclose(later[:, 3], 1 + later[:, 4].mean() * 1056 / (100 / 8 * rtt_ns), rtol=0.03)


# --- what cannot be


def test_a_network_has_no_ranks() -> None:
    with pytest.raises(InputError, match="header rank: rank is for fabrics: senders of networks do not know"):
        compile_policy(WithHeader(FixedWindow(9), stamping(header("rank"))))


def test_packets_tell_on_networks_too_how_many_flows_there_are() -> None:
    """Senders that stay once they begin: as many flows by their packets as began, once each has sent some."""
    network = compile_network(Network(0, 5.0, 20.0, 12, math.inf, 1e9, 1.0, 0.0))
    options = {"duration": 1000.0, "model": Model().parts(), "script": []}
    counts = []
    for used in (header("fair-share"), measured("fair-share", "flows", interval_us=100.0, memory_bits=1024)):
        rows = _core.trace(compile_policy(WithHeader(FixedWindow(9), stamping(used))), network, 1, **options)
        counts.append(rows["flows"][-4700:])
    assert set(counts[0]) == set(counts[1]) == {12}


# --- sprayed packets


def paced(gap_us: float, signal: str) -> RuleTable:
    """Return a table that sends a packet every so often, whatever it sees."""
    edges = np.array([0.0, SIGNAL_CEILING])[:, None]
    one = np.ones(1)
    return RuleTable((signal,), edges[:-1], edges[1:], one, one, np.array([gap_us]), pacing_kind="absolute")


@pytest.mark.parametrize("carrier", ["hpcc", "stamps"])
def test_shares_of_links_are_those_of_one_way(carrier: str) -> None:
    """A flow that sends two fifths of its line, on several ways: no hop has sent more, whichever way packets took."""
    frame = (PAYLOAD + 56 + (42 if carrier == "hpcc" else 0)) * 0.08e-3  # µs
    table = paced(frame / 0.4, "link")
    policy = WithHeader(table, stamping(header("hpcc"))) if carrier == "hpcc" else table
    given = FabricSettings(selective=True, spraying="mixed", entropies=16)
    flows = FabricFlows(np.array([0]), np.array([3]), np.array([2_000_000]), np.array([0.0]))
    fabric = leaf_spine(tors=2, hosts_per_tor=3, spines=4)
    record = FabricEngine(replace(compiled(policy, given), keep_every=1), settings=given).run(fabric, flows)
    seen = record["look_up_values"][100:, SIGNALS.index("link")]
    assert len(seen) > 1500
    assert np.median(seen) == pytest.approx(0.4, rel=0.1)
    assert seen.max() < (0.42 if carrier == "hpcc" else 0.6)  # stamps count bytes in quanta
    assert seen.min() > 0.3


def test_no_shares_of_links_where_switches_choose_ways() -> None:
    given = FabricSettings(selective=True, spraying="mixed", adaptive=True)
    message = "header hpcc: link: compares two headers of one way, and the scenario has switches choose ways"
    with pytest.raises(InputError, match=message):
        compiled(WithHeader(by_limit("link", 0.9), stamping(header("hpcc"))), given)
    assert compiled(WithHeader(by_limit("queue", 9), stamping(header("hpcc"))), given)
