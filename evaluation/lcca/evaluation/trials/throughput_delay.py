"""The utility of a sender and the score of a trial (paper §4.2, Eq. 1), for thousands of trials at once.

A sender's utility is c_t·log2(T) − c_d·log2(D / 100), in bits, where

- T is its throughput share: packets received per µs of fair share, a µs being shared equally among
  the senders that are on;
- D is the mean delay of its packets, from sending to receipt, in µs.

A trial's score is the mean over its counted senders. Two things keep it finite and fair:

- **Floor.** T counts as at least `FLOOR_THROUGHPUT`. A sender that was on but received nothing is
  starved, even if all that it sent was lost at once: it counts with T = `FLOOR_THROUGHPUT` and
  D = `FLOOR_DELAY_US`, and is reported.
- **Not counted** are senders that were never on, and those that received nothing because they first
  came on too late for a packet to arrive, later than the trial's duration less (rtt + 1/link_rate).

When senders first come on does not depend on what a policy does: who counts does not either. A trial
without any counted sender has the score NaN, for every policy alike: nobody had anything to send.
Average with `numpy.nanmean`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.trials.utility import Floats, TrialScores
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.elementary import log2
from lcca.remy_plus.record import Record

if TYPE_CHECKING:
    from lcca.remy_plus.network import Network

FLOOR_THROUGHPUT = 2.0**-10  # packets/µs
FLOOR_DELAY_US = 3200.0  # µs; with the throughput floor a starved sender scores −15 bits (default weights)
REFERENCE_DELAY_US = 100.0  # µs; R+'s constant, it only moves the zero of the score


class OfSenders(ABC):
    """A utility of a sender's throughput and delay, in bits."""

    unit: ClassVar[str] = "bits"
    keeps: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def of(self, throughput_share: ArrayLike, delay_us: ArrayLike) -> Floats:
        """Return the utility of each sender in bits, with the throughput floored (packets/µs and µs)."""

    @property
    @abstractmethod
    def _doubling(self) -> float:
        """Bits per doubling of the throughput."""

    @property
    def worst(self) -> float:
        """The score of a trial in which every sender starved, in bits."""
        return float(self.of(FLOOR_THROUGHPUT, FLOOR_DELAY_US))

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record; see `score_network_trials`."""
        return score_network_trials(self, record)

    def percent(self, difference: float) -> float:
        """Return the change of every sender's throughput, in per cent, that is worth a difference in bits."""
        return 100 * math.expm1(math.log(2) * difference / self._doubling)

    def difference(self, percent: float) -> float:
        """Return the difference in bits that a change of every sender's throughput, in per cent, is worth."""
        return self._doubling * math.log2(1 + percent / 100)


@dataclass(frozen=True)
class ThroughputDelay(OfSenders):
    """What a sender wants: c_t·log2(T) − c_d·log2(D / 100).

    Attributes:
        name: how reports call it.
        throughput_weight: c_t, bits per doubling of the throughput share.
        delay_weight: c_d, bits per halving of the mean delay.
    """

    name: str
    throughput_weight: float
    delay_weight: float

    def of(self, throughput_share: ArrayLike, delay_us: ArrayLike) -> Floats:
        """Return the utility of each sender in bits, with the throughput floored (packets/µs and µs)."""
        throughput = log2(np.maximum(throughput_share, FLOOR_THROUGHPUT))
        delay = log2(np.asarray(delay_us, dtype=np.float64) / REFERENCE_DELAY_US)
        bits: Floats = self.throughput_weight * throughput - self.delay_weight * delay
        return bits

    def margin(self, percent: float) -> float:
        """Return the smaller of what a change of throughput, or of delay, in per cent, is worth in bits."""
        weights = [weight for weight in (self.throughput_weight, self.delay_weight) if weight > 0]
        return min(weights) * math.log2(1 + percent / 100)

    def content(self) -> dict[str, Any]:
        """Return the weights."""
        return {"throughput": self.throughput_weight, "delay": self.delay_weight}

    @property
    def _doubling(self) -> float:
        """Bits per doubling of the throughput; 1 where throughput has no weight."""
        return self.throughput_weight or 1.0


