"""The transports of the fabric engine and their parameters, with units and sources."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from lcca.inputs.errors import InputError, about
from lcca.remy_plus import _core
from lcca.remy_plus.switches.knobs import FLAG, REFERENCE_GBPS, Knob, Limits, Search, around
from lcca.remy_plus.switches.markers import Marking, changed_marking, marking

if TYPE_CHECKING:
    from lcca.remy_plus.switches.control import Tuning

SPRAYING = ("flow", "oblivious", "bitmap", "reps", "mixed")
"""How senders choose the entropy of a packet, in the engine's order."""

WAYS = ("hashed", "numbered", "shared")
"""How switches choose among equal ways, in the engine's order."""

SCHEDULING = ("round-robin", "shortest", "least-sent")
"""Which of its flows that may send a host sends of, in the engine's order."""

MOST = 1e9
"""Of any parameter: more than means anything, and still a time, a rate or a count that the engine can hold."""
ANY, SHARE = Limits(0, MOST), Limits(0, 1)
ABOVE_0, FROM_1, COUNT = Limits(1e-3, MOST), Limits(1, MOST), Limits(0, MOST, whole=True)

ENGINE = math.nan
"""In place of a default: the one that the engine has (the transport's `Parameters` in C++)."""
_ENGINE: Mapping[str, Mapping[str, float]] = MappingProxyType(_core.transport_parameters())


def _own(unit: str, meaning: str, search: Search | None = None, limits: Limits | None = None) -> Knob:
    return Knob(ENGINE, unit, meaning, False, search, limits)


def _gbps(meaning: str, search: Search | None = None, limits: Limits | None = None, default: float = ENGINE) -> Knob:
    return Knob(default, "Gb/s", meaning, True, search, limits)


LEAST = _gbps("lowest rate (HPCC's simulator)", limits=Limits(1e-6, MOST), default=1)
LOSS = Knob(
    1,
    "",
    "of the rate is left after a loss, once per base RTT; 1: no reaction, as the paper leaves losses to PFC or the NIC",
    search=Search(0.3, 1),
    limits=Limits(1e-3, 1),
    lossy=True,
)


@dataclass(frozen=True)
class TransportKind:
    """A transport.

    Attributes:
        engine: what the engine calls it.
        source: where it is from.
        knobs: its parameters.
        marker: of the switches that it needs unless told otherwise.
        settings: of the fabric that it needs unless told otherwise.
        variant: parameters that make it what it is; they are not for users.
        header: whether switches write into its packets.
        ideal: whether it is no transport but what one could do at best: its flows are fluids (`fabric.fluid`), without
            packets, queues or telemetry.
        hosts_alone: of an ideal: its network shares links fairly, whatever the flows.
    """

    engine: str
    source: str
    knobs: Mapping[str, Knob]
    marker: Marking | None = None
    settings: Mapping[str, float] = field(default_factory=dict)
    variant: Mapping[str, float] = field(default_factory=dict)
    header: bool = False
    ideal: bool = False
    hosts_alone: bool = False

    def __post_init__(self) -> None:
        """Give its parameters the engine's defaults where they name none of their own."""
        known = {
            name: replace(knob, default=_ENGINE[self.engine][name]) if math.isnan(knob.default) else knob
            for name, knob in self.knobs.items()
        }
        object.__setattr__(self, "knobs", MappingProxyType(known))

    def parameters(self, gbps: float, changes: Mapping[str, float]) -> dict[str, float]:
        """Return all parameters at hosts of a rate, with changes.

        Raises:
            InputError: a parameter is not known, and names those that are; or a value cannot be.
        """
        unknown = sorted(set(changes) - set(self.knobs))
        if unknown:
            known = f"one of {', '.join(self.knobs)}" if self.knobs else "it has none"
            raise InputError(f"{self.engine}: {unknown[0]} is not a parameter; {known}")
        with about(self.engine):
            for name, value in changes.items():
                (self.knobs[name].limits or ANY).require(name, value)
        usual = {name: knob.default * self._share(name, gbps) for name, knob in self.knobs.items()}
        return {**usual, **{name: float(value) for name, value in changes.items()}, **self.variant}

    def searches(self, gbps: float, lossy: bool = False) -> dict[str, Search]:
        """Return where a tuner looks at hosts of a rate, for those parameters that have such a range."""
        shares = {name: self._share(name, gbps) for name in self.knobs}
        return {
            name: replace(knob.search, low=knob.search.low * shares[name], high=knob.search.high * shares[name])
            for name, knob in self.knobs.items()
            if knob.search and (lossy or not knob.lossy)
        }

    def _share(self, name: str, gbps: float) -> float:
        return gbps / REFERENCE_GBPS if self.knobs[name].by_rate else 1.0


