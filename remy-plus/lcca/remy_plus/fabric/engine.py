"""Runs of the fabric engine: flows over a topology under one transport, or under a policy with what fabrics tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from lcca.inputs.errors import InputError, require
from lcca.remy_plus import _core
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.core.signals import CARRIED, OF_SELECTIVE_HOSTS
from lcca.remy_plus.core.stamping import KNOWN_LATER, StampedField, Stamping
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet
from lcca.remy_plus.fabric.fluid import run_fluid
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.policies.agents import MlpPolicy
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.policy import Mixture, Policy, WithHeader, compile_policy, seen
from lcca.remy_plus.policies.rules import RuleTable
from lcca.remy_plus.policies.simple import Simple
from lcca.remy_plus.switches import markers
from lcca.remy_plus.switches.control import Control, Given, TunerMaker
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS
from lcca.remy_plus.switches.markers import Marking
from lcca.remy_plus.switches.transports import TRANSPORTS, Transport, TransportKind, transport_kind

FabricRecord: TypeAlias = Mapping[str, Any]
"""Arrays by name: `flow_…` one entry per flow, `port_…` one per directed port, `sample_…` one row per sample."""


HOPS = {"queue", "link", "queue_ewma", "link_ewma", "available_capacity", "available_capacity_ewma"}
"""Signals that the stamps of a fabric's hops tell."""

UNTOLD = {"one_way_ratio"}
"""Signals that a fabric does not tell its senders at all."""

NOT_TOLD = set(CARRIED) - HOPS | UNTOLD
"""Signals that a fabric does not tell its senders without a header."""


@dataclass(frozen=True)
class Watch:
    """What is sampled during a run.

    Attributes:
        every_ns: between samples.
        flows: positions of flows: rate at which they pace (Gb/s), bytes under way and bytes delivered.
        ports: (node, peer) of ports: bytes waiting.
    """

    every_ns: float
    flows: Sequence[int] = ()
    ports: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Compiled:
    """A learnt policy in the engine's form.

    Attributes:
        policy: with its header, if it has one.
        looks_at_hops: whether packets bring it the stamps of hops.
        keep_every: of a rule table one look-up in so many is kept; 0 for none.
        over: the transport whose ways it chooses; None for a policy that has the window itself.
    """

    policy: _core.Policy
    looks_at_hops: bool = False
    keep_every: int = 0
    over: Transport | None = None


