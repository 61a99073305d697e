"""Several spaces or lists of networks as the strata of one place: topologies, ranges, networks that are hard.

Networks go through the parts in turn, as trials do through several fabric scenarios, a part with weight 2 twice as
often; a block has whole blocks of every part. A part's networks are those of the part alone, traffic included: so parts
that differ in their topology meet the same links and senders. Each part begins at another place of its block: few
networks have all parts, and as many levels of a parameter as if there were one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from lcca.evaluation.scenarios.design import FEWEST, passes
from lcca.evaluation.scenarios.networks import (
    DrawnNetworks,
    ListedNetwork,
    NamedTopology,
    NetworkSpace,
    require_arrivals,
)
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.remy_plus.network import Network

LISTED_DURATION = 10_000.0
"""Of trials on lists alone, µs; else they have that of the spaces."""

LARGEST_BLOCK = 4096


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


OneSource = Annotated[
    Annotated[NetworkSpace, Tag("one")] | Annotated[tuple[ListedNetwork, ...], Tag("tuple"), Field(min_length=1)],
    Discriminator(lambda value: "tuple" if _is_list(value) else "one"),
]
"""A space or a list of networks."""


class SpacePart(Model):
    """One of several parts.

    Attributes:
        networks: a space or a list of networks, or a file with either.
        topology: of all its networks; their own if left out.
        weight: networks of this part for each one of a part with weight 1.
        name: in results; the topology if left out.
    """

    networks: OneSource
    topology: NamedTopology | None = None
    weight: Annotated[int, Field(ge=1, le=64)] = 1
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:,=+-]*$", max_length=200)] | None = None

    @model_validator(mode="after")
    def _can_be(self) -> SpacePart:
        _ = self.source  # with its topology
        return self

    @cached_property
    def source(self) -> NetworkSpace | tuple[ListedNetwork, ...]:
        """The space or the networks of the list, with the topology."""
        return self._with({} if self.topology is None else {"topology": str(self.topology)})

    def changed(self, keys: Mapping[str, Any]) -> SpacePart:
        """Return it under the same name with other values of these keys of its networks; see `DrawnNetworks`."""
        return SpacePart(networks=self._with(keys), weight=self.weight, name=self.title)

    def _with(self, keys: Mapping[str, Any]) -> NetworkSpace | tuple[ListedNetwork, ...]:
        if isinstance(self.networks, NetworkSpace):
            return self.networks.changed(keys) if keys else self.networks
        contents = (each.model_dump(mode="json") for each in self.networks)
        return tuple(ListedNetwork.model_validate(each | dict(keys)) for each in contents)

    @property
    def title(self) -> str:
        """The name."""
        found = self.source
        topologies = [found.topology] if isinstance(found, NetworkSpace) else [each.topology for each in found]
        return self.name or "+".join(dict.fromkeys(map(str, topologies)))

    @property
    def duration(self) -> float | None:
        """Of its trials, µs; None if it says none."""
        return self.networks.duration if isinstance(self.networks, NetworkSpace) else None

    @property
    def packets(self) -> set[int]:
        """Bytes of data packets."""
        found = self.networks
        return {found.packet_bytes} if isinstance(found, NetworkSpace) else {each.packet_bytes for each in found}

    @property
    def block(self) -> int:
        """Its share of a block is a multiple of this."""
        return self.source.block if isinstance(self.source, NetworkSpace) else 1

    def draw(self, seed: int, count: int, first: int) -> list[Network]:
        """Return its `count` networks in a block of all, the first of which has this number in the part."""
        found = self.source
        if isinstance(found, NetworkSpace):
            return found.draw(seed, count, first)
        entries = passes(seed, f"{self.title} {first}", count, len(found))
        return [found[entry].network(id) for id, entry in enumerate(entries, first)]


def _form(value: Any) -> str:
    if _is_list(value):
        return "tuple"
    named = "networks" in value if isinstance(value, Mapping) else isinstance(value, SpacePart)
    return "part" if named else "one"


AnyPart = Annotated[
    Annotated[SpacePart, Tag("part")]
    | Annotated[NetworkSpace, Tag("one")]
    | Annotated[tuple[ListedNetwork, ...], Tag("tuple"), Field(min_length=1)],
    Discriminator(_form),
]
"""A part: with its topology, weight or name, or a space or list alone."""


class NetworkSpaces(DrawnNetworks):
    """Several spaces or lists of networks, each of which has its share of every block.

    Attributes:
        spaces: the parts, or files with them: spaces and lists by themselves, or with a topology, weight or name. Their
            names differ; duration and packets are the same in all, lists have the duration of the spaces.
    """

    from_file = True

    spaces: Annotated[tuple[AnyPart, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        problems, names = [], [each.title for each in self.parts]
        for at, each in enumerate(self.parts):
            if each.title in names[:at]:
                text = f"part {at} is called {each.title!r}, as one before it; give it a `name` of its own"
                problems.append(problem_at(("spaces",), text))  # not in the file of the part, which may serve both
            if each.duration not in (None, self.duration):
                text = f"its trials take {each.duration:g} µs, those before {self.duration:g}: give all one duration"
                problems.append(problem_at(("spaces", at), text))
            if each.packets != {self.packet_bytes}:
                found = ", ".join(f"{size:,}" for size in sorted(each.packets))
                text = (
                    f"packets of {found} bytes, not the {self.packet_bytes:,} of the first: give all one packet_bytes"
                )
                problems.append(problem_at(("spaces", at), text))
            for one in each.source if isinstance(each.source, tuple) else ():
                try:
                    require_arrivals(self.duration, one.rtt, one.link_rate, one.topology.hops(one.senders))
                except ValueError as error:
                    problems.append(problem_at(("spaces", at), str(error)))
        raise_problems("spaces", problems)
        if self.block > LARGEST_BLOCK:
            raise ValueError(
                f"spaces: a block with whole blocks of every part has {self.block:,} networks, at most "
                f"{LARGEST_BLOCK:,} may be: give parts weights with common factors, or equally many strata"
            )
        return self

    @cached_property
    def parts(self) -> tuple[SpacePart, ...]:
        """The parts."""
        return tuple(each if isinstance(each, SpacePart) else SpacePart(networks=each) for each in self.spaces)

    @cached_property
    def duration(self) -> float:
        """Of a trial, µs."""
        return next((each.duration for each in self.parts if each.duration is not None), LISTED_DURATION)

    @property
    def packet_bytes(self) -> int:
        """Of a data packet."""
        return next(iter(self.parts[0].packets))

    @property
    def topology(self) -> str:
        """The names of the parts."""
        return ", ".join(each.title for each in self.parts)

    def changed(self, keys: Mapping[str, Any]) -> Self:
        """See `DrawnNetworks.changed`."""
        return type(self)(spaces=tuple(each.changed(keys) for each in self.parts))

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """The parts in the order in which networks go through them, each as often as its weight, evenly spread."""
        slots = [
            (Fraction(2 * i + 1, each.weight), at) for at, each in enumerate(self.parts) for i in range(each.weight)
        ]
        return tuple(at for _, at in sorted(slots))

    @cached_property
    def block(self) -> int:
        """Networks in a block: the fewest, but `FEWEST`, of which each part has whole blocks of its own."""
        rounds = math.lcm(*(each.block // math.gcd(each.block, each.weight) for each in self.parts))
        return len(self.turns) * rounds * -(-FEWEST // (len(self.turns) * rounds))

    def stratum(self, number: int) -> str:
        """See `Networks.stratum`."""
        return self.parts[self.turns[number % len(self.turns)]].title

    def _block(self, seed: int, number: int) -> list[Network]:
        """Return the networks of a block; a part begins as far on as the parts before it have turns.

        Parts of other weights leave numbers of their own out: none has in one block what another has in another block.
        """
        rounds, own, before = self.block // len(self.turns), [], 0
        first = number * rounds * math.lcm(*(each.weight for each in self.parts))
        for part in self.parts:
            drawn = part.draw(seed, count := rounds * part.weight, first)
            begin = count * before // len(self.turns)
            own.append(iter(drawn[begin:] + drawn[:begin]))
            before += part.weight
        turns = enumerate(self.turns * rounds, self.block * number)
        return [replace(found, id=id, stream=found.id) for id, at in turns for found in [next(own[at])]]


class HardNetworks(Model):
    """Networks that are met in a training beside those of its space; validation and test stay as they are.

    Attributes:
        networks: a list of networks as `lcca stress` writes it, or a space, or a file with either.
        share: of all networks of the training.
    """

    networks: OneSource
    share: Annotated[float, Field(gt=0, lt=1)] = 0.25

    def beside(self, space: DrawnNetworks) -> NetworkSpaces:
        """Return the networks of a space, or of its parts, with these in their share.

        Raises:
            ValueError: they do not go together.
        """
        own = space.parts if isinstance(space, NetworkSpaces) else (SpacePart(networks=space),)
        ratio = Fraction(self.share).limit_denominator(64)
        ratio = ratio / (1 - ratio) * sum(part.weight for part in own)
        weights = *(part.weight * ratio.denominator for part in own), ratio.numerator
        parts = (*own, SpacePart(networks=self.networks, name="hard"))
        return NetworkSpaces(
            spaces=tuple(
                SpacePart(networks=part.source, name=part.title, weight=weight)
                for part, weight in zip(parts, weights, strict=True)
            )
        )


def has_spaces(value: Any) -> bool:
    """Tell whether a value of a configuration, a mapping or a model, is of several spaces."""
    return "spaces" in value if isinstance(value, Mapping) else isinstance(value, NetworkSpaces)


AnySpace = Annotated[
    Annotated[NetworkSpace, Tag("one")] | Annotated[NetworkSpaces, Tag("several")],
    Discriminator(lambda value: "several" if has_spaces(value) else "one"),
]
"""A space of networks, or several; or a file with either."""
