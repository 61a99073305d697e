"""Signal sets: which signals a congestion control may use. YAML, packaged (``sets/``) or of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from pydantic import Field, field_validator

from lcca.inputs.model import Model
from lcca.inputs.validation import named, packaged
from lcca.signal_sets.registry import SIGNALS, Signal, signal


class SignalSet(Model):
    """The signals that a congestion control may use, in the order of a rule table's axes.

    Attributes:
        name: short name, as in ``link+queue``.
        title: how tables and figures call it.
        signals: names of the registry, at least one, none twice.
        doc: why one would train with it.

    Raises:
        pydantic.ValidationError: on anything else.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=60)
    title: str = Field(min_length=1, max_length=60)
    signals: tuple[str, ...] = Field(min_length=1)
    doc: str = ""

    @field_validator("signals")
    @classmethod
    def _known_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for i, name in enumerate(names):
            signal(name)
            if name in names[:i]:
                raise ValueError(f"{name!r} is listed twice")
        return names

    @property
    def members(self) -> tuple[Signal, ...]:
        """The definitions of the signals."""
        return tuple(SIGNALS[name] for name in self.signals)

    @property
    def header_bits(self) -> int:
        """Bits of plain header that the in-network signals need; a field that two share counts once."""
        fields = {member.carries: member.header_bits for member in self.members if member.carries}
        return sum(fields.values())


def signal_set(name_or_path: str | os.PathLike[str]) -> SignalSet:
    """Return a packaged signal set by its name, or the one in a YAML file (a path or ``….yaml``).

    Raises:
        InputError: an unknown name (with a suggestion), or a file that cannot be read or is wrong: the
            message names file, line and key.
    """
    return named("signal set", name_or_path, SignalSet, packaged_sets)


@cache
def packaged_sets() -> Mapping[str, SignalSet]:
    """Return the signal sets that come with the package, by name."""
    return packaged("lcca.signal_sets", "sets", SignalSet)
