"""Classical congestion controls as policies: by name, with every tunable. They run in ns-3 only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.policies.families import FAMILIES
from lcca.remy_plus.policies.tunables import Family, Value


@dataclass(frozen=True)
class Classical:
    """A classical congestion control, which runs in ns-3 only.

    Attributes:
        name: one of `CLASSICAL`.
        parameters: by name; those that are not given have their defaults. Afterwards all are there, sorted by name.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), or a value that is out of range.
    """

    name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the parameters and fill in defaults."""
        if self.name not in FAMILIES:
            raise InputError(f"unknown congestion control {self.name[:60]!r}{did_you_mean(self.name, FAMILIES)}")
        given = {key: self.family.parameter(key).checked(value) for key, value in self.parameters.items()}
        values = {p.name: p.default for p in self.family.parameters} | given
        object.__setattr__(self, "parameters", MappingProxyType(dict(sorted(values.items()))))
        self._check_order()

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.parameters.items())))

    def __reduce__(self) -> tuple[type[Classical], tuple[str, dict[str, Value]]]:
        return Classical, (self.name, dict(self.parameters))  # a mapping proxy does not travel to another process

    @property
    def family(self) -> Family:
        """What it is."""
        return FAMILIES[self.name]

    @property
    def changed(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        return {p.name: self.parameters[p.name] for p in self.family.parameters if self.parameters[p.name] != p.default}

    def number(self, name: str) -> float:
        """Return a parameter that is a number.

        Raises:
            InputError: it is a word.
        """
        value = self.parameters[name]
        if isinstance(value, str):
            raise InputError(f"{name}: {value!r} is no number")
        return float(value)

    def _check_order(self) -> None:
        for lower, upper in (("alpha", "beta"), ("hystart_delay_min", "hystart_delay_max")):
            if lower in self.parameters and self.number(lower) > self.number(upper):
                raise InputError(f"{self.name}: {lower} must not be above {upper}")


def classical(text: str) -> Classical:
    """Return what ``bbr`` or ``vegas:alpha=2,beta=4`` means.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), or a bad value.
    """
    name, _, rest = text.partition(":")
    if name not in FAMILIES:
        raise InputError(f"unknown congestion control {name[:60]!r}{did_you_mean(name, FAMILIES)}")
    given: dict[str, Value] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise InputError(f"{item[:60]!r}: parameters are written name=value, as in 'vegas:alpha=2,beta=4'")
        if key in given:
            raise InputError(f"{key}: given twice")
        given[key] = FAMILIES[name].parameter(key).parsed(value)
    return Classical(name, given)
