"""JSON as files have it: no key twice, and numbers that are neither NaN nor infinity."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lcca.inputs.errors import LONGEST_NUMBER, InputError


def finite(value: float | None) -> float | None:
    """Return a number, None for what is unknown or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with None for the numbers that are unknown or infinite, at any depth."""
    return {key: json_value(value) for key, value in values.items()}


def interval(mean: float, low: float, high: float) -> dict[str, float | None]:
    """Return a mean with its interval as results have it."""
    return {"mean": finite(mean), "low": finite(low), "high": finite(high)}


def json_value(value: Any) -> Any:
    """Return a value with None for the numbers that are unknown or infinite, at any depth."""
    match value:
        case float():
            return finite(value)
        case dict():
            return finite_values(value)
        case list() | tuple():
            return [json_value(each) for each in value]
    return value


def parsed(text: str | bytes) -> Any:
    """Return what a JSON text holds.

    Raises:
        InputError: no JSON, a key twice in one object, NaN or Infinity, a huge number, or nested too deep.
    """
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InputError("nested too deep") from error


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise InputError(f"a number of {len(digits):,} digits is too large")
    return int(digits)


def _refuse_constant(token: str) -> float:
    raise InputError(f"{token} is no number of JSON; every number must be finite")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise InputError(f"{key[:60]!r}: this key stands twice in one object")
        made[key] = value
    return made
