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
_FAR = 50.0  # a literal factor is a share or a number of things, or else it converts units
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_OF_ONE = ("neg", "not", "floor", "ceil")


class Measured(NamedTuple):
    """What numbers measure: powers of data, time and packets, and the size of 1 in bytes, ns and packets.

    Literal numbers may have units of their own: where they are factors, sizes are no more than likely.
    """

    powers: Powers
    size: float
    literal: bool = False

    @property
    def named(self) -> str:
        """What it is called; its powers where it has no name."""
        if self.powers == (0, 0, 0):
            return "a number"
        names = [name for name in UNITS if name and _of(name)[:2] == self[:2]]
        parts = zip(("bytes", "ns", "packets"), self.powers, strict=True)
        return (
            names[0] if names else " ".join(f"{name}^{power}" if power != 1 else name for name, power in parts if power)
        )


Operand = Measured | float | None
"""A literal number is itself; None may be anything."""


def check_units(formula: Expression, unit: str | None, units: Mapping[str, str | None]) -> None:
    """Check that a formula adds and compares what can be, and that its numbers are of a field's unit.

    A literal number may have a unit of its own: what it multiplies may have any other, but not one of the same kind
    that is far off.

    Args:
        formula: over names that all have units.
        unit: of its numbers; None for any.
        units: by name; None for any.

    Raises:
        InputError: they do not fit; says which, and what to multiply with.
    """
    found = _measured(formula, units)
    if not isinstance(found, Measured) or unit is None:
        return
    wanted = _of(unit)
    require(
        found.literal or found.powers == wanted.powers,
        f"{formula.text!r} is in {found.named}, and the field in {unit or 'numbers'}: write its unit",
    )
    factor = found.size / wanted.size
    near = 1 / _FAR < factor < _FAR if found.literal else abs(factor - 1) < 1e-9
    require(
        near or found.powers != wanted.powers,
        f"{formula.text!r}: its numbers are of {factor:g} {unit or 'numbers'} each: multiply it with {factor:g}, or "
        "write another unit",
    )


def _of(unit: str) -> Measured:
    kind, size = UNITS[unit]
    return Measured(_KINDS[kind], size * (_BIT_PER_S if kind == "rate" else 1.0))


def _measured(formula: Expression, units: Mapping[str, str | None]) -> Operand:
    stack: list[Operand] = []
    for token, value in formula.postfix():
        if token == "number":
            stack.append(float(value))
        elif token == "name":
            unit = units[str(value)]
            stack.append(None if unit is None else _of(unit))
        elif token in _OF_ONE:
            only = stack.pop()
            stack.append(_of("") if token == "not" else only)
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(_of_two(formula, token, left, right))
    return stack[-1]


def _of_two(formula: Expression, sign: str, left: Operand, right: Operand) -> Operand:
    if sign in ("and", "or"):
        return _of("")
    if sign in ("*", "/", "//"):
        return None if left is None or right is None else _product(left, right, 1 if sign == "*" else -1)
    if isinstance(left, Measured) and isinstance(right, Measured) and not _alike(left, right):
        raise InputError(f"{formula.text!r}: {sign} of {left.named} and {right.named}, which are not of one unit")
    if sign in _COMPARISONS:
        return _of("")
    known = [each for each in (left, right) if isinstance(each, Measured)]
    return min(known, key=lambda each: each.literal) if known else None if left is None else right


def _product(left: Measured | float, right: Measured | float, power: int) -> Operand:
    """Return what a product (power 1) or a ratio (−1) is; a factor c has 1 of it stand for 1/c of what it was."""
    if not isinstance(left, Measured) and not isinstance(right, Measured):
        return left * right**power if right else left
    literal = not (isinstance(left, Measured) and isinstance(right, Measured))
    a, b = (each if isinstance(each, Measured) else Measured((0, 0, 0), 1 / (each or 1.0)) for each in (left, right))
    powers = (a.powers[0] + power * b.powers[0], a.powers[1] + power * b.powers[1], a.powers[2] + power * b.powers[2])
    return Measured(powers, abs(a.size * b.size**power), literal or a.literal or b.literal)


def _alike(one: Measured, other: Measured) -> bool:
    if one.literal or other.literal:
        return True
    return one.powers == other.powers and abs(one.size / other.size - 1) < 1e-9
