"""Mean loads of links against loads that symmetry gives."""

import numpy as np
import pytest

from lcca.evaluation.fabric.workload.load import LinkLoads, link_loads, onto
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.topology import FabricTopology


def uniform(hosts: int, gbps: float) -> tuple[np.ndarray, np.ndarray]:
    return np.full(hosts, gbps), np.ones(hosts)


def loads_of(net: FabricTopology, demand: np.ndarray) -> LinkLoads:
    """Return the loads of any traffic, (hosts, hosts) Gb/s from each host (row) to each: those of each host, added."""
    each = [link_loads(net, one, row).gbps for one, row in zip(np.eye(net.hosts), demand, strict=True)]
    return LinkLoads(net, np.sum(each, axis=0))


def test_uniform_traffic_in_a_fat_tree() -> None:
    """Each link of a tier carries the same: what leaves racks (pods), over the links of the tier."""
    tree = fat_tree(4, hosts_per_edge=3)  # 24 hosts in 8 racks of 3, pods of 6
    loads = link_loads(tree, *uniform(24, 1.0))
    tiers = np.sort(np.stack([tree.tier[tree.a], tree.tier[tree.b]]), axis=0)
    for lower, together in ((0, 24 * 23), (1, 24 * 21), (2, 24 * 18)):
        links = tiers[0] == lower
        np.testing.assert_allclose(loads.gbps[links], together / links.sum(), rtol=1e-12)
    assert loads.of_uplinks == pytest.approx(24 * 21 / 1600)


def test_one_flow_is_split_over_equal_paths_only() -> None:
    net = leaf_spine(2, 2, 4)
    demand = np.zeros((4, 4))
    demand[0, 3], demand[0, 1] = 8.0, 1.0
    loads = loads_of(net, demand)
    assert loads.gbps.sum() == pytest.approx(8.0 * 4 + 1.0 * 2)
    assert loads.gbps[0].tolist() == [9.0, 0.0] and loads.fullest() == (0, 4, 0.09)
    assert sorted(loads.gbps[net.uplinks].ravel())[-8:] == [2.0] * 8


def test_the_bottleneck_of_a_dumbbell_is_its_uplink() -> None:
    net = dumbbell(3, bottleneck_gbps=10)
    loads = link_loads(net, *uniform(6, 1.0))
    assert loads.fullest() == (6, 7, pytest.approx(0.9)) and loads.of_uplinks == pytest.approx(0.9)
    assert link_loads(star(3), *uniform(3, 1.0)).gbps.tolist() == [[2.0, 2.0]] * 3


def test_hosts_do_not_forward() -> None:
    """Switches 3–4–5–6 in a row; host 2 at both ends would be a shorter way from host 0 (at 3) to host 1 (at 6)."""
    ends = np.array([(0, 3), (1, 6), (2, 3), (2, 6), (3, 4), (4, 5), (5, 6)]).T
    net = FabricTopology(3, 4, *ends, np.ones(7), np.ones(7))
    demand = np.zeros((3, 3))
    demand[0, 1] = 0.5
    assert loads_of(net, demand).gbps.tolist() == [[0.5, 0], [0, 0.5], [0, 0], [0, 0], [0.5, 0], [0.5, 0], [0.5, 0]]


def test_hosts_at_two_switches_use_the_nearer_one() -> None:
    """Hosts 0 and 1 share switch 3; host 2 is at 4 alone; 3 and 4 are joined, and host 1 is at both."""
    ends = np.array([(0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]).T
    net = FabricTopology(3, 2, *ends, np.ones(5), np.ones(5))
    demand = np.zeros((3, 3))
    demand[1, 2], demand[0, 1], demand[0, 2] = 0.5, 0.25, 0.125
    assert loads_of(net, demand).gbps.tolist() == [[0.375, 0], [0, 0.25], [0.5, 0], [0, 0.625], [0.125, 0]]


def split(net: FabricTopology, demand: np.ndarray) -> np.ndarray:
    """Return the loads of links, flow by flow: each node sends equal parts to all neighbours nearer to the receiver."""
    way = {
        (int(x), int(y)): (i, d)
        for i, ab in enumerate(zip(net.a, net.b, strict=True))
        for d, (x, y) in ((0, ab), (1, ab[::-1]))
    }
    loads = np.zeros((len(net.a), 2))
    for receiver in range(net.hosts):
        near, edge = {receiver: 0}, [receiver]
        for node in edge:
            for other in net.neighbours[node]:
                if other not in near:
                    near[other] = near[node] + 1
                    edge += [other] * (other >= net.hosts)
        for sender in range(net.hosts):
            at = {sender: float(demand[sender, receiver])}
            while set(at) != {receiver}:
                after: dict[int, float] = {}
                for node, rate in at.items():
                    onward = [
                        n
                        for n in net.neighbours[node]
                        if near.get(n, 10**9) < near[node] and (n >= net.hosts or n == receiver)
                    ]
                    for other in onward:
                        loads[way[node, other]] += rate / len(onward)
                        after[other] = after.get(other, 0) + rate / len(onward)
                at = after
    return loads


@pytest.mark.parametrize("seed", range(12))
def test_random_fabrics_against_flows_one_by_one(seed: int) -> None:
    """Switches in a random connected graph, hosts at one to three of them, hosts that send nothing."""
    rng = np.random.default_rng(seed)
    hosts, switches = int(rng.integers(2, 7)), int(rng.integers(1, 8))
    tree = [(hosts + i, hosts + int(rng.integers(i))) for i in range(1, switches)]
    more = [(hosts + i, hosts + j) for i in range(switches) for j in range(i) if rng.random() < 0.4]
    homes = [(h, hosts + int(s)) for h in range(hosts) for s in rng.permutation(switches)[: rng.integers(1, 4)]]
    ends = np.array(sorted({(min(each), max(each)) for each in (*homes, *tree, *more)})).T
    net = FabricTopology(hosts, switches, *ends, np.ones(ends.shape[1]), np.ones(ends.shape[1]))
    demand = rng.random((hosts, hosts)) * (rng.random((hosts, 1)) < 0.8) * (1 - np.eye(hosts))
    np.testing.assert_allclose(loads_of(net, demand).gbps, split(net, demand), rtol=1e-12, atol=1e-15)
    sent, taken = rng.random(hosts) * (rng.random(hosts) < 0.8), rng.random(hosts)
    pairs = np.outer(sent, taken) * (1 - np.eye(hosts))
    np.testing.assert_allclose(link_loads(net, sent, taken).gbps, split(net, pairs), rtol=1e-12, atol=1e-15)
    some = [hosts - 1, 0]
    together, each = onto(some, sent, taken)
    np.testing.assert_allclose(together, pairs[:, some].sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(each, pairs[:, some].sum(axis=0), rtol=1e-12)
