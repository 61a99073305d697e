"""Network spaces: ranges of parameters (paper Table 1) and the networks drawn from them.

Networks come in blocks of `NetworkSpace.block`, stratified by the number of senders (or by the parameter that `strata`
names) and spread evenly in the others; see `design`. A draw is a hash of (seed, network id, parameter name), so network
17 of seed 1 is the same whether 20 or 2,000 networks are drawn, on every platform and with every version of numpy; and
two spaces that share a parameter's range and the size of blocks share its values.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from lcca.evaluation.scenarios.design import BlockDesign, block_size
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.source import Networks, NetworkTrials
from lcca.evaluation.trials.utilities import utility
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import InputError, shown
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.network import Network, field_problem
from lcca.remy_plus.topology import DUMBBELL, Topology

Parameter = Literal["link_rate", "rtt", "senders", "buffer", "mean_on", "mean_off", "loss", "jitter"]
PARAMETERS: tuple[Parameter, ...] = get_args(Parameter)
WHOLE = ("senders", "buffer")
"""Parameters that are whole numbers."""

MOST_LEVELS = 1_000_000
GRID_TOLERANCE = 1e-9  # of a step: 2 to 4 by 0.1 has 21 levels in spite of rounding


_OR_TEXT = WithJsonSchema({"type": ["number", "string"]}, mode="validation")
"""For editors: keys with ranges take quantities."""


class Range(Model):
    """Levels from min to max, by steps or by factors; a plain number stands for a range of one level.

    Attributes:
        min: first level.
        max: the levels end here, or one part of a step before.
        step: distance between levels; may be left out where min equals max.
        levels: in place of `step`: so many levels with equal factors between them (six digits), so that the parameter
            is log-uniform; of senders and buffers rounded to whole numbers.
    """

    min: Annotated[float, Field(allow_inf_nan=True), _OR_TEXT]
    max: Annotated[float, Field(allow_inf_nan=True), _OR_TEXT]
    step: Annotated[float, _OR_TEXT] = 0.0
    levels: Annotated[int, Field(ge=2, le=MOST_LEVELS)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        if isinstance(value, dict | cls):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"must be a number or a range {{min, max, step}}, got {shown(value)}")
        return {"min": value, "max": value}

    @model_validator(mode="after")
    def _possible(self) -> "Range":
        if math.isnan(self.min) or math.isnan(self.max):
            raise ValueError("min and max must be numbers, got NaN")
        if self.min > self.max:
            raise ValueError(f"min must not exceed max, got {self.min:g} > {self.max:g}")
        if self.levels is not None and (self.step or not 0 < self.min < self.max):
            raise ValueError("levels need 0 < min < max, and no step beside them")
        if self.min < self.max and self.levels is None and self.step <= 0:
            raise ValueError(f"step must be > 0 where min < max, got {self.step:g}")
        if self.min < self.max and not (math.isfinite(self.min) and math.isfinite(self.max)):
            raise ValueError("a range with several levels must be finite")
        if self.step and (self.max - self.min) / self.step > MOST_LEVELS:
            raise ValueError(f"at most {MOST_LEVELS} levels, use a larger step than {self.step:g}")
        return self

    @model_serializer
    def _to_number(self) -> dict[str, float | int] | float | str:
        if self.min < self.max:
            spaced: dict[str, float | int] = {"step": self.step} if self.levels is None else {"levels": self.levels}
            return {"min": self.min, "max": self.max, **spaced}
        return self.min if math.isfinite(self.min) else "inf"

    def values(self, whole: bool = False) -> list[float]:
        """Return every level, in order; those by factors as `whole` numbers if wanted, of which some may be equal."""
        if self.min == self.max:
            return [self.min]
        if self.levels is None:
            count = math.floor((self.max - self.min) / self.step + GRID_TOLERANCE) + 1
            return [self.min + i * self.step for i in range(count)]
        steps, ratio = self.levels - 1, self.max / self.min
        between = (
            float(f"{self.min * ratio ** (i / steps):.6g}") for i in range(1, steps)
        )  # powers differ in last digits
        found = [self.min, *between, self.max]
        return [float(round(each)) for each in found] if whole else found


def _checked(name: str) -> AfterValidator:
    """Return a validator that holds a number, or the ends and levels of a range, to the network's rule."""

    def check(value: Any) -> Any:
        levels = value.values(name in WHOLE) if isinstance(value, Range) else [value]
        words = "every level " if isinstance(value, Range) else ""
        for level in (levels[0], levels[-1], *levels):
            if problem := field_problem(name, level):
                raise ValueError(words + problem)
        return value

    return AfterValidator(check)


