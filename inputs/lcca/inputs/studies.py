"""Studies: subjects with a folder of their own in `studies/`, which the rest of lcca finds there and never imports.

The code of one is the package `lcca.studies.<name>`. Its `study.py` has a `STUDY` that says what it adds; functions and
classes are named there, as `module:attribute` below the package, and are imported when they are used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

PACKAGE = "lcca.studies"


@dataclass(frozen=True)
class Command:
    """A command of `lcca`.

    Attributes:
        group: in which help lists it, as in `lcca.cli.commands.GROUPS`.
        summary: what it does, in a sentence.
        module: that adds its options and runs it.
    """

    group: str
    summary: str
    module: str


@dataclass(frozen=True)
class FileOfUsers:
    """A kind of YAML file.

    Attributes:
        what: it is, with an article.
        use: what takes it.
        model: that checks it.
    """

    what: str
    use: str
    model: str


@dataclass(frozen=True)
class Starter:
    """A file to start from, which `lcca init` writes.

    Attributes:
        question: that it asks.
        file: in the package of the study.
        command: of `lcca`, that takes it.
    """

    question: str
    file: str
    command: str


@dataclass(frozen=True)
class ReportSection:
    """A section of the report.

    Attributes:
        name: of its figure's file.
        title: its heading.
        maker: returns its content, or None where a run has none.
        before: the section that it stands before.
    """

    name: str
    title: str
    maker: str
    before: str


@dataclass(frozen=True)
class Environment:
    """An environment of Gymnasium.

    Attributes:
        entry: its class.
        longest: decisions of an episode at most; None where the environment ends it.
    """

    entry: str
    longest: int | None = 100_000


@dataclass(frozen=True)
class AddedPlace:
    """A kind of place where contenders meet.

    Attributes:
        kind: a `lcca.experiments.places.PlaceKind`.
        folder: of the package, with the files of those that come with it.
    """

    kind: str
    folder: str


@dataclass(frozen=True)
class Variant:
    """Another question that a command of the core asks where an option of the study's is given.

    Attributes:
        module: with the `OPTION`, and `run(verb, options)`, which returns None where it is not given.
        keyword: field of the command's verb that the option is.
        prepared: the function that returns the experiment of such a verb, ready to run.
    """

    module: str
    keyword: str
    prepared: str


@dataclass(frozen=True)
class Study:
    """What a study adds.

    Attributes:
        commands: by name.
        variants: of commands of the core, by their names.
        functions: of `lcca.api`, by name.
        files: kinds of YAML file, by the name that `lcca schema` takes.
        starters: files to start from, by name.
        sections: of the report.
        headlines: functions that say a run's answer in one line, by the key in its summary that they read.
        environments: by id.
        places: by the kind of their files.
        tuners: of fabrics, by name: a `lcca.remy_plus.tuners.kinds.TunerKind` each.
        learners: contenders that `lcca study` trains (`train:`), by name: a `lcca.experiments.studies.learner.Learner`
            each.
        moved: folders and files of the study by where they were before.
    """

    commands: Mapping[str, Command] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileOfUsers] = field(default_factory=dict)
    starters: Mapping[str, Starter] = field(default_factory=dict)
    sections: Sequence[ReportSection] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)
    environments: Mapping[str, Environment] = field(default_factory=dict)
    places: Mapping[str, AddedPlace] = field(default_factory=dict)
    tuners: Mapping[str, str] = field(default_factory=dict)
    learners: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)


LOOKED_UP = {
    "remy_plus.tuners.registry": "tuners",
    "experiments.studies.config": "learners",
    "experiments.places": "places",
}
"""Modules of the core that look up in studies what results depend on, and where: whoever imports them runs that too.

Without `lcca.`, since whole names in a text count as imports: then all that reads this would reach them.
"""


@cache
def folders() -> dict[str, Path]:
    """Return the packages of the studies that are there, by name."""
    try:
        rooms = [Path(each) for each in import_module(PACKAGE).__path__]
    except ModuleNotFoundError:  # there is none
        return {}
    return {file.parent.name: file.parent for room in rooms for file in sorted(room.glob("*/study.py"))}


@cache
def studies() -> dict[str, Study]:
    """Return what each study adds, by name."""
    return {name: import_module(f"{PACKAGE}.{name}.study").STUDY for name in folders()}


def added(what: str) -> dict[str, tuple[str, Any]]:
    """Return what studies add under an attribute of `Study`, with the name of the study."""
    return {key: (name, value) for name, study in studies().items() for key, value in getattr(study, what).items()}


def moved(path: str) -> str:
    """Return where a file is that was elsewhere before it became part of a study; empty if it is none.

    From the working folder, unless the path begins at the root.
    """
    if os.path.exists(path):
        return ""
    whole = os.path.abspath(path)
    for name, study in studies().items():
        for before, now in study.moved.items():
            top, found, rest = whole.rpartition(f"/{before}")
            own = f"{top}/studies/{name}/{now}{rest}"
            if found and rest[:1] in ("", "/") and os.path.isfile(own):
                return own if os.path.isabs(path) else os.path.relpath(own)
    return ""


def variants_of(command: str) -> list[tuple[str, Variant]]:
    """Return what studies add to a command of the core, with their names."""
    return [(name, study.variants[command]) for name, study in studies().items() if command in study.variants]


def full_name(study: str, name: str) -> str:
    """Return a name as Python imports it."""
    return f"{PACKAGE}.{study}.{name}"


def attribute(study: str, name: str) -> Any:
    """Import what a study names."""
    return resolve_name(full_name(study, name))


def behind(modules: Iterable[str]) -> list[str]:
    """Return the modules of studies that modules of the core look up."""
    below = {name.removeprefix("lcca.") for name in modules}
    parts = {part for name, part in LOOKED_UP.items() if name in below}
    names = [(study, getattr(at, "kind", at)) for part in parts for study, at in added(part).values()]
    return sorted({full_name(study, name).partition(":")[0] for study, name in names})
