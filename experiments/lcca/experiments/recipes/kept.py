"""Experiments that a file describes and a folder keeps (`tune`, `study`, `acc`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor as workers_of
from lcca.evaluation.trials.records import renamed
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder, default_folder
from lcca.experiments.runs.grid import read_one
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.summaries import Json
from lcca.experiments.verbs.options import File, Written
from lcca.inputs.json_values import finite_values
from lcca.workers.pool import Pool

C = TypeVar("C", bound=RunConfig)


def config_of(config: RunConfig | File, kind: type[C], overrides: Sequence[str] = ()) -> C:
    """Return a configuration, read from its file where it is named.

    Raises:
        ConfigError: what is wrong with the file.
    """
    return config if isinstance(config, kind) else read_one(str(config), kind, overrides)


@dataclass(frozen=True, eq=False)
class Described(Generic[C]):
    """What a file describes, ready to run in a folder of its own.

    Attributes:
        config: of the run.
        verb: where its trials run.
        begin: given workers, returns what does it, going on from what is there, and returns the summary.
        costs: returns what it costs, by the number of threads.
        check: raises what is wrong before a folder is made.
    """

    config: C
    verb: Written
    begin: Callable[[Pool], Callable[[Run[C, None]], Json]]
    costs: Callable[[int], Any]
    check: Callable[[], None] = lambda: None

    def run(self, out: File | None = None, *, resume: bool = False, quiet: bool = True) -> Result:
        """Run it in the folder, the usual one unless given, as `Prepared.run` does; a complete run is read."""
        folder = default_folder(self.config) if out is None else Path(out)
        with workers_of(self.verb.executor, self.verb.jobs) as workers:
            work = self.begin(workers)
            if not (folder / layout.MANIFEST).exists():
                self.check()
            with opened(self.config, folder, resume=resume, quiet=quiet) as run:
                workers.tell = run.reporter.say
                if run.folder.complete:
                    summary = renamed(run.folder.read_json(layout.SUMMARY))
                else:
                    summary = finite_values(work(run))
                    run.folder.write_json(layout.SUMMARY, summary)
                    run.costs.note_rest()
                    run.folder.set_state(COMPLETE)
                return Result(summary, run.trials.all(), folder=folder)


def reported(config: C, folder: Path) -> Path:
    """Draw the report of a finished run unless it is there; return its path."""
    if not (folder / layout.REPORT).exists():
        render(folder, Costs(RunFolder(folder, config)))
    return folder / layout.REPORT


def render(folder: Path, costs: Costs) -> None:
    """Draw a report. What draws takes as long to load as all the rest, and a run needs it at its end alone."""
    from lcca.evaluation.report.report import render as draw

    draw(folder, costs.note_rest)
