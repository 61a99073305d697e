"""What a tuner saw and what held during a run, look by look; also where nobody tunes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lcca.inputs.errors import InputError
from lcca.remy_plus.switches.control import Change, Given, Samples, Seen, Sketch, Tuner, TunerMaker
from lcca.remy_plus.switches.markers import Marking

NEVER_US = 1e9
"""A tuner that looks no more often sets something once."""

MOST_LOOKS = 20_000


@dataclass(frozen=True)
class Look:
    """An interval of a run.

    Attributes:
        seen: what counters say of it.
        parameters: of the transport at its end.
        markers: at its end, by port; None stands for all others of switches.
        told: what the tuner has found in it, by name.
    """

    seen: Seen
    parameters: Mapping[str, float]
    markers: Mapping[int | None, Marking]
    told: Mapping[str, float]


@dataclass
class Observation:
    """Makes a tuner that keeps what another one sees, but for sketches, and what it sets; for one run.

    Attributes:
        inner: makes the other; None where nobody tunes.
        every_us: between looks where nobody looks by himself.
        given: what is known before the run, once it has begun.
        looks: in their order, so far.
    """

    inner: TunerMaker | None
    every_us: float
    given: Given | None = None
    looks: list[Look] = field(default_factory=list)

    def keep(self, look: Look) -> None:
        """Keep a look.

        Raises:
            InputError: there are too many; each takes some kB.
        """
        if len(self.looks) == MOST_LOOKS:
            raise InputError(
                f"more than {MOST_LOOKS:,} looks, one every {look.seen.over_ns / 1000:g} µs; look less often"
            )
        self.looks.append(look)

    def build(self) -> Tuner:
        """Return the tuner."""
        return _Observed(self, None if self.inner is None else self.inner.build())


class _Observed:
    """Does what a tuner does and keeps it. A change holds when it is due, not yet in the interval that led to it."""

    def __init__(self, into: Observation, inner: Tuner | None) -> None:
        looks = inner is not None and inner.every_us < NEVER_US
        self._into, self._inner, self._tunes = into, inner, looks
        self.every_us = inner.every_us if inner is not None and looks else into.every_us
        self.delay_us: float = inner.delay_us if inner is not None and looks else 0.0
        self.sketch: Sketch | Samples | None = inner.sketch if inner is not None else None
        self._parameters: dict[str, float] = {}
        self._markers: dict[int | None, Marking] = {}
        self._due: list[tuple[float, Change]] = []

    def begin(self, given: Given) -> Change:
        """Begin the run of the other."""
        change = Change() if self._inner is None else self._inner.begin(given)
        self._into.given = given
        self._parameters, self._markers = dict(given.parameters), {None: given.marker}
        self._hold(change)
        return change

    def tune(self, seen: Seen) -> Change:
        """Keep an interval, and return what the other makes of it."""
        now_us = seen.now_ns / 1000
        for at_us, change in self._due:
            if at_us <= now_us:
                self._hold(change)
        self._due = [(at_us, change) for at_us, change in self._due if at_us > now_us]
        change = self._inner.tune(seen) if self._inner is not None and self._tunes else Change()
        held = dict(self._parameters), dict(self._markers)
        self._into.keep(Look(replace(seen, sketches=None), *held, change.told))
        self._due.append((now_us + self.delay_us, change))
        return change

    def _hold(self, change: Change) -> None:
        self._parameters |= change.parameters
        if None in change.markers:
            self._markers.clear()
        self._markers |= change.markers


def setting(look: Look, port: int) -> dict[str, Any]:
    """Return what held at the end of an interval at hosts, and with the marker's name at a port of a switch."""
    marker = look.markers.get(port, look.markers.get(None))
    own = {} if marker is None else {f"{marker.kind}.{name}": value for name, value in marker.parameters.items()}
    return {**look.parameters, **own}
