"""Hand-designed congestion controls by name: those of ns-3, with every tunable, and those that the engine has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NoReturn

from lcca.inputs.assignments import assignments, named_numbers
from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.inputs.names import ClassName
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.families import FAMILIES, HAND_DESIGNED, OF_KERNEL, is_type, named_type
from lcca.remy_plus.policies.simple import Simple
from lcca.remy_plus.policies.tunables import Family, Value
from lcca.remy_plus.switches.markers import Marking, changed_marking, marking


@dataclass(frozen=True)
class HandDesigned:
    """A hand-designed congestion control, which runs in ns-3 only.

    Attributes:
        name: one of `HAND_DESIGNED`, or a TypeId of ns-3.
        parameters: by name; those that are not given have their defaults. Afterwards all are there, sorted by name.
        marker: of the fabric's switches, in place of the queues that it brings; DCTCP alone heeds marks.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), a value that is out of range, or a marker with
            what does not heed marks or has a threshold of its own.
    """

    name: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    marker: Marking | None = None

    def __post_init__(self) -> None:
        """Check the parameters and fill in defaults."""
        given = {key: self.family.parameter(key).checked(value) for key, value in self.parameters.items()}
        values = {p.name: p.default for p in self.family.parameters} | given
        object.__setattr__(self, "parameters", MappingProxyType(dict(sorted(values.items()))))
        for lower, upper in (("alpha", "beta"), ("hystart_delay_min", "hystart_delay_max")):
            if {lower, upper} <= set(self.parameters) and self.number(lower) > self.number(upper):
                raise InputError(f"{self.name}: {lower} must not be above {upper}")
        self._check_marker()

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.parameters.items()), self.marker))

    def __reduce__(self) -> tuple[type[HandDesigned], tuple[str, dict[str, Value], Marking | None]]:
        return HandDesigned, (self.name, dict(self.parameters), self.marker)  # a mapping proxy does not travel

    @property
    def family(self) -> Family:
        """What it is."""
        return _family(self.name, self.parameters)

    @property
    def changed(self) -> dict[str, Value]:
        """The parameters that differ from their defaults."""
        return {p.name: self.parameters[p.name] for p in self.family.parameters if self.parameters[p.name] != p.default}

    @property
    def named_parameters(self) -> dict[str, Value]:
        """Its parameters and, as ``red.kmin_bytes``, all of its marker."""
        return {**self.parameters, **({} if self.marker is None else self.marker.named_parameters)}

    def with_parameters(self, values: Mapping[str, Value]) -> HandDesigned:
        """Return it with other parameters, named as in `named_parameters`.

        Raises:
            InputError: a parameter that it has not, or a value that cannot be.
        """
        marker, own = changed_marking(self.marker, values)
        return HandDesigned(self.name, {**self.parameters, **own}, marker)

    def compile(self) -> NoReturn:
        """Refuse.

        Raises:
            InputError: the engine has no such policy.
        """
        raise InputError(f"{self.name} {runs_elsewhere(self.name)}")

    def number(self, name: str) -> float:
        """Return a parameter that is a number.

        Raises:
            InputError: it is a word.
        """
        value = self.parameters[name]
        if isinstance(value, str):
            raise InputError(f"{name}: {value!r} is no number")
        return float(value)

    def _check_marker(self) -> None:
        if self.marker is None:
            return
        if not self.family.markable:
            heed = ", ".join(family.name for family in FAMILIES.values() if family.markable)
            raise InputError(f"{self.name} does not heed marks: leave out @{self.marker.kind} (in ns-3 {heed} does)")
        if self.parameters["mark_threshold"] != "auto":
            raise InputError(f"{self.name}: mark_threshold is that of its own queues: leave it out with a marker")
        if self.marker.in_bdps:
            raise InputError(f"@{self.marker.kind}: thresholds are in bytes in ns-3: leave out those in bdps")


def runs_elsewhere(name: str) -> str:
    """Return where a hand-designed congestion control runs, if not in the engine."""
    return f"runs {'on Linux' if name.startswith(OF_KERNEL) else 'in ns-3'} only: use --simulator " + (
        "linux" if name.startswith(OF_KERNEL) else "ns3"
    )


def _family(name: str, given: Iterable[str]) -> Family:
    if is_type(name):
        return named_type(name, given)
    if name not in FAMILIES:
        raise InputError(f"unknown congestion control {name[:60]!r}{did_you_mean(name, FAMILIES)}")
    return FAMILIES[name]


def kind_of(text: str) -> str:
    """Return what stands before the parameters and the marker in a policy's name: ``vegas``, ``ns3::TcpBic``."""
    found = re.match(rf"(ns3::|{OF_KERNEL})?[^:@]*", text)
    return found[0] if found else ""


def hand_designed(text: str) -> HandDesigned:
    """Return what a name means: ``bbr``, ``vegas:alpha=2,beta=4``, with a marker of the fabric ``dctcp@red:pmax=0.1``.

    ``ns3::TcpBic:Beta=0.7`` is a class of ns-3 with its attributes.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), or a bad value.
    """
    own, at, behind = text.partition("@")
    name = kind_of(own)
    rest, family = own[len(name) + 1 :], _family(name, ())
    given: dict[str, Value] = {}
    for item, key, value in assignments(rest):
        if value is None:
            raise InputError(f"{item[:60]!r}: parameters are written name=value, as in 'vegas:alpha=2,beta=4'")
        given[key] = family.parameter(key).parsed(value)
    return HandDesigned(name, given, _marker(name, behind) if at else None)


def _marker(name: str, text: str) -> Marking:
    """Return the marker that stands behind the name of a congestion control."""
    if "@" in text:
        raise InputError(f"{name}@{text[:60]}: in ns-3 there is one marker, and no tuner")
    kind, values = named_numbers(text)
    with about(f"{name}@{kind}"):
        return marking(kind, **values)


RUNS = (
    "a class in Python runs in `lcca evaluate`, `compare`, `rank`, `agree` and `estimate` and beside the learner of "
    "environments; it is neither trained, tuned nor part of a campaign"
)
"""Where such a class is refused."""

BASELINES = (*SIMPLE, *HAND_DESIGNED)


def baseline(name: str) -> Simple | HandDesigned:
    """Return the policy named ``aimd``, ``fixed-window:20`` (packets), ``fixed-rate:0.5`` (packets/µs), or another.

    Those with parameters are named as in ``rcp``, ``fair-rate:share=0.97``, ``vegas:alpha=2,beta=4`` or ``dctcp@red``.

    Raises:
        InputError: an unknown name or parameter (with a suggestion), or a value that is missing or out of range.
    """
    kind, _, text = name.partition(":")
    with about(f"baseline {name[:60]!r}"):
        if kind in SIMPLE:
            return SIMPLE[kind].named(text)
        if kind_of(name) in HAND_DESIGNED or is_type(kind_of(name)):
            return hand_designed(name)
    hint = f": {RUNS}" if ClassName.of(name) else did_you_mean(kind_of(name), BASELINES)
    raise InputError(f"unknown baseline {name[:60]!r}{hint}")


def is_baseline(name: str) -> bool:
    """Tell whether a name means a baseline and not a file."""
    return kind_of(name) in BASELINES or is_type(kind_of(name))
