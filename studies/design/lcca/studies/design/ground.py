"""What numbers of a place can be: its rates, round-trip times and flows, from which codes have their ranges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcca.evaluation.fabric.hosts import base_rtt_us
from lcca.evaluation.fabric.space import FabricSpace
from lcca.experiments.campaign.trials import Networks

DRAWN = 512
"""Networks that are drawn to find the extremes of a space."""

FLOWS_OF_PORTS = 256
"""Flows at a port of a fabric that codes reach."""


@dataclass(frozen=True)
class Ground:
    """The extremes of a place.

    Attributes:
        fabric: whether ports are those of a fabric, which know flows by their packets and bytes left.
        rates: least and largest rate of a link, bit/s.
        rtts: least and largest base RTT, ns.
        flows: most at a link.
        packet: bytes of a full data packet.
    """

    fabric: bool
    rates: tuple[float, float]
    rtts: tuple[float, float]
    flows: int
    packet: int

    @classmethod
    def of(cls, space: Networks, packet: int) -> Ground:
        """Return those of a place."""
        if isinstance(space, FabricSpace):
            fabrics = [each.fabric for each in space.scenarios]
            gbps = [float(rate) for each in fabrics for rate in np.unique(each.end_gbps)]
            rtts = [1e3 * base_rtt_us(each) for each in fabrics]
            return cls(True, (1e9 * min(gbps), 1e9 * max(gbps)), (min(rtts), max(rtts)), FLOWS_OF_PORTS, packet)
        drawn = space.draw(1, space.whole(DRAWN))
        rates = [8e6 * packet * each.link_rate for each in drawn]
        rtts = [1e3 * each.rtt for each in drawn]
        return cls(False, (min(rates), max(rates)), (min(rtts), max(rtts)), max(e.senders for e in drawn), packet)

    @property
    def bdp(self) -> float:
        """Bytes of the largest bandwidth-delay product."""
        return self.rates[1] * self.rtts[1] / 8e9
