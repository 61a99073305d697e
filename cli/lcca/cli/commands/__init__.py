"""The sub-commands, one module each.

A command is a module with `add(commands)`, which adds its parser and sets `run`, a function from the parsed options to
the exit status.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

NAMES = (
    "sweep",
    "train",
    "evaluate",
    "compare",
    "rank",
    "tune",
    "acc",
    "agree",
    "estimate",
    "verdict",
    "report",
    "show",
    "check",
    "import_",
    "export",
)
"""In the order in which help lists them."""


def load(names: Iterable[str] = NAMES) -> list[ModuleType]:
    """Import commands. In a broken installation this may fail in any way for all but `check`."""
    return [import_module(f"{__name__}.{name}") for name in names]
