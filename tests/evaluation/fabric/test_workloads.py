"""Workloads against theory: means, exponential gaps, uniform destinations; streams by seed and host."""

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy import stats

from lcca.evaluation.fabric.scenario import Workload
from lcca.evaluation.fabric.workload.part import Streams
from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star, three_tier
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology

LEVEL = 1e-4
MS = 1e6  # ns


def draw(topology: FabricTopology, seed: int = 1, ms: float = 1.0, **keys: object) -> FabricFlows:
    made = TypeAdapter(Workload).validate_python(keys)
    assert made.problem(topology) is None
    return made.draw(topology, Streams(seed), ms * MS)


def poisson(load: float = 0.5, load_of: str = "host-links", sizes: str = "fb-hadoop") -> dict[str, object]:
    return {"kind": "poisson", "sizes": sizes, "load": load, "load_of": load_of}


def crossing(topology: FabricTopology, flows: FabricFlows) -> np.ndarray:
    """Tell which flows leave their rack."""
    rack = np.array([switches[0] for switches in topology.neighbours[: topology.hosts]])
    return rack[flows.src] != rack[flows.dst]


# Sizes whose variance is small, so that a mean over flows tells the load: E[S²]/E[S]² is about 1.3 here.
NARROW = "lognormal:9:0.5"


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_the_load_of_host_links(load: float) -> None:
    net = leaf_spine(2, 4, 2)
    flows = draw(net, ms=40, **poisson(load, sizes=NARROW))
    per_host = np.bincount(flows.src, weights=flows.size_bytes, minlength=8) * 8 / (40 * MS) / 100
    sd = np.sqrt(np.exp(0.25) / (len(flows) / 8)) * load  # of a compound Poisson sum
    assert np.abs(per_host - load).max() < stats.norm.ppf(1 - LEVEL / 16) * sd
    assert per_host.mean() == pytest.approx(load, abs=stats.norm.ppf(1 - LEVEL / 2) * sd / np.sqrt(8))


def test_the_load_of_tor_uplinks_counts_what_crosses_them() -> None:
    net = fat_tree(4, hosts_per_edge=5)
    flows = draw(net, ms=20, **poisson(0.6, "tor-uplinks", NARROW))
    crossed = flows.size_bytes[crossing(net, flows)]
    measured = crossed.sum() * 8 / (20 * MS) / net.uplink_gbps.sum()
    sd = np.sqrt(np.exp(0.25) / len(crossed)) * 0.6
    assert measured == pytest.approx(0.6, abs=stats.norm.ppf(1 - LEVEL / 2) * sd)
    assert sd < 0.005  # the share that stays in the rack is 4/39: counted too, it would show


def test_a_trial_of_cceval_has_as_many_flows_as_its_paper_says() -> None:
    """30 % of 12.8 Tb/s for 0.1 s in WebSearch flows of 1.71 MB: 28,000 that cross ToR uplinks, about 30,000 in all."""
    made = TypeAdapter(Workload).validate_python(poisson(0.3, "tor-uplinks", "websearch"))
    net = fat_tree(8, hosts_per_edge=10)
    assert made.loads(net).of_uplinks == pytest.approx(0.3)
    per_trial = made.count(net, 100 * MS)
    assert per_trial == pytest.approx(0.3 * 12.8e12 / 8 * 0.1 / 1_711_250 * 319 / 310, rel=1e-5)
    assert 28_000 < per_trial < 30_000


def test_gaps_are_exponential_and_destinations_uniform() -> None:
    net = star(6)
    flows = draw(net, ms=60, **poisson(sizes=NARROW))
    mean = flow_sizes(NARROW, packet_bytes=1).mean_packets * 8 / 50  # ns, at half of 100 Gb/s
    for host in range(6):
        own = flows.src == host
        assert stats.kstest(np.diff(flows.start_ns[own], prepend=0), "expon", args=(0, mean)).pvalue > LEVEL
        others = np.bincount(flows.dst[own], minlength=6)
        assert others[host] == 0 and stats.chisquare(np.delete(others, host)).pvalue > LEVEL
    first, second = ((flows.dst[flows.src == host] - host)[:2000] % 6 for host in (0, 1))
    assert stats.chi2_contingency(np.histogram2d(first, second, bins=5)[0]).pvalue > LEVEL


