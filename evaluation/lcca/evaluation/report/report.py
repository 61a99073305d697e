"""The report of a run: one self-contained `report.html`, and its figures as files.

The same run folder gives the same bytes. What differs between two runs of the same campaign (times,
machine) is only in the section on costs.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Undefined

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.report.figures.style import Page, drawn_for
from lcca.evaluation.report.sections.contents import make_sections
from lcca.evaluation.report.sections.section import SELECTED, TRAININGS, Section
from lcca.evaluation.report.sections.which_header import WhichHeader, which_header
from lcca.evaluation.report.words.commands import commands
from lcca.evaluation.report.words.headline import MINUS, answer, counts, percent, score_explained
from lcca.evaluation.report.words.in_units import gbps, outcome, packet_bytes_of
from lcca.evaluation.report.words.statements import capital, rules_words, sign_and_size
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, Metric, shown
from lcca.evaluation.trials.tables import RunTables, group_of
from lcca.evaluation.trials.utilities import utilities_of
from lcca.inputs.files import write_atomically

LEVELS = (
    ("signal-sets", "Signal sets", TRAININGS, "set"),
    ("selected-policies", "Selected policies", SELECTED, "policy"),
)
"""Of comparisons: name and title of their section, whose results it shows, and what records call it."""

SCREEN = Page(width=4.8)
"""What figures are drawn for: letters of 10 points are as large as 10 pixels where the page is 400 pixels wide."""

TEMPLATES = Path(__file__).parent / "templates"


def render(run_folder: Path | str) -> Path:
    """Write `report.html` and `figures/*.{svg,png}` into a run folder; return the report's path.

    Raises:
        InputError: if the folder holds no finished run.
    """
    tables = RunTables.load(run_folder)
    figures = tables.folder / layout.FIGURES
    figures.mkdir(exist_ok=True)
    with drawn_for(SCREEN):
        sections = make_sections(tables, figures)
        which = which_header(tables, figures)
    page = environment().get_template("report.html.j2").render(_context(tables, sections, which))
    path = tables.folder / layout.REPORT
    write_atomically(path, page.encode())
    return path


def environment() -> Environment:
    """Return what renders templates, with the filters that tables use."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=number,
        measured=measured,
        capital=capital,
        percent=percent_or_dash,
        interval=interval,
        counts=counts,
        sign_and_size=sign_and_size,
        rules_words=rules_words,
        no_choice_yet=no_choice_yet,
    )
    return environment


def _context(tables: RunTables, sections: Sequence[Section], which: WhichHeader | None) -> dict[str, Any]:
    comparisons = tables.comparisons
    found = answer(comparisons, {policy["id"]: group_of(policy) for policy in tables.policies})
    size = packet_bytes_of(tables.config)
    return {
        "title": which.title if which else found.title,
        "which": which,
        "summary": tables.summary,
        "answer": found,
        "score_explained": score_explained(utilities_of(tables.config, tables.utilities)),
        "levels": [
            (name, title, whose, [_measured(each, tables, size) for each in comparisons if each["level"] == level])
            for name, title, whose, level in LEVELS
        ],
        "commands": commands(tables.summary | {"comparisons": comparisons}, tables.manifest),
        "packet_bytes": None if tables.on_fabric else size,
        "gbps": gbps,
        "utilities": tables.utilities,
        "policies": tables.policies,
        "training_trials": tables.training_trials,
        "group_of": group_of,
        "sections": sections,
        "costs": tables.costs,
        "totals": _totals(tables.costs),
        "manifest": tables.manifest,
        "config": tables.config,
        "failed": tables.failed,
        "on_fabric": tables.on_fabric,
        "metrics": shown(FABRIC_TRIALS, "report") if tables.on_fabric else shown(NETWORK_TRIALS, "report"),
        "trials": len(tables.trials),
    }


def _measured(comparison: dict[str, Any], tables: RunTables, packet_bytes: int | None) -> dict[str, Any]:
    """Return a comparison with what its sides measure."""
    sides = {side: outcome(comparison, side, tables.policies, packet_bytes) for side in "AB"}
    return {**comparison, "measured": sides}


def _totals(costs: dict[str, Any] | None) -> dict[str, float]:
    phases = costs.get("phases", []) if costs else []
    return {key: sum(phase.get(key) or 0 for phase in phases) for key in ("cpu_s", "wall_s", "trials", "packets")}


def number(value: Any, digits: int = 3, signed: bool = False) -> str:
    """Return a number for a table: fixed digits, thousands separated, a dash for NaN and for what is absent."""
    if value is None or isinstance(value, Undefined) or value != value:
        return "–"
    return f"{value:{'+' if signed and value else ''},.{digits}f}".replace("-", MINUS)


def measured(test: Mapping[str, float | None], metric: Metric) -> str:
    """Return what a policy's test measured, in the metric's unit."""
    value = test.get(metric.name)
    return number(None if value is None else value / metric.scale, metric.digits)


def percent_or_dash(value: Any) -> str:
    """Return a signed percentage, a dash for what is absent."""
    return "–" if value is None or isinstance(value, Undefined) else percent(value)


def interval(ends: dict[str, Any], digits: int | None = None) -> str:
    """Return "[low, high]" of a record with these keys: percentages, or numbers with `digits`."""
    low, high = ends["low"], ends["high"]
    if low is None or high is None:
        return "no interval yet"
    if digits is None:
        return f"[{percent(low).removesuffix('%').rstrip()}, {percent(high)}]"
    return f"[{number(low, digits, True)}, {number(high, digits, True)}]"
