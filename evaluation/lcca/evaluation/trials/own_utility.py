"""A utility of one's own: a function in Python, named as in ``my.py:fair``.

It has the throughput of senders in packets per µs of fair share, `FLOOR_THROUGHPUT` at least, and the mean delay of
their packets in µs, two arrays of one shape, and returns the utility of each in bits; a trial's score is the mean over
its senders, as of `ThroughputDelay`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lcca.evaluation.trials.throughput_delay import (
    FLOOR_DELAY_US,
    FLOOR_THROUGHPUT,
    REFERENCE_DELAY_US,
    score_network_trials,
)
from lcca.evaluation.trials.utility import Floats, TrialScores
from lcca.inputs.errors import InputError
from lcca.inputs.names import ClassName
from lcca.remy_plus.policies.python_control import PythonFunction
from lcca.remy_plus.record import Record

TRIED = ((1.0, 100.0), (0.25, 400.0), (8.0, 30.0))
"""Throughputs (packets/µs) and delays (µs) with which a function is tried."""


@dataclass(frozen=True)
class OwnUtility:
    """What a sender wants by a function of its throughput and delay.

    Attributes:
        source: the function, which travels to other processes as its text.

    Raises:
        InputError: there is no such function, it fails, or does not return as many finite numbers; names the line.
    """

    source: PythonFunction

    unit: ClassVar[str] = "bits"
    keeps: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Try the function."""
        if self._doubling <= 0:
            raise InputError(f"{self.source.path}: {self.name}: must be larger for twice the throughput")
        together, alone = self.of(*np.transpose(TRIED)), [float(self.of(*each)) for each in TRIED]
        if not np.allclose(together, alone, rtol=1e-12, atol=1e-12):
            raise InputError(
                f"{self.source.path}: {self.name}: a sender's utility must not depend on the others in the arrays"
            )

    @classmethod
    def named(cls, text: str) -> OwnUtility:
        """Return the utility that a text such as ``my.py:fair`` names."""
        found = ClassName.of(text)
        if found is None or found.parameters:
            raise InputError(f"{text[:60]!r}: name a function as in my.py:fair")
        return cls(PythonFunction.named(found))

    @property
    def name(self) -> str:
        """The function's."""
        return self.source.name

    def of(self, throughput_share: ArrayLike, delay_us: ArrayLike) -> Floats:
        """Return the utility of each sender in bits, with the throughput floored (packets/µs and µs)."""
        floored = np.maximum(throughput_share, FLOOR_THROUGHPUT)
        throughput, delay = np.broadcast_arrays(floored, np.asarray(delay_us, dtype=np.float64))
        function = self._function
        try:
            bits = np.asarray(function(throughput.copy(), delay.copy()), dtype=np.float64)
        except KeyboardInterrupt:
            raise
        except Exception as error:
            raise InputError(f"{self.source.at(error.__traceback__)}: {type(error).__name__}: {error}") from error
        if bits.shape != throughput.shape or not np.isfinite(bits).all():
            raise InputError(f"{self.source.path}: {self.name}: must return a finite number for each sender")
        return bits

    @cached_property
    def _function(self) -> Any:
        return self.source.fresh()

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was made of the source."""
        return OwnUtility, (self.source,)

    @property
    def worst(self) -> float:
        """The score of a trial in which every sender starved, in bits."""
        return float(self.of(FLOOR_THROUGHPUT, FLOOR_DELAY_US))

    def score(self, record: Record) -> TrialScores:
        """Score every trial of a record; see `ThroughputDelay.score`."""
        return score_network_trials(self, record)

    def percent(self, difference: float) -> float:
        """Return the change of throughput, in per cent, that a difference is worth at 1 packet/µs and 100 µs."""
        return 100 * math.expm1(math.log(2) * difference / self._doubling)

    def difference(self, percent: float) -> float:
        """Return the difference in bits that a change of throughput, in per cent, is worth there."""
        return self._doubling * math.log2(1 + percent / 100)

    def margin(self, percent: float) -> float:
        """Return what a change of throughput, in per cent, is worth in bits."""
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        """Return the hash of the function's text."""
        return {"python": self.source.digest, "function": self.name}

    @cached_property
    def _doubling(self) -> float:
        """Bits per doubling of the throughput, at 1 packet/µs and 100 µs."""
        half, whole = (float(self.of(share, REFERENCE_DELAY_US)) for share in (1.0, 2.0))
        return whole - half
