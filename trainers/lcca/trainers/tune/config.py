"""Configuration of a search for the best parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, field_validator, model_validator

from lcca.inputs.errors import InputError
from lcca.inputs.model import Model, keyed_numbers
from lcca.inputs.names import FileOrName
from lcca.remy_plus.policies.hand_designed import RUNS, HandDesigned
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.signal_sets.load import resolve
from lcca.trainers.tune.space import Axis, Space, ranges_of
from lcca.trainers.tune.table5 import table_5


class Tpe(Model):
    """Optuna's tree-structured Parzen estimator; the first `startup` candidates are drawn at random."""

    kind: Literal["tpe"] = "tpe"
    startup: Annotated[int, Field(ge=1)] = 10


class CmaEs(Model):
    """CMA-ES by Optuna; needs at least two parameters, all of them numbers. A generation is a batch."""

    kind: Literal["cma-es"] = "cma-es"


class Grid(Model):
    """Every point of the space, in an order drawn at random, so that a part of it is a fair sample."""

    kind: Literal["grid"] = "grid"


class Greedy(Model):
    """The paper's greedy search (A.3): try the neighbours, move to the best, repeat until none is better.

    Attributes:
        reach: levels up and down that each parameter is varied by, the others staying.
    """

    kind: Literal["greedy"] = "greedy"
    reach: Annotated[int, Field(ge=1)] = 1


class RandomDraws(Model):
    """Points drawn at random, to hold the others against."""

    kind: Literal["random"] = "random"


AnySampler = Annotated[Tpe | CmaEs | Grid | Greedy | RandomDraws, Discriminator("kind")]


class Race(Model):
    """When a candidate is stopped: as soon as a confidence sequence says that it is worse than the best so far.

    Attributes:
        alpha: bounds the chance that a candidate which is no worse is ever stopped, for normal differences.
        first_look: networks before the first look.
        every: networks between looks.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    first_look: Annotated[int, Field(ge=4)] = 8
    every: Annotated[int, Field(ge=1)] = 8


class TuneConfig(Model):
    """What to tune, where its best parameters may lie, and how to look for them.

    Attributes:
        policy: what is tuned, by its name or file; its parameters are where the search begins and what the result is
            held against.
        space: "table-5" for the paper's ranges, "usual" for those of a fabric's transport (`lcca show transports`) or
            of the marker that is named with DCTCP in ns-3 (`lcca show markers`), or ranges and choices by parameter.
        sampler: proposes candidates.
        trials: most candidates; null for as many as the sampler has (grid and greedy alone run out of them).
        batch: candidates that are proposed at a time, knowing the results of the batches before. It changes what is
            proposed; how many processes work on a batch does not.
        networks: networks that all candidates meet, the same for all, each with its own seed.
        race: when a candidate is stopped for being worse than the best of the batches before, on the networks that
            both have met; null lets every candidate meet all networks.
    """

    policy: FileOrName
    space: Annotated[Literal["table-5", "usual"] | dict[str, Axis], BeforeValidator(keyed_numbers)] = "table-5"
    sampler: AnySampler = Tpe()
    trials: Annotated[int, Field(ge=1)] | None = 100
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 8
    networks: Annotated[int, Field(ge=2, le=1_000_000)] = 50
    race: Race | None = Race()

    @field_validator("policy")
    @classmethod
    def _can_be_tuned(cls, name: str) -> str:
        found = resolve(name, "ns3")
        if isinstance(found.file.policy, PythonControl):
            raise InputError(f"{name}: {RUNS}")
        if found.header is not None:
            raise InputError(f"{name}: a policy with a header has no parameters to tune; name it without")
        return name

    @model_validator(mode="after")
    def _fits(self) -> TuneConfig:
        if self.trials is None and self.sampler.kind not in ("grid", "greedy"):
            raise ValueError(f"trials must be a number: {self.sampler.kind} never runs out of candidates")
        if self.race and self.race.first_look >= self.networks:
            raise ValueError(f"race.first_look must be below networks ({self.networks}), or nothing is ever stopped")
        self._check_space(self.build_space())
        return self

    def _check_space(self, space: Space) -> None:
        levels = {name: space.levels(name) for name in space.axes}
        endless = [name for name, values in levels.items() if values is None]
        if self.sampler.kind in ("grid", "greedy") and endless:
            raise ValueError(f"space: {endless[0]}: needs a step, since {self.sampler.kind} goes level by level")
        if self.sampler.kind == "cma-es":
            words = [name for name, axis in space.axes.items() if isinstance(axis, tuple)]
            if words or len(space.axes) < 2:
                raise ValueError("cma-es needs at least two parameters, all of them ranges of numbers; try tpe")

    @property
    def libraries(self) -> dict[str, str]:
        """Modules that it needs, and the packages that have them."""
        return {name: name for name in ("optuna", *(["cmaes"] if self.sampler.kind == "cma-es" else []))}

    def build_space(self) -> Space:
        """Return the search space.

        Raises:
            InputError: it does not fit the policy.
        """
        policy = resolve(self.policy, "ns3").policy
        if isinstance(policy, HandDesigned):
            if policy.marker is not None and self.space == "usual":
                return Space(policy, ranges_of(policy.marker.searches()))
            return Space(policy, self._axes(policy.name))
        return Space(policy, self._axes(self.policy))

    def _axes(self, name: str) -> Mapping[str, Axis]:
        """Return the ranges of the space for a policy of this name."""
        if self.space == "usual":
            raise InputError("usual: only transports of a fabric and markers have usual ranges; write the space out")
        return table_5(name) if self.space == "table-5" else self.space