@dataclass(frozen=True, eq=False)
class SenderTotals:
    """What each sender of a batch of trials got: flat arrays, one entry per sender.

    Attributes:
        delivered: packets received.
        delay_sum_us: sum of their delays, µs.
        share_us: µs of fair share: the integral of dt / (senders that are on) while it was on.
        first_on_us: when it first came on, µs; infinite or NaN if never.
        trial: index of its trial, from 0 to trials − 1, in any order.
        latest_start_us: per trial, duration − (rtt + 1/link_rate): a sender that came on later could not
            receive anything.
    """

    delivered: NDArray[np.int64] | Floats
    delay_sum_us: Floats
    share_us: Floats
    first_on_us: Floats
    trial: NDArray[np.integer[Any]]
    latest_start_us: Floats

    @property
    def trials(self) -> int:
        """Number of trials."""
        return int(self.latest_start_us.size)

    def counted(self) -> NDArray[np.bool_]:
        """Tell which senders count in the score."""
        in_time = self.first_on_us <= self.latest_start_us[self.trial]
        could = np.where(self.delivered > 0, self.share_us > 0, in_time)
        counted: NDArray[np.bool_] = could & np.isfinite(self.first_on_us)
        return counted

    def throughput_share(self) -> Floats:
        """Return T of each sender, packets per µs of fair share; 0 where nothing was received."""
        received = (self.delivered > 0) & (self.share_us > 0)
        share: Floats = np.divide(self.delivered, self.share_us, out=np.zeros(received.size), where=received)
        return share


def latest_start_us(duration_us: ArrayLike, rtt: ArrayLike, link_rate: ArrayLike) -> Floats:
    """Return the last time at which a packet can be sent and still arrive, per trial."""
    rtt, link_rate = np.asarray(rtt, dtype=np.float64), np.asarray(link_rate, dtype=np.float64)
    latest: Floats = np.asarray(duration_us, dtype=np.float64) - (rtt + 1 / link_rate)
    return latest


def score_network_trials(wanted: OfSenders, record: Record) -> TrialScores:
    """Score every trial of a record.

    Raises:
        InputError: packets took no time on a network, which is worth infinitely much.
    """
    with np.errstate(divide="ignore"):  # refused below
        scores = score_trials(wanted, sender_totals(record))
    if (endless := np.isinf(scores.score_bits)).any():
        at = int(record.network_index[endless.argmax()])
        raise InputError(
            f"network {record.networks.networks[at].id}: packets take no time with link_rate "
            f"{record.networks.link_rate[at]:g} packets/µs and rtt {record.networks.rtt[at]:g} µs, so the score "
            "has no bounds; lower the link_rate, or raise the rtt"
        )
    return scores


def score_trials(wanted: OfSenders, senders: SenderTotals) -> TrialScores:
    """Score every trial of a record."""
    counted = senders.counted()
    trial = senders.trial[counted]
    starved = senders.delivered[counted] == 0
    n = np.bincount(trial, minlength=senders.trials)
    return TrialScores(
        score_bits=_means(wanted.of(*counted_senders(senders)), trial, n),
        starved=np.bincount(trial[starved], minlength=senders.trials),
        senders_counted=n,
    )


def counted_senders(senders: SenderTotals) -> tuple[Floats, Floats]:
    """Return throughput share (packets/µs) and delay (µs) of the senders that count; starved ones have a floor."""
    counted = senders.counted()
    delivered = senders.delivered[counted]
    delay = senders.delay_sum_us[counted] / np.maximum(delivered, 1)
    return senders.throughput_share()[counted], np.where(delivered == 0, FLOOR_DELAY_US, delay)


def _means(values: Floats, trial: NDArray[np.integer[Any]], n: NDArray[np.int64]) -> Floats:
    """Return the mean of `values` per trial, NaN where a trial has none."""
    sums = np.bincount(trial, weights=values, minlength=n.size)
    means: Floats = np.divide(sums, n, out=np.full(n.size, np.nan), where=n > 0)
    return means


@dataclass(frozen=True, eq=False)
class TrialMeans:
    """Per trial, without any floor.

    Attributes:
        throughput_share: mean T over counted senders, packets/µs; a starved one counts as 0.
        delay_us: mean over senders of their mean delay, over those that received something.
        fairness: standard deviation (n in the denominator) over counted senders of T / link_rate; NaN
            with fewer than two.
    """

    throughput_share: Floats
    delay_us: Floats
    fairness: Floats


