"""What did not finish in trials that are scored: their scores are bounds then, and too many bounds allow no verdict.

A flow that did not finish counts with its time so far, a lower bound, and one that had less time than it takes alone
is left out (`FlowTimes.at_least`): two policies under which nothing finishes look alike, however far they are apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MARGIN = 1.25
"""The time that is advised is so many times what was estimated."""


@dataclass(frozen=True)
class Unfinished:
    """How much of what a utility scores did not finish within a contender's trials.

    Attributes:
        scored: flows, rounds or events.
        unfinished: those of them that had not finished as their trial ended.
        lacking_us: about how much longer the trials would have to last; NaN where nothing tells.
        what: what is counted.
        percent: the mean over trials of the share that did not finish: trials weigh the same in scores, too.
        quantile: that the utility scores.
    """

    scored: int
    unfinished: int
    lacking_us: float
    what: str
    percent: float
    quantile: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self) | {"lacking_us": self.lacking_us if math.isfinite(self.lacking_us) else None}

    def exceeds(self, percent: float) -> bool:
        """Tell whether more is unfinished than may be: so many per cent, of a quantile no more than lies beyond it."""
        return self.percent > min(percent, 100 - 100 * (self.quantile or 0)) + 1e-9  # rounding

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> Unfinished:
        """Return what `to_json` wrote."""
        return cls(**{**record, "lacking_us": math.nan if record["lacking_us"] is None else record["lacking_us"]})

    def __str__(self) -> str:
        """Return such as "20 of 20 flows unfinished"."""
        return f"{self.unfinished:,} of {self.scored:,} {self.what} unfinished"


def advice(found: Mapping[str, Unfinished]) -> str:
    """Return what is unfinished of contenders, and what to raise by about how much; empty where all of it finished."""
    own = {name: each for name, each in found.items() if each.unfinished}
    if not own:
        return ""
    counts = ", ".join(f"{name}: {each}" for name, each in own.items())
    lacking = [each.lacking_us for each in own.values()]
    if not (all(map(math.isfinite, lacking)) and max(lacking) > 0):
        return f"{counts}; raise drain_us of a fabric, duration of networks"
    more = MARGIN * max(lacking)
    unit = 10.0 ** (math.floor(math.log10(more)) - 1)  # two digits
    return f"{counts}; raise drain_us by about {math.ceil(more / unit) * unit:,.0f} µs"
