"""How many flows of a trial see a network that fills or empties: its phases (CCEval, Fig. 13b).

CCEval names the phases by the number of active flows and gives no rule for where they end. Here the warm-up ends when
that number, as a mean over the trials of the longest duration, first reaches nine tenths of what it is in the second
half of that duration; the cool-down begins where arrivals end. A flow belongs to the warm-up if it starts in it, else
to the cool-down if it ends in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FULL = 0.9
STEPS = 1000


@dataclass(frozen=True)
class Phases:
    """Shares of the flows of one duration; they add up to 1."""

    warm_up: float
    stable: float
    cool_down: float


@dataclass(frozen=True, eq=False)
class FlowSpans:
    """When the flows of all trials of one duration started and ended, µs."""

    trials: int
    start_us: Floats
    end_us: Floats


def warm_up_us(spans: FlowSpans, duration_us: float) -> float:
    """Return when the number of active flows first is what it stays, nearly; the duration itself if it never is."""
    times = np.linspace(0, duration_us, STEPS + 1)
    started = np.searchsorted(np.sort(spans.start_us), times, side="right")
    ended = np.searchsorted(np.sort(spans.end_us), times, side="right")
    active = (started - ended) / spans.trials
    level = FULL * active[len(times) // 2 :].mean()
    reached = np.flatnonzero(active >= level) if level > 0 else np.array([])
    return float(times[reached[0]]) if reached.size else duration_us


def phases(spans: Mapping[float, FlowSpans]) -> list[Phases]:
    """Return the phases of each duration (µs), the shortest first.

    Raises:
        ValueError: no durations.
    """
    durations = sorted(spans)
    if not durations:
        raise ValueError("at least one duration is needed")
    end = warm_up_us(spans[durations[-1]], durations[-1])
    return [_phases(spans[each], min(end, each), each) for each in durations]


def _phases(spans: FlowSpans, warm_up: float, duration_us: float) -> Phases:
    early = spans.start_us < warm_up
    late = ~early & (spans.end_us > duration_us)
    first, last = (float(each.mean()) if each.size else 0.0 for each in (early, late))
    return Phases(first, 1 - first - last, last)


def together(parts: Sequence[tuple[int, Floats, Floats]]) -> FlowSpans:
    """Return the spans of several stretches of trials: (trials, starts, ends) each."""
    counts, starts, ends = zip(*parts, strict=True)
    return FlowSpans(sum(counts), np.concatenate(starts), np.concatenate(ends))
