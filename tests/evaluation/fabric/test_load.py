"""Mean loads of links against loads that symmetry gives."""

import numpy as np
import pytest

from lcca.evaluation.fabric.workload.load import link_loads
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.topology import FabricTopology


def uniform(hosts: int, gbps: float) -> np.ndarray:
    return np.full((hosts, hosts), gbps) * (1 - np.eye(hosts))


def test_uniform_traffic_in_a_fat_tree() -> None:
    """Each link of a tier carries the same: what leaves racks (pods), over the links of the tier."""
    tree = fat_tree(4, hosts_per_edge=3)  # 24 hosts in 8 racks of 3, pods of 6
    loads = link_loads(tree, uniform(24, 1.0))
    tiers = np.sort(np.stack([tree.tier[tree.a], tree.tier[tree.b]]), axis=0)
    for lower, together in ((0, 24 * 23), (1, 24 * 21), (2, 24 * 18)):
        links = tiers[0] == lower
        np.testing.assert_allclose(loads.gbps[links], together / links.sum(), rtol=1e-12)
    assert loads.of_uplinks == pytest.approx(24 * 21 / 1600)


def test_one_flow_is_split_over_equal_paths_only() -> None:
    net = leaf_spine(2, 2, 4)
    demand = np.zeros((4, 4))
    demand[0, 3], demand[0, 1] = 8.0, 1.0
    loads = link_loads(net, demand)
    assert loads.gbps.sum() == pytest.approx(8.0 * 4 + 1.0 * 2)
    assert loads.gbps[0].tolist() == [9.0, 0.0] and loads.fullest() == (0, 4, 0.09)
    assert sorted(loads.gbps[net.uplinks].ravel())[-8:] == [2.0] * 8


def test_the_bottleneck_of_a_dumbbell_is_its_uplink() -> None:
    net = dumbbell(3, bottleneck_gbps=10)
    loads = link_loads(net, uniform(6, 1.0))
    assert loads.fullest() == (6, 7, pytest.approx(0.9)) and loads.of_uplinks == pytest.approx(0.9)
    assert link_loads(star(3), uniform(3, 1.0)).gbps.tolist() == [[2.0, 2.0]] * 3


def test_hosts_do_not_forward() -> None:
    """Switches 3–4–5–6 in a row; host 2 at both ends would be a shorter way from host 0 (at 3) to host 1 (at 6)."""
    ends = np.array([(0, 3), (1, 6), (2, 3), (2, 6), (3, 4), (4, 5), (5, 6)]).T
    net = FabricTopology(3, 4, *ends, np.ones(7), np.ones(7))
    demand = np.zeros((3, 3))
    demand[0, 1] = 0.5
    assert link_loads(net, demand).gbps.tolist() == [[0.5, 0], [0, 0.5], [0, 0], [0, 0], [0.5, 0], [0.5, 0], [0.5, 0]]


def test_hosts_at_two_switches_use_the_nearer_one() -> None:
    """Hosts 0 and 1 share switch 3; host 2 is at 4 alone; 3 and 4 are joined, and host 1 is at both."""
    ends = np.array([(0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]).T
    net = FabricTopology(3, 2, *ends, np.ones(5), np.ones(5))
    demand = np.zeros((3, 3))
    demand[1, 2], demand[0, 1], demand[0, 2] = 0.5, 0.25, 0.125
    assert link_loads(net, demand).gbps.tolist() == [[0.375, 0], [0, 0.25], [0.5, 0], [0, 0.625], [0.125, 0]]
