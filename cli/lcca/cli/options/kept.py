"""Commands without a configuration file that keep what they ran, so that a stopped one can go on."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Keep, in_memory
from lcca.experiments.runs.asked import ASKED, Asked, Named
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import json_value

WITHOUT_EFFECT = frozenset(
    {"run", "command", "out", "resume", "unkept", "json", "jobs", "figure", "budget", "plan", "trial_cache"}
    | {"per_flow", "per_port", "rates", "series"}
)
"""Options that change no trial: where results go, how they are shown, and how long to go on."""

PLACES = ("bench", "fabric", "space", "networks")
"""Options that say where trials take place, if they are text."""


def add_folder(parser: argparse.ArgumentParser, when: str = "none, nothing is kept") -> None:
    """Add where a run is kept, and what it costs; `when` says when one is kept unasked."""
    parser.add_argument("--out", type=Path, help=f"folder that keeps every trial, for --resume (default: {when})")
    parser.add_argument("--resume", action="store_true", help="go on with the run that is there, if there is one")
    parser.add_argument("--plan", action="store_true", help="say what it costs, from a few trials, and run no more")
    parser.set_defaults(unkept=True)


@dataclass(frozen=True)
class Kept:
    """Where blocks of trials go, and who tells how far a run is.

    Attributes:
        keep: as `run_blocks` wants it.
        reporter: of progress.
        run: that keeps them, if any.
    """

    keep: Keep[pd.DataFrame]
    reporter: Reporter
    run: Run[Any, None] | None = None

    def finish(self, content: Mapping[str, Any], complete: bool = True) -> None:
        """Write what was found; a run that is not complete can be gone on with."""
        if self.run is None:
            return
        self.run.folder.write_json(layout.SUMMARY, json_value(dict(content)))
        if complete:
            self.run.folder.set_state(COMPLETE)


@contextmanager
def kept(options: argparse.Namespace, policies: Sequence[str], unasked: bool = False) -> Iterator[Kept]:
    """Keep blocks in a run's folder, or in memory where there is none.

    Args:
        options: of the command; `unkept` tells from here on whether a stopped run leaves nothing.
        policies: that it runs.
        unasked: whether there is a folder if none is named.

    Raises:
        InputError: the folder is not free, or there is none to resume.
    """
    if options.out is None and not unasked:
        if options.resume:
            raise InputError("--resume: needs --out, the folder of the run to go on with")
        yield Kept(in_memory, Reporter())
        return
    config = _asked(options, policies)
    folder = options.out or default_folder(config)
    with opened(config, folder, resume=options.resume) as run:
        options.unkept = False
        yield Kept(run.phase(config.run_kind.name).blocks(), run.reporter, run)
    if not options.json:
        print(f"everything is in {folder}")


def _asked(options: argparse.Namespace, policies: Sequence[str]) -> Asked:
    """Return the configuration of what the options ask for."""
    given = {key: value for key, value in vars(options).items() if key not in WITHOUT_EFFECT | {"seed"}}
    named = [key for key in PLACES if isinstance(given.get(key), str | Path)]
    where = str(given[named[0]])
    for key in (*named, "policies", "a", "b"):
        given.pop(key, None)
    values = {key: str(value) if isinstance(value, Path) else value for key, value in given.items()}
    return ASKED[options.command](
        name=f"{options.command}-" + re.sub(r"[^A-Za-z0-9._-]", "-", Path(where).stem)[:60],
        seed=options.seed,
        policies=tuple(Named(name=name) for name in policies),
        where=Named(name=where),
        options={key: value for key, value in values.items() if value is not None},
    )
