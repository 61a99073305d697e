"""Conditions and small formulas over what a hop or a sender knows, such as ``qlen_bytes >= 62000 and not dec``."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

from lcca.inputs.errors import InputError, did_you_mean

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
    return tree


def _allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        number = node.value
        return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and bool(node.args) and not node.keywords
    kinds = (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)
    return isinstance(node, kinds) or type(node) in _SIGNS


def _called(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return repr(node.value)[:60]
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
