"""A scenario of a benchmark: one link, whose rate may change, and when its flows start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lcca.inputs.units import PACKET_BYTES

PACKET_BITS = 8 * PACKET_BYTES


@dataclass(frozen=True)
class Scenario:
    """One link with a drop-tail buffer.

    Attributes:
        link_mbps: its rate at first.
        factor: by which the rate is multiplied in every other step; 1 for a rate that stays.
        rtt_ms: smallest round-trip time.
        buffer_bdp: of the buffer, in bandwidth-delay products of the first rate.
        loss: share of data packets that are lost behind the link, at random.
    """

    link_mbps: float
    factor: float
    rtt_ms: float
    buffer_bdp: float
    loss: float = 0.0

    @property
    def name(self) -> str:
        """Its parameters, as in ``48mbps-x2-40ms-1bdp``, and its loss if there is any: ``…-0.01loss``."""
        change = "flat" if self.factor == 1 else f"x{self.factor:g}"
        lost = f"-{self.loss:g}loss" if self.loss else ""
        return f"{self.link_mbps:g}mbps-{change}-{self.rtt_ms:g}ms-{self.buffer_bdp:g}bdp{lost}"

    @cached_property
    def bdp_packets(self) -> int:
        """Whole packets of 1,500 bytes in a bandwidth-delay product."""
        return int(self.link_mbps * self.rtt_ms * 1000 / PACKET_BITS)

    @property
    def buffer_packets(self) -> int:
        """Size of the buffer, in whole packets, at least one."""
        return max(int(self.buffer_bdp * self.bdp_packets), 1)

    def rates(self, first_s: float, every_s: float, end_s: float) -> tuple[tuple[float, float], ...]:
        """Return (from s, Mb/s) from time 0 on: the first rate, then the other one, and so on in turn.

        Args:
            first_s: when the rate changes for the first time.
            every_s: how long each rate then lasts.
            end_s: of the trial.
        """
        found = [(0.0, self.link_mbps)]
        while self.factor != 1 and (at := first_s + (len(found) - 1) * every_s) < end_s:
            found.append((at, self.link_mbps * (self.factor if len(found) % 2 else 1)))
        return tuple(found)