_RATES = {"loss_factor": LOSS, "min_gbps": LEAST}
_BDPS = "bandwidth-delay products"

# Searched within the ranges that NVIDIA gives (DOCA: rpg_time_reset 1 to 131,071 µs, rpg_threshold 1 to 31, rates from
# 1 Mb/s). Inside lie the paper's 55 µs, 5 increases and g of 1/256 (Zhu et al.) and the expert's of PARALEON (Table I).
_DCQCN = {
    "g": _own("", "weight of a notification in alpha", search=around(2**-10, 2**-4), limits=SHARE),
    "alpha_us": _own("µs", "between moves of alpha (dce_tcp_rtt)", search=around(1, 200), limits=ABOVE_0),
    "decrease_us": _own("µs", "between decreases (rate_reduce_monitor_period)", search=around(1, 200), limits=ABOVE_0),
    "increase_us": _own("µs", "between increases (rpg_time_reset)", search=around(10, 1500), limits=ABOVE_0),
    "fast_recovery": _own(
        "", "increases before the target moves (rpg_threshold)", search=Search(1, 10, 1), limits=COUNT
    ),
    "increase_gbps": _gbps("additive increase (rpg_ai_rate)", around(0.005, 1)),
    "hyper_gbps": _gbps("hyper increase (rpg_hai_rate)", around(0.05, 5)),
    "max_gbps": _own("Gb/s", "highest rate; 0 is the line's (rpg_max_rate)"),
    "clamp_target": _own("", "the target falls at every decrease (clamp_tgt_rate)", limits=FLAG),
    "clamp_after_increase": _own(
        "", "or at the first decrease after an increase (clamp_tgt_rate_after_time_inc)", limits=FLAG
    ),
    "initial_alpha": _own("", "at the first notification (initial_alpha_value)", limits=SHARE),
    "least_factor": _own("", "of a decrease (rpg_min_dec_fac)", limits=SHARE),
    "alpha_divisor": _own("", "a decrease is by alpha over it: 2^(rpg_gd − 10)", limits=FROM_1),
    "first_gbps": _own("Gb/s", "rate after the first notification; 0 is as it is (rate_to_set_on_first_cnp)"),
    "increase_bytes": _own("bytes", "acknowledged between increases; 0 is none (rpg_byte_reset)"),
    "notification_gap_us": _own("µs", "between notifications, at least (min_time_between_cnps)"),
    "gap_per_flow_us": _own(
        "µs",
        "and so much for each flow of the receiver with marks; 0 is DCQCN, more DCQCN+: alpha_us and increase_us grow "
        "with the gap, increases shrink",
        limits=Limits(0, 1000),
    ),
    "marks_within_us": _own("µs", "for which a flow counts after a mark, with gap_per_flow_us"),
    **_RATES,
}