def _inf_is_a_buffer(value: Any) -> Any:
    return math.inf if value == "inf" else value


def _topology(value: Any) -> Topology:
    try:
        return Topology.of(value)
    except InputError as error:
        raise ValueError(str(error).removeprefix("topology: ")) from None


PACKET_UNITS = {
    "link_rate": "packets/us",
    "rtt": "us",
    "buffer": "whole packets",
    "mean_off": "us",
    "jitter": "us",
    "duration": "us",
}
"""What the keys of networks count in; `mean_on` goes by `switched`."""

PacketBytes = Annotated[int, Field(ge=64, le=65535)]
"""Of a data packet without headers."""


class _InPackets(Model):
    """Keys in packets and µs, which may be told as rates, sizes and times.

    Attributes:
        packet_bytes: of a data packet: what rates and sizes with a unit are counted in, and what utilities by the size
            of flows go by.
        switched: whether `mean_on` is a time or a size, "time" or "bytes".
    """

    units = PACKET_UNITS

    packet_bytes: PacketBytes = PACKET_BYTES
    switched: Literal["time", "bytes"] = "time"

    @classmethod
    def unit_of(cls, name: str, data: Mapping[str, Any]) -> str | None:
        """Return what a key counts in: `mean_on` of byte-switched networks packets."""
        if name == "mean_on":
            return "packets" if data.get("switched") == "bytes" else "us"
        return super().unit_of(name, data)


def require_arrivals(duration: float, rtt: float, link_rate: float, hops: int) -> None:
    """Check that something arrives in a trial.

    Raises:
        ValueError: it ends before.
    """
    slowest = rtt + hops / link_rate
    if duration <= slowest:
        raise ValueError(
            f"duration must exceed rtt + {hops}/link_rate ({slowest:g} µs at most), got {duration:g}: "
            "nothing would arrive"
        )


NamedTopology = Annotated[Topology, BeforeValidator(_topology), PlainSerializer(str)]
"""A topology: the text that names it, or a mapping of its options."""


class OfNetworks(Model):
    """What spaces and lists of networks have in common as places; see `Place`.

    Attributes:
        free_signals: whether signals of the network can be had without bytes of packets.
    """

    simulators: ClassVar[tuple[str, ...]] = ("engine", "ns3", "linux")
    unit: ClassVar[str] = "networks"
    usual_utility: ClassVar[str] = "default"
    percent_of: ClassVar[str] = "throughput at equal delay"
    free_signals: ClassVar[bool] = True

    def utility(self, name: str) -> Utility:
        """See `Place.utility`."""
        return utility(name)

    def stratum(self, number: int) -> str:
        """See `Networks.stratum`."""
        return ""

    def trials(
        self: Networks,
        seed: int,
        utility: Utility,
        execution: Execution,
        seeds: Sequence[int] = (),
        keep_delays: bool = False,
    ) -> NetworkTrials:
        """See `Place.trials`."""
        simulator = execution.of_networks(self.duration)
        return NetworkTrials(simulator, self, seed, seeds or [seed], utility, keep_delays)


