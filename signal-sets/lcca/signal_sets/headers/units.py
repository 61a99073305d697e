"""Units of formulas: what a formula's numbers measure by those of its names, and whether that fits a field's unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lcca.inputs.errors import InputError, require
from lcca.remy_plus.core.formulas import Expression
from lcca.signal_sets.headers.sources import UNITS

Powers = tuple[int, int, int]
"""Of data, time and packets."""

_KINDS: dict[str, Powers] = {
    "number": (0, 0, 0),
    "share": (0, 0, 0),
    "time": (0, 1, 0),
    "data": (1, 0, 0),
    "packets": (0, 0, 1),
    "rate": (1, -1, 0),
}
_BIT_PER_S = 1 / 8e9  # bytes/ns
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_OF_ONE = ("neg", "not", "floor", "ceil")


class Measured(NamedTuple):
    """What numbers measure: powers of data, time and packets, and their size in bytes, ns and packets."""

    powers: Powers
    size: float

    @property
    def named(self) -> str:
        """What it is called; its powers where it has no name."""
        names = [name for name in UNITS if name and _of(name) == self]
        parts = zip(("bytes", "ns", "packets"), self.powers, strict=True)
        said = " ".join(f"{name}^{power}" if power != 1 else name for name, power in parts if power)
        return names[0] if names else f"{self.size:g} {said}".strip() if said else "a number"


def check_units(formula: Expression, unit: str | None, units: Mapping[str, str]) -> None:
    """Check that a formula adds and compares what can be, and that its numbers are of a field's unit.

    A literal number may have a unit of its own, so that what it multiplies or divides may have any.

    Args:
        formula: over names that all have units.
        unit: of its numbers; None for any.
        units: by name.

    Raises:
        InputError: they do not fit; says which, and what to multiply with.
    """
    found = _measured(formula, units)
    if found is None or unit is None:
        return
    wanted = _of(unit)
    require(
        found.powers == wanted.powers,
        f"{formula.text!r} is in {found.named}, and the field in {unit or 'numbers'}: write its unit",
    )
    factor = found.size / wanted.size
    require(
        abs(factor - 1) < 1e-9,
        f"{formula.text!r}: its numbers are of {factor:g} {unit or 'numbers'} each: multiply it with {factor:g}, or "
        "write another unit",
    )


def _of(unit: str) -> Measured:
    kind, size = UNITS[unit]
    return Measured(_KINDS[kind], size * (_BIT_PER_S if kind == "rate" else 1.0))


def _measured(formula: Expression, units: Mapping[str, str]) -> Measured | None:
    """Return what a formula's numbers measure; None for anything."""
    stack: list[Measured | None] = []
    for token, name in formula.postfix():
        if token == "number":
            stack.append(None)
        elif token == "name":
            stack.append(_of(units[str(name)]))
        elif token in _OF_ONE:
            only = stack.pop()
            stack.append(_of("") if token == "not" else only)
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_of_two(formula, token, left, right))
    return stack[-1]


def _of_two(formula: Expression, sign: str, left: Measured | None, right: Measured | None) -> Measured | None:
    if sign in ("and", "or"):
        return _of("")
    if sign in ("*", "/", "//"):
        if left is None or right is None:
            return None
        up = 1 if sign == "*" else -1
        a, b = left.powers, right.powers
        return Measured((a[0] + up * b[0], a[1] + up * b[1], a[2] + up * b[2]), left.size * right.size**up)
    if left is not None and right is not None and not _alike(left, right):
        raise InputError(f"{formula.text!r}: {sign} of {left.named} and {right.named}, which are not of one unit")
    return _of("") if sign in _COMPARISONS else left or right


def _alike(one: Measured, other: Measured) -> bool:
    return one.powers == other.powers and abs(one.size / other.size - 1) < 1e-9
