"""The utility of a sender and the score of a trial (paper §4.2, Eq. 1), for thousands of trials at once.

A sender's utility is c_t·log2(T) − c_d·log2(D / 100), in bits, where

- T is its throughput share: packets received per µs of fair share, a µs being shared equally among
  the senders that are on;
- D is the mean delay of its packets, from sending to receipt, in µs.

A trial's score is the mean over its counted senders. Two things keep it finite and fair:

- **Floor.** T counts as at least `FLOOR_THROUGHPUT`. A sender that was on but received nothing is
  starved: it counts with T = `FLOOR_THROUGHPUT` and D = `FLOOR_DELAY_US`, and is reported.
- **Not counted** are senders that had no share of time (never on), and those that received nothing
  because they first came on too late for a packet to arrive, later than the trial's duration less
  (rtt + 1/link_rate).

A trial without any counted sender has the score NaN: it says nothing. Average with `numpy.nanmean`.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model

Floats = NDArray[np.float64]

FLOOR_THROUGHPUT = 2.0**-10  # packets/µs
FLOOR_DELAY_US = 3200.0  # µs; with the throughput floor a starved sender scores −15 bits (default weights)
REFERENCE_DELAY_US = 100.0  # µs; R+'s constant, it only moves the zero of the score


@dataclass(frozen=True)
class Utility:
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
        throughput = np.log2(np.maximum(throughput_share, FLOOR_THROUGHPUT))
        delay = np.log2(np.asarray(delay_us, dtype=np.float64) / REFERENCE_DELAY_US)
        bits: Floats = self.throughput_weight * throughput - self.delay_weight * delay
        return bits


UTILITIES = MappingProxyType(
    {
        each.name: each
        for each in (
            Utility("default", 1, 1),
            Utility("2t", 2, 1),
            Utility("2d", 1, 2),
            Utility("100t", 100, 1),
            Utility("100d", 1, 100),
        )
    }
)


def utility(name: str) -> Utility:
    """Return one of the five utilities of the paper by its name.

    Raises:
        InputError: if there is none of that name, with a suggestion.
    """
    if name in UTILITIES:
        return UTILITIES[name]
    raise InputError(f"unknown utility '{name}'{did_you_mean(name, UTILITIES)}")


class UtilityModel(Model):
    """A utility as a campaign's file gives it: one of the five names, or a name with two weights."""

    name: str = Field(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")
    throughput_weight: float = Field(ge=0)
    delay_weight: float = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _fill_in_by_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = {"name": value}
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            return value
        if value.keys() & {"throughput_weight", "delay_weight"}:
            return value
        known = utility(value["name"])
        weights = {"throughput_weight": known.throughput_weight, "delay_weight": known.delay_weight}
        return {**value, **weights}

    @model_validator(mode="after")
    def _weights_make_sense(self) -> "UtilityModel":
        if self.throughput_weight == 0 and self.delay_weight == 0:
            raise ValueError("throughput_weight and delay_weight must not both be 0")
        if self.name in UTILITIES and self.build() != UTILITIES[self.name]:
            raise ValueError(f"'{self.name}' has other weights in the paper; choose another name")
        return self

    def build(self) -> Utility:
        """Return the utility itself."""
        return Utility(self.name, self.throughput_weight, self.delay_weight)


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
        on = (self.share_us > 0) & np.isfinite(self.first_on_us)
        in_time = self.first_on_us <= self.latest_start_us[self.trial]
        counted: NDArray[np.bool_] = on & ((self.delivered > 0) | in_time)
        return counted


@dataclass(frozen=True, eq=False)
class TrialScores:
    """Per trial: the mean utility over counted senders (bits, NaN without any), and who counted."""

    score_bits: Floats
    starved: NDArray[np.int64]
    senders_counted: NDArray[np.int64]


def latest_start_us(duration_us: ArrayLike, rtt: ArrayLike, link_rate: ArrayLike) -> Floats:
    """Return the last time at which a packet can be sent and still arrive, per trial."""
    rtt, link_rate = np.asarray(rtt, dtype=np.float64), np.asarray(link_rate, dtype=np.float64)
    latest: Floats = np.asarray(duration_us, dtype=np.float64) - (rtt + 1 / link_rate)
    return latest


def score_trials(wanted: Utility, senders: SenderTotals) -> TrialScores:
    """Score every trial of a batch."""
    counted = senders.counted()
    delivered = senders.delivered[counted]
    trial = senders.trial[counted]
    starved = delivered == 0
    throughput = delivered / senders.share_us[counted]
    delay = np.where(starved, FLOOR_DELAY_US, senders.delay_sum_us[counted] / np.maximum(delivered, 1))
    bits = wanted.of(throughput, delay)
    n = np.bincount(trial, minlength=senders.trials)
    return TrialScores(
        score_bits=_means(bits, trial, n),
        starved=np.bincount(trial[starved], minlength=senders.trials),
        senders_counted=n,
    )


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
    throughput = senders.delivered[counted] / senders.share_us[counted]
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
