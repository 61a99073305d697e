"""Options that several commands share. Imports nothing that a broken installation may lack."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lcca.inputs.errors import visible
from lcca.inputs.json_values import json_value
from lcca.inputs.options import argument, frozen


@frozen
class OfRun:
    """A verb about a run."""

    run_folder: Path = argument("a run's folder")


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
