"""Two policies side by side: what each sender runs, what its packets carry, and which links write into them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList, open_network
from lcca.remy_plus.policies.explicit import FairShare, Rcp, Xcp
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Mixture, Policy, compile_policy, with_header
from lcca.remy_plus.record import Record
from lcca.remy_plus.topology import Topology
from lcca.remy_plus.workload import FlowSizes, OpenFlows
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

ALWAYS = 1e12
TOPOLOGIES = (Topology(), Topology("line"), Topology("multi-bottleneck"), Topology("reverse-path"))
POLICIES: dict[str, Policy] = {
    "window": FixedWindow(9),
    "aimd": Aimd(),
    "fair": FairShare(),
    "rcp": Rcp(),
    "xcp": Xcp(),
    "fair with bytes": with_header(FairShare(), stamping(header("fair-share"))),
}


def network(topology: Topology = TOPOLOGIES[0], senders: int = 4, **other: Any) -> Network:
    values = {"buffer": 40.0, "mean_on": 700.0, "mean_off": 300.0, "loss": 0.001} | other
    return Network(3, 2.0, 60.0, senders, topology=topology, **values)


def run(policy: Any, networks: list[Network], seeds: int = 2, duration: float = 2500.0) -> Record:
    compiled = policy if isinstance(policy, _core.Policy) else compile_policy(policy)
    index = np.repeat(np.arange(len(networks)), seeds)
    return Engine(duration, jobs=1).run(
        [compiled], NetworkList(networks), 0 * index, index, np.arange(len(index)), keep_flows=True
    )


def same(a: Record, b: Record) -> bool:
    assert a.columns.keys() == b.columns.keys()
    return all(a[name].tobytes() == b[name].tobytes() for name in a.columns if name != "rule_hits")


def mixed(a: str, b: str, share: float) -> Any:
    """In the engine's form even where nobody or everybody adopts, which `compile_policy` makes one policy of."""
    return _core.Policy.mixture(compile_policy(POLICIES[a]), compile_policy(POLICIES[b]), share)


@pytest.mark.parametrize(("a", "b"), [*pairwise(POLICIES), ("xcp", "rcp"), ("fair with bytes", "xcp")])
def test_nobody_and_everybody_are_the_policies_alone_bit_for_bit(a: str, b: str) -> None:
    networks = [network(each) for each in TOPOLOGIES]
    assert same(run(mixed(a, b, 0), networks), run(POLICIES[b], networks))
    assert same(run(mixed(a, b, 1), networks), run(POLICIES[a], networks))


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_beside_itself_is_the_policy_alone_bit_for_bit(name: str) -> None:
    networks = [network(each) for each in TOPOLOGIES]
    assert same(run(mixed(name, name, 0.5), networks), run(POLICIES[name], networks))


def test_the_share_is_right_in_the_mean_and_larger_ones_hold_smaller_ones() -> None:
    counts = np.array([[chosen(seed, 1, "adoption", 0, 7, s).sum() for seed in range(4000)] for s in (0.1, 0.25, 0.6)])
    assert np.abs(counts.mean(axis=1) / 7 - (0.1, 0.25, 0.6)).max() < 0.005
    assert all(set(each) <= {int(7 * s), int(7 * s) + 1} for each, s in zip(counts, (0.1, 0.25, 0.6), strict=True))
    draws = [chosen(5, 2, "adoption", 0, 40, share) for share in (0, 0.1, 0.3, 0.9, 1)]
    assert all((smaller <= larger).all() for smaller, larger in pairwise(draws))
    assert not draws[0].any() and draws[-1].all()
    first = np.array([chosen(seed, 1, "adoption", 0, 5, 0.2) for seed in range(3000)]).mean(axis=0)
    assert np.abs(first - 0.2).max() < 0.03  # nobody is preferred


