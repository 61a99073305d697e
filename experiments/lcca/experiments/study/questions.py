"""The questions of a study, and the comparisons that they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.model import Model

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=40)]
Expected = Literal["better", "worse", "equivalent"]


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
    against: tuple[str, ...] = Field(min_length=1)
    scenarios: tuple[str, ...] = ()
    utilities: tuple[str, ...] = Field(default=("slowdown",), min_length=1)

    @field_validator("against", "scenarios", "utilities")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if twice := next((name for i, name in enumerate(value) if name in value[:i]), None):
            raise ValueError(f"{twice!r} is listed twice")
        return value

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


@dataclass(frozen=True)
class Planned:
    """One comparison of a study.

    Attributes:
        question: that it belongs to.
        scenario: where.
        baseline: A.
        utility: by what.
    """

    question: Question
    scenario: str
    baseline: str
    utility: str

    @property
    def contender(self) -> str:
        """The candidate, B."""
        return self.question.contender
