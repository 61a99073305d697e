"""Telling how far a run is: a live line on a terminal, plain lines elsewhere, and the run's log.txt always."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from lcca.experiments.runs.remaining import More, Pace

QUIET_SECONDS = 10.0
"""Plain output repeats a running task's message at most this often."""


class Reporter:
    """Writes progress to standard error, so that standard output stays free for results."""

    def __init__(self, log: Path | None = None, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet, highlight=False)
        self._log: IO[bytes] | None = log.open("ab", buffering=0) if log else None
        self._live: Progress | None = None
        self._spoken = time.monotonic()

    def say(self, text: str) -> None:
        """Say something that stays on the screen, and log it."""
        self.show(text)
        self.note(text)

    def show(self, text: str) -> None:
        """Say something that stays on the screen and is not logged."""
        self._spoken = time.monotonic()
        self.console.print(text, markup=False, soft_wrap=True)

    @contextmanager
    def task(self, title: str, total: float | None) -> Iterator[Task]:
        """Show one long task; its `update` may be called as often as it likes."""
        if not sys.stderr.isatty():
            self.say(title)
            yield Task(self, title, None, None, total)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=12, table_column=Column(min_width=12)),
            TimeElapsedColumn(table_column=Column(min_width=7)),
            TextColumn("{task.fields[note]}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")),
        )
        with Progress(*columns, console=self.console, transient=True, expand=True) as live:
            self.note(title)
            yield Task(self, title, live, live.add_task(title, total=total, note=""), total)

    def say_at_times(self, text: str) -> None:
        """Say something on a plain output, unless something was said just now; log it always."""
        self.note(text)
        if time.monotonic() - self._spoken >= QUIET_SECONDS:
            self.show(text)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            with suppress(OSError):
                self._log.close()
            self._log = None

    def note(self, text: str) -> None:
        """Write to the log only; a full disk is for what the run must keep to complain of."""
        if self._log is not None:
            with suppress(OSError):
                self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


class Task:
    """One long task on the screen."""

    def __init__(
        self, reporter: Reporter, title: str, live: Progress | None, number: int | None, total: float | None
    ) -> None:
        self._reporter = reporter
        self._title = title
        self._live = live
        self._number = number
        self._total = total
        self._pace = Pace()

    def update(self, done: float, note: str, more: More | None = None) -> None:
        """Tell how much is done, out of the total, anything worth a few words, and what is still to come."""
        self._pace.saw(done)
        ahead = more.words(self._pace) if more is not None else ""
        note = f"{note}; {ahead}" if ahead else note
        if self._live is not None and self._number is not None:
            self._live.update(self._number, completed=done, note=note)  # type: ignore[arg-type]
            self._reporter.note(f"{self._title}: {note}")
        else:
            self._reporter.say_at_times(f"  {self._title}: {note}")
