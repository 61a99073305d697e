"""Parameters of transports and markers."""

from __future__ import annotations

from dataclasses import dataclass

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
class Knob:
    """A parameter.

    Attributes:
        default: at 100 Gb/s.
        unit: of the value.
        meaning: and source.
        by_rate: of transports, the default is in proportion to the rate of the hosts' links; of markers, the value is,
            whether default or given, to the rate of the port.
        search: where a tuner looks; None for a parameter that is tuned only where a configuration names it.
    """

    default: float
    unit: str
    meaning: str
    by_rate: bool = False
    search: Search | None = None
