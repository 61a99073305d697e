"""The figures of a run of any kind, drawn for a paper, with what they show as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lcca.evaluation.comparison.agreement import paired
from lcca.evaluation.comparison.ranking import Standing
from lcca.evaluation.report.figures.agreement import draw_agreement
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.estimates.convergence import ConvergenceRow, draw_convergence
from lcca.evaluation.report.figures.forest import draw_forest, forest_data
from lcca.evaluation.report.figures.ranking import draw_ranking
from lcca.evaluation.report.figures.style import Page, drawn_for
from lcca.evaluation.report.plots import makers
from lcca.evaluation.report.sections.section import Content
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.reading.loading import run_manifest
from lcca.experiments.reading.policy_rows import estimates_of
from lcca.experiments.reading.result_tables import comparisons_of, result_of
from lcca.experiments.runs.kinds import AGREE, COMPARE, ESTIMATE, RANK, STUDY, SWEEP, TUNE
from lcca.inputs.errors import InputError, did_you_mean

Json = dict[str, Any]
Makers = Mapping[str, tuple[str, Callable[[], Content | None]]]


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure.

    Attributes:
        name: in the run.
        title: what it shows, in words.
        figure: as drawn.
        data: what it shows.
    """

    name: str
    title: str
    figure: Figure
    data: pd.DataFrame


def plot(folder: Path, name: str, page: Page) -> Plot:
    """Draw one figure of a run.

    Args:
        folder: of the run.
        name: of the figure.
        page: what it is drawn for.

    Raises:
        InputError: there is no such figure, the run is not finished, or a file of it is damaged.
    """
    found = _makers(folder)
    if name not in found:
        there = f"its kind may have {', '.join(found)}" if found else "its kind has none"
        raise InputError(f"{folder}: no figure {name}{did_you_mean(name, found)}; {there}")
    drawn = _drawn(found, name, page)
    if drawn is None:
        raise InputError(f"{folder}: no figure {name}: the run lacks what it shows; --figure list names those it has")
    return drawn


def plots(folder: Path, page: Page) -> Iterator[Plot]:
    """Draw the figures of a run one after another.

    Raises:
        InputError: the run is not finished, or a file of it is damaged.
    """
    found = _makers(folder)
    return (drawn for name in found if (drawn := _drawn(found, name, page)) is not None)


def _drawn(found: Makers, name: str, page: Page) -> Plot | None:
    title, make = found[name]
    with drawn_for(page):
        content = make()
    if content is None or content.figure is None:
        return None
    return Plot(name, title, content.figure, pd.DataFrame() if content.data is None else content.data)


def _makers(folder: Path) -> Makers:
    kind = run_manifest(folder)["kind"]
    if kind == SWEEP.name:
        return makers(folder)
    result = result_of(folder)
    if not result:
        raise InputError(f"{folder}: no result yet; finish the run first")
    if kind == RANK.name:
        return {"ranking": ("Ranking", partial(_ranking, result))}
    if kind == AGREE.name:
        return {"agreement": ("Both simulators", partial(_agreement, folder, result))}
    if kind == ESTIMATE.name:
        return {"convergence": ("Half-width of the interval by number of trials", partial(_convergence, result))}
    if kind in (COMPARE.name, STUDY.name, TUNE.name):
        return {"forest": ("Differences", partial(_forest, comparisons_of(folder, kind, result)))}
    return {}


def _ranking(result: Json) -> Content:
    rows: list[Json] = result["standings"]
    known: list[Json] = [{key: math.nan if value is None else value for key, value in row.items()} for row in rows]
    standings = [Standing(**row) for row in known]
    where = str(result.get("scenario") or result.get("bench") or result.get("simulator", ""))
    title = f"{where}, utility {result['utility']}: {result['networks']} {result['unit']}"
    return Content(title, draw_ranking(standings, title), data=data_table(standings))


def _agreement(folder: Path, result: Json) -> Content:
    names = result["simulators"]
    trials = TrialStore(folder / layout.TRIALS).all(AGREE.name)
    both = paired(*(trials[trials["simulator"] == name].reset_index(drop=True) for name in names))
    return Content("", draw_agreement({result["topology"]: both}, (names[0], names[1])), data=both)


def _forest(comparisons: list[Json]) -> Content:
    rows = forest_data([row | {"B": _where(row)} for row in comparisons])
    return Content("", draw_forest(rows), data=data_table(rows))


def _where(row: Json) -> str:
    return f"{row['B']} ({row['condition']})" if row["condition"] else str(row["B"])


def _convergence(result: Json) -> Content | None:
    (first, *others) = estimates_of(result)
    if others:
        return None
    rows = [ConvergenceRow(look["n"], _half_width(look), look["required"] or math.nan) for look in first["looks"]]
    return Content("", draw_convergence(rows, first["metric"]), data=data_table(rows))


def _half_width(look: Json) -> float:
    bounded = look["low"] is not None and look["high"] is not None
    return (look["high"] - look["low"]) / 2 if bounded else math.nan
