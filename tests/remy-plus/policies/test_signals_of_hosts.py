"""What hosts that spray know without a header: against sums over all answers, hand-made cases, and who is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import Formula
from lcca.remy_plus.core.signals import OF_HOSTS, OF_SELECTIVE_HOSTS
from lcca.remy_plus.fabric.builders import dumbbell, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricRecord, Watch, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.switches.markers import marking

SPRAYED = FabricSettings(selective=True, spraying="oblivious", queue_bdps=1.0, marker=marking("step", k_bytes=2000))
"""Over 64 entropies in turn; marked beyond 2 kB, trimmed beyond a bandwidth-delay product."""
SPRAYED_FRAME = 1000 + 48 + 8
"""Bytes of its full data packets, with the time of sending."""
TELLS = 1e-3
"""Of a signal in the exponent of a window: enough to be read, too little to matter."""


def teller(signal: str, share: float) -> FabricLaw:
    """Return a law that sends at a share of the line, whatever happens, times 2^(TELLS · signal)."""
    terms = {"largest": 4.0, "ahead": 3.0, "loss": 0.0, "add": -17.0}
    return FabricLaw.of(terms, {"one": float(np.log2(share)), "window": -1.0}, {signal: (TELLS, 0.0, 0.0)})


def told(
    signal: str,
    share: float,
    topology: FabricTopology,
    flows: FabricFlows,
    flow: int = 0,
    settings: FabricSettings = SPRAYED,
) -> tuple[NDArray, FabricRecord]:
    """Return what a flow's law sees at every µs after its first ACK, and the record."""
    record = engine_of(teller(signal, share), settings).run(topology, flows, watch=Watch(1000.0, [flow]))
    rates = record["sample_gbps"][:, 0]
    rates = rates[(rates > 0) & (rates < 0.999 * topology.host_gbps[0])]
    added = 2**-17  # BDP, of the additive term
    return (np.log2(rates / topology.host_gbps[0] - added) - np.log2(share)) / TELLS, record


def lone(size: int, dst: int = 1) -> FabricFlows:
    return FabricFlows(np.array([0]), np.array([dst]), np.array([size]), np.array([0.0]))


def trimmed_share(offered: float, link: float) -> float:
    """Return what is trimmed of full packets where headers of the rest take their part of a link (both in Gb/s)."""
    frame, header = SPRAYED_FRAME, 64
    return 1 - (link / offered - header / frame) / (1 - header / frame)


def answered(entropy: object, nack: object, marked: object, now_ns: object, span_ns: float) -> tuple[NDArray, NDArray]:
    codes = (np.asarray(each, dtype=np.uint8) for each in (entropy, nack, marked))
    return _core.answer_shares(*codes, np.asarray(now_ns, dtype=np.float64), span_ns)


# --- the values


def test_shares_by_hand() -> None:
    """Half of what an answer counts is gone after half a span; each way counts by its latest answer."""
    nacks, ways = answered([7, 7, 200, 7], [1, 0, 0, 0], [1, 0, 1, 0], [10.0, 60.0, 60.0, 900.0], 100.0)
    assert nacks.tolist() == [1.0, 0.5 / 1.5, 0.5 / 2.5, 0.0]
    assert ways.tolist() == [1.0, 0.0, 0.5, 0.5]


def test_shares_are_those_of_sums_over_all_answers() -> None:
    draw, count, span = np.random.default_rng(5), 400, 30.0
    entropy, nack, marked = draw.integers(0, 256, count), draw.random(count) < 0.3, draw.random(count) < 0.4
    now = np.cumsum(draw.exponential(4.0, count).round(3))
    kept = np.clip(1 - np.diff(now) / span, 0, None)
    for at, (share, ways) in enumerate(zip(*answered(entropy, nack, marked, now, span), strict=True)):
        weights = np.append(np.cumprod(kept[:at][::-1])[::-1], 1.0)
        assert share == pytest.approx(weights[nack[: at + 1]].sum() / weights.sum(), abs=1e-12)
        latest = dict(zip(entropy[: at + 1].tolist(), marked[: at + 1].tolist(), strict=True))
        assert ways == sum(latest.values()) / len(latest)


