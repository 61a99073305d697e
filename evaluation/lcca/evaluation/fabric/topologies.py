"""The topology of a fabric as a scenario's file gives it; the keys are those of `lcca.remy_plus.fabric.builders`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lcca.evaluation.fabric.formats.reading import is_foreign, topology_of_file
from lcca.inputs.errors import require
from lcca.inputs.model import Model
from lcca.inputs.names import FileOrName
from lcca.remy_plus import _core
from lcca.remy_plus.fabric import builders
from lcca.remy_plus.fabric.builders import DELAY_NS, GBPS, MOST_DELAY_NS
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.workers.memory import free_bytes

Count = Annotated[int, Field(ge=1, le=100_000)]
Positive = Annotated[float, Field(gt=0)]
Delay = Annotated[float, Field(gt=0, le=MOST_DELAY_NS)]

LINK_BYTES = 600
"""Of memory that a link takes at least while a topology is built."""


@dataclass(frozen=True)
class Size:
    """How large a topology is; known before it is built.

    Attributes:
        keys: that say so.
        racks: switches with hosts, and hosts with several switches: as many ways lead to hosts.
        hosts: how many.
        nodes: hosts and switches.
        links: how many.
        ports: of the node with the most.
    """

    keys: tuple[str, ...]
    racks: int
    hosts: int
    nodes: int
    links: int
    ports: int

    def problem(self) -> str:
        """Return what the engine has no room for, or that its memory is not there; empty if it fits."""
        distances = 2 * self.racks * self.nodes  # the engine's, uint16
        needed, free = LINK_BYTES * self.links + distances, free_bytes()
        if self.ports > _core.FABRIC_MOST_PORTS_OF_NODE:
            text = f"a switch with {self.ports:,} links, and the engine has {_core.FABRIC_MOST_PORTS_OF_NODE:,} at most"
        elif 2 * self.links > _core.FABRIC_MOST_PORTS:
            text = f"{self.links:,} links, and the engine has {_core.FABRIC_MOST_PORTS // 2:,} at most"
        elif needed > free:
            text = f"{self.hosts:,} hosts and {self.links:,} links need {needed / 1e9:,.1f} GB of memory at least, and "
            text += f"{free / 1e9:,.1f} GB are free"
        else:
            return ""
        return f"{', '.join(self.keys)}: {text}; ask for fewer"


class _Built(Model):
    """A topology whose keys are the arguments of its builder."""

    builder: ClassVar[Callable[..., FabricTopology]]

    def build(self) -> FabricTopology:
        """Return the topology."""
        values = {name: value for name, value in self if name != "kind"}
        return type(self).builder(**values)


class Star(_Built):
    """Hosts around one switch."""

    builder = staticmethod(builders.star)

    kind: Literal["star"]
    hosts: Annotated[int, Field(ge=2, le=100_000)]
    gbps: Positive = GBPS
    delay_ns: Delay = DELAY_NS

    @property
    def size(self) -> Size:
        """How large it is."""
        return Size(("hosts",), 1, self.hosts, self.hosts + 1, self.hosts, self.hosts)


class Dumbbell(_Built):
    """Senders, which are the first half of the hosts, one bottleneck, receivers."""

    builder = staticmethod(builders.dumbbell)

    kind: Literal["dumbbell"]
    pairs: Count
    bottleneck_gbps: Positive = GBPS
    host_gbps: Positive = GBPS
    bottleneck_delay_ns: Delay = DELAY_NS
    host_delay_ns: Delay = DELAY_NS

    @property
    def size(self) -> Size:
        """How large it is."""
        return Size(("pairs",), 2, 2 * self.pairs, 2 * self.pairs + 2, 2 * self.pairs + 1, self.pairs + 1)


class LeafSpine(_Built):
    """Racks of hosts whose ToRs have a link to every spine."""

    builder = staticmethod(builders.leaf_spine)

    kind: Literal["leaf-spine"]
    tors: Count
    hosts_per_tor: Count
    spines: Count
    host_gbps: Positive = GBPS
    uplink_gbps: Positive = GBPS
    host_delay_ns: Delay = DELAY_NS
    uplink_delay_ns: Delay = DELAY_NS

    @property
    def size(self) -> Size:
        """How large it is."""
        hosts, keys = self.tors * self.hosts_per_tor, ("tors", "hosts_per_tor", "spines")
        links, ports = hosts + self.tors * self.spines, max(self.hosts_per_tor + self.spines, self.tors)
        return Size(keys, self.tors, hosts, hosts + self.tors + self.spines, links, ports)


class FatTree(_Built):
    """A fat tree of switches with k ports; with `hosts_per_edge` above k/2 its edge is oversubscribed.

    Attributes:
        k: ports of a switch.
        hosts_per_edge: hosts of an edge switch; k/2 if left out. CCEval's has k = 8 and 10, 2.5:1.
    """

    builder = staticmethod(builders.fat_tree)

    kind: Literal["fat-tree"]
    k: Annotated[int, Field(ge=2, le=128, multiple_of=2)]
    hosts_per_edge: Count | None = None
    host_gbps: Positive = GBPS
    fabric_gbps: Positive = GBPS
    delay_ns: Delay = DELAY_NS

    @property
    def size(self) -> Size:
        """How large it is."""
        half, keys = self.k // 2, ("k",) if self.hosts_per_edge is None else ("k", "hosts_per_edge")
        edges, own = self.k * half, self.hosts_per_edge or half
        hosts = edges * own
        return Size(keys, edges, hosts, hosts + 2 * edges + half**2, hosts + 2 * edges * half, max(own + half, self.k))


class ThreeTier(_Built):
    """Pods of ToRs and aggregation switches below cores; the defaults are HPCC's (320 hosts, 56 switches)."""

    builder = staticmethod(builders.three_tier)

    kind: Literal["three-tier"]
    pods: Count = 5
    tors_per_pod: Count = 4
    aggs_per_pod: Count = 4
    cores: Count = 16
    hosts_per_tor: Count = 16
    host_gbps: Positive = GBPS
    fabric_gbps: Positive = 4 * GBPS
    delay_ns: Delay = DELAY_NS

    @property
    def size(self) -> Size:
        """How large it is."""
        tors = self.pods * self.tors_per_pod
        hosts, switches = tors * self.hosts_per_tor, tors + self.pods * self.aggs_per_pod + self.cores
        keys = ("pods", "tors_per_pod", "aggs_per_pod", "cores", "hosts_per_tor")
        agg = self.tors_per_pod + self.cores // self.aggs_per_pod
        ports = max(self.hosts_per_tor + self.aggs_per_pod, agg, self.pods)
        links = hosts + tors * self.aggs_per_pod + self.pods * self.cores
        return Size(keys, tors, hosts, hosts + switches, links, ports)


