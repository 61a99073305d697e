"""What a study found: comparisons, whether they agree with their source, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.judgement import Verdict
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.study.questions import Expected, Planned
from lcca.inputs.json_values import finite_values

BITS = "_bits"
"""Ends the names of columns with scores: the utility's name comes before it."""

CONFIDENCE = 0.95
"""Of intervals for what was measured, each by itself."""

NOT_MEASURED = ("network", "seed")
"""Columns of numbers that are no measures."""

Agreement = str
AGREES, DIFFERS, OPEN = "agrees", "differs", "not settled"
_SIGN = {"better": "+", "worse": "-"}


def compared(planned: Planned, rows: pd.DataFrame, rule: Rule, block: int) -> Comparison:
    """Return a comparison on the trials of its scenario so far.

    Args:
        planned: the comparison.
        rows: a row per policy and trial of that scenario.
        rule: settles it, with its part of α.
        block: trials in a block.
    """
    column = rows.pivot(index="network", columns="policy", values=planned.utility + BITS)
    return compare_policies(
        planned.baseline,
        planned.contender,
        column[planned.baseline].to_numpy(),
        column[planned.contender].to_numpy(),
        utility=fabric_utility(planned.utility),
        rule=rule,
        block=block,
    )


def agreement(verdict: Verdict, expected: Expected | None) -> Agreement | None:
    """Tell whether a verdict agrees with what its source found.

    A contender that is better or worse by less than the margin is equivalent: it agrees with the direction that is
    expected and with "equivalent", and differs from the other direction. One that is better or worse, by more or less
    than the margin, does not settle "equivalent".
    """
    if expected is None:
        return None
    if not verdict.settled or (expected == "equivalent" and verdict.size == "open"):
        return OPEN
    if expected == "equivalent":
        return AGREES if verdict.name == "equivalent" else DIFFERS
    return AGREES if verdict.direction == _SIGN[expected] else DIFFERS


def answer(planned: Planned, found: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON values, with the question that it belongs to."""
    expected = planned.question.expected
    told = {"question": planned.question.name, "scenario": planned.scenario, "expected": expected}
    return told | {"agreement": agreement(found.verdict, expected)} | found.to_json()


def measured(rows: pd.DataFrame, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row per contender of a scenario: the mean over trials of every measure, with its interval."""
    own = rows.drop(columns=list(NOT_MEASURED)).select_dtypes("number")
    return [_means(name, own[rows["policy"] == name]) for name in names]


def _means(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    found: Mapping[str, Any] = {
        str(column): dict(zip(("mean", "low", "high"), t_interval(rows[column], 1 - CONFIDENCE), strict=True))
        for column in rows
    }
    return {"contender": name, "trials": len(rows), "measures": finite_values(found)}
