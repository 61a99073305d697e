"""htsim's topologies (`.topo`): fat trees of two or three tiers.

Read as by `fat_tree_topology.cpp` of csg-htsim @841d9e7. Tier 0 are the ToRs; a tier's downlinks are those below it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.lines import Line, lines_of
from lcca.inputs.errors import ConfigError, Place, Problem, about
from lcca.remy_plus.fabric.topology import FabricTopology, Link

HEADER = ("Nodes", "Tiers", "Podsize")
NEEDED = ("Downlink_speed_Gbps", "Radix_Down", "Downlink_Latency_ns")
QUEUES = ("Queue_Up", "Queue_Down")
KEYS = (*NEEDED, "Radix_Up", "Switch_Latency_ns", "Oversubscribed", "Bundle", *QUEUES)


@dataclass
class _Keys:
    """Numbers of a part of the file, and the line of its first word."""

    line: Line
    values: dict[str, int] = field(default_factory=dict)

    def set(self, line: Line, known: tuple[str, ...]) -> None:
        """Take the key of a line; htsim does not mind capitals."""
        key = {each.lower(): each for each in known}.get(line.words[0].lower())
        if key is None:
            raise line.unknown(line.words[0], known)
        if key in self.values:
            raise line.wrong(key, "stands there twice; leave one out")
        least = 0 if key in ("Switch_Latency_ns", *QUEUES) else 1
        self.values[key] = line.whole(1, key, least)

    def require(self, holds: bool, key: str, text: str) -> None:
        """Raise what is wrong with a key unless a condition holds."""
        if not holds:
            raise self.line.wrong(key, text)

    def need(self, *keys: str) -> None:
        """Check that keys are there."""
        for key in keys:
            self.require(key in self.values, key, "is missing; write it, with its number")


@dataclass(frozen=True)
class _Tree:
    """Numbers of a tree: of ToRs and aggregation switches in a pod, of pods and of cores."""

    pods: int
    tors: int
    aggs: int
    cores: int


def read_tiers(path: str | os.PathLike[str]) -> Converted:
    """Read a topology.

    Raises:
        InputError: naming file, line and key of what cannot be.
    """
    lines = lines_of(path)
    header, tiers = _Keys(lines[0]), dict[int, _Keys]()
    current, known = header, tuple[str, ...](HEADER)
    for line in lines:
        if line.words[0].lower() != "tier":
            current.set(line, known)
            continue
        number = line.whole(1, "Tier", 0, 2)
        if number in tiers:
            raise line.wrong("Tier", f"{number} stands in line {tiers[number].line.number} already")
        current, known = tiers.setdefault(number, _Keys(line)), KEYS
    header.need(*HEADER)
    count = header.values["Tiers"]
    header.require(count in (2, 3), "Tiers", f"must be 2 or 3, found {count}")
    missing = next((number for number in range(count) if number not in tiers), None)
    if missing is not None:
        raise ConfigError(Problem(Place(os.fspath(path)), (f"Tier {missing}",), "is missing; write it, with its keys"))
    for number in range(count):
        tiers[number].need(*NEEDED, *(("Radix_Up",) if number < count - 1 else ()))
    found = [tiers[number] for number in range(count)]
    tree = _tree(header, found)
    with about(path):
        topology = _topology(header.values["Nodes"], tree, found)
    assumed = tuple(_assumed(found, tree))
    return Converted(
        Path(path).name, "htsim's topology", topology, header.values["Nodes"], "uet-htsim", assumed=assumed
    )


def _bundle(tier: _Keys) -> int:
    return tier.values.get("Bundle", 1)


def _tree(header: _Keys, tiers: list[_Keys]) -> _Tree:
    """Return how many switches there are, or which key says otherwise than another."""
    nodes, pod = header.values["Nodes"], header.values["Podsize"]
    radix = tiers[0].values["Radix_Down"]
    header.require(nodes % pod == 0, "Podsize", f"{pod} must divide Nodes {nodes}")
    header.require(len(tiers) == 3 or pod == nodes, "Podsize", f"must be Nodes {nodes} with two tiers: one pod")
    tiers[0].require(pod % radix == 0, "Radix_Down", f"{radix} hosts of a ToR must divide Podsize {pod}")
    for below, above in pairwise(tiers):
        down, up = (below.values[key] for key in ("Radix_Down", "Radix_Up"))
        over = below.values.get("Oversubscribed", 1)
        into, out = down * below.values[NEEDED[0]], up * above.values[NEEDED[0]] * over
        text = f"{up} uplinks have 1/{over} of the rate of {down} downlinks only if Oversubscribed is "
        below.require(into == out, "Radix_Up", text + f"{into * over / out:g}, a whole number; correct one of them")
        above.require(up % _bundle(above) == 0, "Bundle", f"must divide Radix_Up {up} of the tier below")
    tors = pod // radix
    aggs, rest = divmod(tors * tiers[0].values["Radix_Up"], tiers[1].values["Radix_Down"])
    fits = not rest and aggs * _bundle(tiers[1]) == tiers[0].values["Radix_Up"]
    tiers[1].require(fits, "Radix_Down", f"must let each of the {tors} ToRs of a pod reach each of its switches")
    if len(tiers) == 2:
        return _Tree(1, tors, aggs, 0)
    ways, pods = tiers[1].values["Radix_Up"] // _bundle(tiers[2]), nodes // pod
    fits = tiers[2].values["Radix_Down"] == pods * _bundle(tiers[2])
    tiers[2].require(fits, "Radix_Down", f"must be {pods * _bundle(tiers[2])}: its Bundle to each of the {pods} pods")
    return _Tree(pods, tors, aggs, aggs * ways)


def _topology(hosts: int, tree: _Tree, tiers: list[_Keys]) -> FabricTopology:
    """Return hosts, ToRs, aggregation switches and cores, in this order; core c is on switch c mod aggs of each pod."""
    tors, aggs = tree.pods * tree.tors, 0 if tree.tors == tree.pods == 1 else tree.pods * tree.aggs
    per_tor, first_agg = hosts // tors, hosts + tors
    first_core = first_agg + aggs
    pairs = [(0, host, hosts + host // per_tor) for host in range(hosts)]
    for pod in range(tree.pods) if aggs else ():
        own = range(first_agg + pod * tree.aggs, first_agg + (pod + 1) * tree.aggs)
        pairs += [(1, hosts + pod * tree.tors + tor, agg) for tor in range(tree.tors) for agg in own]
        pairs += [(2, own[core % tree.aggs], first_core + core) for core in range(tree.cores)]
    links = [(a, b, *_rate_and_delay(tiers, tier)) for tier, a, b in pairs]
    return topology_of(hosts, tors + aggs + (tree.cores if aggs else 0), links)


def topology_of(hosts: int, switches: int, links: list[Link]) -> FabricTopology:
    """Return a topology of these links."""
    a, b, gbps, delay_ns = np.array(links, dtype=np.float64).T
    return FabricTopology(hosts, switches, a.astype(np.int32), b.astype(np.int32), gbps, delay_ns)


def _rate_and_delay(tiers: list[_Keys], tier: int) -> tuple[float, float]:
    """Return those of a link below a tier, with half of what each switch at its ends takes."""
    values = tiers[tier].values
    switches = sum(each.values.get("Switch_Latency_ns", 0) for each in tiers[max(tier - 1, 0) : tier + 1])
    rate = float(values["Downlink_speed_Gbps"] * (_bundle(tiers[tier]) if tier else 1))
    return rate, values["Downlink_Latency_ns"] + switches / 2


def _assumed(tiers: list[_Keys], tree: _Tree) -> Iterator[str]:
    if tree.tors == tree.pods == 1:
        yield "the uplinks of a single ToR lead nowhere and are left out"
    if any(each.values.get("Switch_Latency_ns") for each in tiers):
        yield "Switch_Latency_ns is in the delays of links, half on each side of a switch"
    if any(_bundle(each) > 1 for each in tiers):
        yield "links of a Bundle are one link with their rate together, so that no flow is bound to one of them"
    if any(key in each.values for each in tiers for key in QUEUES):
        yield "Queue_Up and Queue_Down are left out: sizes of buffers are keys of switch in a scenario"
