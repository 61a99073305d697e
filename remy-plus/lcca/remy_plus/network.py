"""One concrete bottleneck and its workload, in packets, packets/µs and µs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError, shown
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus import _core
from lcca.remy_plus.topology import DUMBBELL, Layout, Topology, layout
from lcca.remy_plus.workload import OpenFlows

Check = tuple[str, Callable[[float], bool]]
Compiled = TypeVar("Compiled")

MAX_SENDERS = 65535

# What each number must satisfy: the rule in words, and the rule. NaN satisfies none.
CHECKS: dict[str, Check] = {
    "id": ("a whole number >= 0", lambda x: x >= 0 and _whole(x)),
    "link_rate": ("> 0 packets/µs and finite", lambda x: 0 < x < math.inf),
    "rtt": (">= 0 µs and finite", lambda x: 0 <= x < math.inf),
    "senders": (f"a whole number from 1 to {MAX_SENDERS}", lambda x: 1 <= x <= MAX_SENDERS and _whole(x)),
    "buffer": ("a whole number of packets >= 0, or inf", lambda x: x >= 0 and (_whole(x) or x == math.inf)),
    "mean_on": ("> 0 and finite", lambda x: 0 < x < math.inf),
    "mean_off": (">= 0 µs and finite", lambda x: 0 <= x < math.inf),
    "loss": ("at least 0 and less than 1", lambda x: 0 <= x < 1),
    "jitter": ("at least 0 and less than 1e9 µs", lambda x: 0 <= x < 1e9),
    "packet_bytes": ("> 0 and finite", lambda x: 0 < x < math.inf),
}
SWITCHED = ("time", "bytes")


def _whole(value: float) -> bool:
    return math.isfinite(value) and value == math.floor(value)


@dataclass(frozen=True)
class Network:
    """One bottleneck link and the senders that share it.

    Attributes:
        id: number of the network within its place.
        link_rate: packets/µs.
        rtt: propagation round-trip time in µs, without queueing and service.
        senders: how many senders share the link.
        buffer: packets that may wait, the one in service not counted; `math.inf` for no limit.
        mean_on: mean of the exponential on-times in µs, or of the flow lengths in packets when
            byte-switched.
        mean_off: mean of the exponential off-times in µs.
        loss: chance of random loss per packet, after the link.
        switched: "time" (a sender stays on for a time) or "bytes" (until its flow has arrived, or is lost).
        open_flows: open-loop traffic in place of switched senders; then `senders` is 1, `loss` 0 and `buffer`
            infinite (nothing is resent in this model), and `mean_on`, `mean_off` and `switched` do not matter.
        topology: the links around it; anything but a plain dumbbell repeats the bottleneck or adds senders.
        packet_bytes: of a data packet: what utilities by size count by. No trial depends on it.
        jitter: µs, mean of the exponential time by which a sender notes an ACK late, as hosts do; ACKs stay in order.
        stream: part of the key of every random draw; the `id` unless it is given.

    Raises:
        InputError: naming every field that is out of bounds.
    """

    id: int
    link_rate: float
    rtt: float
    senders: int
    buffer: float
    mean_on: float
    mean_off: float
    loss: float
    switched: str = "time"
    open_flows: OpenFlows | None = None
    topology: Topology = DUMBBELL
    packet_bytes: float = PACKET_BYTES
    stream: int | None = None
    jitter: float = 0.0

    @property
    def drawn_by(self) -> int:
        """The number that random draws go by."""
        return self.id if self.stream is None else self.stream

    def __post_init__(self) -> None:
        """Check every field at once."""
        problems = [
            f"{field.name} {problem}"
            for field in fields(self)
            if field.name not in ("open_flows", "topology", "stream")
            and (problem := field_problem(field.name, getattr(self, field.name)))
        ]
        if self.open_flows is not None and (self.senders, self.loss, self.buffer) != (1, 0, math.inf):
            problems.append("open flows need senders 1, loss 0 and buffer inf")
        if self.open_flows is not None and not self.topology.plain:
            problems.append(f"open flows need the dumbbell, not topology {self.topology.kind}")
        if self.topology.senders(self.senders) > MAX_SENDERS:
            problems.append(f"topology {self.topology.kind} has more than {MAX_SENDERS} senders around it")
        if self.switched == "bytes" and self.mean_off == 0 and self.open_flows is None:
            problems.append("mean_off must be > 0 when byte-switched: flows would follow each other without end")
        if problems:
            raise InputError(f"network {self.id}: " + "; ".join(problems))

    @property
    def timed(self) -> bool:
        """Whether flows end by time, whatever a policy does."""
        return self.switched == "time" and self.open_flows is None


def field_problem(name: str, value: object) -> str:
    """Return what is wrong with the value of a field, such as "must be > 0, got -1"; empty if nothing."""
    if name == "switched":
        return "" if value in SWITCHED else f"must be time or bytes, got {shown(value)}"
    words, holds = CHECKS[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"must be a number, got {shown(value)}"
    try:
        return "" if holds(float(value)) else f"must be {words}, got {value:g}"
    except OverflowError:
        return f"must be {words}, got a number too large"


def open_network(
    id: int, link_rate: float, rtt: float, flows: OpenFlows, packet_bytes: float = PACKET_BYTES
) -> Network:
    """Return a network with open-loop traffic and a queue that holds everything."""
    return Network(id, link_rate, rtt, 1, math.inf, 1.0, 0.0, 0.0, open_flows=flows, packet_bytes=packet_bytes)


class NetworkList:
    """Networks, their parameters as arrays, and what simulators make of them.

    Attributes:
        networks: as they were given.
        senders: (networks,) measured senders.
        link_rate: (networks,) packets/µs.
        rtt: (networks,) µs.
        packet_bytes: (networks,) of a data packet.
        plain: (networks,) whether the topology is the plain dumbbell.
        hops: (networks,) queues on the way of a packet.
    """

    def __init__(self, networks: Sequence[Network]) -> None:
        self.networks = tuple(networks)
        self.senders = np.array([n.senders for n in self.networks], dtype=np.int64)
        self.link_rate = np.array([n.link_rate for n in self.networks])
        self.rtt = np.array([n.rtt for n in self.networks])
        self.packet_bytes = np.array([n.packet_bytes for n in self.networks])
        self.plain = np.array([n.topology.plain for n in self.networks], dtype=bool)
        self.hops = np.array([n.topology.hops(n.senders) for n in self.networks], dtype=np.int64)
        self._compiled: dict[Callable[[Network], Any], list[Any]] = {}

    def __len__(self) -> int:
        """Return the number of networks."""
        return len(self.networks)

    def round_trips_us(self, ack_size: float) -> NDArray[np.float64]:
        """Return what a lone packet takes to its acknowledgement, (networks,); ACKs of this size cross links too."""
        services = np.where(self.plain, 1.0, self.hops * (1 + ack_size))
        return np.asarray(self.rtt + services / self.link_rate, dtype=np.float64)

    def compiled(self, compile_one: Callable[[Network], Compiled]) -> list[Compiled]:
        """Return the networks in a simulator's form, made by its function; once, however often they are run."""
        if compile_one not in self._compiled:
            self._compiled[compile_one] = [compile_one(network) for network in self.networks]
        return self._compiled[compile_one]

    def __reduce__(self) -> tuple[type[NetworkList], tuple[tuple[Network, ...]]]:
        """Pickle the networks alone; they are compiled anew where they arrive."""
        return NetworkList, (self.networks,)


