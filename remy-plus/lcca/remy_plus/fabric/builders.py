"""Fabrics by their numbers: star, leaf-spine, fat tree, three tiers, dumbbell; and a file of links."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import ConfigError, InputError, Place, Problem, about, require
from lcca.inputs.tables import number, read_table, whole
from lcca.remy_plus.fabric.topology import FabricTopology, Link, link_problems

GBPS, DELAY_NS = 100.0, 1000.0
"""Rate and propagation delay of a link unless told otherwise: those of HPCC's evaluation (Li et al., SIGCOMM 2019)."""

MOST_DELAY_NS = 1e8
"""Of a link: what light in fibre takes half way round the Earth."""

MOST_NODES = 1_000_000

_COLUMNS = {
    "a": whole(0, MOST_NODES),
    "b": whole(0, MOST_NODES),
    "gbps": number("> 0 and finite", lambda value: value > 0),
    "delay_ns": number(
        f"> 0 and at most {MOST_DELAY_NS:g} (1 where a link has no length)", lambda value: 0 < value <= MOST_DELAY_NS
    ),
}
_PERHAPS = {
    "gbps_back": _COLUMNS["gbps"],
    "error_rate": number("0, or the column left out: link errors are not modelled", lambda value: value == 0),
}


def star(hosts: int, gbps: float = GBPS, delay_ns: float = DELAY_NS) -> FabricTopology:
    """Return hosts around one switch."""
    return _topology(hosts, 1, ((host, hosts, gbps, delay_ns) for host in range(hosts)))


def dumbbell(
    pairs: int,
    bottleneck_gbps: float = GBPS,
    host_gbps: float = GBPS,
    bottleneck_delay_ns: float = DELAY_NS,
    host_delay_ns: float = DELAY_NS,
) -> FabricTopology:
    """Return senders 0 to pairs − 1 at one switch, receivers pairs to 2 pairs − 1 at another, one link between."""
    first, second = 2 * pairs, 2 * pairs + 1
    ends = ((host, first if host < pairs else second) for host in range(2 * pairs))
    hosts = [(host, switch, host_gbps, host_delay_ns) for host, switch in ends]
    return _topology(2 * pairs, 2, [*hosts, (first, second, bottleneck_gbps, bottleneck_delay_ns)])


