"""Tuning during a run: what a tuner sees of a fabric at every interval, and what it may set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.switches.knobs import Limits

if TYPE_CHECKING:
    from lcca.remy_plus.fabric.topology import FabricTopology
    from lcca.remy_plus.switches.markers import Marking

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """What a tuner knows before a run.

    Attributes:
        topology: of the fabric. Its directed ports are numbered as in `FabricTopology.ports`.
        transport: name of what the hosts run.
        parameters: all of its parameters.
        marker: of all switches.
        seed: of the run; all that a tuner draws follows from it.
    """

    topology: FabricTopology
    transport: str
    parameters: Mapping[str, float]
    marker: Marking
    seed: int

    def require_dcqcn(self) -> None:
        """Check that hosts run DCQCN.

        Raises:
            InputError: they do not.
        """
        if self.transport != "dcqcn":
            raise InputError(f"tuner: sets parameters of dcqcn, not of {self.transport}")


class Tuning(Protocol):
    """A tuner with its parameters, as a transport has it (see `lcca.remy_plus.tuners.registry.Tuning`)."""

    @property
    def kind(self) -> str:
        """Its name."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """All of them."""

    @property
    def marks(self) -> bool:
        """Whether it sets the markers of all switches."""

    def build(self) -> Tuner:
        """Return a tuner for one run."""

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""


@dataclass(frozen=True)
class Sketch:
    """An Elastic Sketch (Yang et al., SIGCOMM 2018) at every switch, of what its own hosts send.

    Attributes:
        buckets: of the heavy part, a flow each.
        counters: of the light part.
        ostracism: a flow leaves its bucket when the bytes of others are so many times its own, λ.
    """

    buckets: int = 4096
    counters: int = 16384
    ostracism: float = 8


@dataclass(frozen=True)
class Samples:
    """Sampled NetFlow (RFC 3954) at every switch, of what its own hosts send.

    Attributes:
        one_in: packets of which one is counted, by chance, as so many; 1 counts all.
    """

    one_in: int


@dataclass(frozen=True)
class Sketches:
    """What sketches or samples counted in an interval.

    Attributes:
        node: (found,) switch.
        flow: (found,) a flow in a bucket, or sampled; of flows on one connection, the first (`FabricFlows.connection`).
        bytes: (found,) its, on the wire.
        small_flows: (switches,) about how many flows the counters hold; none with samples.
    """

    node: Floats
    flow: Floats
    bytes: Floats
    small_flows: Floats


@dataclass(frozen=True)
class Seen:
    """What counters say of an interval. Switches count at their ports; hosts' NICs time a round trip by every ACK.

    Attributes:
        now_ns: end of the interval.
        over_ns: its length.
        data_bytes, data_packets, marked_packets, drops: (ports,) sent on, marked among them, dropped.
        mean_queued_bytes: (ports,) over time.
        paused: (ports,) share of the time for which the port was paused, added up over classes of traffic.
        acks: (hosts,) that came back to its flows.
        rtt_ns: (hosts,) mean round trip, NaN without ACKs and with RCP.
        propagation_share: (hosts,) mean of propagation there and back over the round trip, NaN likewise.
        sketches: None unless the tuner has a sketch.
        marker_states: (ports,) each, by name: what markers have come to at the end, NaN where a marker tells nothing;
            PRED's `flows`, `slope_per_mb` and `kmin_bytes`.
    """

    now_ns: float
    over_ns: float
    data_bytes: Floats
    data_packets: Floats
    marked_packets: Floats
    drops: Floats
    mean_queued_bytes: Floats
    paused: Floats
    acks: Floats
    rtt_ns: Floats
    propagation_share: Floats
    sketches: Sketches | None = None
    marker_states: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What a tuner sets.

    Attributes:
        parameters: of the transport at all hosts that change; the others stay.
        markers: by port; None stands for all ports of switches.
        told: what it has found in the interval, by name, for the record of the run.
    """

    parameters: Mapping[str, float] = field(default_factory=dict)
    markers: Mapping[int | None, Marking] = field(default_factory=dict)
    told: Mapping[str, float] = field(default_factory=dict)


class Tuner(Protocol):
    """Looks at a fabric at every interval and sets parameters of switches and hosts.

    A tuner is made anew for every run (`begin`), so that a run is a function of its seed.
    """

    @property
    def every_us(self) -> float:
        """From look to look."""

    @property
    def delay_us(self) -> float:
        """From a look to when what it set holds: counters are read, something is decided, devices are told."""

    @property
    def sketch(self) -> Sketch | Samples | None:
        """What switches count flows by, if anything; each look begins it anew."""

    def begin(self, given: Given) -> Change:
        """Start a run anew; return what holds from its beginning."""

    def tune(self, seen: Seen) -> Change:
        """Return what to set after an interval."""