@dataclass(frozen=True)
class FabricEngine:
    """The fabric engine with a transport.

    Attributes:
        transport: its name, of `lcca.remy_plus.switches.transports.TRANSPORTS`; or a learnt policy, whose windows are
            in packets of the fabric's payload and gaps in µs, as where it was learnt; or one that is compiled already.
        parameters: of the transport that differ from the defaults; a policy has none.
        settings: of the fabric.
        tuner: sets parameters of switches and hosts during a run; None for nobody.
        around: from the engine's form of the transport to that in which an agent outside steers some flows; None for
            nobody.
    """

    transport: str | Policy | Compiled
    parameters: Mapping[str, float] = field(default_factory=dict)
    settings: FabricSettings = field(default_factory=FabricSettings)
    tuner: TunerMaker | None = None
    around: Callable[[Any], _core.FabricAgents] | None = None

    def run(
        self,
        topology: FabricTopology,
        flows: FabricFlows,
        seed: int = 1,
        horizon_ns: float = np.inf,
        watch: Watch | None = None,
        last_round_ns: float = np.inf,
        level_bytes: float = np.inf,
        threads: int = 1,
    ) -> FabricRecord:
        """Run flows until all have ended, or to the horizon; those that wait for a round begin before `last_round_ns`.

        The seed decides which of equal paths a flow takes and which packets are marked; it does not change the flows.
        Threads change nothing: they share the nodes of windows with packets enough. Agents, congestion controls in
        Python and look-ups that are kept have one.

        Returns:
            `flow_start_ns` (NaN: it waited for a round until the end), `flow_fct_ns` (NaN: did not end),
            `flow_ideal_ns` (alone and without telemetry), `flow_alone_ns` (alone, with telemetry, exactly),
            `flow_ports` ((flows, 8) numbers of the ports that its data cross, −1 after the last),
            `flow_delivered_bytes`;
            `port_node`, `port_peer`, packets and bytes sent, marks, drops, queues (the p99 is over time, at most 1/32
            too long), pauses, and with `level_bytes` `port_crossed_ns`: when its queue first had more;
            `fullest_queued_bytes` and `fullest_queued_ns`: how long the queue was so long, not
            counting when it was empty, at the port of a switch with the largest mean; `sample_…` of the watch;
            `retransmitted_packets`, `end_ns`, `base_rtt_ns`. Where links change, `port_lost_packets`, data packets that
            failures lost, and by event `event_ns`, `event_lost_packets` and `event_recovery_ns`: how long after its
            begin the flows then under way deliver 90 % of what they did in the 100 µs before, in the mean (infinite:
            not until the end; NaN: it did not begin). Of a learnt policy also `rule_hits`, how often each rule
            of a table was looked up, and what was kept of it: `look_up_rule` and `look_up_values`, (look-ups, signals)
            in the engine's order, in single precision. Of a tuner what it has told: `told_ns`, when it looked, and
            `told_…` (`Change.told`).

        Raises:
            InputError: the flows do not fit the topology, or a setting cannot be; or it is an ideal, whose record is
                that of `run_fluid`, and cannot have what is asked for.
        """
        if self.ideal:
            require(watch is None and level_bytes == np.inf, f"{self.transport}: an ideal has no packets to watch")
            return run_fluid(self, topology, flows, seed, horizon_ns)
        flows.require_on(topology)
        transport, parameters = self._transport(float(np.min(topology.host_gbps)), topology.hosts, seed)
        values = self._values | {
            "seed": float(seed),
            "horizon_ns": min(horizon_ns, 9e15),
            "last_round_ns": min(last_round_ns, 9e15),
        }
        if level_bytes < np.inf:
            values["level_bytes"] = level_bytes
        control = None
        rare = _rare(topology, flows, self.settings) | ({} if watch is None else _watched(topology, watch))
        rare |= {"silent": silent} if (silent := self.settings.stamping.silent(topology, seed)) else {}
        if self.tuner is not None:
            name = self.transport if isinstance(self.transport, str) else type(self.transport).__name__
            known = Given(topology, name, parameters, self._marker, seed)
            control = Control(self.tuner.build(), known, flows.connection)
            rare |= {"control": control, **control.sketch}
        try:
            record: FabricRecord = _core.run_fabric(
                *(topology.hosts, topology.switches, topology.a, topology.b, topology.end_gbps, topology.delay_ns),
                *(flows.src.astype(np.int32), flows.dst.astype(np.int32), flows.size_bytes.astype(np.int64)),
                flows.start_ns,
                transport,
                parameters,
                values,
                self._marker.kind,
                dict(self._marker.parameters),
                [list(each) for each in flows.path],
                [list(each) for each in flows.ack_path],
                threads=threads,
                **rare,
            )
        except InputError:  # of a tuner, or a congestion control in Python
            raise
        except ValueError as error:
            if control is not None and error is control.failure:
                raise
            raise InputError(f"fabric: {error}") from None
        return record if control is None else {**record, **control.told}

    def routes(self, topology: FabricTopology, flows: FabricFlows, seed: int) -> FabricRecord:
        """Return the record of a run that ends before it begins: the routes of flows, and their times alone."""
        lone = replace(self, transport="window") if self.ideal else self
        return lone.run(topology, flows, seed, horizon_ns=0.0)

    @property
    def telemetry_bytes(self) -> int:
        """Bytes that its data packets have beyond payload and overhead.

        Raises:
            InputError: a parameter that cannot be, or a policy that asks for what a fabric does not tell.
        """
        try:
            return _core.fabric_telemetry_bytes(*self._transport(REFERENCE_GBPS))
        except ValueError as error:
            raise InputError(f"fabric: {error}") from None

    @property
    def _values(self) -> dict[str, float]:
        """Settings of the fabric, with those that the transport brings; both parts of a mixture bring the same."""
        if isinstance(self.transport, Mixture):
            return engine_of(self.transport.adopted, self.settings)._values
        values = self.settings.values(self._kind.settings if self._kind else {})
        if self._over:  # it hears of every packet, and of the network between switches
            values |= {"feedback_per_packet": 1.0, "write_to_hosts": 0.0}
        return values | {"granted": float(self.settings.granted and not self._kind)}  # of learnt policies

    @property
    def priorities(self) -> int:
        """How many classes of traffic switches have under it."""
        return int(self._values["priorities"])

    @property
    def sets_classes(self) -> bool:
        """Whether its hosts choose the class of every packet, whatever that of the flow."""
        return bool(self._kind and "priorities" in self._kind.settings)

    @property
    def ideal(self) -> bool:
        """Whether it is an ideal (`TransportKind.ideal`): what it tells is of flows, not of ports."""
        return bool(self._kind and self._kind.ideal)

    @property
    def _kind(self) -> TransportKind | None:
        """What the transport is, also one whose ways a policy chooses; nothing for another policy."""
        if isinstance(self.transport, str):
            return transport_kind(self.transport)
        return self._over.kind if self._over else None

    @property
    def _over(self) -> Transport | None:
        """The transport whose ways a policy chooses; None for any other."""
        return _over(self.transport)

    @property
    def _marker(self) -> Marking:
        return self.settings.marker or (self._kind and self._kind.marker) or markers.USUAL

    def _transport(self, gbps: float, hosts: int = 0, seed: int = 0) -> tuple[Any, dict[str, float]]:
        """Return what the engine calls the transport, and its parameters; of a mixture, with which hosts adopt."""
        if isinstance(self.transport, Mixture):
            require(self.around is None, "others: agents steer flows beside one transport; name no mixture")
            adopts = chosen(seed, 0, "adoption", 0, hosts, self.transport.share).tolist()
            parts = (engine_of(each, self.settings)._transport(gbps) for each in self.transport.parts)
            return (*parts, adopts), {}
        transport, parameters = self._plain_transport(gbps)
        return transport if self.around is None else self.around(transport), parameters

    def _plain_transport(self, gbps: float) -> tuple[Any, dict[str, float]]:
        if isinstance(self.transport, str):
            kind = transport_kind(self.transport)
            return "window" if kind.ideal else kind.engine, dict(kind.parameters(gbps, self.parameters))
        made = self.transport if isinstance(self.transport, Compiled) else compiled(self.transport, self.settings)
        if made.over:
            return made.policy, dict(made.over.kind.parameters(gbps, made.over.parameters))
        return made.policy, {"looks_at_hops": float(made.looks_at_hops), "keep_every": float(made.keep_every)}


