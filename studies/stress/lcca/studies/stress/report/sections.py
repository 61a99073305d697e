"""The section on networks where a policy loses most: what it loses there, and where in the space they lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import INK, drawing, mark, panels
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.report.words.statements import capital
from lcca.evaluation.trials.tables import RunTables
from lcca.studies.stress.report.words import hard_table, hard_words


def hard(tables: RunTables) -> Content | None:
    """Return the networks that a search confirmed, or did not; None where nothing was searched."""
    summary = tables.summary
    if not summary.get("hard_networks"):
        return None
    trials, against = summary["hard_networks"][0]["trials"], " or ".join(summary["against"])
    caption = (
        f"The upper panel shows by how much {summary['policy']} loses against {against} on each network that the "
        f"search found: the mean over {trials} fresh trials, with simultaneous {1 - summary['alpha']:.0%} confidence "
        f"intervals. A cross is the loss on the {summary['seeds']} trials of the search, which is too large, since the "
        f"worst of {summary['candidates']} candidates were taken. The lower panel shows where these networks lie in "
        "the space: each line joins the parameters of one network, between the least and the largest value of each."
    )
    table, answer = hard_table(summary), f"{capital(hard_words(summary))}."
    data = data_table(summary["hard_networks"])
    return Content(caption, draw_hard(summary), answer, (table,), data=data, unfolded=True)


@drawing
def draw_hard(summary: Mapping[str, Any]) -> Figure:
    """Draw the losses, and the networks as lines through their parameters, each from its least to its largest value."""
    figure, (above, below) = panels(2, 2.7, columns=1)
    unit = f", {summary['unit']}" if summary["unit"] else ""
    for i, each in enumerate(summary["hard_networks"]):
        how, loss = mark(i + 1), each["loss"]
        if loss["low"] is not None and loss["high"] is not None:
            above.plot([i + 1, i + 1], [loss["low"], loss["high"]], color=how.hue)
        above.plot([i + 1], [loss["mean"]], color=how.hue, marker=how.marker)
        above.plot([i + 1], [each["search_loss"]], color=INK, marker="x")
        places = [
            (each["network"].get(name, 0) - low) / (high - low) for name, (low, high) in summary["varying"].items()
        ]
        below.plot(places, color=how.hue, marker=how.marker, linestyle=how.dashes)
    above.axhline(0, color=INK, linewidth=0.8)
    above.set_xticks(range(1, len(summary["hard_networks"]) + 1))
    above.set(xlabel="network", ylabel=f"loss{unit}")
    below.set_xticks(
        range(len(summary["varying"])),
        [f"{name}\n{low:g}\nto {high:g}" for name, (low, high) in summary["varying"].items()],
    )
    below.set_yticks([0, 1], ["least", "largest"])
    return figure
