"""When a command began: what it spends before it opens a run, which takes Python's modules, is the run's too."""

from contextvars import ContextVar

BEGAN: ContextVar[float | None] = ContextVar("BEGAN", default=None)
"""In CPU seconds of the process; None where no command began, or its first run has them already."""
