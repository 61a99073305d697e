"""Fabrics that need more memory than there is are refused before they are built."""

from typing import Any

import pytest
from pydantic import ValidationError

from lcca.evaluation.fabric import topologies
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.inputs import memory

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
    assert set(size.keys) <= set(type(found.topology).model_fields)


@pytest.mark.parametrize(
    ("topology", "keys", "needed"),
    [
        ({"kind": "star", "hosts": 20_000}, "hosts", "6.4"),
        ({"kind": "fat-tree", "k": 128}, "k", "4,399"),
        ({"kind": "dumbbell", "pairs": 100_000}, "pairs", "640"),
        (
            {"kind": "leaf-spine", "tors": 100_000, "hosts_per_tor": 1, "spines": 100_000},
            "tors, hosts_per_tor",
            "6,160",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, topology: dict[str, Any], keys: str, needed: str
) -> None:
    monkeypatch.setattr(topologies, "free_bytes", lambda: 6e9)
    monkeypatch.setattr(FabricScenario, "fabric", None)  # would be built there
    with pytest.raises(ValidationError, match=rf"{keys}.*need {needed}.* GB of memory at least, and 6\.0 GB are free"):
        scenario(topology)


def test_what_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight thousand hosts, on a machine of 2 GB; a permutation needs less, having no rate for each pair of hosts."""
    monkeypatch.setattr(topologies, "free_bytes", lambda: 2e9)
    size = topologies.Star(kind="star", hosts=8000).size
    assert not size.problem(dense=True)
    monkeypatch.setattr(topologies, "free_bytes", lambda: 5e8)
    assert not size.problem(dense=False) and "need 1.0 GB" in size.problem(dense=True)


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
