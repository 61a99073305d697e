"""Fabrics that need more memory than there is, or more ports than the engine has, are refused before they are built."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.fabric import topologies
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.remy_plus.fabric.topology import TOR
from lcca.workers import memory

POISSON = {"kind": "poisson", "sizes": "websearch", "load": 0.2, "load_of": "host-links"}
KINDS: list[dict[str, Any]] = [
    {"kind": "star", "hosts": 7},
    {"kind": "dumbbell", "pairs": 3},
    {"kind": "leaf-spine", "tors": 3, "hosts_per_tor": 2, "spines": 4},
    {"kind": "fat-tree", "k": 4},
    {"kind": "fat-tree", "k": 4, "hosts_per_edge": 5},
    {"kind": "three-tier"},
]


def scenario(topology: dict[str, Any], workload: dict[str, Any] = POISSON) -> FabricScenario:
    return FabricScenario.model_validate({"name": "a", "topology": topology, "workload": workload, "duration_us": 1})


@pytest.mark.parametrize("topology", KINDS)
def test_the_size_is_that_of_the_fabric(topology: dict[str, Any]) -> None:
    found = scenario(topology)
    size, fabric = found.topology.size, found.fabric
    assert (size.hosts, size.nodes, size.links) == (fabric.hosts, fabric.nodes, len(fabric.a))
    assert size.racks == (fabric.tier == TOR).sum()  # each host has one switch
    assert size.ports == np.bincount(np.append(fabric.a, fabric.b)).max()
    assert set(size.keys) <= set(type(found.topology).model_fields)


@pytest.mark.parametrize(
    ("topology", "keys", "needed"),
    [
        ({"kind": "leaf-spine", "tors": 4095, "hosts_per_tor": 4, "spines": 4}, "tors, hosts_per_tor", "0.2"),
        (
            {"kind": "three-tier", "pods": 10, "tors_per_pod": 1000, "aggs_per_pod": 1, "cores": 1, "hosts_per_tor": 1},
            "pods, tors_per_pod",
            "0.4",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, topology: dict[str, Any], keys: str, needed: str
) -> None:
    monkeypatch.setattr(topologies, "free_bytes", lambda: 1e8)
    monkeypatch.setattr(FabricScenario, "fabric", None)  # would be built there
    with pytest.raises(ValidationError, match=rf"{keys}.*need {needed}.* GB of memory at least, and 0\.1 GB are free"):
        scenario(topology)


def test_what_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight thousand hosts at two switches, in 100 MB; a rack for each two of them needs more."""
    monkeypatch.setattr(topologies, "free_bytes", lambda: 1e8)
    assert not topologies.Dumbbell(kind="dumbbell", pairs=4000).size.problem()
    wide = topologies.LeafSpine(kind="leaf-spine", tors=4000, hosts_per_tor=2, spines=1)
    assert "need 0.1 GB" in wide.size.problem()


@pytest.mark.parametrize(
    ("topology", "problem"),
    [
        ({"kind": "star", "hosts": 4096}, "hosts: a switch with 4,096 links, and the engine has 4,095 at most"),
        ({"kind": "dumbbell", "pairs": 4095}, "pairs: a switch with 4,096 links"),
        ({"kind": "leaf-spine", "tors": 5000, "hosts_per_tor": 1, "spines": 1}, "tors, .* with 5,000 links"),
        ({"kind": "fat-tree", "k": 36}, "k: 34,992 links, and the engine has 32,767 at most; ask for fewer"),
    ],
)
def test_what_has_more_ports_than_the_engine_is_refused(
    monkeypatch: pytest.MonkeyPatch, topology: dict[str, Any], problem: str
) -> None:
    """Before it is built."""
    monkeypatch.setattr(FabricScenario, "fabric", None)
    monkeypatch.setattr(FabricScenario, "_built", None)
    with pytest.raises(ValidationError, match=rf"topology\n  {problem}"):
        scenario(topology)


def test_no_pairs_of_hosts_are_stored() -> None:
    """Of 3,000 hosts, not a byte for each of 9 million pairs."""
    topology = {"kind": "leaf-spine", "tors": 30, "hosts_per_tor": 100, "spines": 4}
    scenario({"kind": "star", "hosts": 3}).loads()  # imports
    tracemalloc.start()
    made = scenario(topology, POISSON | {"load_of": "tor-uplinks", "load": 0.5, "sizes": "uniform:1000:2000"})
    flows = made.flows(1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 9e6 and made.fabric.hosts == 3000 and len(flows) > 0


def test_flows_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.evaluation.fabric.scenario.free_bytes", lambda: 1e9)
    many = {"kind": "incast", "senders": 5, "bytes": 1, "period_us": 0.000001}
    with pytest.raises(
        ValidationError, match=r"has 5e\+06 flows, which need 3\.0 GB of memory at least, and 1\.0 GB are"
    ):
        scenario({"kind": "star", "hosts": 7, "gbps": 1e7, "delay_ns": 1}, many)


def test_a_limit_of_the_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.resource, "getrlimit", lambda _: (1_000_000, 1_000_000))
    assert memory.free_bytes() == 1_000_000
