"""The hand-designed congestion controls of ns-3 and all their tunables; and any other of ns-3 by its TypeId.

Times are µs of the network that is simulated, whatever `time_scale` it is simulated at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lcca.remy_plus.policies.tunables import COMMON, Family, Parameter, Value, choice

OF_KERNEL = "linux:"
"""Before the kernel's name of a congestion control of Linux, as in ``linux:htcp``."""

_TYPE = re.compile(rf"(?:ns3::|{OF_KERNEL})\w+")
_BY_ONE_WAY_DELAY = ("ns3::TcpLedbat", "ns3::TcpLp")


_CUBIC = (
    Parameter("c", 0.4, 1e-6, 100, attribute="C", meaning="scaling of the cubic function (RFC 9438, 5)"),
    Parameter("beta", 0.7, 0.01, 0.999, attribute="Beta", meaning="factor of the window at a loss (RFC 9438, 4.6)"),
    Parameter("fast_convergence", True, attribute="FastConvergence", meaning="release capacity sooner (RFC 9438, 4.7)"),
    Parameter("tcp_friendliness", True, attribute="TcpFriendliness", meaning="at least Reno's window (RFC 9438, 4.3)"),
    Parameter("delta", 10.0, 0, 1e6, unit="µs", attribute="CubicDelta", meaning="wait after a recovery"),
    Parameter(
        "counter_clamp", 20, 1, 255, attribute="CntClamp", meaning="acknowledgements per packet of growth, at most"
    ),
    Parameter("hystart", True, attribute="HyStart", meaning="hybrid slow start (RFC 9406's predecessor)"),
    Parameter(
        "hystart_low_window", 16, 0, 1_000_000, unit="packets", attribute="HyStartLowWindow", meaning="from there"
    ),
    choice("hystart_detect", ("packet-train", "delay", "both"), "both", "HyStartDetect", "what ends slow start"),
    Parameter("hystart_min_samples", 8, 1, 255, attribute="HyStartMinSamples", meaning="delays per round"),
    Parameter("hystart_ack_delta", 2.0, 0, 1e6, unit="µs", attribute="HyStartAckDelta", meaning="gap within a train"),
    Parameter("hystart_delay_min", 4.0, 0, 1e6, unit="µs", attribute="HyStartDelayMin", meaning="least rise of delay"),
    Parameter("hystart_delay_max", 1000.0, 0, 1e6, unit="µs", attribute="HyStartDelayMax", meaning="largest rise"),
)

_BBR = (
    Parameter("high_gain", 2.89, 1.001, 100, attribute="HighGain", meaning="gain in STARTUP, its inverse in DRAIN"),
    Parameter(
        "bw_window_length", 10, 1, 1000, unit="rounds", attribute="BwWindowLength", meaning="of the largest rate"
    ),
    Parameter("rtt_window_length", 1e4, 1, 1e9, unit="µs", attribute="RttWindowLength", meaning="of the smallest RTT"),
    Parameter(
        "probe_rtt_duration",
        200.0,
        0,
        1e9,
        unit="µs",
        attribute="ProbeRttDuration",
        meaning="shortest stay in PROBE_RTT",
    ),
    Parameter(
        "extra_acked_rtt_window_length",
        5,
        1,
        31,
        unit="rounds",
        attribute="ExtraAckedRttWindowLength",
        meaning="of acknowledgement aggregation",
    ),
    Parameter(
        "ack_epoch_acked_reset_threshold",
        4096,
        1,
        1 << 30,
        unit="bytes",
        attribute="AckEpochAckedResetThresh",
        meaning="after which its epoch begins anew; in ns-3, about what it adds to the window",
    ),
)

