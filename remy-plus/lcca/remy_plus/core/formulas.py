"""Formulas over what a hop or a sender knows, such as ``qlen_bytes >= 62000 and not dec``; and signals made of them.

A rule table or a law can have up to `MOST_FORMULAS` signals of its own, each a formula over the registered ones. Such a
signal goes by its definition, ``pressure [µs] = rtt_ratio * receive_ewma``, wherever a registered one goes by its name:
policies, their files and their hashes have all of it.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import OF_HOSTS, QUANTITIES, SIGNAL_CEILING, SIGNALS, Quantity

_LONGEST = 300
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.USub: "neg",
    ast.Not: "not",
    ast.And: "and",
    ast.Or: "or",
}
"""Operators, and what they are called in postfix order."""
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)
_FUNCTIONS = ("min", "max", "floor", "ceil")
_PARTS = "numbers, names, + - * / // %, comparisons, and, or, not, min, max, floor, ceil"


class Expression:
    """A formula over named numbers.

    Args:
        text: in Python's notation; at most 300 characters.

    Raises:
        InputError: the text is no formula, or uses what the vocabulary has not.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = _parse(text)
        self.names = frozenset(_names(self._tree))
        """Names that a value is needed for."""

    def postfix(self) -> tuple[tuple[str, float | str], ...]:
        """Return the formula in postfix order: ("number", x), ("name", name) or (operator, "").

        Operators are those of the notation, ``neg`` and ``not`` with one operand, the others with two; comparisons in a
        row, and more than two operands, are taken apart.
        """
        return tuple(_postfix(self._tree))

    def require_known(self, names: Iterable[str], where: str = "at a hop") -> None:
        """Check that every name is one of ``names``, which are those of a place in words.

        Raises:
            InputError: the first that is not, with the nearest.
        """
        known = list(names)
        for name in sorted(self.names.difference(known)):
            raise InputError(f"{self.text!r}: there is no {name!r} {where}{did_you_mean(name, known)}")


@cache
def _parse(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise InputError(f"a formula has at most {_LONGEST} characters, this one {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"{text!r} is no formula; it may have {_PARTS}") from None
    for node in ast.walk(tree):
        if not _allowed(node):
            raise InputError(f"{text!r}: no {_called(node)} here; a formula may have {_PARTS}")
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.expr)):
        by = node.right if isinstance(node, ast.BinOp) and isinstance(node.op, _DIVISIONS) else None
        by_0 = by is not None and not any(_names(by)) and _constant(by, text) == 0
        if by_0 or not (any(_names(node)) or math.isfinite(_constant(node, text))):
            raise InputError(f"{text!r}: {ast.unparse(node)} is no finite number")
    return tree


def _constant(node: ast.expr, text: str) -> float:
    """Return the value of a part of a formula that has no names."""
    try:
        return _core.formula_value([*_postfix(node)], [], [])
    except ValueError as error:
        raise InputError(f"{text!r}: {error}") from None


def _allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        number = node.value
        return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= sys.float_info.max
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and bool(node.args) and not node.keywords
    kinds = (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)
    return isinstance(node, kinds) or type(node) in _SIGNS


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return f"number above {sys.float_info.max:.2g}" if type(node.value) in (int, float) else repr(node.value)[:60]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return f"{node.func.id}()"
    return type(node).__name__


def _names(tree: ast.expr) -> Iterable[str]:
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions)


def _postfix(node: ast.expr) -> Iterable[tuple[str, float | str]]:
    match node:
        case ast.Constant(value=int(value) | float(value)):
            return [("number", float(value))]
        case ast.Name(id=name):
            return [("name", name)]
        case ast.UnaryOp(op=op, operand=operand):
            return [*_postfix(operand), (_SIGNS[type(op)], "")]
        case ast.BinOp(left=left, op=op, right=right):
            return [*_postfix(left), *_postfix(right), (_SIGNS[type(op)], "")]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _folded([_postfix(argument) for argument in arguments], name, alone=name in ("floor", "ceil"))
        case ast.BoolOp(op=op, values=values):
            return _folded([_postfix(value) for value in values], _SIGNS[type(op)])
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            operands = [_postfix(value) for value in (left, *comparators)]
            pairs = zip(ops, operands, operands[1:], strict=False)
            return _folded([[*a, *b, (_SIGNS[type(op)], "")] for op, a, b in pairs], "and")
    raise AssertionError(ast.dump(node))  # _parse lets nothing else in