@pytest.mark.parametrize(
    ("sizes", "mean"),
    [("fb-hadoop", 120_421), ("ali-storage", 40_870), ("google-rpc", 2_892), ("websearch", 1_711_250)],
)
def test_sizes_follow_their_table(sizes: str, mean: float) -> None:
    """Means as the simulator that the tables come from computes them; the rest by a test of the distribution."""
    table = flow_sizes(sizes, packet_bytes=1)
    drawn = Streams(5).sizes(0, table, 40_000)
    assert stats.kstest(drawn - 0.5, lambda x: np.interp(x, table.packets, table.cumulative)).statistic < 0.02
    error = drawn.std() / np.sqrt(len(drawn))
    assert abs(drawn.mean() - mean) < stats.norm.ppf(1 - LEVEL / 2) * error


def test_hosts_seeds_and_networks_have_streams_of_their_own() -> None:
    net = star(4)
    made = TypeAdapter(Workload).validate_python(poisson())
    first = made.draw(net, Streams(1), MS)
    for other in (Streams(2), Streams(1, network=1), Streams(1, part=1)):
        assert not set(first.start_ns) & set(made.draw(net, other, MS).start_ns)
    again = made.draw(net, Streams(1), MS / 2)
    count = len(again)
    assert 0 < count < len(first) and again.size_bytes.tolist() == first.size_bytes[:count].tolist()
    more = draw(star(5), **poisson())  # a host more, and those before keep their starts and sizes
    np.testing.assert_array_equal(more.start_ns[more.src == 2], first.start_ns[first.src == 2])


def test_another_load_moves_the_starts_only() -> None:
    light, heavy = (draw(star(3), ms=5, **poisson(load)) for load in (0.2, 0.4))
    for host in range(3):
        a, b = (flows.start_ns[flows.src == host] for flows in (light, heavy))
        np.testing.assert_allclose(b[: len(a)] * 2, a, rtol=1e-12)


def test_incast_by_period() -> None:
    keys = {"kind": "incast", "senders": 5, "bytes": 500, "receiver": 2, "period_us": 100, "start_us": 50}
    flows = draw(star(8), **keys)
    assert np.unique(flows.start_ns).tolist() == [50_000 + 100_000 * i for i in range(10)]
    assert set(flows.dst) == {2} and 2 not in flows.src and len(flows) == 50
    groups = [tuple(flows.src[i : i + 5]) for i in range(0, 50, 5)]
    assert all(len(set(group)) == 5 for group in groups) and len(set(groups)) > 3
    net, made = star(8), TypeAdapter(Workload).validate_python(keys)
    assert made.loads(net, 50).fullest() == (8, 2, pytest.approx(5 * 500 * 8 / 100_000 / 100))


def test_flows_of_an_incast_may_start_one_after_another() -> None:
    keys = {"kind": "incast", "senders": 400, "bytes": 500, "period_us": 500}
    at_once, spread = draw(star(8), **keys), draw(star(8), spread_us=300, **keys)
    assert (np.diff(spread.start_ns) >= 0).all() and len(spread) == len(at_once) == 800
    for event in range(2):  # the same flows, later
        late = spread.start_ns[400 * event : 400 * (event + 1)] - 500_000 * event
        assert stats.kstest(late, "uniform", args=(0, 300_000)).pvalue > LEVEL
        pair = [np.bincount(flows.src[400 * event : 400 * (event + 1)]) for flows in (at_once, spread)]
        np.testing.assert_array_equal(*pair)
    assert not set(spread.start_ns[:400]) & set(spread.start_ns[400:] - 500_000)  # events draw their own
    assert np.corrcoef(spread.src[:400], np.arange(400))[0, 1] < 0.2  # who is first is chance