_BBR_PRIME = (
    choice(
        "signal",
        ("none", "link", "queue", "rtt"),
        "queue",
        "Signal",
        "of the conditions: largest utilisation or queue on the path, RTT over the flow's smallest; none: BBR",
    ),
    Parameter(
        "high",
        "auto",
        words=("auto",),
        attribute="High",
        meaning="PROBE_BW's high-rate phase ends from there on only (H of Table 4); auto: link 0.95, queue 10, RTT 1.1",
    ),
    Parameter(
        "low",
        "auto",
        words=("auto",),
        attribute="Low",
        meaning="its low-rate phase ends from there down only (L of Table 4); auto: link 0.9, queue 0, RTT 1.05",
    ),
    Parameter(
        "startup_exit", "off", words=("off",), attribute="StartupExit", meaning="STARTUP ends from this signal on too"
    ),
    Parameter(
        "drain_exit", "off", words=("off",), attribute="DrainExit", meaning="DRAIN ends from this signal down only"
    ),
    Parameter(
        "probe_rtt_above",
        "auto",
        words=("auto", "off"),
        attribute="ProbeRttAbove",
        meaning="PROBE_BW is left for PROBE_RTT above this signal only (section 7); auto: link 0.95, queue 0, RTT 1.05",
    ),
    Parameter(
        "probe_rtt_by_signal", False, attribute="ProbeRttBySignal", meaning="… and whenever it is above, not when due"
    ),
)

_G = (
    Parameter(
        "g", 0.0625, 1e-6, 1, attribute="DctcpShiftG", meaning="weight of a window's share of marks (RFC 8257, 4.2)"
    ),
    Parameter("initial_alpha", 1.0, 0, 1, attribute="DctcpAlphaOnInit", meaning="congestion at first (RFC 8257, 4.2)"),
)


_BIC = (
    Parameter("beta", 0.8, 0.01, 0.999, attribute="Beta", meaning="factor of the window at a loss"),
    Parameter("max_increment", 16, 1, 1e6, unit="packets", attribute="MaxIncr", meaning="per round, at most"),
    Parameter("low_window", 14, 0, 1e6, unit="packets", attribute="LowWnd", meaning="below it is Reno"),
    Parameter("smooth_part", 5, 1, 1000, unit="rounds", attribute="SmoothPart", meaning="near the last maximum"),
    Parameter("search_coefficient", 4, 1, 255, attribute="BinarySearchCoefficient", meaning="part searched per round"),
    Parameter("fast_convergence", True, attribute="FastConvergence", meaning="release capacity sooner"),
)

_HTCP = (
    Parameter("backoff", 0.5, 0.01, 0.999, attribute="DefaultBackoff", meaning="where throughput has changed much"),
    Parameter("throughput_ratio", 0.2, 0, 1, attribute="ThroughputRatio", meaning="what is much"),
    Parameter("delta_l", 1000.0, 0, 1e9, unit="µs", attribute="DeltaL", meaning="after a loss it is Reno for so long"),
)

_ILLINOIS = (
    Parameter("alpha_min", 0.3, 0, 1000, unit="packets", attribute="AlphaMin", meaning="per round where delay is long"),
    Parameter("alpha_max", 10.0, 0, 1000, unit="packets", attribute="AlphaMax", meaning="where it is short"),
    Parameter("alpha_base", 1.0, 0, 1000, unit="packets", attribute="AlphaBase", meaning="below window_threshold"),
    Parameter("beta_min", 0.125, 0, 1, attribute="BetaMin", meaning="share given up at a loss where delay is short"),
    Parameter("beta_max", 0.5, 0, 1, attribute="BetaMax", meaning="where it is long"),
    Parameter("beta_base", 0.5, 0, 1, attribute="BetaBase", meaning="below window_threshold"),
    Parameter("window_threshold", 15, 0, 1e6, unit="packets", attribute="WinThresh", meaning="below it is Reno"),
    Parameter("theta", 5, 0, 1000, unit="rounds", attribute="Theta", meaning="of short delay before alpha_max"),
)

