"""Fabrics against counts that their papers state, the links of the reference data, and links that cannot be."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star, three_tier, topology_from_file
from lcca.remy_plus.fabric.topology import FabricTopology


def links(topology: FabricTopology) -> set[tuple[int, int, float, float]]:
    ends = np.sort(np.stack([topology.a, topology.b]), axis=0).tolist()
    return set(zip(*ends, topology.gbps.tolist(), topology.delay_ns.tolist(), strict=True))


def test_the_fat_tree_of_cceval() -> None:
    """320 hosts and 80 switches, uplinks of ToRs together 12.8 Tb/s, 2.5:1 (CCEval)."""
    found = fat_tree(8, hosts_per_edge=10)
    assert (found.hosts, found.switches, found.uplink_gbps.sum(), found.oversubscription) == (320, 80, 12_800, 2.5)
    assert np.bincount(found.tier).tolist() == [320, 32, 32, 16]


@pytest.mark.parametrize("k", [2, 4, 6])
def test_a_fat_tree_has_as_many_nodes_as_its_paper_says(k: int) -> None:
    """k³/4 hosts, 5k²/4 switches of k ports each, any two pods joined by all cores (Al-Fares et al., §2.2)."""
    found = fat_tree(k)
    assert (found.hosts, found.switches, len(found.a)) == (k**3 // 4, 5 * k * k // 4, 3 * k**3 // 4)
    assert {len(each) for each in found.neighbours[found.hosts :]} == {k}
    cores = [each for each, tier in zip(found.neighbours, found.tier, strict=True) if tier == 3]
    pods = [[(agg - found.hosts - k * k // 2) // (k // 2) for agg in core] for core in cores]
    assert k == 2 or pods == [list(range(k))] * (k * k // 4)


def test_the_three_tiers_of_hpcc() -> None:
    """fat.txt of its simulator: 320 hosts, 20 + 20 + 16 switches, 480 links; ToRs 1.6 Tb/s each way."""
    found = three_tier(pods=5, tors_per_pod=4, aggs_per_pod=4, cores=16, hosts_per_tor=16)
    assert (found.hosts, len(found.a), found.oversubscription) == (320, 480, 1.0)
    assert np.bincount(found.tier).tolist() == [320, 20, 20, 16]
    degree = [len(each) for each in found.neighbours]
    assert degree[320:] == [20] * 20 + [8] * 20 + [5] * 16


def test_leaf_spine_and_dumbbell() -> None:
    found = leaf_spine(tors=4, hosts_per_tor=6, spines=2, host_gbps=25, uplink_gbps=100)
    assert found.oversubscription == 0.75 and found.uplink_gbps.tolist() == [200] * 4 + [0, 0]
    assert all(array.flags["C_CONTIGUOUS"] for array in (found.a, found.b, found.gbps, found.delay_ns))
    assert str(found) == "24 hosts, 6 switches, 32 links, ToRs not oversubscribed"
    narrow = dumbbell(3, bottleneck_gbps=10)
    assert narrow.neighbours[6] == (0, 1, 2, 7) and narrow.uplink_gbps.tolist() == [10, 10]
    assert star(3).oversubscription == 0 and not star(3).uplinks.any()


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("star17", lambda: star(17)),
        ("leafspine", lambda: leaf_spine(4, 4, 2, uplink_gbps=200)),
        ("fattree4", lambda: fat_tree(4)),
    ],
)
def test_builders_number_nodes_as_the_reference_data(
    reference: Path, name: str, built: Callable[[], FabricTopology]
) -> None:
    read, made = topology_from_file(reference / "data" / "fabric" / f"topology-{name}.csv"), built()
    assert (read.hosts, read.switches, links(read)) == (made.hosts, made.switches, links(made))


def test_a_file_with_hosts_of_two_links_tells_how_many_hosts(tmp_path: Path) -> None:
    file = tmp_path / "dual.csv"
    file.write_text("b,a,delay_ns,gbps\n2,0,1,25\n3,0,1,25\n2,1,1,25\n\n3,1,1,25\n")
    found = topology_from_file(file, hosts=2)
    with pytest.raises(InputError, match=r"dual\.csv: 4 hosts among 4 nodes leave no switch, and hosts have links to"):
        topology_from_file(file, hosts=4)
    assert found.host_gbps.tolist() == [50, 50] and found.tier.tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match=r"dual\.csv: of 4 nodes 0 have one link .* number hosts first"):
        topology_from_file(file)


def test_links_have_units_and_no_errors(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,gbps,delay_ns,error_rate\n0,2,100Gbps,1us,0\n1,2,1.6 Tb/s,0.5,0.0\n")
    found = topology_from_file(file)
    assert (found.gbps.tolist(), found.delay_ns.tolist()) == ([100, 1600], [1000, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            r"t\.csv:1: column 'a' is missing; .* name the columns a,b,gbps,delay_ns,\[gbps_back\],\[error_rate\]",
        ),
        (
            "a,b,gbps,delay_ns,eror_rate\n0,2,1,1,0\n",
            r"t\.csv:1: column 5, 'eror_rate', is unknown \(did you mean 'error_rate'\?\)",
        ),
        ("a,b,gbps,delay_ns,\n0,2,1,1,\n", r"t\.csv:1: column 5, '', is unknown; leave it out"),
        (
            "a,b,gbps,delay_ns,error_rate\n0,2,1,1,0\n1,2,1,1,0.001\n",
            r"t\.csv:3: error_rate: must be 0, or .*: link errors are not modelled, found '0\.001'",
        ),
        (
            "a,b,gbps,delay_ns\n0,2,1 Gpbs,1\n",
            r"t\.csv:2: gbps: '1 Gpbs': unknown unit 'Gpbs' \(did you mean 'Gbps'\?\)",
        ),
        (
            "a,b,gbps,delay_ns\n0,2,1,1\n1,2,1,0\n",
            r"t\.csv:3: delay_ns: must be > 0 and at most 1e\+08 \(1 where a link has no",
        ),
        (
            "a,b,gbps,delay_ns\n0,0,1,1\n1,2,1,1\n",
            r"t\.csv:2: b: joins node 0 to itself; name the node at the other end",
        ),
        (
            "a,b,gbps,delay_ns\n0,1,1,1\n",
            r"t\.csv: 2 hosts among 2 nodes leave no switch, .*; join them by one, numbered",
        ),
        (
            "a,b,gbps,delay_ns\n0,2,1,1\n1,2,1,1\n3,5,1,1\n4,5,1,1\n",
            r"t\.csv: topology: switch 3 is connected to no host; join it, leave it out, or number hosts first",
        ),
        ("a,b,gpbs,delay_ns\n0,2,1,1\n", r"t\.csv:1: column 'gbps' is missing \(did you mean 'gpbs'\?\)"),
        ("a,b,gbps,delay_ns\n", r"t\.csv: has no links"),
        ("a,b,gbps,delay_ns\n0,2,100,1\n1,2,0,1\n", r"t\.csv:3: gbps: must be > 0 and finite, found '0'"),
        ("a,b,gbps,delay_ns\n0,2,100,1\n1,2,1e-9,1\n", r"t\.csv:3: gbps: must be from 1e-6 to 1e9, found 1e-09"),
        ("a,b,gbps,delay_ns\n0,2,100,1\n1,2,9,1.1e8\n", r"t\.csv:3: delay_ns: must be > 0 and at most 1e\+08"),
        ("a,b,gbps,delay_ns\n0,2,100,1\n1,2,nan,-1\n", r"t\.csv:3: gbps: .*\n.*t\.csv:3: delay_ns: must be > 0"),
        ("a,b,gbps,delay_ns\n0,2,100,1\n1,2,100\n", r"t\.csv:3: must have 4 cells as the first line has, found 3"),
        ("a,b,gbps,delay_ns\n0,2,1,1\n1,x,1,1\n", r"t\.csv:3: b: must be a whole number from 0 to 1000000, found 'x'"),
        ("a,b,gbps,delay_ns\n0,2,1,1\n1,2,1,1\n2,2,1,1\n", r"t\.csv:4: b: joins node 2 to itself"),
        ("a,b,gbps,delay_ns\n0,3,1,1\n1,2,1,1\n2,0,1,1\n", r"t\.csv: of 4 nodes 0 have one link"),
        ("a,b,gbps,delay_ns\n0,3,1,1\n1,3,1,1\n3,4,1,1\n4,3,1,1\n2,3,1,1\n", r"t\.csv:5: b: nodes 4 and 3 have a link"),
        ("a,b,gbps,delay_ns\n0,1,1,1\n2,4,1,1\n3,4,1,1\n", r"t\.csv:2: b: joins hosts 0 and 1"),
        (
            "a,b,gbps,delay_ns\n0,5,1,1\n1,5,1,1\n2,6,1,1\n3,6,1,1\n",
            "node 4 has no link; number the nodes without gaps",
        ),
        ("a,b,gbps,delay_ns\n0,4,1,1\n1,4,1,1\n2,5,1,1\n3,5,1,1\n", r"t\.csv: topology: hosts 0 and 2 have no path"),
    ],
)
def test_a_file_that_cannot_be_used_names_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        topology_from_file(file)


def test_fabrics_that_cannot_be() -> None:
    def made(hosts: int, switches: int, *ends: tuple[int, int]) -> FabricTopology:
        a, b = np.array(ends).T
        return FabricTopology(hosts, switches, a, b, np.full(len(a), 1.0), np.full(len(a), 1.0))

    for message, call in [
        (r"link 1 \(1–9\): b: must be a node from 0 to 2, found 9", lambda: made(2, 1, (0, 2), (1, 9))),
        ("host 1 has no link", lambda: made(2, 1, (0, 2))),
        ("switch 3 is connected to no host", lambda: made(2, 3, (0, 2), (1, 2), (3, 4))),
        ("two hosts and a switch", lambda: star(1)),
        ("two hosts and a switch", lambda: star(0)),
        ("k must be even", lambda: fat_tree(5)),
        ("cores must be a multiple", lambda: three_tier(2, 2, 2, 3, 1)),
    ]:
        with pytest.raises(InputError, match=message):
            call()


def test_planes_that_only_hosts_join_are_connected() -> None:
    """Two switches without a link between them, every host at both: all pairs have a path."""
    ends = np.array([(host, switch) for host in range(3) for switch in (3, 4)]).T
    assert FabricTopology(3, 2, *ends, np.ones(6), np.ones(6)).tier.tolist() == [0, 0, 0, 1, 1]
