"""Commands without a configuration file that keep what they ran, so that a stopped one can go on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Keep, in_memory
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.errors import InputError

WITHOUT_EFFECT = frozenset(
    {"run", "command", "out", "resume", "json", "jobs", "figure", "budget", "plan", "trial_cache"}
)
"""Options that change no trial: where results go, how they are shown, and how long to go on."""


def add_folder(parser: argparse.ArgumentParser, when: str) -> None:
    """Add where a run is kept; `when` says when one is kept unasked."""
    parser.add_argument("--out", type=Path, help=f"folder that keeps every trial, for --resume (default: {when})")
    parser.add_argument("--resume", action="store_true", help="go on with the run that is there, if there is one")


def deciding(options: argparse.Namespace, *named: str) -> dict[str, Any]:
    """Return the options that trials depend on, as JSON values, those left out that are `named` elsewhere."""
    found = {key: value for key, value in vars(options).items() if key not in WITHOUT_EFFECT | set(named)}
    return {key: str(value) if isinstance(value, Path) else value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class Kept:
    """Where blocks of trials go, and who tells how far a run is.

    Attributes:
        keep: as `run_blocks` wants it.
        reporter: of progress.
        folder: of the run, if it has one.
    """

    keep: Keep[pd.DataFrame]
    reporter: Reporter
    run: Run[Any, None] | None = None

    def finish(self, content: Mapping[str, Any], complete: bool) -> None:
        """Write what was found; a run that is not complete can be gone on with."""
        if self.run is None:
            return
        self.run.folder.write_json(layout.SUMMARY, dict(content))
        if complete:
            self.run.folder.set_state(COMPLETE)


@contextmanager
def kept(config: RunConfig | None, folder: Path | None, resume: bool) -> Iterator[Kept]:
    """Keep blocks in a run's folder, or in memory where there is none.

    Raises:
        InputError: the folder is not free, or there is none to resume.
    """
    if config is None or folder is None:
        if resume:
            raise InputError("--resume: needs --out, the folder of the run to go on with")
        yield Kept(in_memory, Reporter())
        return
    with opened(config, folder, resume=resume) as run:
        yield Kept(run.phase(config.run_kind.name).blocks(), run.reporter, run)
