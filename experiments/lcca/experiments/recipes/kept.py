"""Experiments that a file describes and a folder keeps (`tune`, `study`, `acc`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, TypeVar

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.records import renamed
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder, default_folder
from lcca.experiments.runs.grid import read_one
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.summaries import Json
from lcca.inputs.json_values import finite_values
from lcca.workers.pool import Pool

C = TypeVar("C", bound=RunConfig)
File: TypeAlias = str | os.PathLike[str]


def config_of(config: C | File, kind: type[C]) -> C:
    """Return a configuration, read from its file where it is named.

    Raises:
        ConfigError: what is wrong with the file.
    """
    return config if isinstance(config, kind) else read_one(str(config), kind)


def kept(
    config: C,
    out: File | None,
    work: Callable[[Run[C, None]], Json],
    *,
    resume: bool,
    quiet: bool,
    workers: Pool,
    check: Callable[[], None] = lambda: None,
) -> Result:
    """Run what a configuration describes in a folder of its own; a complete run is read.

    Args:
        config: of the run.
        out: its folder; None for the usual one, which the configuration decides.
        work: does it, going on from what is there, and returns the summary.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.
        workers: of its trials.
        check: raises what is wrong before a folder is made.

    Raises:
        InputError: the folder is not free, or holds a run of something else.
    """
    folder = default_folder(config) if out is None else Path(out)
    if not (folder / layout.MANIFEST).exists():
        check()
    with opened(config, folder, resume=resume, quiet=quiet) as run:
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