_YEAH = (
    Parameter("alpha", 80, 0, 1e6, unit="packets", attribute="Alpha", meaning="waiting, at most, in fast mode"),
    Parameter("gamma", 1, 1, 1e6, attribute="Gamma", meaning="part of the queue removed per round"),
    Parameter("delta", 3, 0, 31, attribute="Delta", meaning="least part removed at a loss, log2"),
    Parameter("epsilon", 1, 0, 31, attribute="Epsilon", meaning="largest part removed early, log2"),
    Parameter("phy", 8, 1, 1e6, attribute="Phy", meaning="largest share of the base RTT that waiting may take"),
    Parameter("rho", 16, 0, 1e6, unit="rounds", attribute="Rho", meaning="before it competes with Reno"),
    Parameter("zeta", 50, 0, 1e6, unit="rounds", attribute="Zeta", meaning="in fast mode before Reno is forgotten"),
    Parameter("stcp_ai_factor", 100, 1, 1e6, attribute="StcpAiFactor", meaning="of Scalable in fast mode"),
)

_SCALABLE = (
    Parameter("ai_factor", 50, 1, 1e6, attribute="AIFactor", meaning="acknowledgements per packet of growth, at most"),
    Parameter("md_factor", 0.125, 0, 1, attribute="MDFactor", meaning="share of the window given up at a loss"),
)

_LEDBAT = (
    Parameter("target_delay", 100.0, 0, 1e9, unit="µs", attribute="TargetDelay", meaning="of queueing (RFC 6817)"),
    Parameter("gain", 1.0, 0, 1000, attribute="Gain", meaning="of the window (RFC 6817)"),
    choice("slow_start", ("yes", "no"), "yes", "SSParam", "whether it begins with slow start"),
    Parameter("base_history", 10, 1, 1000, attribute="BaseHistoryLen", meaning="minutes of smallest delays"),
    Parameter(
        "noise_filter", 4, 1, 1000, attribute="NoiseFilterLen", meaning="it takes the least of the latest delays"
    ),
    Parameter("min_window", 2, 1, 1e6, unit="packets", attribute="MinCwnd", meaning="smallest window"),
)

_RRTT = Parameter("reference_rtt", 50.0, 0.001, 1e9, unit="µs", attribute="RRTT", meaning="grow as fast as with it")
_VENO = Parameter(
    "beta", 3, 0, 1e6, unit="packets", attribute="Beta", meaning="waiting, from where a loss is congestion"
)
_FILTER = choice("filter", ("None", "Tustin"), "Tustin", "FilterType", "of the estimated bandwidth")

