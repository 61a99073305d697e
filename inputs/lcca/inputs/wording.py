"""Pydantic's errors in the words of the command line."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic_core import ErrorDetails

from lcca.inputs.errors import did_you_mean, nearest, shown
from lcca.inputs.locations import Location

_BOUNDS = {
    "greater_than": ("gt", "must be > "),
    "greater_than_equal": ("ge", "must be >= "),
    "less_than": ("lt", "must be < "),
    "less_than_equal": ("le", "must be <= "),
    "multiple_of": ("multiple_of", "must be a multiple of "),
}
_SIZES = {
    "too_short": ("min_length", "at least", "item"),
    "too_long": ("max_length", "at most", "item"),
    "string_too_short": ("min_length", "at least", "character"),
    "string_too_long": ("max_length", "at most", "character"),
}
_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
}


def describe(details: ErrorDetails, location: Location) -> str:
    """Return what is wrong, what was found and, where a name is mistyped, which one was probably meant."""
    kind, value = details["type"], details["input"]
    context: dict[str, Any] = details.get("ctx", {})
    if kind == "missing":
        return "required key is missing"
    if kind == "extra_forbidden":
        return "unknown key" + _suggestion(str(location.keys[-1]), location.siblings)
    if kind in ("literal_error", "enum"):
        return _choice(value, _quoted(context["expected"]), str(context["expected"]))
    if kind == "union_tag_invalid":
        return _choice(context["tag"], _quoted(context["expected_tags"]), str(context["expected_tags"]))
    if kind == "union_tag_not_found":
        return "required key is missing" + (f"; one of {', '.join(location.tags)}" if location.tags else "")
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    return _expectation(kind, context, details["msg"]) + f", found {shown(value)}"


def _expectation(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _BOUNDS:
        name, text = _BOUNDS[kind]
        return text + f"{context[name]:g}"
    if kind in _SIZES:
        name, text, unit = _SIZES[kind]
        return f"must have {text} {context[name]} {unit}" + ("" if context[name] == 1 else "s")
    if kind in _KINDS:
        return "must be " + _KINDS[kind]
    if kind == "string_pattern_mismatch":
        return f"must match {context['pattern']}"
    return message.replace("Input should be", "must be").replace("Input should", "must")


def _choice(value: Any, known: Sequence[str], listed: str) -> str:
    near = nearest(value, known) if isinstance(value, str) else ""  # the choices are listed anyway
    one_of = "one of " if "," in listed or " or " in listed else ""
    return f"must be {one_of}{listed}, found {shown(value)}{near}"


def _suggestion(word: str, known: Sequence[str]) -> str:
    return did_you_mean(word, known) if known else ""


def _quoted(text: str) -> list[str]:
    return re.findall(r"'([^']*)'", text)