_UEC = "Ultra Ethernet 1.0, facts of uet-htsim @40ccb05"
_SPRAYS = {"selective": 1.0, "spraying": float(SPRAYING.index("mixed")), "ack_bytes_every": 16384.0}
_TIMEOUT = {
    "timeout_us": _own("µs", "since a packet was sent, until it is sent again", limits=ABOVE_0),
    "timeout_drains": _own("", "and so many times that a full queue takes to empty"),
}
_FIRST = _own(_BDPS, "first window, and the most credit", search=around(0.25, 4), limits=ABOVE_0)
_NSCC = {
    "first_bdps": _FIRST,
    "most_bdps": _own(_BDPS, "largest window", search=around(0.25, 4), limits=ABOVE_0),
    "target_rtts": _own("RTTs", "queueing delay aimed at; 0 is 0.75 with trimming, 1 without", search=Search(0, 2)),
    "proportional": _own("packets", "per window without queueing, less towards the target", search=around(0.5, 32)),
    "fair": _own("packets", "per window above the target without a mark", search=around(0.5, 32)),
    "steady": _own("packets", "per RTT, always", search=around(0.01, 2)),
    "fast": _own("", "of the bytes acknowledged after a window without queueing", search=around(0.05, 1)),
    "fast_us": _own("µs", "queueing delay that counts as none"),
    "gamma": _own("", "multiplicative decrease", search=Search(0.1, 1), limits=SHARE),
    "most_decrease": _own("", "share of the window, per RTT", search=Search(0.1, 0.9), limits=SHARE),
    "weight": _own("", "of a sample in the mean delay", search=around(2**-9, 0.5), limits=SHARE),
    "adjust_packets": _own("packets", "acknowledged between changes"),
    "quick_rtts": _own("targets", "queueing delay that calls for a quick cut", search=Search(1, 8)),
    "quick_share": _own("", "of the largest window: a cut if less was acknowledged", limits=SHARE),
}
_RCCC = {
    "first_bdps": _FIRST,
    "quantum_bytes": _own("bytes", "unit of credit", limits=FROM_1),
    "grant_quanta": _own("quanta", "in a grant at most", search=Search(4, 256, 1), limits=FROM_1),
    "asks": _own("", "senders without credit ask again, flows that ended get none; 0 as uet-htsim", limits=FLAG),
    "credit_rate": _own("", "of the receiver's link", search=Search(0.8, 1), limits=ABOVE_0),
}

