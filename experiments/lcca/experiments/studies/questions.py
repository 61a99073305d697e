"""The questions of a study, and the comparisons that they ask for."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, field_validator, model_validator

from lcca.evaluation.settling.judgement import Verdict
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.campaign.trials import once
from lcca.inputs.model import Model

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=40)]
Names = Annotated[tuple[str, ...], AfterValidator(once)]
Expected = Literal["better", "worse", "equivalent"]

BITS = "_bits"
"""Ends the names of columns with scores: the utility's name comes before it."""

AGREES, DIFFERS, OPEN = "agrees", "differs", "not settled"
_SIGN = {"better": "+", "worse": "-"}


class Question(Model):
    """One question: is a contender better than others?

    Attributes:
        name: of the question.
        figure: where its source asks it.
        asks: the question, in words.
        theirs: what the source found, in words.
        expected: what the source found, as a verdict on the contender.
        contender: who is compared.
        against: with whom.
        scenarios: where, by their names; everywhere if left out.
        utilities: by what.
    """

    name: Name
    figure: str = ""
    asks: str = ""
    theirs: str = ""
    expected: Expected | None = None
    contender: str
    against: Names = Field(min_length=1)
    scenarios: Names = ()
    utilities: Names = Field(default=("slowdown",), min_length=1)

    @field_validator("utilities")
    @classmethod
    def _of_flows(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            fabric_utility(name)
        return value

    @model_validator(mode="after")
    def _not_with_itself(self) -> Question:
        if self.contender in self.against:
            raise ValueError(f"against: {self.contender} would meet itself")
        return self


class Planned(NamedTuple):
    """One comparison of a study: the question that it belongs to, where, A, and by what."""

    question: Question
    scenario: str
    baseline: str
    utility: str


def agreement(verdict: Verdict, expected: Expected | None) -> str | None:
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
