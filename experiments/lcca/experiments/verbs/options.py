"""Options that several verbs share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from lcca.inputs.options import Count, argument, frozen, option
from lcca.workers import EXECUTORS

if TYPE_CHECKING:
    from lcca.experiments.runs.config import RunConfig

    Config: TypeAlias = str | os.PathLike[str] | RunConfig
else:  # lest it be imported
    Config = Any

File: TypeAlias = str | os.PathLike[str]


def kept_in(when: str = "none, nothing is kept") -> Any:
    """Return where a run is kept; `when` says when one is kept unasked."""
    return option(f"folder that keeps every trial; the same command goes on from there (default: {when})")


@frozen
class Kept:
    """A verb that runs trials, which a folder may keep.

    Attributes:
        always_kept: whether a folder keeps them where none is named.
    """

    always_kept: ClassVar[bool] = False

    _: KW_ONLY
    jobs: Count = option("threads (default: all cores); never changes a result", 1, usual=len(os.sched_getaffinity(0)))
    executor: str = option(
        "where trials run: here (default), in worker processes, or on a Ray cluster; never changes a result",
        "local",
        choices=EXECUTORS,
    )
    out: File | None = kept_in()
    resume: bool = option("whether to go on with the run that is there", False, in_python=True)
    quiet: bool = option("whether to leave progress out", True, in_python=True)


def set_keys(of: str) -> Any:
    """Return what overrides keys `of` something."""
    words = f"override a key {of}; may be repeated"
    return option(words, (), name="--set", metavar="KEY=VALUE", repeated=True)


@frozen
class Written(Kept):
    """A verb that runs what a file describes."""

    always_kept: ClassVar[bool] = True

    _: KW_ONLY
    overrides: Sequence[str] = set_keys("of the configuration, as in seed=2 or trainer.rounds=2")
    out: File | None = option(
        "the run's folder (default: results/<name>/<config hash>); the same command goes on with what is there"
    )


@frozen
class WrittenAlone(Written):
    """The same, of a single run."""

    config: Config = argument("the YAML file that describes it", read=Path)