def test_what_a_link_cannot_take_comes_back_as_nacks() -> None:
    """80 Gb/s over a link of 40."""
    seen, record = told("trims", 0.8, dumbbell(1, bottleneck_gbps=40, host_gbps=100), lone(6_000_000))
    assert record["nacks"] == record["port_trims"].sum() > 3000
    steady = seen[len(seen) // 4 : len(seen) // 2]
    assert steady.mean() == pytest.approx(trimmed_share(80, 40), abs=0.005)
    assert np.ptp(steady) < 0.1


def test_an_incast_is_told_to_each_of_its_senders() -> None:
    """Eight at 50 Gb/s to one of 100: in step, so that the port takes more of some than of others."""
    count = np.arange(1, 9)
    flows = FabricFlows(count, np.zeros_like(count), np.full(8, 1_000_000), np.zeros(8))
    shares = []
    for flow in range(8):
        seen, record = told("trims", 0.5, star(9), flows, flow)
        assert record["port_trims"].sum() == record["nacks"]
        shares.append(seen[20:60].mean())
    assert np.mean(shares) == pytest.approx(trimmed_share(400, 100), abs=0.02)


def test_nothing_is_told_where_nothing_is_trimmed_or_marked() -> None:
    for signal in ("trims", "marked_ways"):
        seen, record = told(signal, 0.5, leaf_spine(2, 1, 4), lone(1_000_000))
        assert record["nacks"] == 0 and len(seen) > 50
        assert np.abs(seen).max() < 1e-4


def test_a_slow_way_is_a_share_of_the_ways() -> None:
    """One of four spines has links of 8 Gb/s: entropies that lead over it, counted by its packets, are marked."""
    plain = leaf_spine(2, 1, 4)
    slow = replace(plain, gbps=np.where(plain.b == 4, 8.0, plain.gbps))
    seen, record = told("marked_ways", 0.4, slow, lone(4_000_000))
    ups = (record["port_node"] == 2) & (record["port_peer"] >= 4)
    sent = (record["port_data_packets"] + record["port_trims"])[ups]  # to spines 4 to 7
    ways = round(64 * sent[0] / sent.sum())
    assert 4 < ways < 60 and record["port_marked_packets"].sum() > 0
    assert seen[len(seen) // 4 : len(seen) // 2] == pytest.approx(ways / 64, abs=1e-4)


SENDERS = 9
"""To one receiver, at 5 % of its link each."""


def staggered(seed: int) -> FabricFlows:
    """Flow 0 all the time; others, half of them larger than it, come and go, the larger ones never ending before it."""
    draw = np.random.default_rng(seed)
    size = np.where(np.arange(SENDERS) % 2, draw.integers(200_000, 600_000, SENDERS), 3_000_000)
    size[0] = 2_000_000
    start = np.append(0.0, np.sort(draw.uniform(20_000, 1_500_000, SENDERS - 1)))
    return FabricFlows(np.arange(SENDERS), np.full(SENDERS, SENDERS), size, start)


@pytest.mark.parametrize("settings", [FabricSettings(), FabricSettings(scheduling="shortest"), SPRAYED])
@pytest.mark.parametrize("seed", range(3))
def test_a_receiver_knows_who_has_less_left(seed: int, settings: FabricSettings) -> None:
    """From their first packet to their last, shorter flows count: in both signals, larger ones in the number alone."""
    flows, topology = staggered(seed), star(SENDERS + 1)
    seen, record = told("receiver_rank", 0.05, topology, flows, settings=settings)
    rank = np.round(seen, 2)
    number, _ = told("receiver_flows", 0.05, topology, flows, settings=settings)
    at = 1000.0 * (1 + np.arange(len(rank))) + 1000.0 * (record["sample_gbps"][:, 0] > 99.9).sum()
    begins, ends = flows.start_ns, flows.start_ns + record["flow_fct_ns"]
    # an ACK of flow 0 comes every 1.7 µs, and is 2 µs old
    settled = np.all([(np.abs(at - moment) > 8000) for moment in (*begins[1:], *ends)], axis=0)
    present = (begins[:, None] < at) & (at < ends[:, None])
    shorter = present[1::2].sum(axis=0)
    assert settled.sum() > 500 and len(set(shorter[settled])) > 2
    expected = np.log2(1 + shorter)  # its form
    np.testing.assert_allclose(rank[settled], np.round(expected, 2)[settled], atol=0.02)
    count = min(len(number), len(at))
    np.testing.assert_allclose(
        number[:count][settled[:count]], np.log2(present.sum(axis=0))[:count][settled[:count]], atol=0.02
    )


def test_what_a_receiver_tells_has_its_bytes() -> None:
    """Two in data packets and two in ACKs for the rank, two more in ACKs for the number."""

    def bytes_of(*signals: str) -> tuple[int, int]:
        law = FabricLaw.of({}, inputs={name: (0.0, 0.0, 0.0) for name in signals})
        record = engine_of(law, FabricSettings()).run(star(2), lone(50_000))
        data, acks = record["port_node"] == 0, record["port_node"] == 1
        return int(record["port_data_bytes"][data].sum()), int(record["port_ack_packets"][acks].sum())

    (plain, acks), (rank, _), (number, _), (both, _) = (
        bytes_of(),
        bytes_of("receiver_rank"),
        bytes_of("receiver_flows"),
        bytes_of("receiver_rank", "receiver_flows"),
    )
    assert (rank - plain, number - plain, both - plain) == (100, 0, 100) and acks == 50
    laws = (
        FabricLaw.of({}, inputs={name: (0.0, 0.0, 0.0) for name in names})
        for names in ((), ("receiver_rank",), ("receiver_rank", "receiver_flows"))
    )
    ideal = [engine_of(law, FabricSettings()).run(star(2), lone(1000))["flow_fct_ns"][0] for law in laws]
    assert np.diff(ideal) == pytest.approx([2 * 2 * 0.08, 0])  # of the data packet, over two links


# --- who has no such signal


@pytest.mark.parametrize("name", OF_SELECTIVE_HOSTS)
def test_hosts_that_go_back_do_not_know(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: known to selective hosts alone; give the scenario spraying"):
        _ = engine_of(FabricLaw.of({}, inputs={name: (0.0, 0.0, 0.0)}), FabricSettings()).telemetry_bytes


@pytest.mark.parametrize("name", OF_HOSTS)
def test_others_are_refused(name: str) -> None:
    for make in (
        lambda: one_rule(("rtt_ratio", name)),
        lambda: Agent(("rtt_ratio", name)),
        lambda: Law.of({}, {}, inputs=(name,)),
        lambda: Formula("mine", f"2 * {name}"),
    ):
        with pytest.raises(InputError, match=f"{name}: known to the hosts of a fabric, "):
            make()
