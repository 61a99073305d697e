"""How much is still to come, in trials and in time: words for people, which never reach a result."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.settling.sequence import HORIZON

REMEMBERED = 8
"""Updates that a pace is judged by: few, so that blocks that a resumed run only reads are soon forgotten."""

UNITS = (("s", 1.0, 90.0), ("min", 60.0, 5400.0), ("h", 3600.0, 172_800.0), ("days", 86_400.0, float("inf")))


class Pace:
    """How fast a task has gone lately.

    Args:
        clock: tells the time in seconds.
        done: how much is done as it begins.
        remembered: updates that it is judged by.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, done: float = 0.0, remembered: int = REMEMBERED
    ) -> None:
        self._clock = clock
        self._seen = deque([(done, clock())], maxlen=remembered)

    def saw(self, done: float) -> None:
        """Note how much is done by now."""
        self._seen.append((done, self._clock()))

    def seconds(self, more: float) -> float | None:
        """Return how long so much more will take at this pace; None while that cannot be told."""
        (first, began), (last, now) = self._seen[0], self._seen[-1]
        return more * (now - began) / (last - first) if last > first and now > began else None


@dataclass(frozen=True)
class More:
    """Units that are still to come, from `low` to `high`."""

    low: int
    high: int
    unit: str

    def words(self, pace: Pace) -> str:
        """Return ``about 40–120 more pairs, about 1–3 min``; nothing when no more are to come."""
        if self.high >= HORIZON:
            return f"no end in sight: more {self.unit} than can be told"
        if self.high <= 0:
            return ""
        counted = f"{_about(f'{self.low:,}', f'{self.high:,}')} more {self.unit}"
        soonest, latest = pace.seconds(self.low), pace.seconds(self.high)
        return counted if soonest is None or latest is None else f"{counted}, {words_for_time(soonest, latest)}"


def more_pairs(found: Sequence[Comparison], done: int, at_least: int, most: int, settled: bool = False) -> More:
    """Return the pairs until every difference is known accurately, or settled, as far as forecasts tell.

    Args:
        found: the comparisons as they are.
        done: pairs so far.
        at_least: pairs that are run in any case.
        most: pairs at which everything ends.
        settled: whether that is enough.
    """
    left, sure = max(most - done, 0), max(at_least - done, 0)
    low = high = sure
    for each in found:
        if not (each.ended if settled else each.enough):
            known = each.likely_n if settled else each.enough_n and (each.enough_n, each.enough_n)
            ahead = known or (each.n, each.n + left)
            low, high = max(low, ahead[0] - each.n), max(high, ahead[1] - each.n)
    return More(min(low, left), min(high, left), "pairs")


def _about(low: str, high: str) -> str:
    if low == high:
        return f"about {high}"
    return f"up to {high}" if low == "0" else f"about {low}–{high}"


def words_for_time(low: float, high: float) -> str:
    """Return a range of seconds in the unit that suits its upper end."""
    if high < 1:
        return "less than 1 s"
    unit, size = next((unit, size) for unit, size, until in UNITS if high < until)
    return f"{_about(_rounded(low / size), _rounded(high / size))} {unit}"


def _rounded(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:,.0f}"
