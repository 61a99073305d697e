"""Training seeds of a campaign: listed, or added until all is settled."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, model_validator

from lcca.evaluation.comparison.sets import FIRST_SEEDS, MOST_SEEDS
from lcca.inputs.model import Model

LARGEST_SEED = 10**12
"""Of a training: its test networks are numbered from the seed times their count, in 64 bits."""


class SeedsConfig(Model):
    """Training seeds that are added until every comparison of signal sets and headers is settled.

    Attributes:
        first: seeds before the first look.
        most: seeds at which adding them ends, settled or not.
    """

    first: Annotated[int, Field(ge=FIRST_SEEDS)] = FIRST_SEEDS
    most: Annotated[int, Field(ge=FIRST_SEEDS, le=1000)] = MOST_SEEDS

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {} if value == "auto" else value

    @model_validator(mode="after")
    def _in_order(self) -> SeedsConfig:
        if self.most < self.first:
            raise ValueError(f"most must be at least first ({self.first}), got {self.most}")
        return self


def _seeds(value: Any) -> str:
    return "listed" if isinstance(value, list | tuple) else "added"


Listed = Annotated[tuple[Annotated[int, Field(ge=0, le=LARGEST_SEED)], ...], Field(min_length=1)]
TrainingSeeds = Annotated[
    Annotated[Listed, Tag("listed")] | Annotated[SeedsConfig, Tag("added")], Discriminator(_seeds)
]
"""Training seeds: a list, `auto`, or a mapping with `first` and `most`."""
