"""Signal sets: which signals a congestion control may use. YAML, packaged (``sets/``) or of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from lcca.inputs.errors import ConfigError, InputError, nearest
from lcca.inputs.files import packaged_files
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.validation import named, packaged, validate_json
from lcca.remy_plus.core.formulas import MOST_FORMULAS, Formula, formulas, registered
from lcca.signal_sets.registry import SIGNALS, Signal, signal


class FormulaSignal(Model):
    """A signal of a set's own: a formula over registered signals.

    Attributes:
        name: how tables of rules and figures call it; none of a registered signal.
        expr: the formula, in the language of headers.
        unit: of its value. It tells laws how to scale it: as a ratio (none), a share, packets/µs, or any other.
    """

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=40)
    expr: str
    unit: str = Field(default="", pattern=r"^[^\]\s=]*$", max_length=20)


def _definition(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        own = validate_json(value, FormulaSignal)
        return Formula(**own.model_dump()).definition
    except ConfigError as error:
        raise_problems("signal", [problem_at(each.keys, each.text) for each in error.problems])
    except InputError as error:
        key, _, text = str(error).partition(": ")
        raise_problems("signal", [problem_at((key,), text)])


Entry = Annotated[str, BeforeValidator(_definition, json_schema_input_type=str | FormulaSignal)]
"""A registered signal by its name, or a formula by its definition (`lcca.remy_plus.core.formulas`)."""


class SignalSet(Model):
    """The signals that a congestion control may use, in the order of a rule table's axes.

    Attributes:
        name: short name, as in ``link+queue``.
        title: how tables and figures call it.
        signals: names of the registry or formulas over them, at least one, none twice.
        doc: why one would train with it.

    Raises:
        pydantic.ValidationError: on anything else.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=60)
    title: str = Field(min_length=1, max_length=60)
    signals: tuple[Entry, ...] = Field(min_length=1)
    doc: str = ""

    @field_validator("signals")
    @classmethod
    def _known_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        short = [signal(name).name for name in names]
        for i, name in enumerate(short):
            if name in short[:i]:
                raise ValueError(f"{name!r} is listed twice")
        if (count := len(formulas(names))) > MOST_FORMULAS:
            raise ValueError(f"{count} formulas, but a policy has at most {MOST_FORMULAS}")
        return names

    @property
    def members(self) -> tuple[Signal, ...]:
        """The definitions of the signals."""
        return tuple(signal(name) for name in self.signals)

    @property
    def header_bits(self) -> int:
        """Bits of plain header that the in-network signals need; a field that two share counts once."""
        members = (SIGNALS[name] for name in registered(self.signals))
        return sum({member.carries: member.header_bits for member in members if member.carries}.values())


def signal_set(name_or_path: str | os.PathLike[str]) -> SignalSet:
    """Return a packaged signal set by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is wrong: the
            message names file, line and key.
    """
    return named("signal set", name_or_path, SignalSet, packaged_sets, _near_header)


def _near_header(name: str) -> str:
    return nearest(name, packaged_files("lcca.signal_sets.headers", "catalogue"), "the header ")


@cache
def packaged_sets() -> Mapping[str, SignalSet]:
    """Return the signal sets that come with the package, by name."""
    return packaged("lcca.signal_sets", "sets", SignalSet)