def mean_trials(senders: SenderTotals, link_rate: ArrayLike) -> TrialMeans:
    """Return throughput, delay and fairness of every trial; `link_rate` (packets/µs) is per trial."""
    counted = senders.counted()
    trial, trials = senders.trial[counted], senders.trials
    throughput = senders.throughput_share()[counted]
    n = np.bincount(trial, minlength=trials)
    mean = _means(throughput, trial, n)
    variance = _means((throughput - mean[trial]) ** 2, trial, n)
    served = counted & (senders.delivered > 0)
    delay = senders.delay_sum_us[served] / senders.delivered[served]
    n_served = np.bincount(senders.trial[served], minlength=trials)
    spread = np.sqrt(variance) / np.asarray(link_rate, dtype=np.float64)
    return TrialMeans(
        throughput_share=mean,
        delay_us=_means(delay, senders.trial[served], n_served),
        fairness=np.where(n >= 2, spread, np.nan),
    )


@dataclass(frozen=True, eq=False)
class FairShareGap:
    """Per trial, what its score lacks to that of a fair share of the link at every instant without a queue, in bits.

    The three parts add up to the difference of the scores. F and R are throughput and delay of the fair share, and P is
    what all n counted senders received together, over their shares of time together:

    - utilisation: c_t·log2(F / P), what the link did not carry while they were on;
    - unfairness: c_t·(log2(P) − Σ log2(T) / n), below 0 where those that were least on have more than their share;
    - delay: c_d·Σ log2(D / R) / n.
    """

    utilisation: Floats
    unfairness: Floats
    delay: Floats

    @property
    def total(self) -> Floats:
        """The sum of the parts."""
        return np.asarray(self.utilisation + self.unfairness + self.delay)


def gap_to_fair_share(wanted: ThroughputDelay, senders: SenderTotals, record: Record) -> FairShareGap:
    """Return where the bits go between the fair share and every trial of a record, whose senders are given.

    NaN where no sender counts, and where the fair share is not the same whatever flows do: with senders that are
    switched by bytes, open flows, and links that others load too.
    """
    listed, index = record.networks, record.network_index
    rate = np.array([n.link_rate * (1 - n.loss) if _is_shared(n) else np.nan for n in listed.networks])[index]
    round_trip = listed.round_trips_us(record.ack_size)[index]
    counted = senders.counted()
    trial, n = senders.trial[counted], np.bincount(senders.trial[counted], minlength=senders.trials)
    received, share = (
        np.bincount(trial, weights=each[counted], minlength=n.size) for each in (senders.delivered, senders.share_us)
    )
    pooled = wanted.of(np.divide(received, share, out=np.full(n.size, np.nan), where=share > 0), REFERENCE_DELAY_US)
    throughput, delay = counted_senders(senders)
    own = wanted.of(throughput, REFERENCE_DELAY_US)
    late = -wanted.of(1.0, delay / round_trip[trial] * REFERENCE_DELAY_US)
    return FairShareGap(
        utilisation=wanted.of(rate, REFERENCE_DELAY_US) - pooled,
        unfairness=np.where(np.isnan(rate), np.nan, pooled - _means(own, trial, n)),
        delay=np.where(np.isnan(rate), np.nan, _means(late, trial, n)),
    )


def _is_shared(network: Network) -> bool:
    """Tell whether everyone that is on can have an equal part of one link, whenever flows end."""
    return network.timed and network.topology.one_bottleneck


def sender_totals(record: Record) -> SenderTotals:
    """Return the batch's senders in the form that utilities are computed from.

    Packets whose acknowledgement was dropped count as delivered, with the mean delay of the sender's other ones; a
    sender that never heard of any counts as one that received nothing.
    """
    networks, index = record.networks, record.network_index
    delivered = record.floats("sender_delivered")
    heard = delivered - record.floats("sender_acks_dropped")
    unheard = np.divide(delivered, heard, out=np.ones_like(heard), where=heard > 0)  # 1 on a plain dumbbell
    return SenderTotals(
        delivered=np.where(heard > 0, delivered, 0.0),
        delay_sum_us=record.floats("sender_delay_sum_us") * unheard,
        share_us=record.floats("sender_share_us"),
        first_on_us=record.floats("sender_first_on_us"),
        trial=record.sender_trial,
        latest_start_us=latest_start_us(
            record.duration, networks.rtt[index] + record.further_service_us, networks.link_rate[index]
        ),
    )
