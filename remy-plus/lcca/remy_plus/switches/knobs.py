"""Parameters of transports, markers and tuners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from lcca.inputs.errors import InputError, did_you_mean

REFERENCE_GBPS = 100.0
"""Rate that values which go with a rate are for."""


@dataclass(frozen=True)
class Search:
    """Where a tuner looks for a parameter.

    Attributes:
        low, high: ends; of a parameter that goes with a rate at 100 Gb/s.
        step: between values; None for any number.
        log: whether small values are drawn as often as large ones.
    """

    low: float
    high: float
    step: float | None = None
    log: bool = False


def around(low: float, high: float) -> Search:
    """Return a range of factors. Those of a parameter hold its default and the values of the papers named with it."""
    return Search(low, high, log=True)


@dataclass(frozen=True)
class Limits:
    """Values that a parameter may have.

    Attributes:
        low, high: ends, both included.
        whole: whether it is a whole number.
    """

    low: float
    high: float
    whole: bool = False

    def require(self, name: str, value: float) -> None:
        """Check a value.

        Raises:
            InputError: `name: …`, with what it must be.
        """
        if self.low <= value <= self.high and (not self.whole or value == round(value)):
            return
        kind = "a whole number " if self.whole else ""
        raise InputError(f"{name}: must be {kind}from {self.low:g} to {self.high:g}, got {value:g}")


FLAG = Limits(0, 1, whole=True)


@dataclass(frozen=True)
class Knob:
    """A parameter.

    Attributes:
        default: at 100 Gb/s.
        unit: of the value.
        meaning: and source.
        by_rate: of transports, the default is in proportion to the rate of the hosts' links; of markers, the value is,
            whether default or given, to the rate of the port.
        search: where a tuner looks; None for a parameter that is tuned only where a configuration names it.
        limits: values that it may have; None where the engine knows them, or where any that is not negative will do (of
            transports).
        lossy: whether it means something only where packets may be dropped, and is tuned there alone unless named.
    """

    default: float
    unit: str
    meaning: str
    by_rate: bool = False
    search: Search | None = None
    limits: Limits | None = None
    lossy: bool = False


class Kind(Protocol):
    """Of markers or of tuners: what has parameters."""

    @property
    def knobs(self) -> Mapping[str, Knob]:
        """Its parameters, by name."""


def values_of(kinds: Mapping[str, Kind], kind: str, changes: Mapping[str, float]) -> dict[str, float]:
    """Return all parameters of one of some kinds: the defaults, with changes.

    Raises:
        InputError: `kind: …` where there is none of this name, or `parameter: …` where it has none or not this value.
    """
    if kind not in kinds:
        raise InputError(f"kind: {kind!r} is not known{did_you_mean(kind, kinds)}")
    usual = {name: knob.default for name, knob in kinds[kind].knobs.items()}
    unknown = sorted(set(changes) - set(usual))
    if unknown:
        raise InputError(f"{unknown[0]}: is not a parameter of {kind}{did_you_mean(unknown[0], usual)}")
    found = usual | {name: float(value) for name, value in changes.items()}
    for name, knob in kinds[kind].knobs.items():
        if knob.limits:
            knob.limits.require(name, found[name])
    return found