def test_constant_windows_take_the_link_in_proportion_to_them() -> None:
    """A queue that never drops and windows w_i: each has w_i / Σ w of the link, and the RTT is Σ w / rate."""
    small, large, rate = 60, 180, 2.0
    always = network(buffer=np.inf, mean_on=ALWAYS, mean_off=0.0, loss=0.0)
    record = run(Mixture(FixedWindow(large), FixedWindow(small), 0.5), [always], seeds=1, duration=40_000.0)
    adopts = chosen(0, 3, "adoption", 0, 4, 0.5)
    assert adopts.sum() == 2
    total = 2 * (small + large)
    expected = np.where(adopts, large, small) / total
    got = record.floats("sender_delivered")
    assert np.abs(got / got.sum() / expected - 1).max() < 0.01
    assert np.abs(record.floats("sender_delay_sum_us") / got / (total / rate) - 1).max() < 0.01


def test_a_fair_rate_gives_its_flows_their_part_beside_an_open_loop() -> None:
    """Hops count all flows, whoever asks: 1/n of the link for each of n, and what is left is the open loop's."""
    always = network(senders=4, buffer=np.inf, mean_on=ALWAYS, mean_off=0.0, loss=0.0)
    record = run(Mixture(FairShare(share=0.9), FixedRate(0.2), 0.5), [always], seeds=1, duration=40_000.0)
    adopts = chosen(0, 3, "adoption", 0, 4, 0.5)
    rate = record.floats("sender_delivered") / 40_000
    assert np.abs(rate[adopts] / (0.9 * 2.0 / 4) - 1).max() < 0.01
    assert np.abs(rate[~adopts] / 0.2 - 1).max() < 0.01


def test_header_bytes_are_paid_by_the_packets_that_have_them() -> None:
    """Constant rates that fill 80 % of a link: it is fuller by the headers of the adopters' packets alone."""
    of_16 = stamping(header("fair-share"))
    share = of_16.sent_bytes[-1] / of_16.packet_bytes
    always = network(buffer=np.inf, mean_on=ALWAYS, mean_off=0.0, loss=0.0)
    plain = FixedRate(0.4)
    used = [
        run(each, [always], 1, 20_000.0).floats("trial_utilisation")[0]
        for each in (plain, Mixture(with_header(plain, of_16), plain, 0.5), with_header(plain, of_16))
    ]
    assert used[0] == pytest.approx(0.8, abs=1e-3)
    assert (used[1] - used[0]) / used[0] == pytest.approx(share / 2, rel=0.02)
    assert (used[2] - used[0]) / used[0] == pytest.approx(share, rel=0.02)


def test_links_that_do_not_write_are_as_if_they_were_not_there() -> None:
    """Flows on a line whose links all write, or none: a fair rate is known, or stays what it is at first."""
    line = {"buffer": np.inf, "mean_on": ALWAYS, "mean_off": 0.0, "loss": 0.0}
    rate = {}
    for share in (1.0, 0.0):
        topology = Topology("line", stamping=share)
        record = run(FairShare(share=0.9, initial_rate=0.1), [network(topology, 1, **line)], 1, 20_000.0)
        rate[share] = record.floats("sender_delivered")[0] / 20_000
    assert rate[1.0] == pytest.approx(0.9 * 2.0, rel=0.02)
    assert rate[0.0] == pytest.approx(0.1, rel=0.02)
    kinds = [Topology("multi-bottleneck", stamping=share) for share in (1.0, 0.0)]
    records = [run(FixedWindow(8), [network(each)]) for each in kinds]
    assert same(*records)  # who does not look sees no difference
    sent, none = (run(POLICIES["fair with bytes"], [network(each)], 1) for each in kinds)
    assert not same(sent, none)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Mixture(Aimd(), Aimd(), 1.5), "mix: the share must be from 0 to 1, got 1.5"),
        (lambda: Mixture(Mixture(Aimd(), Aimd(), 0.5), Aimd(), 0.5), "none of them a mixture"),
        (lambda: Topology("dumbbell", stamping=0.5), "stamping needs several links"),
        (lambda: Topology("line", stamping=2), "stamping must be a share from 0 to 1, got 2"),
        (
            lambda: run(
                Mixture(Aimd(), FixedWindow(3), 0.5),
                [open_network(0, 1.0, 10.0, OpenFlows(0.5, FlowSizes("two", (1.0, 2.0), (0.0, 1.0))))],
            ),
            "open flows belong to no sender",
        ),
    ],
)
def test_what_cannot_be_is_refused(made: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        made()
