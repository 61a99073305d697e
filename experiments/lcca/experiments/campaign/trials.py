"""What a campaign's configuration says of training seeds and of trials: validation, tests, other networks, ns-3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, TypeAdapter, field_validator, model_validator

from lcca.evaluation.comparison.sets import FIRST_SEEDS, MOST_SEEDS
from lcca.evaluation.fabric.space import FabricSpace, is_fabric
from lcca.evaluation.scenarios.networks import NetworkSpace, PacketBytes
from lcca.evaluation.scenarios.spaces import NetworkSpaces, has_spaces
from lcca.evaluation.trials.blocks import InBlocks
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.units import PACKET_BYTES, TARGETS, plain_number
from lcca.remy_plus.policies.hand_designed import baseline as policy
from lcca.remy_plus.topology import Topology

Networks = Annotated[
    Annotated[NetworkSpace, Tag("one")]
    | Annotated[NetworkSpaces, Tag("several")]
    | Annotated[FabricSpace, Tag("scenarios")],
    Discriminator(lambda value: "scenarios" if is_fabric(value) else "several" if has_spaces(value) else "one"),
]
"""Where trials take place: a space of networks, with the key `spaces` several, or with `fabric` one fabric scenario or
several."""


OWN = "own"
"""The topology in ns-3 that networks have."""

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


Listed = Annotated[tuple[Annotated[int, Field(ge=0, le=LARGEST_SEED)], ...], Field(min_length=1)]
TrainingSeeds = Annotated[
    Annotated[Listed, Tag("listed")] | Annotated[SeedsConfig, Tag("added")],
    Discriminator(lambda value: "listed" if isinstance(value, list | tuple) else "added"),
]
"""Training seeds: a list, `auto`, or a mapping with `first` and `most`."""


class WholeBlocks(Model):
    """A part of a campaign that says numbers of networks, which are rounded up to whole blocks of its space."""

    counts: ClassVar[tuple[str, ...]] = ("networks",)

    def rounded(self, space: InBlocks) -> Self:
        """Return it with whole blocks; fewer networks than one block stay as they are."""
        return self.model_copy(update={name: space.whole(getattr(self, name)) for name in self.counts})


class Ns3Config(WholeBlocks):
    """ns-3 validation.

    Attributes:
        pick: which simulator's scores pick a training's checkpoint: "ns3", among the finalists, or "engine", and then
            no others of its checkpoints run in ns-3.
        finalists: with pick "ns3", how many of a training's checkpoints run there, the best ones by the engine; null
            for all, the paper's way, which is 100 to 1,000 times as expensive.
        networks: fresh networks for the results, and as many to pick checkpoints on; nothing is settled by fewer than
            the first look of `settle` takes (six blocks, 96 networks).
        runs: seeds of traffic per network, of the selected policies.
        per_training_seed: networks on which the policies of all trainings run too, once each, those of one training
            seed on networks of its own, for statements about signal sets; 0 for the selected policies alone.
        topologies: dumbbell, line, multi-bottleneck, reverse-path, with options as in reverse-path:one_way, of all
            networks; or `own`, those that `networks` say, which several spaces need.
        baselines: policies that run beside the selected policies, such as cubic or vegas:alpha=2.
        header_bytes: of in-network signals in every packet; null for 4 per signal used, 0 for free signals.
        min_rto: µs, smallest retransmission timeout.
    """

    counts: ClassVar[tuple[str, ...]] = ("networks", "per_training_seed")
    units: ClassVar[Mapping[str, str]] = {"min_rto": "us"}

    pick: Literal["engine", "ns3"] = "ns3"
    finalists: Annotated[int, Field(ge=1)] | None = 3
    networks: Annotated[int, Field(ge=2, le=1_000_000)] = 96
    runs: Annotated[int, Field(ge=1)] = 1
    per_training_seed: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    topologies: Annotated[tuple[str, ...], Field(min_length=1)] = ("dumbbell",)
    baselines: tuple[str, ...] = ()
    header_bytes: Annotated[int, Field(ge=0, le=256)] | None = None
    min_rto: Annotated[float, Field(gt=0)] = 5000.0

    @field_validator("topologies")
    @classmethod
    def _topologies(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name if name == OWN else str(Topology.of(name)) for name in names)

    @field_validator("topologies", "baselines")
    @classmethod
    def _distinct(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return once(values)

    @field_validator("baselines")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            policy(name)
        return names

    def options(self) -> Ns3Options:
        """Return ns-3's options."""
        return Ns3Options(header_bytes=self.header_bytes, min_rto=self.min_rto)


class ValidationConfig(WholeBlocks):
    """Networks on which each training's best checkpoint is picked; fresh ones, the same for all policies.

    Attributes:
        networks: how many.
        ns3: the selected policies run in ns-3 too, those of all trainings if wanted, and it may pick the checkpoints.
    """

    networks: Annotated[int, Field(ge=2, le=1_000_000)] = 208
    ns3: Ns3Config | None = None

    def rounded(self, space: InBlocks) -> Self:
        """Return it with whole blocks."""
        return super().rounded(space).model_copy(update={"ns3": self.ns3 and self.ns3.rounded(space)})


