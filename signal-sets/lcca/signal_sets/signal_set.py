"""Signal sets: which signals a congestion control may use. YAML, packaged (``sets/``) or of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import resources

from pydantic import Field, field_validator

from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model
from lcca.inputs.validation import config_of, read_config
from lcca.signal_sets.registry import SIGNALS, signal
from lcca.signal_sets.signal import Signal


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
    name = os.fspath(name_or_path)
    if os.sep in name or name.endswith((".yaml", ".yml")):
        return read_config(name, SignalSet)
    sets = packaged_sets()
    if name not in sets:
        raise InputError(f"unknown signal set {name[:60]!r}{did_you_mean(name, sets)}; a file ends in .yaml")
    return sets[name]


@cache
def packaged_sets() -> Mapping[str, SignalSet]:
    """Return the signal sets that come with the package, by name."""
    folder = resources.files("lcca.signal_sets") / "sets"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".yaml")), key=lambda file: file.name)
    sets = [config_of(file.read_bytes(), file.name, SignalSet) for file in files]
    return {found.name: found for found in sets}
