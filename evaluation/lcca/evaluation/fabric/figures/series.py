"""A run over time, interval by interval of a tuner's looks: throughput, round trips, queue, pauses, parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.remy_plus.fabric.observation import Look, Observation, setting
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.switches.control import Given, Seen
from lcca.remy_plus.tuners.paraleon import Weights, host_ports

MEASURES: Mapping[str, str] = {
    "throughput_gbps": "throughput, Gb/s",
    "rtt_us": "mean round trip, µs",
    "queue_bytes": "queue of the fullest port, bytes",
    "longest_queue_bytes": "longest queue, bytes",
    "marked": "share of marked packets",
    "paused": "share of time paused",
    "utility": "utility of PARALEON",
}
"""Columns of `series` and what they are."""


def series(policy: str, observed: Observation) -> pd.DataFrame:
    """Return a row per look of a run.

    Columns: policy; time_us, the end of the interval; throughput_gbps, of data packets that reach hosts, headers and
    all; rtt_us, the mean over ACKs (NaN without any); queue_bytes, the interval's mean at the port of a switch whose
    mean over the run is largest, and longest_queue_bytes, at the port where it is largest in the interval; marked, of
    the data packets that switches sent on; paused, the mean share over all ports; utility, of PARALEON (equation 1,
    weights of its Table III), from 0 to 1; then what held at the end of the interval: parameters of the transport and
    `red.kmin_bytes` and such of the marker at the fullest port; what that marker has come to by itself, as PRED's
    `now.flows`; and what the tuner has found in the interval, as `told.elephant_share`.
    """
    if observed.given is None or not observed.looks:
        return pd.DataFrame(columns=["policy", "time_us", *MEASURES])
    ports = _Ports(observed.given)
    fullest = ports.fullest(observed.looks)
    rows = [
        {**ports.measures(look.seen, fullest), **setting(look, fullest), **_found(look, fullest)}
        for look in observed.looks
    ]
    table = pd.DataFrame(rows)
    table.insert(0, "policy", policy)
    return table


def _found(look: Look, port: int) -> dict[str, float]:
    """Return what the marker of a port has come to, and what the tuner has found."""
    own = {f"now.{name}": float(values[port]) for name, values in look.seen.marker_states.items()}
    return own | {f"told.{name}": value for name, value in look.told.items()}


class _Ports:
    """Which ports of a fabric are whose."""

    def __init__(self, given: Given) -> None:
        node, peer = ends(given.topology)
        self.at_switch, self.to_host = node >= given.topology.hosts, peer < given.topology.hosts
        self.host_gbps = host_ports(given)

    def fullest(self, looks: Sequence[Look]) -> int:
        """Return the port of a switch with the largest mean queue over all looks."""
        total = np.sum([each.seen.mean_queued_bytes * each.seen.over_ns for each in looks], axis=0)
        return int(np.argmax(np.where(self.at_switch, total, -1)))

    def measures(self, seen: Seen, fullest: int) -> dict[str, float]:
        """Return the measures of an interval."""
        acks, data = float(seen.acks.sum()), float(seen.data_packets[self.at_switch].sum())
        return {
            "time_us": seen.now_ns / 1000,
            "throughput_gbps": float(seen.data_bytes[self.at_switch & self.to_host].sum()) * 8 / seen.over_ns,
            "rtt_us": float(np.nansum(seen.rtt_ns * seen.acks)) / acks / 1000 if acks else np.nan,
            "queue_bytes": float(seen.mean_queued_bytes[fullest]),
            "longest_queue_bytes": float(seen.mean_queued_bytes[self.at_switch].max()),
            "marked": float(seen.marked_packets.sum()) / data if data else 0.0,
            "paused": float(seen.paused.mean()),
            "utility": Weights().utility(seen, self.host_gbps),
        }


def ends(topology: FabricTopology) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return node and peer of every directed port, in the engine's order: by node, then by peer."""
    node, peer = np.concatenate([topology.a, topology.b]), np.concatenate([topology.b, topology.a])
    order = np.lexsort((peer, node))
    return node[order].astype(np.int64), peer[order].astype(np.int64)
