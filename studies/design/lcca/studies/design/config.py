"""The configuration of a search for a header: a campaign without headers, and what may be built."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials import layout
from lcca.experiments.campaign.config import CampaignConfig
from lcca.experiments.runs.kinds import Kind
from lcca.experiments.testing.net_benefit import too_few_seeds
from lcca.inputs.errors import did_you_mean
from lcca.inputs.model import Model
from lcca.remy_plus.core.signals import CARRIED
from lcca.signal_sets.headers.header import Header
from lcca.studies.design.ground import Ground
from lcca.studies.design.numbers import NAMES
from lcca.trainers.law.config import LawConfig

DESIGN = Kind("design", (layout.CONFIG, layout.SUMMARY), "lcca.studies.design.recipe")


EVERYTHING = "everything"
"""The signal set of the bound."""


class Budget(Model):
    """What a header may take.

    Attributes:
        bytes: on the wire of a data packet.
        state_bits: memory at a port.
        operations: on a packet.
    """

    bytes: Annotated[int, Field(ge=0, le=64)] = 4
    state_bits: Annotated[int, Field(ge=0, le=1 << 24)] = 4096
    operations: Annotated[int, Field(ge=1, le=10_000)] = 60


class Screen(Model):
    """A short training of what is new in a header, and its test.

    Attributes:
        trials: of the new coefficients.
        networks: that all headers are tested on.
        seeds: base laws, each of a training seed of its own.
    """

    trials: Annotated[int, Field(ge=16, le=10**7)]
    networks: Annotated[int, Field(ge=8, le=10**6)]
    seeds: Annotated[int, Field(ge=1, le=100)] = 1


class SearchConfig(Model):
    """What is searched, and how.

    Attributes:
        most: that a header may take.
        sources: numbers that may be written, by name; "all" for all that the place has; none for placebos alone, by
            which one sees how often a search is wrong.
        fields: that a header has at most.
        windows_rtts: base RTTs that averages are over, and in which flows are remembered; a packet's time at least.
        memories: bits of the maps that count flows.
        bits: of a field.
        oracles: whether exact counts of flows are tried too, which take a list of flows: a bound, nothing to build.
        placebos: numbers that say nothing, which the first screen tries like others and of which the best is confirmed.
        screen: of all headers.
        keep: share of them that is screened again.
        again: the second screening, of those and of the best of each size. Its first seed goes on with the base law,
            networks and perturbations of the first screen.
        codes: other widths and windows of the best, at most.
        finalists: that are confirmed.
    """

    most: Budget = Budget()
    sources: Literal["all"] | tuple[str, ...] = "all"
    fields: Annotated[int, Field(ge=1, le=2)] = 2
    windows_rtts: Annotated[tuple[Annotated[float, Field(gt=0, le=1000)], ...], Field(min_length=1)] = (0.5, 1, 4)
    memories: Annotated[tuple[Annotated[int, Field(ge=8, le=1 << 20)], ...], Field(min_length=1)] = (64, 256, 1024)
    bits: Annotated[tuple[Annotated[int, Field(ge=1, le=16)], ...], Field(min_length=1)] = (4, 8, 16)
    oracles: bool = False
    placebos: Annotated[int, Field(ge=1, le=8)] = 4
    screen: Screen = Screen(trials=240, networks=160)
    keep: Annotated[float, Field(gt=0, le=1)] = 0.25
    again: Screen = Screen(trials=480, networks=160, seeds=3)
    codes: Annotated[int, Field(ge=0, le=1000)] = 32
    finalists: Annotated[int, Field(ge=1, le=12)] = 6

    @field_validator("sources")
    @classmethod
    def _known(cls, names: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for name in names if isinstance(names, tuple) else ():
            if name not in NAMES:
                raise ValueError(f"no number {name[:60]!r}{did_you_mean(name, NAMES)}: {', '.join(NAMES)}")
        return names

    @field_validator("sources", "windows_rtts", "memories", "bits")
    @classmethod
    def _once(cls, values: str | tuple[object, ...]) -> str | tuple[object, ...]:
        said = [f"{each:g}" if isinstance(each, float) else str(each) for each in values if isinstance(values, tuple)]
        for each in said:
            if said.count(each) > 1:
                raise ValueError(f"{each} is listed twice, as numbers of six digits: list it once")
        return values


class DesignConfig(CampaignConfig):
    """A search for a header: the keys of a campaign, without headers, and `search`.

    The campaign's baseline is what headers are compared with, its trainer and its training seeds confirm the finalists,
    which the search has chosen by trainings and trials of its own.

    Attributes:
        search: what is searched, and how.
    """

    run_kind = DESIGN

    search: Annotated[SearchConfig, Field(validate_default=True)] = SearchConfig()

    @field_validator("headers")
    @classmethod
    def _none_named(cls, headers: tuple[object, ...]) -> tuple[object, ...]:
        if headers:
            raise ValueError("a search finds its headers: leave them out, or compare them by lcca sweep")
        return headers

    @model_validator(mode="after")
    def _can_search(self) -> DesignConfig:
        if self.trainer is None or not isinstance(self.trainer, LawConfig):
            raise ValueError("trainer.kind: a search learns laws: use law")
        if not 0 < self.trainer.alike < len(self.trainer.stages):
            raise ValueError(
                "trainer.stages: a search needs stages without signals first (features: own), which all headers share, "
                "and then some with them (features: new or all)"
            )
        if len(self.utilities) > 1 or len(self.signal_sets) > 1:
            raise ValueError("a search has one utility and one signal set, the baseline")
        if seen := [name for name in self.base.signals if name in CARRIED]:
            raise ValueError(
                f"baseline: {self.baseline} sees {', '.join(seen)} of the network: a header is compared with what "
                "senders measure themselves: use e2e"
            )
        if self.start != "scratch" or self.learnt_with is not None:
            raise ValueError("start, learnt_with: a search begins from its own laws: leave them out")
        return self

    @property
    def ground(self) -> Ground:
        """What numbers there are in its place."""
        return Ground.of(self.networks, self.packet_bytes)

    @property
    def learner(self) -> LawConfig:
        """Of the laws."""
        assert isinstance(self.trainer, LawConfig)
        return self.trainer

    @property
    def on_fabric(self) -> bool:
        """Whether trials are of a fabric."""
        return isinstance(self.networks, FabricSpace)

    def confirmation(self, headers: list[Header], bound: list[str]) -> CampaignConfig:
        """Return the campaign that confirms headers; `bound` are free and exact signals of the network.

        Raises:
            InputError: its training seeds are too few to decide so many.
        """
        content = self.model_dump(mode="json", exclude={"search"})
        content |= {"name": f"{self.name}-confirmation", "headers": [h.model_dump(mode="json") for h in headers]}
        if bound:
            free = {
                "name": EVERYTHING,
                "title": "All numbers, free and exact",
                "signals": [*self.base.signals, *bound],
            }
            content["signal_sets"] = [*content["signal_sets"], free]
        try:
            campaign = CampaignConfig.model_validate(content)
        except ValidationError as error:
            said = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise self.problem(("search",), f"what it would confirm cannot be: {said}") from error
        if note := too_few_seeds(campaign):
            raise self.problem(("training_seeds",), note.partition(": ")[2])
        return campaign
