"""What a rule's pacing is a multiple of.

`relative` is the receive EWMA (R+), `absolute` a µs (Remy). Any other kind is a signal, the inverse of one or the ratio
of two: with `1/fair_rate` a factor of 1 sends at the fair rate, with `flows/capacity` at the link's rate over the
number of flows. Where its signals are not known yet, as at a flow's start, packets leave without a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.core.signals import SIGNALS

Pacing: TypeAlias = str

NAMED: dict[str, tuple[str, str]] = {"relative": ("receive_ewma", "1"), "absolute": ("1", "1")}
"""Kinds with names of their own: signal over signal, "1" for none."""


def pacing_unit(kind: object) -> tuple[str, str]:
    """Return the unit of a gap: the names of a signal and of the one that it is divided by, "1" for none.

    Raises:
        InputError: no such kind; the message says what there is.
    """
    if not isinstance(kind, str):
        raise InputError(f"pacing: must be {_KINDS}, got {kind!r:.60}")
    if kind in NAMED:
        return NAMED[kind]
    over, slash, under = kind.partition("/")
    for part in (over, under) if slash else (over,):
        if part not in SIGNALS and not (part == "1" and part is over):
            raise InputError(f"pacing: must be {_KINDS}, got {kind!r:.60}{did_you_mean(part, [*NAMED, *SIGNALS])}")
    found = (over, under or "1")
    if found in NAMED.values():
        raise InputError(f"pacing: {kind} is written {next(name for name, unit in NAMED.items() if unit == found)!r}")
    return found


def pacing_signals(kind: str) -> tuple[str, ...]:
    """Return the signals that a kind of pacing looks at, the receive EWMA of `relative` not counted."""
    return () if kind in NAMED else tuple(name for name in pacing_unit(kind) if name != "1")


_KINDS = "'relative', 'absolute', a signal, or a ratio such as '1/fair_rate' or 'flows/capacity'"


def offered_pacing(signals: Sequence[str]) -> Pacing:
    """Return the kind of pacing that suits these signals: a fair rate if they tell one, else `relative`.

    The number of flows alone tells none, and does better beside gaps relative to the receive EWMA: see
    benchmarks/README.md.
    """
    kinds = ("1/fair_rate", "flows/capacity")
    return next((kind for kind in kinds if all(name in signals for name in pacing_signals(kind))), "relative")