def compile_network(network: Network) -> _core.Network:
    """Return the engine's form of a network; one with a layout is simulated link by link."""
    topology = network.topology
    return _core.Network(
        id=network.drawn_by,
        link_rate=network.link_rate,
        rtt=network.rtt,
        senders=network.senders,
        buffer=network.buffer,
        loss=network.loss,
        workload=compile_workload(network),
        layout=None if topology.plain else compile_layout(layout(network, topology), topology, network.drawn_by),
        jitter=network.jitter,
    )


def compile_workload(network: Network) -> tuple[Any, ...]:
    """Return a network's workload in the form that every simulator reads: its name and numbers (packets, µs)."""
    if flows := network.open_flows:
        sizes = flows.sizes
        return "poisson-flows", flows.arrival_rate(network.link_rate), list(sizes.packets), list(sizes.cumulative)
    kind = "time-switched" if network.switched == "time" else "byte-switched"
    return kind, float(network.mean_on), float(network.mean_off)


def compile_layout(laid: Layout, topology: Topology = DUMBBELL, network: int = 0) -> _core.Layout:
    """Return the engine's form of a layout, with what its topology says of signals on the network of a number."""
    return _core.Layout(
        link_rate=[link.rate for link in laid.links],
        link_delay=[link.delay for link in laid.links],
        link_buffer=[link.buffer for link in laid.links],
        forward=[list(route.forward) for route in laid.routes],
        backward=[list(route.backward) for route in laid.routes],
        measured=laid.measured,
        one_way=topology.one_way,
        stamps=np.asarray(_core.chosen(0, network, "deployment", 0, len(laid.links), topology.stamping), bool).tolist(),
    )