class DrawnNetworks(OfNetworks, ABC):
    """Networks that are drawn without end, in blocks."""

    length: ClassVar[None] = None

    if TYPE_CHECKING:  # keys of one space, and what several have in common

        @property
        def duration(self) -> float:
            """Of a trial, µs."""

        @property
        def topology(self) -> object:
            """Of the networks; its text names it."""

        @property
        def packet_bytes(self) -> int:
            """Of a data packet."""

    @property
    @abstractmethod
    def block(self) -> int:
        """How many networks a block has."""

    def whole(self, count: int) -> int:
        """Return a number of networks rounded up to whole blocks; less than a block stays as it is."""
        return count if count < self.block else -(-count // self.block) * self.block

    def packet_of(self, said: int) -> int:
        """Return the bytes of a data packet without headers.

        Raises:
            ValueError: a user said something else.
        """
        if said != self.packet_bytes:
            raise ValueError(f"must be that of networks ({self.packet_bytes}), got {said}; say it once")
        return said

    def draw(self, seed: int, count: int, first_id: int = 0) -> list[Network]:
        """Draw networks first_id … first_id + count − 1, every level of a parameter being equally likely.

        Network i belongs to block i // `block`. Blocks are independent; within one, networks are stratified. A part of
        a block is a random part; several spaces all have their shares in it.

        Args:
            seed: of the sample; different seeds give unrelated samples.
            count: how many.
            first_id: number of the first. A network depends on its own number, not on the others'.
        """
        size, end = self.block, first_id + count
        blocks = range(first_id // size, -(-end // size))
        return [network for b in blocks for network in self._block(seed, b) if first_id <= network.id < end]

    @abstractmethod
    def _block(self, seed: int, number: int) -> list[Network]:
        """Return the networks of a block."""

    @abstractmethod
    def changed(self, keys: Mapping[str, Any]) -> Self:
        """Return it with other values of these keys of a space, in all of its networks.

        Raises:
            ValueError: they cannot be.
        """


class NetworkSpace(_InPackets, DrawnNetworks):
    """A space of networks: each parameter a range or a plain number, all levels equally likely.

    Attributes:
        link_rate: packets/µs.
        rtt: µs.
        senders: how many share the link.
        buffer: packets; `inf` for no limit.
        mean_on: µs, or packets per flow when byte-switched.
        mean_off: µs.
        loss: chance per packet.
        jitter: µs, mean of the exponential time by which senders note ACKs late, as hosts do; in the engine alone.
        duration: of a trial, µs.
        topology: of every network; a name such as `line`, or a mapping with kind and options.
        strata: the parameter whose levels all occur equally often in every block of networks; `senders`, where that
            varies, if left out.
    """

    from_file = True

    link_rate: Annotated[Range, _checked("link_rate")]
    rtt: Annotated[Range, _checked("rtt")]
    senders: Annotated[Range, _checked("senders")]
    buffer: Annotated[Range, BeforeValidator(_inf_is_a_buffer), _checked("buffer")]
    mean_on: Annotated[Range, _checked("mean_on")]
    mean_off: Annotated[Range, _checked("mean_off")]
    loss: Annotated[Range, _checked("loss")] = Range(min=0, max=0)
    jitter: Annotated[Range, _checked("jitter")] = Range(min=0, max=0)
    duration: float = Field(gt=0)
    topology: NamedTopology = DUMBBELL
    strata: Parameter | None = None

    @model_serializer(mode="wrap")
    def _defaults_unsaid(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not always a key, where it has its default: a name by the content must not change."""
        said: dict[str, Any] = content(self)
        usual = {"packet_bytes": PACKET_BYTES, "topology": DUMBBELL, "strata": None, "jitter": Range(min=0, max=0)}
        return {key: value for key, value in said.items() if key not in usual or getattr(self, key) != usual[key]}

    @model_validator(mode="after")
    def _strata_vary(self) -> "NetworkSpace":
        if self.strata is not None and self.strata not in (varying := self.varying()):
            known = f"name one that varies ({', '.join(varying)}), or leave" if varying else "leave"
            raise ValueError(f"strata: {self.strata} has one level; {known} strata out")
        return self

    @model_validator(mode="after")
    def _long_enough(self) -> "NetworkSpace":
        require_arrivals(self.duration, self.rtt.max, self.link_rate.min, self.topology.hops(int(self.senders.max)))
        return self

    @property
    def size(self) -> int:
        """How many different networks the space holds."""
        return math.prod(len(self.levels_of(name)) for name in PARAMETERS)

    def varying(self) -> tuple[str, ...]:
        """Return the parameters that have more than one level."""
        return tuple(self.levels())

    def levels(self) -> dict[str, list[float]]:
        """Return the levels of the parameters that have more than one, by name."""
        return {name: levels for name in PARAMETERS if len(levels := self.levels_of(name)) > 1}

    def network(self, id: int, values: Mapping[str, float]) -> Network:
        """Return the network with this number that has these values of the parameters that vary."""
        alike: dict[str, Any] = {name: getattr(self, name) for name in ("switched", "topology", "packet_bytes")}
        drawn: dict[str, Any] = {name: self.levels_of(name)[0] for name in PARAMETERS} | dict(values)
        return Network(id, **alike, **(drawn | {"senders": int(drawn["senders"])}))

    @property
    def block(self) -> int:
        """How many networks a block has: each level of the stratified parameter equally often."""
        return block_size(len(self.levels_of(self.strata or "senders")))

    def levels_of(self, name: str) -> list[float]:
        """Return every level of a parameter, in order."""
        value: Range = getattr(self, name)
        return value.values(name in WHOLE)

    def changed(self, keys: Mapping[str, Any]) -> Self:
        """See `DrawnNetworks.changed`."""
        return type(self).model_validate(self.model_dump(mode="json") | dict(keys))

    def _block(self, seed: int, number: int) -> list[Network]:
        design, first = BlockDesign(seed, number, self.block), number * self.block
        columns = {name: [own[i] for i in design.indices(name, len(own))] for name, own in self.levels().items()}
        return [
            self.network(id, {name: column[id - first] for name, column in columns.items()})
            for id in range(first, first + self.block)
        ]


class ListedNetwork(_InPackets):
    """One network of a list in a file: the keys of a `Network` less `id`.

    Attributes:
        link_rate: packets/µs.
        rtt: µs.
        senders: how many share the link.
        buffer: packets; `inf` for no limit.
        mean_on: µs, or packets per flow when byte-switched.
        mean_off: µs.
        loss: chance per packet.
        jitter: µs, mean of the exponential time by which senders note ACKs late, as hosts do; in the engine alone.
        topology: a name such as `line`, or a mapping with kind and options.
    """

    link_rate: Annotated[float, _checked("link_rate")]
    rtt: Annotated[float, _checked("rtt")]
    senders: Annotated[int, _checked("senders")]
    buffer: Annotated[
        float,
        Field(allow_inf_nan=True),
        BeforeValidator(_inf_is_a_buffer),
        _checked("buffer"),
        PlainSerializer(lambda value: value if math.isfinite(value) else "inf", when_used="json"),
    ]
    mean_on: Annotated[float, _checked("mean_on")]
    mean_off: Annotated[float, _checked("mean_off")]
    loss: Annotated[float, _checked("loss")] = 0.0
    jitter: Annotated[float, _checked("jitter")] = 0.0
    topology: NamedTopology = DUMBBELL

    @model_validator(mode="after")
    def _possible(self) -> "ListedNetwork":
        try:
            self.network(0)
        except InputError as error:
            raise ValueError(str(error).removeprefix("network 0: ")) from None
        return self

    def network(self, id: int) -> Network:
        """Return the network with this number."""
        return Network(id, **dict(self))


class ListedNetworks(OfNetworks):
    """Networks of a list, numbered by their positions; a block is one network.

    Attributes:
        networks: of the list.
        duration: of a trial, µs.
    """

    units = PACKET_UNITS

    networks: Annotated[tuple[ListedNetwork, ...], Field(min_length=1)]
    duration: float = Field(default=10_000.0, gt=0)

    block: ClassVar[int] = 1

    @property
    def length(self) -> int:
        """How many networks there are."""
        return len(self.networks)

    @model_validator(mode="after")
    def _long_enough(self) -> "ListedNetworks":
        for each in self.networks:
            require_arrivals(self.duration, each.rtt, each.link_rate, each.topology.hops(each.senders))
        return self

    @property
    def topology(self) -> str:
        """The topologies of the networks."""
        return ", ".join(dict.fromkeys(str(each.topology) for each in self.networks))

    def whole(self, count: int) -> int:
        """Return a number of networks: at most all of them."""
        return min(count, len(self.networks))

    def draw(self, seed: int, count: int, first_id: int = 0) -> list[Network]:
        """Return networks first_id … first_id + count − 1 of the list; the seed changes nothing."""
        found = enumerate(self.networks[first_id : first_id + count], first_id)
        return [listed.network(id) for id, listed in found]
