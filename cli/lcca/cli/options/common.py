"""Options that several commands share. Imports nothing that a broken installation may lack."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

from lcca.inputs.errors import visible
from lcca.inputs.json_values import json_value
from lcca.inputs.numbers import integer

MOST = 1_000_000


def positive(text: str) -> int:
    """Parse a whole number of at least 1, small enough to count what a computer can hold."""
    value = _whole(text, 1)
    if value > MOST:
        raise argparse.ArgumentTypeError(f"must be at most {MOST}, got {value}")
    return value


def natural(text: str) -> int:
    """Parse a whole number of at least 0, small enough to be a seed of the engine."""
    value = _whole(text, 0)
    if value >= 2**63:
        raise argparse.ArgumentTypeError(f"must be below 2^63, got {value}")
    return value


def _whole(text: str, least: int) -> int:
    try:
        value = integer(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r:.60}") from None
    if value < least:
        raise argparse.ArgumentTypeError(f"must be at least {least}, got {value}")
    return value


def print_visible(text: str, **options: Any) -> None:
    """Print text that has names or paths, as `print` does: their control characters are not for the terminal."""
    print(visible(text), **options)


def print_answer(options: argparse.Namespace, content: Any, words: str | Iterable[str]) -> int:
    """Print a result as JSON, where that is wanted, or in words, a line each; return the exit status of success."""
    if options.json:
        print_json(content)
    else:
        print_visible(words if isinstance(words, str) else "\n".join(words))
    return 0


def print_json(content: Any) -> None:
    """Print a result; numbers that are not finite become null."""
    print(json.dumps(json_value(content), sort_keys=True, allow_nan=False))