TRANSPORTS: Mapping[str, TransportKind] = MappingProxyType(
    {
        "window": TransportKind(
            "window",
            "no congestion control",
            {
                "bdps": _own(_BDPS, "fixed window at line rate; 0 is none", search=around(0.25, 4)),
                "loss_factor": replace(LOSS, meaning="of the window is left for good after a loss; 1: no reaction"),
            },
        ),
        "dctcp": TransportKind(
            "dctcp",
            "Alizadeh et al., SIGCOMM 2010; as a rate, HPCC's simulator; losses by RFC 8257, section 3.5",
            {
                "g": _own("", "weight of a window's share of marks in alpha", search=around(2**-8, 0.5), limits=SHARE),
                "increase_gbps": _gbps("per window without a mark: 1 kB per 13 µs", around(0.05, 5)),
                "min_gbps": LEAST,
            },
            marking("step"),
        ),
        "dcqcn": TransportKind("dcqcn", "Zhu et al., SIGCOMM 2015; NVIDIA's parameters, HPCC's simulator", _DCQCN),
        "timely": TransportKind(
            "timely",
            "Mittal et al., SIGCOMM 2015, Algorithm 1",
            {
                "weight": _own("", "of the latest difference of RTTs", limits=SHARE),
                "beta": _own("", "multiplicative decrease", search=Search(0.1, 0.95), limits=SHARE),
                "low_us": _own("µs", "RTT below which the rate always grows", search=around(5, 200)),
                "high_us": _own("µs", "RTT above which it always falls", search=around(50, 2000)),
                "min_rtt_us": _own("µs", "unit of the gradient", search=around(2, 100), limits=ABOVE_0),
                "increase_gbps": _gbps("additive increase", around(0.01, 1)),
                "hyper_gbps": _gbps("after `hyper_after` increases in a row"),
                "hyper_after": _own("", "increases in a row", search=Search(1, 10, 1), limits=COUNT),
                **_RATES,
            },
        ),
        "hpcc": TransportKind(
            "hpcc",
            "Li et al., SIGCOMM 2019, Algorithm 1",
            {
                "eta": _own("", "utilisation aimed at", search=Search(0.8, 1), limits=ABOVE_0),
                "most_stages": _own(
                    "",
                    "additive steps between multiplicative ones (paper: 5; its simulator: 0)",
                    search=Search(0, 10, 1),
                    limits=COUNT,
                ),
                "increase_gbps": _gbps("additive increase", around(0.004, 0.4)),
                **_RATES,
            },
            header=True,
        ),
        "powertcp": TransportKind(
            "powertcp",
            "Addanki et al., NSDI 2022, Algorithm 1",
            {
                "gamma": _own("", "weight of the new rate", search=Search(0.1, 1), limits=SHARE),
                "eta": _own("", "power aimed at", search=Search(0.8, 1), limits=ABOVE_0),
                "increase_gbps": _gbps("additive increase", around(0.015, 1.5)),
                **_RATES,
            },
            settings={"arrival_bytes": 1.0},
            header=True,
        ),
        "theta-powertcp": TransportKind(
            "theta-powertcp",
            "Addanki et al., NSDI 2022, Algorithm 2",
            {
                "gamma": _own("", "weight of the new rate", search=Search(0.1, 1), limits=SHARE),
                "increase_gbps": _gbps("additive increase", around(0.015, 1.5)),
                "rtt_slack": _own("base RTTs", "that count as no queue", search=Search(1, 1.5), limits=ABOVE_0),
                **_RATES,
            },
        ),
        "dctcp-window": TransportKind(
            "dctcp-window",
            "Alizadeh et al., SIGCOMM 2010; RFC 8257",
            {
                "g": _own("", "weight of a window's share of marks in alpha", search=around(2**-8, 0.5), limits=SHARE),
                "initial": _own("packets", "first window (RFC 6928)", limits=FROM_1),
                "increase": _own("packets per window", "additive increase", search=around(0.1, 10)),
            },
            marking("step"),
        ),
        "rcp": TransportKind(
            "rcp",
            "Dukkipati and McKeown, CCR 2006; gains of its authors' ns-2 release; rate and RTT in 32 bits each",
            {
                "first": _own(
                    "", "of the line's rate, until the first ACK; 0 is one packet alone, as a SYN", limits=SHARE
                ),
                "min_gbps": _gbps("lowest rate, a ten-thousandth of the line's as at the switches", default=0.01),
            },
            header=True,
        ),
        "swift": TransportKind(
            "swift",
            "Kumar et al., SIGCOMM 2020, Algorithm 1",
            {
                "base_us": _own("µs", "target delay without queues; 0 is base_rtts × the fabric's largest base RTT"),
                "base_rtts": _own("base RTTs", "see base_us", search=Search(1, 4), limits=ABOVE_0),
                "hop_us": _own("µs", "added to the target per switch", search=around(0.05, 5)),
                "range": _own("base targets", "largest addition for small windows", search=Search(0, 10)),
                "least": _own("packets", "smallest window", limits=ABOVE_0),
                "most": Knob(ENGINE, "packets", "largest window", by_rate=True, limits=ABOVE_0),
                "increase": _own("packets per RTT", "additive increase", search=around(0.1, 10)),
                "beta": _own("", "multiplicative decrease", search=Search(0.1, 1), limits=SHARE),
                "most_decrease": _own(
                    "", "share of the window, per RTT and after a loss", search=Search(0.1, 0.9), limits=SHARE
                ),
                "reset_after": _own(
                    "timeouts", "in a row that leave the smallest window (the paper has no value)", limits=COUNT
                ),
            },
        ),
        "homa": TransportKind(
            "homa",
            "Montazeri et al., SIGCOMM 2018; flows are messages, every packet has a random way, classes of flows do "
            "not count",
            {
                "rtt_bytes": _own(
                    "bytes", "of payload that may be granted and not received (paper: 9.7 kB); 0: by rtt_bdps"
                ),
                "rtt_bdps": _own(_BDPS, "of the longest way, see rtt_bytes", search=around(0.5, 4), limits=ABOVE_0),
                "unscheduled_share": _own(
                    "", "of these bytes go unasked, one packet at least", search=Search(0.1, 1), limits=SHARE
                ),
                "unscheduled_levels": _own(
                    "",
                    "classes of what goes unasked; 0: by its share of all bytes (section 3.4)",
                    limits=Limits(0, 8, True),
                ),
                "overcommitment": _own(
                    "",
                    "messages that a receiver grants at once; 0: as many as granted data have classes (section 3.5)",
                    search=Search(0, 16, 1),
                    limits=COUNT,
                ),
                "grant_bytes": _own(
                    "bytes", "that a grant adds at least; 0: a grant for every data packet (its simulator)"
                ),
            },
            settings={"priorities": 8.0, "spraying": 1.0, "scheduling": 1.0},
        ),
        "nscc": TransportKind(
            "uet",
            f"window of the sender ({_UEC})",
            _NSCC | _TIMEOUT,
            marking("red", kmin_bdps=0.2, kmax_bdps=0.8, pmax=1),
            _SPRAYS,
            {"window": 1.0, "credit": 0.0},
        ),
        "rccc": TransportKind(
            "uet",
            f"credit of the receiver ({_UEC})",
            _RCCC | _TIMEOUT,
            marking("red", kmin_bdps=0.2, kmax_bdps=0.8, pmax=1),
            _SPRAYS | {"mark_to_hosts": 0.0},
            {"window": 0.0, "credit": 1.0},
        ),
        "nscc+rccc": TransportKind(
            "uet",
            f"window of the sender and credit of the receiver ({_UEC})",
            _NSCC | _RCCC | _TIMEOUT,
            marking("red", kmin_bdps=0.2, kmax_bdps=0.8, pmax=1),
            _SPRAYS | {"mark_to_hosts": 0.0},
            {"window": 1.0, "credit": 1.0},
        ),
        "ndp": TransportKind(
            "uet",
            "Handley et al., SIGCOMM 2017; facts of csg-htsim @841d9e7",
            {
                "first_bdps": replace(_FIRST, default=1.25, meaning="sent before the receiver pulls"),
                "credit_rate": _RCCC["credit_rate"],
                "timeout_us": replace(_TIMEOUT["timeout_us"], default=1000),
            },
            None,
            {"selective": 1.0, "spraying": float(SPRAYING.index("oblivious"))},
            {"window": 0.0, "pulls": 1.0, "timeout_drains": 0.0},
        ),
        "eqds": TransportKind(
            "uet",
            "Olteanu et al., NSDI 2022; facts of csg-htsim @841d9e7 (there 256 ways, skipped once at most, and what "
            "is sent again is granted first)",
            {
                "first_bdps": replace(_FIRST, default=1.4, meaning="sent unasked (50 packets), and the most credit"),
                "quantum_bytes": replace(_RCCC["quantum_bytes"], default=512),
                "grant_quanta": replace(_RCCC["grant_quanta"], default=8),
                "asks": _RCCC["asks"],
                "credit_rate": replace(_RCCC["credit_rate"], default=0.986),
                "timeout_us": replace(_TIMEOUT["timeout_us"], default=150),
                "timeout_drains": _TIMEOUT["timeout_drains"],
            },
            None,
            _SPRAYS | {"spraying": float(SPRAYING.index("bitmap"))},
            {"window": 0.0, "credit": 1.0},
        ),
        "max-min": TransportKind(
            "max-min",
            "an ideal: max-min fair rates at every moment (Bertsekas and Gallager, Data Networks, section 6.5.2)",
            {},
            ideal=True,
        ),
        "srpt": TransportKind(
            "srpt",
            "an ideal: the flow with the fewest bytes left has all of its path (Schrage 1968; greedy over links)",
            {},
            ideal=True,
        ),
        **{
            f"srpt-{name}": TransportKind(
                f"srpt-{name}",
                f"an ideal of hosts alone: the links of {whose} serve the flow with the fewest bytes left first; "
                "others are shared max-min",
                {},
                ideal=True,
                hosts_alone=True,
            )
            for name, whose in {"senders": "senders", "receivers": "receivers", "hosts": "all hosts"}.items()
        },
    }
)
"""By name. Markers are those of the fabric's switches; the one that a transport needs is named with it."""