class TunerMaker(Protocol):
    """Makes a tuner for every run."""

    def build(self) -> Tuner:
        """Return a tuner for one run."""


class Control:
    """What the engine asks, at the beginning first: lets a tuner look, and applies what it says when that is due.

    Args:
        tuner: who looks.
        given: what it knows before the run.
        connection: (flows,) on which each is a message.

    Attributes:
        failure: what the tuner raised during the run.

    Raises:
        InputError: it does not look every 0.001 to 10^9 µs, or what it sets does not hold 0 to 10^9 µs later.
    """

    def __init__(self, tuner: Tuner, given: Given, connection: NDArray[np.int64]) -> None:
        for name, least in (("every_us", 0.001), ("delay_us", 0.0)):
            Limits(least, 1e9).require(f"tuner: {name}", getattr(tuner, name))
        self.failure: Exception | None = None
        self._tuner, self._connection = tuner, connection
        self._parameters = dict(given.parameters)
        self._switch_ports = np.flatnonzero(given.topology.ports[0] >= given.topology.hosts)
        self._due = [(0, tuner.begin(given))]
        self._every, self._delay = _ps(tuner.every_us), _ps(tuner.delay_us)
        self._look = self._every
        self._before: Mapping[str, Floats] = {}
        self._before_ns = 0.0
        self._told: list[Mapping[str, float]] = []

    @property
    def told(self) -> dict[str, Floats]:
        """What the tuner has told, as columns of a record: `told_ns`, when it looked, and `told_…`."""
        names = sorted({name for each in self._told for name in each})
        return {f"told_{name}": np.array([each.get(name, math.nan) for each in self._told]) for name in names}

    @property
    def sketch(self) -> dict[str, float]:
        """The sketches as the engine takes them."""
        found = self._tuner.sketch
        return {} if found is None else {f"sketch_{name}": value for name, value in asdict(found).items()}

    def __call__(
        self, now_ns: float, counted: Mapping[str, Any], sketches: Callable[[], Mapping[str, Any]]
    ) -> tuple[float, dict[str, float] | None, list[Any]]:
        """Return when to ask again, the transport's parameters if they change, and (port, kind, parameters)."""
        now = _ps(now_ns / 1000)
        if now >= self._look:
            seen = self._seen(now_ns, counted)
            if self._tuner.sketch is not None:
                found = sketches()
                flow = self._connection[found["sketch_flow"].astype(int)].astype(float)
                parts = Sketches(found["sketch_node"], flow, found["sketch_bytes"], found["sketch_small_flows"])
                seen = replace(seen, sketches=parts)
            try:
                change = self._tuner.tune(seen)
            except Exception as error:
                self.failure = error
                raise
            if change.told:
                self._told.append({"ns": now_ns, **change.told})
            self._due.append((now + self._delay, change))
            self._look += self._every
        ready = [change for at, change in self._due if at <= now]
        self._due = [(at, change) for at, change in self._due if at > now]
        before = dict(self._parameters)
        for change in ready:
            self._parameters |= change.parameters
        parameters = None if self._parameters == before else dict(self._parameters)
        again = min([self._look, *(at for at, _ in self._due)])
        return again / 1000, parameters, [each for change in ready for each in self._markers(change)]

    def _markers(self, change: Change) -> list[tuple[int, str, dict[str, float]]]:
        """Return a change's markers port by port; those of single ports come after those of all."""
        found = []
        for port, marker in sorted(change.markers.items(), key=lambda item: -1 if item[0] is None else item[0]):
            ports = self._switch_ports.tolist() if port is None else [port]
            found += [(each, marker.kind, dict(marker.parameters)) for each in ports]
        return found

    def _seen(self, now_ns: float, counted: Mapping[str, Any]) -> Seen:
        over = now_ns - self._before_ns
        sums = {name: values for name, values in counted.items() if name != "marker_states"}
        grown = {name: values - self._before.get(name, 0.0) for name, values in sums.items()}
        self._before, self._before_ns = sums, now_ns
        acks = grown["host_acks"]
        with np.errstate(invalid="ignore"):
            rtt, share = (grown[name] / acks for name in ("host_rtt_ns", "host_propagation_shares"))
        return Seen(
            now_ns=now_ns,
            over_ns=over,
            data_bytes=grown["port_data_bytes"],
            data_packets=grown["port_data_packets"],
            marked_packets=grown["port_marked_packets"],
            drops=grown["port_drops"],
            mean_queued_bytes=grown["port_queued_byte_ns"] / over,
            paused=grown["port_paused_ns"] / over,
            acks=acks,
            rtt_ns=rtt,
            propagation_share=share,
            marker_states=counted["marker_states"],
        )


def _ps(us: float) -> int:
    """Return whole picoseconds, the engine's clock: sums of other numbers could come to lie after a moment of it."""
    return round(us * 1e6)