def _folded(
    parts: list[Iterable[tuple[str, float | str]]] | list[list[tuple[str, float | str]]], sign: str, alone: bool = False
) -> Iterable[tuple[str, float | str]]:
    tokens = list(parts[0])
    for part in parts[1:]:
        tokens += [*part, (sign, "")]
    return [*tokens, (sign, "")] if alone else tokens


# --- signals that are formulas

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
        require(self.name not in QUANTITIES, f"name: {self.name!r} is a registered signal; choose another name")
        with about("expr"):
            require_no_hosts(sorted(self.expression.names))
            self.expression.require_known(SIGNALS, "among the registered signals")
            try:
                _core.formula_value(
                    [("number", 1) if kind == "source" else (kind, x) for kind, x in self.steps], [], []
                )
            except ValueError as error:
                raise InputError(f"{self.expr!r}: {error}") from None

    @property
    def expression(self) -> Expression:
        """The formula, parsed."""
        return Expression(self.expr)

    @property
    def steps(self) -> list[tuple[str, float | str]]:
        """The formula in the engine's form."""
        return [("source", x) if kind == "name" else (kind, x) for kind, x in self.expression.postfix()]

    @property
    def definition(self) -> str:
        """What it goes by."""
        unit = re.sub(r"\bus\b", "µs", self.unit)
        return f"{self.name}{f' [{unit}]' if unit else ''} = {' '.join(self.expr.split())}"

    @property
    def like(self) -> str:
        """The registered signal whose form it has."""
        return _LIKE.get(self.unit, "rtt_difference")

    def compiled(self) -> tuple[str, list[tuple[str, float | str]], str]:
        """Return the engine's form."""
        return self.definition, self.steps, self.like


@cache
def formula(signal: str) -> Formula | None:
    """Return the formula that a signal is; None for a name.

    Raises:
        InputError: a wrong one.
    """
    if (found := _DEFINITION.fullmatch(signal)) is None:
        return None
    own = Formula(found["name"], found["expr"], found["unit"] or "")
    require(own.definition == signal, f"{signal!r} must be written {own.definition!r}")
    return own


def formulas(signals: Sequence[str]) -> list[Formula]:
    """Return those of some signals that are formulas."""
    return [own for name in signals if (own := formula(name)) is not None]


def quantity(signal: str) -> Quantity:
    """Return what people call a signal, registered or a formula."""
    if (own := formula(signal)) is None:
        return QUANTITIES[signal]
    like, unit = QUANTITIES[own.like], "" if own.unit == "share" else own.unit
    parts = "that of its parts"
    return like._replace(label=own.name, unit=unit, smoothing=parts, largest=SIGNAL_CEILING, carried=None, field=None)


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


def require_no_hosts(signals: Sequence[str]) -> None:
    """Check that none of the signals is one that only laws for fabrics look at.

    Raises:
        InputError: one is; names who knows it.
    """
    if own := [name for name in registered(signals) if name in OF_HOSTS]:
        raise InputError(
            f"{', '.join(own)}: known to the hosts of a fabric, and to laws that are learnt there "
            "(trainer.kind: law); networks, ns-3, environments and other policies have no such signal"
        )


def check_signals(signals: Sequence[str], with_formulas: bool = False, of_hosts: bool = False) -> None:
    """Raise `InputError` unless the signals are known to the engine, all different, and at least one."""
    if not signals:
        raise InputError("signals: at least one is needed")
    for i, name in enumerate(signals):
        if not isinstance(name, str):
            raise InputError(f"signals.{i}: must be a name, got {name!r:.60}")
        with about(f"signals.{i}"):
            own = formula(name)
            require(own is None or with_formulas, f"{name[:60]!r}: formulas are for rule tables and laws of networks")
            if not of_hosts:
                require_no_hosts([name])
            if own is None and name not in QUANTITIES:
                raise InputError(f"unknown signal {name[:60]!r}{did_you_mean(name, SIGNALS)}")
            require(short_name(name) not in map(short_name, signals[:i]), f"{short_name(name)!r} is listed twice")
    if (count := len(formulas(signals))) > MOST_FORMULAS:
        raise InputError(f"signals: {count} formulas, but a policy has at most {MOST_FORMULAS}")
