"""What people call the engine's signals: name, label and unit, in the engine's index order; and formulas over them.

All of it is the engine's own table (``signals.hpp``). What a signal means and where it comes from is told by the
registry in ``lcca.signal_sets``.

A rule table or a law can have up to `MOST_FORMULAS` signals of its own, each a formula over the registered ones. Such a
signal goes by its definition, ``pressure [µs] = rtt_ratio * receive_ewma``, wherever a registered one goes by its name:
policies, their files and their hashes have all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.remy_plus import _core
from lcca.remy_plus.core.expression import Expression

SIGNAL_CEILING: float = _core.SIGNAL_CEILING
"""Every signal lives in [0, SIGNAL_CEILING): the domain of R+'s rule trees."""


class Quantity(NamedTuple):
    """What the engine's table has of a signal.

    Attributes:
        label: in a sentence.
        unit: after the number; empty for ratios.
        smoothing: in words.
        largest: value that it can have, 1 for shares.
        scale_unit: an agent sees log2(1 + value / scale_unit) / scale_divisor.
        scale_divisor: 0 for shares, which agents see as they are.
        form: how a law sees it: "level", "excess", "ratio", "utilisation", "rare" or "even" (`lcca_form` in law.h).
        carried: the signal that a header has to carry for it; None for end-to-end ones.
        field: what a header calls that.
    """

    label: str
    unit: str
    smoothing: str
    largest: float
    scale_unit: float
    scale_divisor: float
    form: str
    carried: str | None
    field: str | None


QUANTITIES: dict[str, Quantity] = {row.pop("name"): Quantity(**row) for row in _core.signal_table()}

SIGNALS: tuple[str, ...] = tuple(QUANTITIES)
"""Names of the engine's signals; a signal's position is its index in the engine. The first nine are R+'s."""

CARRIED: dict[str, str] = {name: found.carried for name, found in QUANTITIES.items() if found.carried is not None}
"""In-network signals, and the one that a header has to carry for each."""


MOST_FORMULAS: int = _core.MOST_OWN_SIGNALS

_LIKE = {"": "send_ratio", "share": "queued_share", "packets/µs": "capacity"}
"""Registered signals whose form formulas of a unit have; those of any other unit have that of times in µs."""

_DEFINITION = re.compile(r"(?P<name>[A-Za-z_]\w{0,39})(?: \[(?P<unit>[^\]\s=]{1,20})\])? = (?P<expr>.+)", re.ASCII)


@dataclass(frozen=True)
class Formula:
    """A signal that is a formula.

    Attributes:
        name: how people call it.
        expr: over registered signals, in the language of headers' formulas.
        unit: of its value; "" for a ratio.

    Raises:
        InputError: a name of a registered signal, or no formula over those; the message begins with the key.
    """

    name: str
    expr: str
    unit: str = ""

    def __post_init__(self) -> None:
        """Check it."""
        require(self.name not in SIGNALS, f"name: {self.name!r} is a registered signal; choose another name")
        with about("expr"):
            self.expression.require_known(SIGNALS, "among the registered signals")
            try:
                _core.formula_value(
                    [("number", 1.0) if kind == "name" else (kind, x) for kind, x in self._steps], [], []
                )
            except ValueError as error:
                raise InputError(f"{self.expr!r}: {error}") from None

    @property
    def expression(self) -> Expression:
        """The formula, parsed."""
        return Expression(self.expr)

    @property
    def definition(self) -> str:
        """What it goes by."""
        return f"{self.name}{f' [{self.unit}]' if self.unit else ''} = {' '.join(self.expr.split())}"

    @property
    def quantity(self) -> Quantity:
        """What a table of signals has of it."""
        like = QUANTITIES[_LIKE.get(self.unit, "rtt_difference")]
        unit = "" if self.unit == "share" else self.unit
        words = {"label": self.name, "unit": unit, "smoothing": "that of its parts"}
        return like._replace(**words, largest=SIGNAL_CEILING, carried=None, field=None)

    @property
    def _steps(self) -> tuple[tuple[str, float | str], ...]:
        return self.expression.postfix()

    def compiled(self) -> tuple[str, list[tuple[str, float | str]], str]:
        """Return the engine's form."""
        tokens = [("source", x) if kind == "name" else (kind, x) for kind, x in self._steps]
        return self.definition, tokens, _LIKE.get(self.unit, "rtt_difference")


@cache
def formula(signal: str) -> Formula | None:
    """Return the formula that a signal is; None for a name.

    Raises:
        InputError: a wrong one.
    """
    found = _DEFINITION.fullmatch(signal)
    return None if found is None else Formula(found["name"], found["expr"], found["unit"] or "")


def formulas(signals: Sequence[str]) -> list[Formula]:
    """Return those of some signals that are formulas."""
    return [own for name in signals if (own := formula(name)) is not None]


def quantity(signal: str) -> Quantity:
    """Return what people call a signal, registered or a formula."""
    own = formula(signal)
    return QUANTITIES[signal] if own is None else own.quantity


def short_name(signal: str) -> str:
    """Return the name of a signal, without its formula."""
    own = formula(signal)
    return signal if own is None else own.name


def registered(signals: Sequence[str]) -> tuple[str, ...]:
    """Return the registered signals among some, and those that the formulas among them read."""
    parts = ([name] if (own := formula(name)) is None else sorted(own.expression.names) for name in signals)
    return tuple(dict.fromkeys(name for names in parts for name in names))


def places(signals: Sequence[str]) -> list[int]:
    """Return where the engine has the values of the signals of a policy."""
    own = [each.definition for each in formulas(signals)]
    return [_core.OWN_SIGNAL + own.index(name) if name in own else SIGNALS.index(name) for name in signals]


def check_signals(signals: Sequence[str], with_formulas: bool = False) -> None:
    """Raise `InputError` unless the signals are known to the engine, all different, and at least one."""
    if not signals:
        raise InputError("signals: at least one is needed")
    for i, name in enumerate(signals):
        if not isinstance(name, str):
            raise InputError(f"signals.{i}: must be a name, got {name!r:.60}")
        with about(f"signals.{i}"):
            own = formula(name)
            require(own is None or with_formulas, f"{name[:60]!r}: formulas are for rule tables and laws of networks")
            if own is None and name not in SIGNALS:
                raise InputError(f"unknown signal {name[:60]!r}{did_you_mean(name, SIGNALS)}")
            require(short_name(name) not in map(short_name, signals[:i]), f"{short_name(name)!r} is listed twice")
    if (count := len(formulas(signals))) > MOST_FORMULAS:
        raise InputError(f"signals: {count} formulas, but a policy has at most {MOST_FORMULAS}")
