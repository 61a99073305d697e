"""What an interval says about B − A, and what is written down at each look."""

import math
from dataclasses import dataclass
from typing import Literal

VerdictName = Literal["better", "worse", "equivalent", "not settled"]
Direction = Literal["+", "-", "0"]
Size = Literal["smaller", "larger", "open"]


@dataclass(frozen=True)
class Verdict:
    """What an interval says about B − A: two statements, on its sign (`direction`) and on its size, and one name.

    Attributes:
        name: B is better than A, worse, equivalent (within the margin), or not settled.
        by_more_than_margin: the whole interval lies beyond the margin.
        direction: "+" if the interval lies above 0, "-" if below, "0" if it holds 0. An equivalent
            pair may have a direction: a difference that is real and does not matter.
    """

    name: VerdictName = "not settled"
    by_more_than_margin: bool = False
    direction: Direction = "0"

    @property
    def settled(self) -> bool:
        """Whether anything has been decided."""
        return self.name != "not settled"

    @property
    def size(self) -> Size:
        """Whether |B − A| is smaller than the margin, larger, or not known to be either."""
        return "smaller" if self.name == "equivalent" else "larger" if self.by_more_than_margin else "open"


NOT_SETTLED = Verdict()


def judge(low: float, high: float, margin: float) -> Verdict:
    """Return the verdict of an interval for B − A, where larger is better and ±margin does not matter.

    An interval no wider than the margin always settles: if it holds 0 it lies inside ±margin.
    Equivalence is two one-sided tests, one against each end of ±margin: both reject where the interval
    lies inside, and each has the error rate of one end of the interval.
    """
    direction: Direction = "+" if low > 0 else "-" if high < 0 else "0"
    if -margin < low and high < margin:
        return Verdict("equivalent", direction=direction)
    if direction == "0":
        return NOT_SETTLED
    beyond = low > margin or high < -margin
    return Verdict("better" if direction == "+" else "worse", beyond, direction)


@dataclass(frozen=True)
class Look:
    """What was seen at one look: a function of the first n differences.

    Attributes:
        n: blocks seen.
        mean: their mean; NaN before the first look.
        low: lower end of the rule's interval, −inf before the first look.
        high: upper end.
        spread: standard deviation of the blocks.
        skewness: of the blocks.
        log_e_value: natural logarithm of the e-value of "the mean difference is 0".
        verdict: what the interval says.
    """

    n: int = 0
    mean: float = math.nan
    low: float = -math.inf
    high: float = math.inf
    spread: float = math.nan
    skewness: float = math.nan
    log_e_value: float = 0.0
    verdict: Verdict = NOT_SETTLED

    @property
    def e_value(self) -> float:
        """Evidence against "the mean difference is 0", capped so that it stays finite."""
        return math.exp(min(self.log_e_value, 700.0))