class LinkFile(Model):
    """A file of links; hosts are numbered before switches.

    Attributes:
        links: CSV file with the columns a, b (nodes), gbps, delay_ns, perhaps gbps_back (from b to a, where it is not
            gbps) and perhaps error_rate, which must be 0; or a topology of htsim (.topo) or HPCC (.txt).
        hosts: how many nodes are hosts; if left out, those with one link that come before all others. Not of .topo and
            .txt, which say so.
    """

    kind: Literal["file"]
    links: FileOrName
    hosts: Annotated[int, Field(ge=2)] | None = None

    @property
    def size(self) -> Size:
        """How large it is; of files of a limited size."""
        fabric = self._built
        homes = fabric.neighbours[: fabric.hosts]
        racks = len({each if len(each) == 1 else (host,) for host, each in enumerate(homes)})
        ports = max(map(len, fabric.neighbours))
        return Size(("links",), racks, fabric.hosts, fabric.nodes, len(fabric.a), ports)

    def build(self) -> FabricTopology:
        """Return the topology."""
        return self._built

    @cached_property
    def _built(self) -> FabricTopology:
        if not is_foreign(self.links):
            return builders.topology_from_file(self.links, self.hosts)
        require(self.hosts is None, f"{self.links}: says which nodes are hosts; leave topology.hosts out")
        return topology_of_file(self.links)


TopologyModel = Annotated[Star | Dumbbell | LeafSpine | FatTree | ThreeTier | LinkFile, Field(discriminator="kind")]
