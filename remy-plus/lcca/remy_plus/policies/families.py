"""The classical congestion controls and all their tunables.

Times are µs of the network that is simulated, whatever `time_scale` it is simulated at.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lcca.remy_plus.policies.stock import STOCK
from lcca.remy_plus.policies.tunables import COMMON, Family, Parameter, choice

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

CLASSICAL = tuple(FAMILIES)
"""Names of the classical congestion controls."""
