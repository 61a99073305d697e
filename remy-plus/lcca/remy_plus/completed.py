"""Telling of trials that end while the batch that they belong to goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_told: ContextVar[Callable[[], None] | None] = ContextVar("told", default=None)


@contextmanager
def told_of_trials(tell: Callable[[], None]) -> Iterator[None]:
    """Let `tell` know of every trial that ends meanwhile, in the thread that waits for the batch.

    Simulators whose trials end one by one tell: ns-3 and fabrics. The fast engine ends batches only.
    """
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def trial_completed() -> None:
    """Tell who wants to know that a trial has ended."""
    if tell := _told.get():
        tell()
