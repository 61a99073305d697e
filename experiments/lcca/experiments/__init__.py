"""Experiments from a file to a report, and their results as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcca.experiments.reading.loading import LoadedRun, load_run

__all__ = ["LoadedRun", "load_run"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: it needs pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lcca.experiments.reading import loading

    return getattr(loading, name)
