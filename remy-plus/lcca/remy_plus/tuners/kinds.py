"""What a kind of tuner is, and what one may have learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lcca.inputs.model import Model
from lcca.remy_plus.switches.control import Tuner
from lcca.remy_plus.switches.knobs import Knob


class Learnt(Protocol):
    """What a tuner has learnt: the content of a file."""

    @property
    def interval_us(self) -> float:
        """From look to look in its training."""

    @property
    def delay_us(self) -> float:
        """From a look to when what was set held."""

    def model_dump(self, *, mode: Literal["json"]) -> dict[str, Any]:
        """Return it as JSON values."""


@dataclass(frozen=True)
class TunerKind:
    """A tuner.

    Attributes:
        source: where it is from.
        knobs: its parameters.
        make: makes one with all of its parameters, and with what it has learnt; raises InputError where they do not go
            together.
        model: of the file with what it has learnt; None where it learns nothing.
        read: reads that file.
        written_by: what writes that file, in a sentence.
        marks: whether it sets the markers of all switches, whatever they were.
    """

    source: str
    knobs: Mapping[str, Knob]
    make: Callable[..., Tuner]
    model: type[Model] | None = None
    read: Callable[[str], Any] | None = None
    written_by: str = ""
    marks: bool = True

    @property
    def learnt(self) -> bool:
        """Whether it needs the file of what it has learnt."""
        return self.read is not None
