"""The plan of one trial as the ns-3 module reads it: plain values that travel to a worker process."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lcca.inputs.assignments import named_options
from lcca.inputs.errors import InputError, require
from lcca.remy_plus.topology import layout

if TYPE_CHECKING:
    from lcca.remy_plus.engine import Model
    from lcca.remy_plus.network import Network


@dataclass(frozen=True)
class Ns3Options:
    """What ns-3 has and the fast engine has not.

    Attributes:
        packet_bytes: a data packet on the wire without in-network signals: 536 bytes of payload in ns3-signal-eval's
            count, 20 of TCP, 12 of a timestamp option, 20 of IP, 2 of PPP. A packet/µs is this many bytes per µs.
        header_bytes: bytes of in-network signals in every packet and acknowledgement; None for 4 per signal that the
            policy uses, or for those of the policy's header if it has one; 0 for signals that cost nothing.
        host_gbps: rate of host links (the paper: 1 Tb/s).
        min_rto: µs, smallest retransmission timeout.
        initial_window: packets, of stock congestion controls at a flow's start.
        time_scale: simulated µs per µs. With 1000, milliseconds stand for microseconds (the paper's A.3), which suits
            congestion controls with constants in milliseconds.
        queue: "drop-tail", or "red" with ns3::RedQueueDisc's attributes.
        queue_attributes: as (name, value) pairs.

    Raises:
        InputError: a value that is out of range.
    """

    packet_bytes: int = 590
    header_bytes: int | None = None
    host_gbps: float = 1000.0
    min_rto: float = 5000.0
    initial_window: int = 10
    time_scale: float = 1.0
    queue: str = "drop-tail"
    queue_attributes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        wrong = [
            words
            for holds, words in (
                (64 <= self.packet_bytes <= 9000, "packet_bytes must be from 64 to 9000"),
                (self.header_bytes is None or 0 <= self.header_bytes <= 256, "header_bytes must be from 0 to 256"),
                (0 < self.host_gbps <= 1e5, "host_gbps must be > 0"),
                (0 < self.min_rto < math.inf, "min_rto must be > 0 µs"),
                (self.initial_window >= 1, "initial_window must be at least 1 packet"),
                (1e-3 <= self.time_scale <= 1e6, "time_scale must be from 0.001 to 1e6"),
                (self.queue in ("drop-tail", "red"), "queue must be drop-tail or red"),
            )
            if not holds
        ]
        if wrong:
            raise InputError("ns-3 options: " + "; ".join(wrong))

    def parts(self, delays: bool = False, one_way: bool = False, late_handshakes: bool = False) -> dict[str, Any]:
        """Return the parts of a plan that say what is in all packets and queues.

        Args:
            delays: whether to keep every delay, for percentiles.
            one_way: whether in-network signals are locked at the receiver.
            late_handshakes: whether flows may begin while others are under way.
        """
        used = asdict(self)
        queue, attributes = used.pop("queue"), dict(used.pop("queue_attributes"))
        used["header_bytes"] = -1 if self.header_bytes is None else self.header_bytes
        used |= {"keep_delays": delays, "one_way": one_way, "late_handshakes": late_handshakes}
        return {"queue": queue, "queue_attributes": attributes, "options": used}

    @classmethod
    def of(cls, text: str) -> Ns3Options:
        """Return the options in a text such as ``header_bytes=0,queue=red,MinTh=5``, whose capitals are the queue's.

        Raises:
            InputError: no such option, a value that is no number, or one that is out of range.
        """
        values, attributes = named_options(cls, "ns-3 options", text)
        return cls(**values, queue_attributes=tuple(attributes))


def trial_plan(
    network: Network,
    policy: tuple[Any, ...],
    seed: int,
    duration: float,
    model: Model,
    options: Ns3Options,
    delays: bool,
) -> dict[str, Any]:
    """Return the plan of one trial.

    Args:
        network: with its topology.
        policy: the compiled policy's plain values.
        seed: of the trial.
        duration: µs.
        model: options that both simulators have.
        options: options of ns-3.
        delays: whether to keep every delay, for percentiles.

    Raises:
        InputError: a network that ns-3 does not simulate here.
    """
    from lcca.gym_envs.processes.plans import network_part  # help of commands names the options
    from lcca.remy_plus.network import compile_workload

    if network.open_flows is not None:
        raise InputError(f"network {network.id}: open flows run in the fast engine only, not in ns-3")
    require(network.jitter == 0, f"network {network.id}: jitter: of hosts that the fast engine alone has, not ns-3")
    if network.rtt <= 0:
        raise InputError(f"network {network.id}: rtt must be > 0 µs in ns-3")
    topology = network.topology
    require(topology.stamping == 1, f"network {network.id}: in ns-3 all links write: leave topology.stamping out")
    laid = layout(network, topology)
    return {
        "network": network_part(network, compile_workload(network)),
        "routers": laid.routers,
        "links": [(x.tail, x.head, float(x.rate), float(x.delay), float(x.buffer)) for x in laid.links],
        "routes": [(list(r.forward), list(r.backward), r.measured) for r in laid.routes],
        "policy": policy,
        "seed": int(seed),
        "duration": float(duration),
        "model": model.parts(),
        **options.parts(delays, topology.one_way),
    }