MARKED = ("dctcp", "dctcp-window", "dcqcn", "nscc", "rccc", "nscc+rccc", "eqds")
"""Transports that look at the marks of switches: markers make no difference to the others."""


@dataclass(frozen=True)
class Transport:
    """A transport with the parameters that differ from its defaults.

    Attributes:
        name: one of `TRANSPORTS`.
        parameters: by name; the others have their defaults at the rate of the fabric's hosts.
        marker: of the switches, whatever the fabric says; None for the fabric's, or else the transport's own.
        tuner: sets parameters of hosts and switches; None for nobody.

    Raises:
        InputError: an unknown name or parameter, a value that is no number, or a marker that the tuner would replace.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    marker: Marking | None = None
    tuner: Tuning | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name, value in self.parameters.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InputError(f"{self.name}: {name}: must be a number, got {value!r:.60}")
        self.kind.parameters(REFERENCE_GBPS, self.parameters)
        if self.marker and self.tuner and self.tuner.marks:
            raise InputError(f"{self.tuner.kind} sets all markers itself: leave out @{self.marker.kind}")
        if self.kind.ideal and (behind := self.marker or self.tuner):
            raise InputError(f"{self.name} is an ideal, without switches: leave out @{behind.kind}")
        object.__setattr__(self, "parameters", {name: float(self.parameters[name]) for name in sorted(self.parameters)})

    def compile(self) -> NoReturn:
        """Refuse.

        Raises:
            InputError: the engine of networks has no such policy.
        """
        raise InputError(f"{self.name} is a transport of a fabric, which networks have not: run it on a fabric")

    @property
    def kind(self) -> TransportKind:
        """What it is."""
        return transport_kind(self.name)

    @property
    def named_parameters(self) -> dict[str, float]:
        """Its parameters and, as ``red.kmin_bytes``, all of its marker."""
        return {**self.parameters, **({} if self.marker is None else self.marker.named_parameters)}

    def with_parameters(self, values: Mapping[str, Any]) -> Transport:
        """Return it with other parameters, named as in `named_parameters`.

        Raises:
            InputError: a parameter that it has not, or a value that cannot be.
        """
        marker, own = changed_marking(self.marker, values)
        return replace(self, parameters={**self.parameters, **own}, marker=marker)

    def searches(self, gbps: float, lossy: bool = False) -> dict[str, Search]:
        """Return where a tuner looks at hosts of a rate, by the names of `named_parameters`."""
        return self.kind.searches(gbps, lossy) | ({} if self.marker is None else self.marker.searches())

    def named_knobs(self) -> dict[str, Knob]:
        """Return what every one of its `named_parameters` is."""
        found = {name: self.kind.knobs[name] for name in self.parameters}
        return found | ({} if self.marker is None else self.marker.named_knobs())


def is_transport(text: str) -> bool:
    """Tell whether a text such as ``hpcc``, ``dcqcn:increase_us=55`` or ``dctcp@pred`` names a transport."""
    return re.split("[:@]", text, maxsplit=1)[0] in TRANSPORTS


def transport_kind(name: str) -> TransportKind:
    """Return a transport by its name.

    Raises:
        InputError: there is none of this name; names those that there are.
    """
    if name not in TRANSPORTS:
        raise InputError(f"transport: {name!r} is not known; one of {', '.join(TRANSPORTS)}")
    return TRANSPORTS[name]
