"""The headers that a campaign compares, as its file gives them: one, or a family over a grid of their fields."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from lcca.inputs.errors import did_you_mean
from lcca.inputs.model import Model
from lcca.inputs.names import NAMES_A_FILE
from lcca.signal_sets.candidate import Candidate
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.header import header as header_named
from lcca.signal_sets.headers.simulated import header_signals
from lcca.signal_sets.registry import SIGNALS
from lcca.signal_sets.signal_set import SignalSet

MOST_VARIANTS = 1000


class HeaderEntry(Model):
    """One entry of `headers`: a header, or a family of them over a grid.

    Attributes:
        header: a name of the catalogue, a YAML file, or the description itself.
        name: of the candidate, instead of the header's; of the family with `grid`.
        set: fields to change, as in ``abw.bits: 8`` or ``direction: two_way``.
        grid: fields and their values: a candidate for every combination.
        signals: which of the carried signals the policy sees, or their smoothed forms (`queue_ewma`); if left out, all
            as they are carried.
    """

    text_key = "header"

    header: Annotated[Header, NAMES_A_FILE]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]*$", max_length=60)] | None = None
    set: dict[str, Any] = Field(default_factory=dict)
    grid: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    signals: tuple[str, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        entry = value if isinstance(value, dict) and "header" in value else {"header": value}
        if isinstance(entry["header"], str):
            entry = entry | {"header": header_named(entry["header"])}
        return entry

    @field_validator("grid")
    @classmethod
    def _some_values(cls, grid: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        for key, values in grid.items():
            if not values:
                raise ValueError(f"{key}: give at least one value")
        if (count := len(list(itertools.product(*grid.values())))) > MOST_VARIANTS:
            raise ValueError(f"{count:,} combinations; at most {MOST_VARIANTS:,}")
        return grid

    @model_validator(mode="after")
    def _possible(self) -> HeaderEntry:
        self.variants()
        return self

    def variants(self) -> list[tuple[Header, tuple[str, ...]]]:
        """Return every header of the entry under its candidate's name, and the signals that its policy sees of it."""
        variants = []
        for values in itertools.product(*self.grid.values()):
            point = dict(zip(self.grid, values, strict=True))
            changed = _changed(self.header, self.set | point)
            name = "_".join([self.name or self.header.name, *(f"{k}-{_word(v)}" for k, v in point.items())])
            title = ", ".join([self.name or self.header.title, *(f"{k} {_word(v)}" for k, v in point.items())])
            header = changed.model_copy(update={"name": name, "title": title})
            variants.append((header, self._seen(header)))
        return variants

    def _seen(self, header: Header) -> tuple[str, ...]:
        carried = header_signals(header)
        possible = [name for name in SIGNALS if name in carried or name.removesuffix("_ewma") in carried]
        for name in self.signals or ():
            if name not in possible:
                raise ValueError(f"signals: {header.name} carries no {name!r}; it carries {', '.join(possible)}")
        return carried if self.signals is None else self.signals


def _changed(header: Header, changes: Mapping[str, Any]) -> Header:
    """Return a header with other values at dotted keys; fields are named, not counted."""
    if not changes:
        return header
    content = header.model_dump(mode="json", exclude_unset=True)
    for key, value in changes.items():
        _put(content, key, value, header)
    try:
        return Header.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        way = ".".join(str(part) for part in first["loc"])
        listed = ", ".join(f"{key}={value}" for key, value in changes.items())
        raise ValueError(f"with {listed}: {way}: {first['msg']}") from None


def _put(content: dict[str, Any], key: str, value: Any, header: Header) -> None:
    first, *rest = key.split(".")
    fields = {field["name"]: field for field in content.get("fields", ())}
    if first in fields and rest:
        target, way = fields[first], rest
    else:
        target, way = content, [first, *rest]
        if first not in Header.model_fields:
            known = [*fields, *Header.model_fields]
            raise ValueError(f"{key}: header {header.name} has no field {first[:60]!r}{did_you_mean(first, known)}")
    for part in way[:-1]:
        inner = target.get(part)
        if not isinstance(inner, dict | str | None):
            raise ValueError(f"{key}: {part} has no keys of its own; fields go by their names, as in queue.bits")
        target[part] = {"kind": inner} if isinstance(inner, str) else dict(inner or {})
        target = target[part]
    target[way[-1]] = value


def _word(value: Any) -> str:
    """Return a value as a part of a name."""
    text = json.dumps(value, sort_keys=True) if isinstance(value, dict | list | tuple) else f"{value}"
    word = text if isinstance(value, int | float) else re.sub(r"[^A-Za-z0-9.+-]+", "-", text).strip("-") or "x"
    return word if len(word) <= 20 else hashlib.sha256(text.encode()).hexdigest()[:8]


def header_candidates(
    entries: Sequence[HeaderEntry], base: SignalSet, packet_bytes: int, learnt: Header | None
) -> tuple[Candidate, ...]:
    """Return a candidate per header: the signals of the base set, and those that the header carries.

    Raises:
        ValueError: one carries what the header does not that all learn with.
    """
    candidates = []
    carried = None if learnt is None else header_signals(learnt)
    for header, seen in (variant for entry in entries for variant in entry.variants()):
        if carried is not None and (missing := {name.removesuffix("_ewma") for name in seen} - set(carried)):
            raise ValueError(f"learnt_with: carries no {min(missing)}, which {header.name} does")
        signals = (*base.signals, *(name for name in seen if name not in base.signals))
        title = header.title if len(header.title) <= 60 else header.title[:59] + "…"
        own = SignalSet(name=header.name, title=title, signals=signals, doc=header.doc)
        candidates.append(Candidate(own, header, packet_bytes, learnt))
    return tuple(candidates)
