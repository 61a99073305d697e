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
from lcca.inputs.errors import visible
from lcca.inputs.files import open_own
from lcca.remy_plus.simulator import told_of_trials

TRIALS_REMEMBERED = 64
"""Trials that a pace within a block is judged by."""

QUIET_SECONDS = 10.0
"""Plain output repeats a running task's message at most this often."""


class Reporter:
    """Writes progress to standard error, so that standard output stays free for results."""

    def __init__(self, log: Path | None = None, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet, highlight=False)
        self._log: IO[bytes] | None = open(log, "ab", buffering=0, opener=open_own) if log else None
        self._live: Progress | None = None
        self._spoken = time.monotonic()

    def say(self, text: str) -> None:
        """Say something that stays on the screen, and log it."""
        self.show(text)
        self.note(text)

    def show(self, text: str) -> None:
        """Say something that stays on the screen and is not logged."""
        self._spoken = time.monotonic()
        self.console.print(visible(text), markup=False, soft_wrap=True)

    @contextmanager
    def task(self, title: str, total: float | None, each: int = 0, unit: str = "") -> Iterator[Task]:
        """Show one long task; its `update` may be called as often as it likes.

        Args:
            title: what is done.
            total: how much of it there is.
            each: trials in each unit of the total, to tell of those that end between two updates; 0 tells of none.
            unit: of the total, in the plural.
        """
        with self._task(title, total) as task:
            if not each:
                yield task
                return
            with told_of_trials(Between(task, each, unit, total).ended):
                yield task

    @contextmanager
    def _task(self, title: str, total: float | None) -> Iterator[Task]:
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
            yield Task(self, title, live, live.add_task(visible(title), total=total, note=""), total)

    def say_at_times(self, text: str, log: bool = True) -> None:
        """Say something on a plain output, unless something was said just now; log it always, or then only."""
        due = time.monotonic() - self._spoken >= QUIET_SECONDS
        if log or due:
            self.note(text)
        if due:
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
                self._log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {visible(text)}\n".encode())


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
        self.pace = Pace()
        self.done = 0.0
        self.more: More | None = None

    def begin(self, done: float) -> None:
        """Tell how much was done before, which says nothing of the pace."""
        self.done, self.pace = done, Pace(done=done)

    def update(self, done: float, note: str, more: More | None = None) -> None:
        """Tell how much is done, out of the total, anything worth a few words, and what is still to come."""
        self.pace.saw(done)
        self.done, self.more = done, more
        ahead = more.words(self.pace) if more is not None else ""
        self.show(done, f"{note}; {ahead}" if ahead else note, log=True)

    def show(self, done: float, note: str, log: bool) -> None:
        """Show and log it; without `log` what is shown live is not logged, and the rest at times only."""
        if self._live is not None and self._number is not None:
            self._live.update(self._number, completed=done, note=visible(note))  # type: ignore[arg-type]
            if log:
                self._reporter.note(f"{self._title}: {note}")
        else:
            self._reporter.say_at_times(f"  {self._title}: {note}", log)


class Between:
    """Trials of a task that end between two of its updates.

    Args:
        task: whose updates count units of `each` trials.
        each: trials in a unit.
        unit: in the plural.
        total: units at most.
    """

    def __init__(self, task: Task, each: int, unit: str, total: float | None) -> None:
        self._task, self._each, self._unit, self._total = task, each, unit, total
        self._since, self._ended = 0.0, 0
        self._pace: Pace | None = None  # from the first trial on: blocks that are read take no time

    def ended(self) -> None:
        """Show that another trial has ended, and what is to come at the pace of those that this process ran."""
        task = self._task
        if self._since != task.done:
            self._since, self._ended = task.done, 0
        self._ended += 1
        done = task.done + self._ended / self._each
        if self._pace is None:
            self._pace = Pace(done=done, remembered=TRIALS_REMEMBERED)
        else:
            self._pace.saw(done)
        ahead = self._ahead(done - task.done).words(self._pace)
        words = f"{task.done:g} {self._unit} and {self._ended} trial{'s' * (self._ended != 1)}"
        task.show(done, f"{words}; {ahead}" if ahead else words, log=False)

    def _ahead(self, done: float) -> More:
        """Return what is to come after this much of the running block; no forecast before the first look."""
        more = self._task.more or More(0, int((self._total or 0) - self._task.done), self._unit)
        return More(max(int(more.low - done), 0), max(int(more.high - done), 0), more.unit)
