"""How well a fabric did in an interval, from what its counters say: the utility of PARALEON (ICNP 2025), equation 1."""

from __future__ import annotations

from dataclasses import dataclass

from lcca.remy_plus.switches.control import Floats, Given, Seen


@dataclass(frozen=True)
class Weights:
    """Of throughput, round trips and pauses in the utility; they add up to 1. The defaults are those of Table III."""

    throughput: float = 0.2
    rtt: float = 0.5
    pfc: float = 0.3

    def utility(self, seen: Seen, host_gbps: Floats) -> float:
        """Return the utility of an interval, from 0 to 1 (equation 1).

        Throughput is the mean share of the links from hosts that were used at all, round trips the mean of propagation
        over the round trip of hosts, pauses the mean share of the time for which ports were paused.

        Args:
            seen: the interval.
            host_gbps: rates of the hosts' ports; see `host_ports`.
        """
        sent = seen.data_bytes[: len(host_gbps)] * 8 / seen.over_ns / host_gbps
        heard = seen.propagation_share[seen.acks > 0]
        parts = (_mean(sent[sent > 0]), _mean(heard), 1 - float(seen.paused.mean()))
        return sum(part * weight for part, weight in zip(parts, (self.throughput, self.rtt, self.pfc), strict=True))


def host_ports(given: Given) -> Floats:
    """Return the rates of the hosts' ports, Gb/s, which come before those of switches."""
    node, _, gbps = given.topology.ports
    return gbps[node < given.topology.hosts]


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