def test_incast_as_a_share_of_load() -> None:
    net = star(8)
    flows = draw(net, ms=50, **{"kind": "incast", "senders": 7, "bytes": 10_000, "load": 0.1})
    starts, receivers = flows.start_ns[::7], flows.dst[::7]
    assert stats.kstest(np.diff(starts, prepend=0), "expon", args=(0, 7e4 * 8 / (0.1 * 800))).pvalue > LEVEL
    assert stats.chisquare(np.bincount(receivers, minlength=8)).pvalue > LEVEL
    assert flows.size_bytes.sum() * 8 / (50 * MS) / 800 == pytest.approx(0.1, abs=4 * 0.1 / np.sqrt(len(starts)))


def to_one(load: float = 0.5, receiver: int = 2, **keys: object) -> dict[str, object]:
    return {**poisson(load, "receiver-link", NARROW), "receiver": receiver, **keys}


def test_flows_to_one_receiver_load_its_link() -> None:
    net = leaf_spine(2, 4, 2, host_gbps=10)
    flows = draw(net, ms=100, **to_one(0.8))
    assert set(flows.dst) == {2} and set(flows.src) == {0, 1, 3, 4, 5, 6, 7}
    sd = np.sqrt(np.exp(0.25) / len(flows)) * 0.8
    assert flows.size_bytes.sum() * 8 / (100 * MS) / 10 == pytest.approx(0.8, abs=stats.norm.ppf(1 - LEVEL / 2) * sd)
    assert stats.chisquare(np.delete(np.bincount(flows.src), 2)).pvalue > LEVEL
    assert stats.kstest(np.diff(flows.start_ns), "expon", args=(0, np.diff(flows.start_ns).mean())).pvalue > LEVEL
    made = TypeAdapter(Workload).validate_python(to_one(0.8))
    assert made.loads(net).fullest() == (8, 2, pytest.approx(0.8))


@pytest.mark.parametrize(
    "keys",
    [poisson(), to_one(), {"kind": "incast", "senders": 3, "bytes": 9000, "load": 0.2}],
    ids=["poisson", "receiver", "incast"],
)
def test_flows_that_come_later_and_go_are_those_of_the_beginning(keys: dict[str, object]) -> None:
    """The same draws, by the time since they may start; none of them from `stop_us` on."""
    net = star(6)
    early, late = draw(net, **keys), draw(net, **keys, start_us=300, stop_us=700)
    wanted = early.before(0.4 * MS)
    np.testing.assert_allclose(late.start_ns, wanted.start_ns + 0.3 * MS, atol=1e-6)
    assert 0 < len(late) < len(early) and late.size_bytes.tolist() == wanted.size_bytes.tolist()
    made = TypeAdapter(Workload).validate_python({**keys, "start_us": 300, "stop_us": 700})
    whole = TypeAdapter(Workload).validate_python(keys).count(net, MS)
    assert made.ends and [made.count(net, ns) for ns in (0.3 * MS, 0.5 * MS, np.inf)] == pytest.approx(
        [0, 0.2 * whole, 0.4 * whole]
    )


def test_sizes_of_an_incast_are_drawn_for_each_flow() -> None:
    keys = {"kind": "incast", "senders": 5, "sizes": "uniform:3000:6000", "receiver": 5, "period_us": 10}
    flows = draw(star(6), ms=10, **keys)
    assert stats.kstest(flows.size_bytes - 0.5, "uniform", args=(3000, 3000)).pvalue > LEVEL
    assert len(set(flows.size_bytes[:5].tolist())) > 1 and len(flows) == 5000
    made, net = TypeAdapter(Workload).validate_python(keys), star(6)
    assert made.loads(net).gbps[:, 0].sum() == pytest.approx(5 * 4500.5 * 8 / 10_000)


def test_an_incast_of_more_flows_than_hosts_has_as_many_of_each() -> None:
    flows = draw(star(8), ms=0.2, **{"kind": "incast", "senders": 24, "bytes": 1, "receiver": 3, "period_us": 100})
    for event in (flows.src[:24], flows.src[24:]):
        assert sorted(np.bincount(event, minlength=8).tolist()) == [0, 3, 3, 3, 3, 4, 4, 4]
        assert 3 not in event
    assert flows.src[:24].tolist() != flows.src[24:].tolist()