def leaf_spine(
    tors: int,
    hosts_per_tor: int,
    spines: int,
    host_gbps: float = GBPS,
    uplink_gbps: float = GBPS,
    host_delay_ns: float = DELAY_NS,
    uplink_delay_ns: float = DELAY_NS,
) -> FabricTopology:
    """Return racks of hosts whose ToRs have a link to every spine; ToRs are numbered before spines."""
    hosts = tors * hosts_per_tor
    racks = [(host, hosts + host // hosts_per_tor, host_gbps, host_delay_ns) for host in range(hosts)]
    up = [(hosts + tor, hosts + tors + s, uplink_gbps, uplink_delay_ns) for tor in range(tors) for s in range(spines)]
    return _topology(hosts, tors + spines, racks + up)


def three_tier(
    pods: int,
    tors_per_pod: int,
    aggs_per_pod: int,
    cores: int,
    hosts_per_tor: int,
    host_gbps: float = GBPS,
    fabric_gbps: float = 4 * GBPS,
    delay_ns: float = DELAY_NS,
) -> FabricTopology:
    """Return pods in which each ToR has a link to each aggregation switch, and cores with one link to each pod.

    Core c is joined to aggregation switch c // (cores / aggs_per_pod) of every pod. ToRs are numbered first, then
    aggregation switches, pod by pod, then cores. HPCC's has 5 pods of 4 ToRs and 4 aggregation switches, 16 cores and
    16 hosts per ToR.

    Raises:
        InputError: cores that the aggregation switches of a pod cannot share equally.
    """
    if aggs_per_pod < 1 or cores % aggs_per_pod:
        raise InputError(f"topology: cores must be a multiple of aggs_per_pod ({aggs_per_pod}), got {cores}")
    tors, aggs, share = pods * tors_per_pod, pods * aggs_per_pod, cores // aggs_per_pod
    hosts = tors * hosts_per_tor
    first_agg, first_core = hosts + tors, hosts + tors + aggs
    racks = [(host, hosts + host // hosts_per_tor, host_gbps, delay_ns) for host in range(hosts)]
    inside = [
        (hosts + tor, first_agg + tor // tors_per_pod * aggs_per_pod + agg, fabric_gbps, delay_ns)
        for tor in range(tors)
        for agg in range(aggs_per_pod)
    ]
    above = [
        (first_agg + agg, first_core + agg % aggs_per_pod * share + core, fabric_gbps, delay_ns)
        for agg in range(aggs)
        for core in range(share)
    ]
    return _topology(hosts, tors + aggs + cores, racks + inside + above)


def fat_tree(
    k: int,
    hosts_per_edge: int | None = None,
    host_gbps: float = GBPS,
    fabric_gbps: float = GBPS,
    delay_ns: float = DELAY_NS,
) -> FabricTopology:
    """Return a fat tree of switches with k ports (Al-Fares et al., SIGCOMM 2008): k pods and k²/4 cores.

    Args:
        k: even, at least 2.
        hosts_per_edge: k/2 unless told otherwise; more oversubscribes the edge (CCEval: k = 8 with 10, 320 hosts).
        host_gbps: rate of hosts' links.
        fabric_gbps: rate of links between switches.
        delay_ns: propagation of every link.

    Raises:
        InputError: an odd k.
    """
    if k < 2 or k % 2:
        raise InputError(f"topology: k must be even and at least 2, got {k}")
    half = k // 2
    hosts = half if hosts_per_edge is None else hosts_per_edge
    return three_tier(k, half, half, half * half, hosts, host_gbps, fabric_gbps, delay_ns)


def topology_from_file(path: str | os.PathLike[str], hosts: int | None = None) -> FabricTopology:
    """Read a CSV file of links: a, b, gbps, delay_ns, perhaps gbps_back (from b to a) and error_rate, which must be 0.

    Nodes are numbered: hosts first, then switches.

    Args:
        path: the file.
        hosts: how many of the nodes are hosts; if left out, the nodes with one link that come before the first node
            with several.

    Raises:
        InputError: naming file, line and column of every link that cannot be, or the file where hosts have no path.
    """
    table = read_table(path, _COLUMNS, _PERHAPS)
    if not table.lines:
        raise ConfigError(Problem(Place(table.path), (), "has no links; write one a line: a,b,gbps,delay_ns"))
    links = list(zip(*(table.columns[name] for name in _COLUMNS), strict=True))
    degree = np.bincount([node for a, b, _, _ in links for node in (a, b)])
    table.require(link_problems(0, len(degree), links))
    with about(table.path):
        count = _hosts_of(degree, hosts)
    table.require(link_problems(count, len(degree), links))
    with about(table.path):
        built = _topology(count, len(degree) - count, links)
    back = table.columns.get("gbps_back")
    return built if back is None else replace(built, gbps_back=np.array(back, dtype=np.float64))


def _hosts_of(degree: NDArray[np.int64], told: int | None) -> int:
    """Return how many of the nodes with so many links are hosts."""
    if not degree.all():
        raise InputError(f"node {np.argmin(degree)} has no link; number the nodes without gaps, hosts first")
    several = np.flatnonzero(degree != 1)
    count = told if told is not None else int(several[0]) if len(several) else len(degree)
    nodes = len(degree)
    none = f"{count} hosts among {nodes} nodes leave no switch, and hosts have links to switches only; join them by "
    require(count < nodes, f"{none}one, numbered after them, as in the links 0,2 and 1,2 of two hosts")
    few = f"of {nodes} nodes {count} have one link and come before all others; number hosts first, then switches, or "
    require(count >= 2, f"{few}give the number of hosts (topology.hosts)")
    return count


def _topology(hosts: int, switches: int, links: Iterable[Link]) -> FabricTopology:
    a, b, gbps, delay_ns = np.array(list(links), dtype=np.float64).reshape(-1, 4).T
    return FabricTopology(hosts, switches, a.astype(np.int32), b.astype(np.int32), gbps, delay_ns)
