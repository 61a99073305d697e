"""The report of a grid: one page with all points, and links to the report of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lcca.evaluation.report.report import environment
from lcca.evaluation.report.words.statements import coverage_apart
from lcca.evaluation.trials import layout
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically

Json = dict[str, Any]

LEVELS = {"set": "Signal sets, mean over training seeds", "policy": "Selected policies"}
"""Titles of the tables, by the level of their comparisons."""


def render_grid(folder: Path | str) -> Path:
    """Write `report.html` into the folder of a grid; return its path.

    Raises:
        InputError: if the folder holds no `grid.json`.
    """
    folder = Path(folder)
    file = folder / layout.GRID
    try:
        grid = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    page = (
        environment()
        .get_template("grid.html.j2")
        .render(
            grid=grid["grid"],
            points=grid["points"],
            levels=[level for level in _levels(grid["points"]) if level["rows"]],
            utilities=_utilities(grid["points"]),
        )
    )
    path = folder / layout.REPORT
    write_atomically(path, page.encode())
    return path


def _levels(points: list[Json]) -> list[Json]:
    """Return what the page shows of signal sets, then of selected policies."""
    return [
        {
            "title": title,
            "rows": _rows(points, level),
            "coverage": coverage_apart(_of_level(point, level) for point in points),
        }
        for level, title in LEVELS.items()
    ]


def _rows(points: list[Json], level: str) -> list[Json]:
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


def _utilities(points: list[Json]) -> list[str]:
    return list(dict.fromkeys(c["utility"] for point in points for c in point["comparisons"]))
