"""Fabric scenarios as a space that numbered trials come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, model_validator

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.model import Model
from lcca.remy_plus.fabric.flows import FabricFlows

FEWEST = 4
"""In a block. Trials are independent; means of some are less skewed, which is what intervals ask of a unit."""

SEEDS = 2**63
"""There are so many: those that a table of trials holds."""


@dataclass(frozen=True, eq=False)
class NumberedTrial:
    """What a trial is, but for its policy.

    Attributes:
        number: of the trial.
        scenario: where.
        seed: of the flows, of their paths and of the marks.
    """

    number: int
    scenario: FabricScenario
    seed: int

    @cached_property
    def flows(self) -> FabricFlows:
        """The flows: the same for all policies."""
        return self.scenario.flows(self.seed)


def _form(value: Any) -> str:
    return "several" if isinstance(value, list | tuple) else "one"


Scenarios = Annotated[
    Annotated[FabricScenario, Tag("one")] | Annotated[tuple[FabricScenario, ...], Tag("several"), Field(min_length=1)],
    Discriminator(_form),
]
"""One scenario or several."""


class FabricSpace(Model):
    """One fabric scenario or several; trials go through them in turn, each with flows of its own.

    Attributes:
        fabric: the scenarios, with names that differ and packets of one size.
    """

    fabric: Scenarios

    @property
    def scenarios(self) -> tuple[FabricScenario, ...]:
        """The scenarios."""
        return self.fabric if isinstance(self.fabric, tuple) else (self.fabric,)

    @property
    def name(self) -> str:
        """The names of the scenarios."""
        return ", ".join(each.name for each in self.scenarios)

    @property
    def block(self) -> int:
        """How many trials a block has: as many of each scenario."""
        count = len(self.scenarios)
        return count * -(-FEWEST // count)

    def whole(self, count: int) -> int:
        """Return a number of trials rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else -(-count // self.block) * self.block

    def draw(self, seed: int, count: int, first_id: int = 0) -> list[NumberedTrial]:
        """Return trials first_id … first_id + count − 1: trial k is of scenario k modulo their number.

        Args:
            seed: of trial 0; that of trial k is larger by k, modulo 2^63.
            count: how many.
            first_id: number of the first.
        """
        met, numbers = self.scenarios, range(first_id, first_id + count)
        return [NumberedTrial(k, met[k % len(met)], (seed + k) % SEEDS) for k in numbers]

    @model_validator(mode="before")
    @classmethod
    def _is_no_space_of_networks(cls, value: Any) -> Any:
        if isinstance(value, dict) and (also := sorted(value.keys() & NetworkSpace.model_fields)):
            raise ValueError(
                f"fabric and {', '.join(also)} exclude each other; --set 'networks={{fabric: FILE}}' replaces a space"
            )
        return value

    @model_validator(mode="after")
    def _go_together(self) -> FabricSpace:
        names = [each.name for each in self.scenarios]
        if twice := [name for i, name in enumerate(names) if name in names[:i]]:
            raise ValueError(f"fabric: two scenarios are called {twice[0]!r}; give each a name of its own")
        packets = {(each.payload_bytes, each.overhead_bytes) for each in self.scenarios}
        if len(packets) > 1:
            raise ValueError(
                "fabric: windows of policies count packets: payload_bytes and overhead_bytes must be the same in all "
                "scenarios"
            )
        return self


def is_fabric(value: Any) -> bool:
    """Tell whether a value of a configuration, a mapping or a model, is a fabric space and no space of networks."""
    return "fabric" in value if isinstance(value, Mapping) else isinstance(value, FabricSpace)


def by_scenario(trials: Sequence[NumberedTrial]) -> list[list[NumberedTrial]]:
    """Return trials in groups, one for each of their scenarios."""
    groups: dict[str, list[NumberedTrial]] = {}
    for each in trials:
        groups.setdefault(each.scenario.name, []).append(each)
    return list(groups.values())