STOCK = (
    Family("bic", "ns3::TcpBic", "BIC (Xu, Harfoush and Rhee 2004)", _BIC + COMMON),
    Family("htcp", "ns3::TcpHtcp", "H-TCP (Leith and Shorten 2004)", _HTCP + COMMON),
    Family("illinois", "ns3::TcpIllinois", "Illinois (Liu, Başar and Srikant 2006)", _ILLINOIS + COMMON),
    Family("westwood", "ns3::TcpWestwoodPlus", "Westwood+ (Grieco and Mascolo 2004)", (_FILTER, *COMMON)),
    Family("yeah", "ns3::TcpYeah", "YeAH (Baiocchi, Castellani and Vacirca 2007)", _YEAH + COMMON),
    Family("veno", "ns3::TcpVeno", "Veno (Fu and Liew 2003)", (_VENO, *COMMON)),
    Family("hybla", "ns3::TcpHybla", "Hybla (Caini and Firrincieli 2004)", (_RRTT, *COMMON)),
    Family("highspeed", "ns3::TcpHighSpeed", "HighSpeed TCP (RFC 3649)", COMMON),
    Family("scalable", "ns3::TcpScalable", "Scalable TCP (Kelly 2003)", _SCALABLE + COMMON),
    Family("ledbat", "ns3::TcpLedbat", "LEDBAT (RFC 6817)", _LEDBAT + COMMON, timestamps=True),
    Family("lp", "ns3::TcpLp", "TCP-LP (Kuzmanovic and Knightly 2006)", COMMON, timestamps=True),
)
"""What ns-3 has beside those of the paper."""

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("newreno", "ns3::TcpNewReno", "NewReno (RFC 5681, RFC 6582)", COMMON),
            Family("cubic", "ns3::TcpCubic", "Cubic (RFC 9438)", _CUBIC + COMMON),
            Family(
                "vegas",
                "ns3::TcpVegas",
                "Vegas (Brakmo and Peterson 1995)",
                (
                    Parameter("alpha", 2, 0, 1000, unit="packets", attribute="Alpha", meaning="queued: grow below"),
                    Parameter("beta", 4, 0, 1000, unit="packets", attribute="Beta", meaning="queued: shrink above"),
                    Parameter("gamma", 1, 0, 1000, unit="packets", attribute="Gamma", meaning="end slow start above"),
                    *COMMON,
                ),
            ),
            Family(
                "bbr",
                "lcca_ns3::StockBbr",
                "BBR version 1 (Cardwell et al. 2017)",
                (
                    *_BBR,
                    Parameter("as_in_ns3", False, meaning="ns3::TcpBbr and its rate samples, nothing fixed"),
                    *COMMON,
                ),
            ),
            Family(
                "bbr-prime",
                "lcca_ns3::Bbr",
                "BBR′: conditions on a signal at the ends of BBR's phases (paper, section 7)",
                _BBR_PRIME + _BBR + COMMON,
            ),
            Family(
                "dctcp",
                "ns3::TcpDctcp",
                "DCTCP over queues that mark from a threshold on (RFC 8257)",
                (
                    *_G,
                    Parameter(
                        "mark_threshold",
                        "auto",
                        2,
                        1e6,
                        words=("auto",),
                        unit="packets",
                        attribute="ns3::RedQueueDisc::MinTh",
                        meaning="K; auto: 0.17 bandwidth-delay products (SIGCOMM 2010, 3.4: more than 1/7), 10 or more",
                    ),
                    *COMMON,
                ),
                ecn=True,
                markable=True,
            ),
            Family(
                "dctcp-prime",
                "ns3::TcpDctcp",
                "DCTCP′: the sender decides by a signal which packets met congestion (paper, A.7)",
                (
                    choice(
                        "signal",
                        ("queue", "link", "rtt"),
                        "queue",
                        "",
                        "largest queue or utilisation on the path, or RTT over the flow's smallest",
                    ),
                    Parameter(
                        "threshold",
                        "auto",
                        words=("auto",),
                        meaning="congestion from there on; auto: queue as dctcp's mark_threshold, link 0.95, RTT 1.17",
                    ),
                    *_G,
                    *COMMON,
                ),
                ecn=True,
            ),
            *STOCK,
        )
    }
)

HAND_DESIGNED = tuple(FAMILIES)
"""Names of the hand-designed congestion controls of ns-3."""


class Attribute(Parameter):
    """An attribute of ns-3, by its own name, with the value as ns-3 reads it."""

    def checked(self, value: object) -> Value:
        """See `Parameter`: any text; what ns-3 does not read fails its trials with ns-3's words."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def parsed(self, text: str) -> Value:
        """See `Parameter`."""
        return text


@dataclass(frozen=True)
class NamedType(Family):
    """A congestion control of ns-3 by its TypeId."""

    def parameter(self, name: str) -> Parameter:
        """Return one that all have, or an attribute of ns-3, which begins with a capital letter."""
        return (
            Attribute(name, "", attribute=name, meaning="as in ns-3") if name[:1].isupper() else super().parameter(name)
        )


def is_type(name: str) -> bool:
    """Tell whether a name is a TypeId of ns-3, such as ``ns3::TcpBic``, or of the kernel, as in ``linux:htcp``."""
    return _TYPE.fullmatch(name) is not None


def named_type(name: str, given: Iterable[str]) -> NamedType:
    """Return the congestion control of a TypeId; `given` are the parameters that it is told, attributes among them."""
    if name.startswith(OF_KERNEL):
        return NamedType(name, name, f"{name.removeprefix(OF_KERNEL)} of Linux", ())
    bare = NamedType(name, name, f"{name} of ns-3", COMMON, timestamps=name in _BY_ONE_WAY_DELAY)
    attributes = tuple(bare.parameter(key) for key in sorted(given) if key[:1].isupper())
    return NamedType(name, name, bare.title, attributes + COMMON, timestamps=bare.timestamps)
