"""Settings that never change, of switches and hosts together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lcca.remy_plus.switches.control import Change, Given, Seen
from lcca.remy_plus.switches.markers import Marking, marking


@dataclass(frozen=True)
class Static:
    """DCQCN's parameters and perhaps RED's thresholds, set once; thresholds at ports of 100 Gb/s.

    Attributes:
        parameters: of DCQCN that differ from its defaults.
        thresholds: of RED; None leaves the markers as they are.
    """

    parameters: Mapping[str, float]
    thresholds: Mapping[str, float] | None = None
    every_us: float = 1e9
    delay_us: float = 0
    sketch: None = None

    def __post_init__(self) -> None:
        """Check the thresholds.

        Raises:
            InputError: `parameter: …`, with what it must be.
        """
        self._markers()

    def begin(self, given: Given) -> Change:
        """Return what holds from the beginning.

        Raises:
            InputError: the transport is not DCQCN.
        """
        given.require_dcqcn()
        return Change(self.parameters, self._markers())

    def tune(self, seen: Seen) -> Change:
        """Return nothing."""
        return Change()

    def _markers(self) -> dict[int | None, Marking]:
        return {} if self.thresholds is None else {None: marking("red", **self.thresholds)}