def test_all_to_all_rounds() -> None:
    net = leaf_spine(2, 4, 1)
    keys = {"kind": "all-to-all", "workers": 4, "bytes": 25_000, "off_us": 4, "rounds": 3}
    flows, closed = draw(net, ms=0.1, **keys, loop="open"), draw(net, ms=0.1, **keys)
    assert not flows.waits and closed.after.tolist() == [-1] * 12 + [0] * 12 + [1] * 12 == (closed.round - 1).tolist()
    assert (closed.off_ns == 4000).all() and closed.start_ns.tolist() == flows.start_ns.tolist()
    assert np.unique(flows.start_ns).tolist() == [0, 10_000, 20_000]  # 3 × 25 kB at 100 Gb/s: 6 µs, and 4 µs off
    pairs = sorted(zip(flows.src[:12], flows.dst[:12], strict=True))
    assert pairs == [(a, b) for a in (0, 2, 4, 6) for b in (0, 2, 4, 6) if a != b]
    assert sorted(flows.dst[:4]) == [0, 2, 4, 6]  # the first of every worker goes to another one


@pytest.mark.parametrize("hosts", [2, 3, 17])
def test_a_permutation(hosts: int) -> None:
    flows = draw(star(hosts), seed=9, **{"kind": "permutation", "bytes": 7, "start_us": 1})
    assert sorted(flows.src) == sorted(flows.dst) == list(range(hosts)) and (flows.start_ns == 1000).all()
    assert hosts < 4 or (flows.dst != draw(star(hosts), **{"kind": "permutation", "bytes": 7}).dst).any()


def test_a_mix_is_its_parts() -> None:
    net = three_tier(2, 2, 2, 2, 2)
    incast = {"kind": "incast", "senders": 3, "bytes": 99, "period_us": 200}
    mixed = draw(net, **{"kind": "mix", "parts": [poisson(), incast, poisson()]})
    alone = draw(net, **poisson())
    starts = mixed.start_ns[np.isin(mixed.start_ns, alone.start_ns)]
    np.testing.assert_array_equal(starts, alone.start_ns)
    assert (mixed.size_bytes == 99).sum() >= 15 and len(mixed) > 1.5 * len(alone)


def test_what_does_not_fit_names_its_key() -> None:
    for keys, wanted in [
        (poisson(load_of="tor-uplinks"), (("load_of",), "no flow crosses links between switches; use host-links")),
        (
            {"kind": "incast", "senders": 1, "bytes": 1, "load": 0.1, "receiver": 4},
            (("receiver",), "host 4 is unknown"),
        ),
        ({"kind": "all-to-all", "workers": 5, "bytes": 1, "off_us": 0}, (("workers",), "at most the 4 hosts")),
        ({"kind": "trace", "flows": "no.csv"}, (("flows",), "no.csv: cannot be read")),
    ]:
        made = TypeAdapter(Workload).validate_python({"kind": "mix", "parts": [keys]})
        found_keys, text = made.problem(star(4))
        assert found_keys == ("parts", 0, *wanted[0]) and wanted[1] in text
    assert TypeAdapter(Workload).validate_python(poisson(load_of="tor-uplinks")).problem(dumbbell(2)) is None


def test_some_hosts_send_to_the_others() -> None:
    net = dumbbell(10)
    flows = draw(net, ms=40, senders=10, **poisson(0.03, sizes=NARROW))
    assert flows.src.max() == 9 and flows.dst.min() == 10
    assert stats.chisquare(np.bincount(flows.dst - 10, minlength=10)).pvalue > LEVEL
    measured = flows.size_bytes.sum() * 8 / (40 * MS) / 100
    assert measured == pytest.approx(0.3, abs=stats.norm.ppf(1 - LEVEL / 2) * np.sqrt(np.exp(0.25) / len(flows)) * 0.3)
    made = TypeAdapter(Workload).validate_python(poisson(0.03) | {"senders": 10})
    assert made.loads(net).fullest() == (20, 21, pytest.approx(0.3))
    assert made.model_copy(update={"senders": 20}).problem(net) is not None
