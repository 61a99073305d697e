"""The parts of a header beside its fields: where it sits, how it grows, when it travels, how it comes back."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lcca.inputs.model import Model, problem_at, raise_problems


class Grown(Model):
    """A model some keys of which came later.

    Attributes:
        later: those keys. They are left out where they have their defaults: a name by the content must not change.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _later_keys_unsaid(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        said: dict[str, Any] = content(self)
        default = type(self).model_fields
        return {k: v for k, v in said.items() if k not in self.later or v != default[k].default}


class Placement(Model):
    """Where the header sits, and what it costs beside its fields.

    Attributes:
        layer: below l2 (between MAC and IP), l3 or l4; "none" for bits that packets have anyway: free of charge.
        fixed_bits: before the fields: EtherType, shim, option header.
        pad_to_bits: head and records are filled up with zeros to a multiple of this.
    """

    layer: Literal["none", "l2", "l3", "l4"]
    fixed_bits: int = Field(default=0, ge=0, le=2048)
    pad_to_bits: Literal[8, 16, 32] = 8

    @model_validator(mode="after")
    def _free_bits_are_no_others(self) -> Placement:
        if self.layer == "none" and self.fixed_bits:
            raise_problems("placement", [problem_at(("fixed_bits",), "must be 0 for layer none, which costs nothing")])
        return self


class Scalar(Model):
    """One value of each field, whatever the number of hops."""

    kind: Literal["scalar"] = "scalar"


class PerHop(Model):
    """A record for each hop, made of the fields with ``agg: per_hop``.

    Attributes:
        max_hops: records that there is room for.
        prealloc: whether that room is there from the sender on; else each hop adds its record.
        order: push writes the newest record first, append last.
        count_bits: of a count of the hops, after the records; 0 for none.
        overflow: what a hop does when there is no room: "stop" adds nothing, "stop_flag" sets ``flag`` too, "modulo"
            overwrites the oldest record.
        flag: the field of "stop_flag".
    """

    kind: Literal["per_hop"] = "per_hop"
    max_hops: int = Field(ge=1, le=255)
    prealloc: bool = False
    order: Literal["push", "append"] = "append"
    count_bits: int = Field(default=0, ge=0, le=32)
    overflow: Literal["stop", "stop_flag", "modulo"] = "stop"
    flag: str | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> PerHop:
        problems = []
        if (self.overflow == "stop_flag") != (self.flag is not None):
            text = "overflow stop_flag needs flag, the field to set; the others have none"
            problems.append(problem_at(("overflow",), text))
        if self.overflow == "modulo" and not self.prealloc:
            problems.append(problem_at(("overflow",), "modulo overwrites, and needs prealloc: true for it"))
        if self.prealloc and self.order == "push":
            problems.append(problem_at(("order",), "records have fixed places with prealloc: append"))
        if self.prealloc and not self.count_bits:
            problems.append(problem_at(("count_bits",), "prealloc needs a count, else empty records look like hops"))
        raise_problems("stack", problems)
        return self


Stack: TypeAlias = Annotated[Scalar | PerHop, Field(discriminator="kind")]


class SelectAll(Model):
    """Every packet carries all fields."""

    kind: Literal["all"] = "all"


class SelectOneOf(Model):
    """A packet carries one of several fields that share their bits.

    Attributes:
        by: the field that says which: an enum of names. A field with ``only: NAME`` travels under that name.
        policy: "fixed" always takes ``by``'s initial value, "round_robin" takes them in turn, "random" by chance.
    """

    kind: Literal["one_of"] = "one_of"
    by: str
    policy: Literal["fixed", "round_robin", "random"]


class SelectSample(Model):
    """Packets carry the header with probability ``prob``, drawn by the sender."""

    kind: Literal["sample"] = "sample"
    prob: float = Field(gt=0, le=1)


Select: TypeAlias = Annotated[SelectAll | SelectOneOf | SelectSample, Field(discriminator="kind")]


class Measurement(Grown):
    """How a hop measures what it writes, and how far off that is.

    Attributes:
        window: "instant" for the value now; "tumbling" over the interval last completed; "rolling" over the running
            tenth of the interval and the nine before it, as the paper's link signal; "ewma" with the interval as time
            constant; "counter" since the hop started; "aged" for flows with packets in the interval that runs or in
            the one before.
        interval_us: µs, for tumbling, rolling, ewma and aged.
        interval_rtts: the same in base RTTs of the network or fabric.
        memory_bits: of a map by which `flows` or `rank` are counted in an interval; 0 for exact counts, which take a
            list of flows.
        per: whether of the packet's queue or of the whole port.
        at: whether the packet is stamped as it is put into the queue or as it leaves.
        alpha: gain of spare capacity, of the sources `fair_rate` and `xcp_feedback`; the authors' if left out.
        beta: gain of the queue, of the same.
        portion: of the capacity that `fair_rate` aims at, or of the traffic that `xcp_feedback` shuffles.
        update_us: µs between updates of `fair_rate`, at most the mean RTT; the mean RTT if left out.
        refresh_us: µs; the field's number is read with the first packet of every such interval, and that is written
            until the next. 0: with each packet.
        delay_us: µs from a reading until it is written, as through a control plane. Before the first one the hop
            writes nothing.
        bias: mean error of a reading, as a share of it: 0.2 for a fifth too much.
        noise: standard deviation of its error, as a share; independent errors, a sum of twelve uniform draws.
        shift: mean error, in the field's unit.
        shift_noise: standard deviation, in the field's unit. An estimate is never below 0.
    """

    later: ClassVar[frozenset[str]] = frozenset(
        ("interval_rtts", "memory_bits", "refresh_us", "delay_us", "bias", "noise", "shift", "shift_noise")
    )

    window: Literal["instant", "tumbling", "rolling", "ewma", "counter", "aged"] = "instant"
    interval_us: float | None = Field(default=None, gt=0)
    interval_rtts: float | None = Field(default=None, gt=0)
    memory_bits: int | None = Field(default=None, ge=0, le=1 << 20)
    per: Literal["queue", "port"] = "port"
    at: Literal["enqueue", "dequeue"] = "dequeue"
    alpha: float | None = Field(default=None, ge=0, le=100)
    beta: float | None = Field(default=None, ge=0, le=100)
    portion: float | None = Field(default=None, ge=0, le=2)
    update_us: float | None = Field(default=None, gt=0)
    refresh_us: float = Field(default=0.0, ge=0)
    delay_us: float = Field(default=0.0, ge=0)
    bias: float = Field(default=0.0, ge=-1, le=100)
    noise: float = Field(default=0.0, ge=0, le=10)
    shift: float = 0.0
    shift_noise: float = Field(default=0.0, ge=0)

    @property
    def imprecision(self) -> dict[str, float]:
        """How far off what is written is: the keys of that which are not 0, by their names in the simulators."""
        keys = ("refresh_us", "delay_us", "bias", "noise", "shift", "shift_noise")
        return {key.removesuffix("_us"): getattr(self, key) for key in keys if getattr(self, key)}

    @property
    def gains(self) -> tuple[float | None, ...]:
        """What a hop that says a rate or a change of the window is set to."""
        return (self.alpha, self.beta, self.portion, self.update_us)

    @model_validator(mode="after")
    def _interval_where_one_is_needed(self) -> Measurement:
        needed = self.window in ("tumbling", "rolling", "ewma", "aged")
        problems = []
        if self.interval_us is not None and self.interval_rtts is not None:
            problems.append(problem_at(("interval_rtts",), "one of interval_us and interval_rtts, not both"))
        elif needed and self.interval_us is None and self.interval_rtts is None:
            problems.append(problem_at(("interval_us",), f"window {self.window} needs an interval_us"))
        for key in ("interval_us", "interval_rtts") if not needed else ():
            if getattr(self, key) is not None:
                problems.append(problem_at((key,), f"window {self.window} has no {key}"))
        if self.memory_bits is not None and self.window != "aged":
            problems.append(problem_at(("memory_bits",), "flows are counted in a map with window: aged"))
        raise_problems("measure", problems)
        return self


class Reflection(Model):
    """How the receiver sends back what arrived.

    Attributes:
        via: in its acknowledgements, in notifications of their own (CNP), or in an option of the transport.
        every_packets: one for so many packets.
        every_us: or one in so many µs.
        min_gap_us: µs between two at least.
        bits: that it costs on the way back; null for the whole header.
    """

    via: Literal["ack", "cnp", "option"]
    every_packets: int = Field(default=1, ge=1)
    every_us: float | None = Field(default=None, gt=0)
    min_gap_us: float = Field(default=0.0, ge=0)
    bits: int | None = Field(default=None, ge=0, le=65536)

    @model_validator(mode="after")
    def _one_pace(self) -> Reflection:
        if self.every_us is not None and self.every_packets != 1:
            raise_problems("reflect", [problem_at(("every_us",), "one of every_packets and every_us, not both")])
        return self


class SwitchReply(Model):
    """A packet that a hop itself sends to the sender. May be declared; no simulator sends it yet.

    Attributes:
        when: condition at the hop.
        to: whom.
        fields: that it carries.
        bytes: its size.
        prob: probability, once the condition holds.
    """

    when: str
    to: Literal["sender"] = "sender"
    fields: tuple[str, ...] = Field(min_length=1)
    bytes: int = Field(ge=1, le=65535)
    prob: float = Field(default=1.0, gt=0, le=1)
