"""The report of a run, or of a grid: one self-contained `report.html`, and its figures as files.

The same run folder gives the same bytes. What differs between two runs of the same campaign (times,
machine) is only in the sections on costs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.report.figures.style import Page, drawn_for
from lcca.evaluation.report.sections.contents import make_sections
from lcca.evaluation.report.sections.differences import with_condition
from lcca.evaluation.report.sections.section import SELECTED, TRAININGS, Section
from lcca.evaluation.report.sections.summary import summary
from lcca.evaluation.report.sections.which_header import which_header
from lcca.evaluation.report.words.commands import commands
from lcca.evaluation.report.words.headline import SIDES, TYPICAL, answer, headline, paid_words, score_explained
from lcca.evaluation.report.words.merit import net_percent
from lcca.evaluation.report.words.results import costs_table, policies_table, statistics_table, verdicts_table
from lcca.evaluation.report.words.statements import capital, coverage_apart, listed, number, sign_and_size
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, Metric, shown
from lcca.evaluation.trials.tables import RunTables, group_of
from lcca.evaluation.trials.utilities import utilities_of
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically

Json = dict[str, Any]

LEVELS = (
    ("signal-sets", "Signal sets", TRAININGS, "set"),
    ("selected-policies", "Selected policies", SELECTED, "policy"),
)
"""Of comparisons: name and title of their section, whose results it shows, and what records call it."""

PAIRS = (("comparisons", "Comparisons", "", "policy"),)
"""The same where no policy is that of a training."""

SCREEN = Page(width=4.8)
"""What figures are drawn for: letters of 10 points are as large as 10 pixels where the page is 400 pixels wide."""

TEMPLATES = Path(__file__).parent / "templates"


def render(run_folder: Path | str, drawn: Callable[[], None] = lambda: None) -> Path:
    """Write `report.html` and `figures/*.{svg,png}` into a run folder; return the report's path.

    Args:
        run_folder: with a finished run.
        drawn: is called before the page is written, which then has what the figures cost.

    Raises:
        InputError: if the folder holds no finished run.
    """
    tables = RunTables.load(run_folder)
    figures = tables.folder / layout.FIGURES
    figures.mkdir(exist_ok=True)
    with drawn_for(SCREEN):
        sections, which = make_sections(tables, figures), which_header(tables, figures)
        drawn()
        context = _context(tables, sections, which)
    return _written(tables.folder, "report.html.j2", context)


def render_grid(folder: Path | str) -> Path:
    """Write `report.html` with all points of a grid, and links to the report of each; return its path.

    Raises:
        InputError: if the folder holds no `grid.json`.
    """
    file = Path(folder) / layout.GRID
    try:
        grid = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    points: list[Json] = grid["points"]
    titles = {"set": "Signal sets, mean over training seeds", "policy": "Selected policies"}
    levels = [
        {
            "title": title,
            "rows": rows,
            "coverage": coverage_apart(_of_level(point, level) for point in points),
        }
        for level, title in titles.items()
        if (rows := _rows(points, level))
    ]
    utilities = list(dict.fromkeys(c["utility"] for point in points for c in point["comparisons"]))
    context = {"grid": grid["grid"], "points": points, "levels": levels, "utilities": utilities}
    return _written(Path(folder), "grid.html.j2", context)


def _written(folder: Path, template: str, context: Json) -> Path:
    """Write the page of a template into a folder, with the filters that tables use."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        number=number,
        code=code,
        net_percent=net_percent,
        verdicts_table=verdicts_table,
        statistics_table=statistics_table,
        costs_table=costs_table,
        sign_and_size=sign_and_size,
        no_choice_yet=no_choice_yet,
    )
    path = folder / layout.REPORT
    write_atomically(path, environment.get_template(template).render(context).encode())
    return path


def _rows(points: Sequence[Json], level: str) -> list[Json]:
    """Return a row per candidate or hand-designed policy and utility, with its comparison at every point, or None."""
    found: dict[tuple[str, str], dict[str, Json]] = {}
    for point in points:
        names: dict[str, str] = {policy["id"]: policy["signal_set"] for policy in point["policies"]}
        for each in _of_level(point, level):
            candidate = names.get(str(each["B"]), str(each["B"]))
            found.setdefault((candidate, each["utility"]), {})[point["name"]] = each
    return [
        {
            "candidate": candidate,
            "utility": utility,
            "cells": [{"point": p["name"], "found": by_point.get(p["name"])} for p in points],
        }
        for (candidate, utility), by_point in found.items()
    ]


def _of_level(point: Json, level: str) -> list[Json]:
    return [each for each in point["comparisons"] if each["level"] == level]


def _context(tables: RunTables, sections: Sequence[Section], which: Json | None) -> Json:
    comparisons = [with_condition(each) for each in tables.comparisons]
    found = answer(comparisons, {policy["id"]: group_of(policy) for policy in tables.policies})
    ranked = any("best_rank" in policy for policy in tables.policies)
    title = (
        found.title if comparisons and not ranked else headline(tables.summary) or measured_title(tables) or found.title
    )
    typed = commands(tables.summary | {"comparisons": comparisons}, tables.manifest)
    phases = tables.costs.get("phases", []) if tables.costs else []
    return {
        "title": which["title"] if which else capital(title),
        "has_trainings": tables.has_trainings,
        "comparisons": comparisons,
        "which": which,
        "first": summary(tables, which, found, sections, typed),
        "summary": tables.summary,
        "score_explained": score_explained(utilities)
        if (utilities := utilities_of(tables.config, tables.utilities, tables.manifest.get("config", {}).get("files")))
        else "",
        "levels": [
            (*level, [each for each in comparisons if each["level"] == name])
            for *level, name in (LEVELS if tables.has_trainings else PAIRS)
        ],
        "commands": typed,
        "utilities": tables.utilities,
        "typical": TYPICAL,
        "paid": capital(paid_words(tables.utilities, *SIDES)),
        "policies": policies_table(tables.summary, _metrics(tables), trained=tables.training_trials)
        if tables.has_trainings
        else None,
        "training_trials": tables.training_trials,
        "group_of": group_of,
        "sections": sections,
        "costs": tables.costs,
        "totals": {key: sum(each.get(key) or 0 for each in phases) for key in ("cpu_s", "wall_s", "trials", "packets")},
        "manifest": tables.manifest,
        "config": tables.config,
        "failed": tables.failed,
        "on_fabric": tables.on_fabric,
        "trials": len(tables.trials),
    }


def measured_title(tables: RunTables) -> str:
    """Return whose measures a run has that compares nothing; empty of trainings, which are to be compared."""
    names = [] if tables.has_trainings else list(dict.fromkeys(each["id"] for each in tables.policies))
    return f"Measures of {listed(names) if len(names) < 4 else f'{len(names)} policies'}" if names else ""


def _metrics(tables: RunTables) -> list[Metric]:
    """Return what is shown of trainings' tests; throughput in Gb/s where packets have a size."""
    if tables.on_fabric:
        return [each.over_trials for each in shown(FABRIC_TRIALS, "report")]
    rates = [NETWORK_TRIALS["throughput_share"].in_gbps(size)] if (size := tables.packet_bytes) else []
    return [*rates, *shown(NETWORK_TRIALS, "report")]


def code(text: str) -> Markup:
    """Return text for a page, what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))
