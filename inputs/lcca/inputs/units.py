"""Rates, sizes and times with their units: `100 Gbps`, `1500 B`, `12 us` as the plain numbers that keys count in.

A key's unit is the end of its name (`delay_ns`, `buffer_bytes`, `host_gbps`), or its model says it. Arithmetic is
exact, so that a number is the same with and without its unit.

pint is no help here: it reads Gb/s as gilbert per second and Mb as megabarn, a rate in bits as a frequency, and takes
0.24 s of CPU to start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from lcca.inputs.errors import Keys, nearest, shown

Dimension: TypeAlias = Literal["time", "size", "rate", "number of packets", "rate of packets"]

_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_TIMES = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}  # two letters mu
_NUMBER = r"[+-]?(?:[0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-zµμ].*?)?\s*")

LARGEST = 10**100

PACKET_BYTES = 1500
"""Of a data packet wherever nothing else is said: an Ethernet payload. Links of the paper's default space, 2 to 4
packets/µs, are then those of today: 24 to 48 Gbit/s."""


@dataclass(frozen=True)
class Unit:
    """A unit.

    Attributes:
        dimension: what it measures.
        factor: ns, bits, bits/s, packets or packets/s that it has.
    """

    dimension: Dimension
    factor: Fraction


@dataclass(frozen=True)
class Target:
    """What a key counts in.

    Attributes:
        name: as errors call it.
        unit: of its plain numbers.
        example: of a value with a unit.
        whole: whether what is left over is cut off.
    """

    name: str
    unit: Unit
    example: str
    whole: bool = False


def _sizes() -> dict[str, int]:
    """Return bits by unit: decimal prefixes, and the binary ones of bytes."""
    bits = {f"{prefix}{bit}": n for prefix, n in _PREFIXES.items() for bit in ("bit", "b")}
    decimal = {f"{prefix}B": 8 * n for prefix, n in _PREFIXES.items()}
    binary = {f"{prefix}iB": 8 * 1024**i for i, prefix in enumerate("KMGT", 1)}
    return {**bits, **decimal, **binary, "bits": 1, "byte": 8, "bytes": 8}


def _units() -> dict[str, Unit]:
    per_second = {name: Fraction(_TIMES["s"], n) for name, n in _TIMES.items() if name != "min"}
    packets = {f"{noun}/{time}": n for noun in ("packets", "packet") for time, n in per_second.items()}
    found = {name: Unit("time", Fraction(n)) for name, n in _TIMES.items()}
    found |= {name: Unit("size", Fraction(n)) for name, n in _sizes().items()}
    found |= {f"{name}/s": Unit("rate", Fraction(n)) for name, n in _sizes().items()}
    found |= {f"{prefix}bps": Unit("rate", Fraction(n)) for prefix, n in _PREFIXES.items()}
    found |= {noun: Unit("number of packets", Fraction(1)) for noun in ("packet", "packets")}
    return found | {name: Unit("rate of packets", n) for name, n in packets.items()}


UNITS = _units()
"""Every unit that a value may have, by its name."""

TARGETS = {
    **{name: Target(name, UNITS[name], "12 us, 2.5 ms or 1 s") for name in ("ns", "us", "ms", "s")},
    "bits": Target("bits", UNITS["bit"], "4 B or 32 bits"),
    "bytes": Target("bytes", UNITS["B"], "1500 B, 32 MB or 64 KiB"),
    "mbps": Target("Mb/s", UNITS["Mbps"], "100 Mbps or 1 Gbps"),
    "gbps": Target("Gb/s", UNITS["Gbps"], "100 Gbps or 400 Gb/s"),
    "packets": Target("packets", UNITS["packets"], "20 packets or 32 MB"),
    "whole packets": Target("packets", UNITS["packets"], "200 packets or 32 MB", whole=True),
    "packets/us": Target("packets/us", UNITS["packets/us"], "100 Gbps or 2.5 packets/us"),
}
"""What keys count in."""

ENDINGS = ("ns", "us", "ms", "s", "bits", "bytes", "mbps", "gbps")
"""Of the names of keys, which tell what they count in."""


def unit_of_key(name: str) -> str | None:
    """Return the target that the end of a key's name tells; None if it tells none."""
    last = name.rpartition("_")[2]
    return last if last in ENDINGS else None