def _watched(topology: FabricTopology, watch: Watch) -> dict[str, Any]:
    for a, b in watch.ports:
        require((a, b) in topology.port_numbers, f"watch: nodes {a} and {b} have no link")
    ports = [topology.port_numbers[ends] for ends in watch.ports]
    return {"watch_every_ns": watch.every_ns, "watch_flows": list(watch.flows), "watch_ports": ports}


def _numbers_of(set: FlowSet, fct_at_ack: bool) -> list[int]:
    """Return what is waited for of each flow, as the engine numbers it."""
    numbers = {"begun": 0, "received": 1, "acknowledged": 2, "ended": 1 + fct_at_ack}
    return [numbers[each] for each in set.moments()]


def _rare(topology: FabricTopology, flows: FabricFlows, settings: FabricSettings) -> dict[str, Any]:
    """Return what most flows do not have, where any has, and what happens to links."""
    names = ["after", "off_ns"] * flows.waits + ["priority"] * bool(flows.priority.any())
    found = {name: getattr(flows, name).tolist() for name in names}
    if flows.waits:
        found["sets"] = [(each.flows.tolist(), _numbers_of(each, settings.fct_at_ack)) for each in flows.sets]
    if settings.queue_pairs:
        found["pair"] = flows.pair_of().tolist()
    if topology.events is None:
        return found
    ports, events = topology.port_numbers, topology.events
    changes = [
        (each.at_ns, ports[each.a, each.b], _core.AS_BUILT if each.gbps is None else each.gbps, each.event)
        for each in events.changes
    ]
    return found | {"changes": changes, "convergence_ns": events.convergence_ns}


def compiled(policy: Policy, settings: FabricSettings) -> Compiled:
    """Return a policy in the engine's form, for a fabric with these settings.

    Raises:
        InputError: it asks for what the fabric does not tell, or its header for what ports cannot write.
    """
    if isinstance(policy, WithHeader):
        _, header = brought(seen(policy), policy.stamping, settings)
        made = compile_policy(replace(policy, stamping=header or policy.stamping), on_fabric=True)
        return Compiled(made, over=_over(policy))
    if isinstance(policy, PathLaw):
        require(
            not policy.inputs,
            f"policy: {', '.join(policy.inputs)}: a law of ways has its signals by a header; name one",
        )
    return Compiled(
        compile_policy(policy, on_fabric=True), brought(seen(policy), None, settings)[0], over=_over(policy)
    )


def _over(policy: str | Policy | Compiled) -> Transport | None:
    if isinstance(policy, Compiled):
        return policy.over
    inner = policy.policy if isinstance(policy, WithHeader) else policy
    return inner.over if isinstance(inner, PathLaw) else None


