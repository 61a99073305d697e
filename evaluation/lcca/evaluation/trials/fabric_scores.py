"""Utilities of what a fabric alone tells: its fullest queue, rounds of training, throughput whatever flows' sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lcca.evaluation.trials.outcome import Outcome
from lcca.evaluation.trials.ratio import WORST_BITS, Ratio
from lcca.inputs.units import PACKET_BYTES


@dataclass(frozen=True)
class Queue(Ratio):
    """What a fabric wants: a short queue at the port of a switch that has the longest in the mean.

    The score is −log2 of 1 + queue / 1500 bytes: 0 bits for none at all. The queue is over the whole time of a trial.

    Attributes:
        name: how reports call it.
        quantile: of the queue over time; its mean if left out.
    """

    name: str
    quantile: float | None = None

    measure: ClassVar[str] = "queue"
    measured_in: ClassVar[str] = "kB"
    of_ports: ClassVar[bool] = True

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits."""
        return max(-math.log2(1 + queue_bytes(found.record, self.quantile) / PACKET_BYTES), WORST_BITS)

    def measured(self, bits: float) -> float:
        """Return the queue that has a score."""
        return (super().measured(bits) - 1) * PACKET_BYTES / 1000

    def content(self) -> dict[str, Any]:
        """Return the quantile."""
        return {"queue": self.quantile}


def queue_bytes(record: Mapping[str, Any], quantile: float | None) -> float:
    """Return a quantile over time of the fullest port's queue, or its mean; at most 1/32 too long."""
    lengths, times, end_ns = (record[name] for name in ("fullest_queued_bytes", "fullest_queued_ns", "end_ns"))
    if quantile is None:
        return float((lengths * times).sum() / end_ns) if end_ns > 0 else 0.0
    order = np.argsort(lengths, kind="stable")
    longer = np.cumsum(times[order][::-1])[::-1]  # how long the queue was at least so long
    too_long = longer > (1 - quantile) * end_ns
    return float(lengths[order][too_long].max(initial=0.0))


@dataclass(frozen=True)
class RoundTime(Ratio):
    """What training jobs want: rounds that end soon. The score is −log2 of a trial's mean in ms.

    Attributes:
        name: how reports call it.
    """

    name: str

    measure: ClassVar[str] = "duration of rounds"
    measured_in: ClassVar[str] = "ms"
    of_rounds: ClassVar[bool] = True

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits; NaN without a round, as where all begin in the warm-up."""
        if not len(found.round_us):
            return math.nan
        return max(-math.log2(float(found.round_us.mean()) / 1000), WORST_BITS)

    def content(self) -> dict[str, Any]:
        """Return what it is."""
        return {"rounds": "mean"}


@dataclass(frozen=True)
class Throughput(Ratio):
    """What flows without end want: log2 of the payload that all flows together delivered, Gb/s over the trial.

    Attributes:
        name: how reports call it.
    """

    name: str

    measure: ClassVar[str] = "throughput"
    measured_in: ClassVar[str] = "Gb/s"
    large: ClassVar[bool] = True

    def score_fabric(self, found: Outcome) -> float:
        """Return the score of a trial on a fabric, in bits."""
        delivered, end_ns = float(found.record["flow_delivered_bytes"].sum()), found.record["end_ns"]
        return max(math.log2(delivered * 8 / end_ns), WORST_BITS) if delivered > 0 else WORST_BITS

    def content(self) -> dict[str, Any]:
        """Return what it is."""
        return {"throughput": "delivered"}