def plain_number(text: str, target: Target, packet_bytes: float | None = None) -> int | float:
    """Return a quantity in the unit of a key, a whole number as an integer.

    Args:
        text: a number and a unit, such as `100 Gbps`.
        target: what the key counts in.
        packet_bytes: of a packet, for what is told in bits or bytes and counted in packets.

    Raises:
        ValueError: it has no unit, an unknown one, or one of another dimension; or a packet's size is needed.
    """
    number, unit = _parts(text, target)
    factor = unit.factor / target.unit.factor * _packets_per_bit(text, unit, target, packet_bytes)
    value = Fraction(number) * factor
    if abs(value) > LARGEST:
        raise ValueError(f"{shown(text)} is too large; {_accepted(target)}")
    if target.whole:
        if value and abs(value) < 1:
            raise ValueError(f"{shown(text)} is less than one of the {target.name} that are counted; write 0 for none")
        return int(value)
    return int(value) if value.denominator == 1 else float(value)


def _parts(text: str, target: Target) -> tuple[str, Unit]:
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise ValueError(f"must be a number, found {shown(text)}; {_accepted(target)}")
    number, name = found.groups()
    if name is None:
        raise ValueError(f"{shown(text)} is text without a unit; {_accepted(target)}")
    if name not in UNITS:
        raise ValueError(f"{shown(text)}: unknown unit {shown(name)}{_meant(name, target)}; {_accepted(target)}")
    return number, UNITS[name]


def _meant(name: str, target: Target) -> str:
    """Return the unit that was probably meant, one of the right dimension if possible."""
    if name in ("KB", "Kb"):
        return " (kB is 1000 bytes, KiB 1024)"
    fitting = [known for known, unit in UNITS.items() if _convertible(unit, target)]
    same = [known for known in fitting if known.lower() == name.lower()]
    return f" (did you mean {' or '.join(same)}?)" if same else nearest(name, fitting)


def _packets_per_bit(text: str, unit: Unit, target: Target, packet_bytes: float | None) -> Fraction:
    """Return the factor from bits to packets, where the key counts packets and the value bits; otherwise 1."""
    if unit.dimension == target.unit.dimension:
        return Fraction(1)
    if not _convertible(unit, target):
        raise ValueError(f"{shown(text)} is a {unit.dimension}; {_accepted(target)}")
    if packet_bytes is None:
        raise ValueError(
            f"{shown(text)} must become {target.name}, which takes the bytes of a packet: add packet_bytes, such as "
            f"packet_bytes: 1500, or give a plain number of {target.name}"
        )
    return 1 / (8 * Fraction(packet_bytes))


def _convertible(unit: Unit, target: Target) -> bool:
    pairs = {("size", "number of packets"), ("rate", "rate of packets")}
    return unit.dimension == target.unit.dimension or (unit.dimension, target.unit.dimension) in pairs


def _accepted(target: Target) -> str:
    return f"give a plain number of {target.name}, or a unit as in {target.example}"


Problems: TypeAlias = dict[Keys, str]
"""What is wrong, by where."""


def with_plain_numbers(
    value: Any, target: Target, packet_bytes: float | None, problems: Problems, keys: Keys = ()
) -> Any:
    """Return a value with the quantities in it, at any depth, as plain numbers; what is wrong goes into `problems`.

    `inf` and `auto` stay as they are: some keys take them.
    """
    if isinstance(value, str) and value not in ("inf", "auto"):
        try:
            return plain_number(value, target, packet_bytes)
        except ValueError as error:
            problems[keys] = str(error)
            return value
    if isinstance(value, dict):
        return {k: with_plain_numbers(v, target, packet_bytes, problems, (*keys, k)) for k, v in value.items()}
    if isinstance(value, list):
        return [with_plain_numbers(v, target, packet_bytes, problems, (*keys, i)) for i, v in enumerate(value)]
    return value


def with_keyed_numbers(values: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Return values by keys of which some end in their unit, their quantities as plain numbers."""
    units = {key: unit_of_key(key) for key in values}
    return {
        key: value if (unit := units[key]) is None else with_plain_numbers(value, TARGETS[unit], None, problems, (key,))
        for key, value in values.items()
    }
