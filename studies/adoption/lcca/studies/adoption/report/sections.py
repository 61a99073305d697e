"""The section on adoption: what adopters of a policy gain, and what it costs the others, by their share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import drawing, legend_below, mark, new_figure
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.trials.tables import RunTables
from lcca.studies.adoption.report.words import POPULATIONS, adoption_table


def adoption(tables: RunTables) -> Content | None:
    """Return what adoption does by share; None for runs that do not ask."""
    content = tables.summary
    if "adoption" not in content:
        return None
    trainings = content["trainings"]
    over = f"{trainings} trainings of each" if trainings > 1 else "one policy of each, so nothing follows for trainings"
    sure = 1 - content["adoption"][0]["adopters"]["alpha"] * len(content["comparisons"])
    caption = (
        f"The figure shows by how much the score of senders that adopt {content['adopted']}, and that of all others, "
        f"differs from what the same senders have where all use {content['other']}, by the share of adopters and in "
        f"{content['comparisons'][0]['unit']} of utility {content['utility']}. It rests on {content['trials']} trials "
        f"of each mixture and on {over}. Confidence intervals are simultaneous ({sure:.0%})."
    )
    rows = [
        {"share": each["share"], **each[of]} | {"population": of} for each in content["adoption"] for of in POPULATIONS
    ]
    figure = draw_adoption(content)
    return Content(caption, figure, "", (adoption_table(content),), data=data_table(rows), unfolded=True)


@drawing
def draw_adoption(content: Mapping[str, Any]) -> Figure:
    """Draw gains and costs over the share of adopters, with their intervals."""
    figure = new_figure(3.4)
    ax = figure.subplots()
    everyone = content["everyone"]
    for number, of in enumerate(POPULATIONS, 1):
        look = mark(number)
        rows = [(100 * each["share"], each[of]) for each in content["adoption"]]
        rows += [(100.0, everyone)] if of == "adopters" else []
        known = [(at, row) for at, row in rows if row["difference"] is not None]
        ax.plot(
            *zip(*((at, r["difference"]) for at, r in known), strict=True), color=look.hue, marker=look.marker, label=of
        )
        bands = [(at, r["low"], r["high"]) for at, r in known if r["low"] is not None]
        at, low, high = (list(each) for each in zip(*bands, strict=True)) if bands else ([], [], [])
        ax.fill_between(at, low, high, color=look.hue, alpha=0.18, linewidth=0)
    margin = everyone["margin"]
    ax.axhspan(-margin, margin, color=mark(0).hue, alpha=0.15, linewidth=0, label="does not matter")
    ax.set_xlim(0, 102)
    ax.set_xlabel(f"senders with {content['adopted']}, %; the others have {content['other']}")
    ax.set_ylabel(f"difference of the score, {everyone['unit']}")
    legend_below(figure, ax, 3)
    return figure