def brought(signals: Sequence[str], header: Stamping | None, settings: FabricSettings) -> tuple[bool, Stamping | None]:
    """Return what brings signals: whether stamps of hops do, and the header in the fabric's packets.

    A packet of the header's numbers is a full data packet with the time of sending, without the header.

    Raises:
        InputError: the fabric does not tell them; or the header needs what a port of the fabric does not know; names
            header, field, source and reason.
    """
    if missing := [name for name in signals if name in (UNTOLD if header else NOT_TOLD)]:
        known = f"without a header it tells {', '.join(sorted(HOPS))} of the network"
        raise InputError(f"policy: the fabric does not tell {', '.join(missing)}; {known}")
    if (own := [name for name in signals if name in OF_SELECTIVE_HOSTS]) and not settings.selective:
        raise InputError(
            f"policy: {', '.join(own)}: known to selective hosts alone; give the scenario spraying, or selective: true"
        )
    if "credit" in signals and not settings.granted:
        raise InputError("policy: credit: no receiver grants any; give the scenario granted: true")
    if header is None:
        return bool(HOPS.intersection(signals)), None
    if header.plain:
        raise InputError(
            f"header {header.name}: a fabric tells senders nothing without bytes; give it one that has some"
        )
    for each in header.fields:
        for source in sorted(each.measured):
            if reason := _missing(source, each, settings):
                raise InputError(f"header {header.name}: field {each.name}: {source} is not on a fabric: {reason}")
    compared = [each.signal for each in header.readings if each.kind == "throughput" and each.signal in signals]
    if compared and settings.adaptive:
        raise InputError(
            f"header {header.name}: {', '.join(compared)}: compares two headers of one way, and the scenario has "
            "switches choose ways: set adaptive: false, or take a header whose switches measure it"
        )
    packet_bytes = settings.payload_bytes + settings.overhead_bytes + _core.FABRIC_SENT_TIME_BYTES
    return False, header.on_packets(packet_bytes)


def _missing(source: str, field: StampedField, settings: FabricSettings) -> str:
    """Return why a port cannot write what the field asks for; empty if it can."""
    if field.at == "enqueue" and source in KNOWN_LATER:
        return f"as a packet joins a queue, its port does not know {KNOWN_LATER[source]}; measure at dequeue"
    if field.at == "enqueue" and source == "mark" and settings.mark_at_dequeue:
        return "the fabric marks at dequeue; set switch.mark_at: enqueue"
    return ""


def engine_of(policy: Policy, settings: FabricSettings) -> FabricEngine:
    """Return what runs a policy on a fabric with these settings.

    Raises:
        InputError: it runs in ns-3 only.
    """
    if isinstance(policy, Transport):
        marked = settings if policy.marker is None else replace(settings, marker=policy.marker)
        return FabricEngine(policy.name, policy.parameters, marked, policy.tuner)
    if isinstance(policy, Mixture):
        return _mixed(policy, settings)
    if _over(policy):
        none = "adaptive" if settings.adaptive else "spraying: flow" if settings.spraying == "flow" else ""
        require(not none, f"policy: a law of ways does nothing where the scenario has {none}")
    if not isinstance(policy, RuleTable | MlpPolicy | Simple | WithHeader):
        raise InputError(f"{policy.name}: runs in ns-3 only; a fabric has {', '.join(TRANSPORTS)}")
    return FabricEngine(policy, settings=settings)


def _mixed(policy: Mixture, settings: FabricSettings) -> FabricEngine:
    """Return what runs two transports side by side: on the same switches, with the marker that one of them needs.

    Raises:
        InputError: they need other switches or hosts than each other, or one of them cannot be beside another.
    """
    require(not any(map(_over, policy.parts)), "mix: a law of ways mixes with nothing; leave mix: out")
    parts = [engine_of(each, settings) for each in policy.parts]
    names = " and ".join(each.name if isinstance(each, Transport) else "a policy" for each in policy.parts)
    require(not any(each.ideal or each.tuner for each in parts), f"mix: {names}: neither ideals nor tuners mix")
    needs = [each._values for each in parts]
    differ = ", ".join(name for name, value in needs[0].items() if needs[1][name] != value)
    require(not differ, f"mix: {names}: need other fabrics than each other ({differ})")
    usual = [settings.marker] if settings.marker else [each._kind and each._kind.marker for each in parts]
    named = [each.marker for each in policy.parts if isinstance(each, Transport) and each.marker]
    own = {each for each in named or usual if isinstance(each, Marking)}
    require(len(own) < 2, f"mix: {names}: need other markers than each other; name one, as in switch.marker")
    try:
        _core.fabric_telemetry_bytes(*FabricEngine(policy, settings=settings)._transport(REFERENCE_GBPS))
    except ValueError as error:
        raise InputError(f"mix: {names}: {error}") from None
    return FabricEngine(policy, settings=replace(settings, marker=next(iter(own), None)))


def require_transport(transport: Transport) -> None:
    """Check that an engine takes a transport with these parameters, by one packet between two hosts.

    Raises:
        InputError: a parameter is out of its range, or some do not go together.
    """
    flow = FabricFlows(np.array([0]), np.array([1]), np.array([1]), np.array([0.0]))
    engine_of(transport, FabricSettings()).run(star(2), flow, horizon_ns=1e6)