class TestConfig(WholeBlocks):
    """Fresh (network, seed) pairs on which results are reported.

    Attributes:
        pairs: most of the selected policies, which all meet the same; fewer if every difference is known to an eighth
            of the margin.
        at_least: pairs before that may end them.
        block: pairs that are run at a time.
        per_training_seed: networks that the trainings of one training seed meet, other ones for each seed. Verdicts
            on signal sets and headers rest on them, and most of a campaign's test goes to them.
    """

    __test__ = False  # not a test class, whatever pytest thinks of its name

    counts: ClassVar[tuple[str, ...]] = ("pairs", "at_least", "per_training_seed")

    pairs: Annotated[int, Field(ge=20)] = 2000
    at_least: Annotated[int, Field(ge=1)] = 208
    block: Annotated[int, Field(ge=1, le=1_000_000)] = 64
    per_training_seed: Annotated[int, Field(ge=2, le=1_000_000)] = 800

    def rounded(self, space: InBlocks) -> Self:
        """Return it with whole blocks; at least one is run at a time.

        Raises:
            pydantic.ValidationError: more pairs at least than at most, unless it is the usual number.
        """
        usual = space.whole(int(type(self).model_fields["at_least"].default))
        found = super().rounded(space)
        if found.at_least > found.pairs and found.at_least != usual:
            text = f"must be at most pairs ({self.pairs}), got {self.at_least}"
            raise_problems("test", [problem_at(("at_least",), text)])
        return found.model_copy(update={"block": space.block * -(-self.block // space.block)})


class PerNetworkConfig(WholeBlocks):
    """Repeated trials per network, for the significance of differences on single networks (the paper's Eq. 2).

    Attributes:
        networks: of the selected policies, and as many other ones of the trainings of each training seed.
        seeds: trials on each network. Header bytes are free.
    """

    networks: Annotated[int, Field(ge=2, le=1_000_000)] = 96
    seeds: Annotated[int, Field(ge=2)] = 10


class GeneralisationConfig(Model):
    """Networks of another kind on which all trainings, and the selected policies, are tested too.

    Attributes:
        name: of the condition.
        networks: another space, or a file with it, or `spaces` with several, or of a campaign on a fabric `fabric`
            with other scenarios; the campaign's own if left out.
        topology: of every network, instead of the space's; not on a fabric.
        pairs: at most so many (network, seed) pairs of the selected policies; fewer if everything is known accurately.
        per_training_seed: networks of each training seed, on which the policies of all its trainings run; by default
            as many as the campaign's test has, at most `pairs`; 0 for the selected policies alone.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=40)]
    networks: Networks | None = None
    topology: str | None = None
    pairs: Annotated[int, Field(ge=20)] = 500
    per_training_seed: Annotated[int, Field(ge=0, le=1_000_000)] | None = None

    @field_validator("topology")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        return None if name is None else str(Topology.of(name))

    @model_validator(mode="after")
    def _differs(self) -> GeneralisationConfig:
        if self.networks is None and self.topology is None:
            raise ValueError("give networks, topology or both: what differs from the campaign's networks")
        return self

    def of_each_seed(self, test: TestConfig, space: InBlocks) -> int:
        """Return how many networks each training seed has, in whole blocks; 0 for none."""
        wanted = min(test.per_training_seed, self.pairs) if self.per_training_seed is None else self.per_training_seed
        return space.whole(wanted)

    def space(self, own: Networks) -> Networks:
        """Return the space that trials are drawn from."""
        space = self.networks or own
        if self.topology is None or isinstance(space, FabricSpace):
            return space
        return space.changed({"topology": self.topology})


def once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values of which none is listed twice.

    Raises:
        ValueError: one is.
    """
    twice = [v for i, v in enumerate(values) if v in values[:i]]
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return values


def filled_in(campaign: dict[str, Any]) -> dict[str, Any]:
    """Return a campaign's values with what follows from its place.

    On a fabric that is the utility; else it and all of its spaces of networks know the bytes of a packet.
    """
    own, conditions = campaign.get("networks"), campaign.get("generalisation")
    if is_fabric(own):
        return {"utilities": ["slowdown"], **campaign}
    if (said := _said_size(own)) is not None:
        campaign = {"packet_bytes": said, **campaign}
    size = _usable(campaign.get("packet_bytes", PACKET_BYTES))
    if isinstance(conditions, list):
        campaign = campaign | {"generalisation": [_with_packets(each, size) for each in conditions]}
    filled: dict[str, Any] = _with_packets(campaign, size)
    return filled


def _usable(size: Any) -> int:
    """Return the bytes of a packet; the usual ones for what is no such number, which its own key is refused for."""
    try:
        number = plain_number(size, TARGETS["bytes"]) if isinstance(size, str) else size
        return TypeAdapter(PacketBytes).validate_python(number)
    except ValueError:
        return PACKET_BYTES


def _with_packets(holder: Any, size: int) -> Any:
    """Return a mapping whose networks, if it has any, know the bytes of a packet."""
    if not isinstance(holder, dict) or "networks" not in holder:
        return holder
    return {**holder, "networks": _sized(holder["networks"], size)}


def _sized(networks: Any, size: int) -> Any:
    """Return networks, all parts of several spaces and of lists, that know the bytes of a packet."""
    if isinstance(networks, list):
        return [_sized(each, size) for each in networks]
    if not isinstance(networks, dict) or is_fabric(networks):
        return networks
    if inside := networks.keys() & {"spaces", "networks"}:
        return networks | {key: _sized(networks[key], size) for key in inside}
    return {"packet_bytes": size, **networks}


def _said_size(networks: Any) -> Any:
    """Return the bytes of a packet that networks say; of several parts the first; None if they say none."""
    if isinstance(networks, list):
        return next(map(_said_size, networks), None)
    if not isinstance(networks, dict):
        return None
    return networks.get("packet_bytes", _said_size(networks.get("spaces", networks.get("networks"))))
