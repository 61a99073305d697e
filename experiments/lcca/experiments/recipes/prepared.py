"""An experiment that is read and checked: it can say what it costs, run, keep its trials and go on after a stop."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.trials import layout
from lcca.experiments.experiment import Answer, Costs, Experiment, Found
from lcca.experiments.places import Meeting
from lcca.experiments.runs.asked import Asked, Named, asked_of
from lcca.experiments.runs.context import opened
from lcca.experiments.runs.folder import default_folder
from lcca.experiments.runs.kinds import Kind
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.summaries import compared, head
from lcca.experiments.verbs.meeting import AtPlace, On, Settling
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import json_value
from lcca.inputs.options import options_of


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What an experiment has found.

    Attributes:
        content: JSON values, as in summary.json.
        rows: of its trials: one per contender and trial.
        answers: to the questions of the experiment.
        folder: that keeps it; None where nothing was kept.
    """

    content: dict[str, Any]
    rows: pd.DataFrame
    answers: Sequence[Answer] = ()
    folder: Path | None = None

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons that it rests on."""
        return [each for answer in self.answers for each in answer.comparisons]

    def __str__(self) -> str:
        """Return the verdicts, a line each."""
        found = [each.to_json() for each in self.comparisons] or self.content.get("comparisons", [])
        return "\n".join(map(_line, found)) or f"{len(self.rows)} trials"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the verdicts as a table, for notebooks."""
        found = [each.to_json() for each in self.comparisons] or self.content.get("comparisons", [])
        shown = [name for name in _SHOWN if any(name in each for each in found)]
        return pd.DataFrame(found, columns=shown).to_html(index=False, float_format="{:.3f}".format)


_SHOWN = ("A", "B", "condition", "verdict", "difference", "low", "high", "unit", "utility", "n")


def _line(found: Mapping[str, Any]) -> str:
    difference = with_interval(found)
    where = f" ({found['condition']})" if found.get("condition") else ""
    names = f"{found['B']} against {found['A']}{where}"
    return f"{names}: {found['verdict']}, {difference} {found['unit']} of {found['utility']}, {found['n']} pairs"


@dataclass(frozen=True, eq=False)
class Prepared:
    """An experiment on a place.

    Attributes:
        experiment: that runs.
        meeting: contenders and place.
        config: all that its result depends on.
        content: returns the JSON values of what was found besides comparisons, and is in a folder, if in any.
        looks: whether a rule looks at trials before the last one.
        always_kept: whether a run folder keeps it where none is named.
    """

    experiment: Experiment
    meeting: Meeting
    config: Asked
    content: Callable[[Found, Path | None], Mapping[str, Any]]
    looks: bool = True
    always_kept: bool = False

    def costs(self, jobs: int = 1) -> Costs:
        """Return what it costs, from a few trials."""
        first_look = self.meeting.first_look if self.looks else None
        if self.meeting.costs is None:
            return self.experiment.costs(jobs, first_look, "--trials")
        place, most = self.meeting.place, self.experiment.stop.end(self.meeting.place)
        assert most is not None
        return self.meeting.costs((self.meeting.first_look * place.block, most))

    def run(self, out: str | os.PathLike[str] | None = None, *, resume: bool = False, quiet: bool = True) -> Result:
        """Run it.

        Args:
            out: folder that keeps every trial; none unless it is always kept.
            resume: whether a run may be there already, to go on with.
            quiet: whether to leave progress out.

        Raises:
            InputError: the folder is not free, or holds a run of something else.
        """
        if out is None and not self.always_kept:
            if resume:
                raise InputError("resume: needs out, the folder of the run to go on with")
            found = self.experiment.run(reporter=Reporter(quiet=quiet))
            return self._result(found, None)
        folder = Path(out) if out is not None else default_folder(self.config)
        with opened(self.config, folder, resume=resume, quiet=quiet) as run:
            keep = run.phase(self.config.run_kind.name).blocks()
            earlier = (run.folder.manifest() or {}).get("grown_from", ())
            experiment = replace(self.experiment, stop=replace(self.experiment.stop, earlier=earlier))
            found = experiment.run(keep, run.reporter)
            result = self._result(found, folder)
            run.folder.write_json(layout.SUMMARY, json_value(result.content))
            if not found.out_of_time:
                run.folder.set_state(COMPLETE)
            return result

    def _result(self, found: Found, folder: Path | None) -> Result:
        comparisons = [each for answer in found.answers for each in answer.comparisons]
        content = head(self.config) | {"comparisons": compared(comparisons, self.config.run_kind.name)}
        return Result({**content, **self.content(found, folder)}, found.rows, found.answers, folder)


def identity(
    kind: Kind, verb: AtPlace, names: Sequence[str], on: On, meeting: Meeting, resolved: Mapping[str, Any]
) -> Asked:
    """Return all that the result of a verb depends on: contenders, the place and every option of its own that counts.

    Options that are not what was asked for are in `resolved`; None there leaves one out.
    """
    where = Path(on).stem if isinstance(on, str | os.PathLike) else getattr(on, "name", "place")
    own = {"utility": Named(name=meeting.utility)} if meeting.utility else {}
    shared = {each.key for base in (AtPlace, Settling) for each in options_of(base)}  # in the place, or the rule
    counting = [each for each in options_of(type(verb)) if each.counts and not each.positional]
    options = {each.key: getattr(verb, each.key) for each in counting if each.key not in shared} | dict(resolved)
    return asked_of(kind)(
        name=f"{kind.name}-" + re.sub(r"[^A-Za-z0-9._-]", "-", where)[:60],
        seed=verb.seed,
        policies=tuple(Named(name=name) for name in names),
        place=meeting.space,
        options={**meeting.options, **own, **{key: value for key, value in options.items() if value is not None}},
    )
