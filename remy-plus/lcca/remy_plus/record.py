"""The record of a batch of trials: what every simulator returns, whatever it is made of.

Columns are arrays by name. ``trial_*`` has an entry per trial, ``sender_*`` per measured sender, ``flow_*`` per flow;
``sender_begin`` and ``flow_begin`` tell where those of each trial begin. `declared` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lcca.remy_plus.network import NetworkList

Floats = NDArray[np.float64]

Columns: TypeAlias = Mapping[str, Any]
"""Arrays by name; ``rule_hits`` is a list with an array per policy."""

COUNTS: dict[str, type[Any]] = {
    "sent": np.int64,
    "delivered": np.int64,
    "lost": np.int64,
    "dropped": np.int64,
    "acks_dropped": np.int64,
}
"""Packets, of a sender or a flow: random loss is apart from drops at full queues."""

TIMES: dict[str, type[Any]] = {"delay_sum_us": np.float64, "share_us": np.float64}
"""Sum of the delays, and integral of dt / (senders that are on)."""

SENDERS: dict[str, type[Any]] = COUNTS | TIMES | {"first_on_us": np.float64, "flows": np.int32, "stalled": np.int32}

FLOWS: dict[str, type[Any]] = {
    "sender": np.int32,
    "start_us": np.float64,
    "end_us": np.float64,
    **TIMES,
    "delay_p50_us": np.float64,
    "delay_p99_us": np.float64,
    "last_arrival_us": np.float64,
    **COUNTS,
    "length": np.int64,
    "finished": np.uint8,
    "stalled": np.uint8,
}

TRIALS: dict[str, type[Any]] = {
    "events": np.int64,
    "hops": np.int64,
    "sent": np.int64,
    "delivered": np.int64,
    "utilisation": np.float64,
    "queue_mean_packets": np.float64,
}

RTTS = ("rtt_p50_us", "rtt_p90_us", "rtt_p95_us", "rtt_p99_us", "rtt_p999_us")

REAL_TIME = ("late_us", "host_delay_us")
"""What trials in real time have beside: how late one of a hundred packets left the link, and what senders of policies
measured of round trips beyond what the link did."""

DELAYS: dict[str, type[Any]] = dict.fromkeys(("queue_p99_packets", *RTTS), np.float64)
"""Columns per trial that need all delays to be kept."""


PHASES = {
    "started": "below 1 round trip after a start",
    "starting": "1 to 4 round trips after a start",
    "ended": "below 1 round trip after an end",
    "ending": "1 to 4 round trips after an end",
    "settling": "4 to 12 round trips after either",
    "steady": "later",
}
"""Of a trial, by the time since a flow of any sender last started or ended; what the engine keeps is in this order."""


def declared(keep_delays: bool = False, keep_flows: bool = False) -> dict[str, type[Any]]:
    """Return the columns that every record has, and the kind of their entries."""
    found: dict[str, type[Any]] = {f"trial_{name}": kind for name, kind in TRIALS.items()}
    found |= {f"sender_{name}": kind for name, kind in SENDERS.items()} | {"sender_begin": np.int64}
    if keep_delays:
        found |= {f"trial_{name}": kind for name, kind in DELAYS.items()}
    if keep_flows:
        found |= {f"flow_{name}": kind for name, kind in FLOWS.items()} | {"flow_begin": np.int64}
    return found


@dataclass(frozen=True, eq=False)
class Record:
    """What a batch of trials returned.

    Senders stand in trial order: those of trial i are rows ``sender_begin[i]`` to ``sender_begin[i + 1]``.

    Attributes:
        columns: see `declared`; a simulator may add its own.
        networks: of the trials.
        network_index: (trials,) which of them each trial ran on.
        duration: µs.
        ack_size: of an acknowledgement, in packets.
    """

    columns: Columns
    networks: NetworkList
    network_index: NDArray[np.uint32]
    duration: float
    ack_size: float = 0.1

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return one column."""
        return np.asarray(self.columns[name])

    def floats(self, name: str) -> Floats:
        """Return one column as floats."""
        return np.asarray(self.columns[name], dtype=np.float64)

    @property
    def rule_hits(self) -> list[NDArray[np.int64]]:
        """Per policy: how often each rule was looked up, over all its trials."""
        return list(self.columns["rule_hits"])

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.network_index)

    @property
    def errors(self) -> NDArray[np.object_]:
        """(trials,) why each trial failed; empty for those that did not."""
        return np.asarray(self.columns.get("trial_error", np.full(self.trials, "", dtype=object)))

    @property
    def packets(self) -> int:
        """Packets delivered over all trials."""
        return int(self["trial_delivered"].sum())

    @property
    def sender_trial(self) -> NDArray[np.int64]:
        """(senders,) which trial each sender row belongs to."""
        return np.repeat(np.arange(self.trials), np.diff(self["sender_begin"]))

    @property
    def further_service_us(self) -> Floats:
        """(trials,) µs that a lone packet's round trip takes beyond rtt + 1/link_rate: further hops, and the ACK's."""
        listed, index = self.networks, self.network_index
        services = np.where(listed.plain, 1.0, listed.hops * (1 + self.ack_size))[index]
        further: Floats = (services - 1) / listed.link_rate[index]
        return further
