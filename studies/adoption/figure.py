"""Draws what adopters gain and others pay, from `results/adoption.json`: `python studies/adoption/figure.py`."""

import json
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.report.figures.style import HUES, INK, MARKERS, drawing, legend_below, new_figure

FIGURES = Path(__file__).resolve().parent
PAIRS = {
    "capacity+flows|e2e": "capacity and flows beside E2E, network",
    "link+queue|e2e": "link and queue beside E2E, network",
    "rank|e2e on hadoop-incast-lossy": "rank beside E2E, incasts",
    "rank|e2e on websearch-lossy": "rank beside E2E, WebSearch",
    "e2e|DCTCP on hadoop-incast-lossy": "E2E beside DCTCP, incasts",
    "e2e|DCQCN on hadoop-incast-lossy": "E2E beside DCQCN, incasts",
    "e2e|HPCC on hadoop-incast-lossy": "E2E beside HPCC, incasts",
}


@drawing
def draw() -> Figure:
    """Return, of pairs, what adopters and others score against nobody adopting: a tenth, half and all adopt."""
    adoption, rows = (
        json.loads((FIGURES / "results" / "adoption.json").read_text(encoding="utf-8"))["adoption"],
        list[str](),
    )
    points: dict[str, list[tuple[float, dict[str, float]]]] = {"adopters": [], "others": []}
    for pair, words in PAIRS.items():
        for each in adoption[pair]["adoption"]:
            rows.append(f"{words}: {100 * each['share']:g} %")
            points["adopters"].append((len(rows) - 0.12, each["adopters"]))
            points["others"].append((len(rows) + 0.12, each["others"]))
        rows.append(f"{words}: all")
        points["adopters"].append((float(len(rows)), adoption[pair]["everyone"]))
    figure = new_figure(0.6 + 0.24 * len(rows))
    axes = figure.subplots()
    for at, (who, those) in enumerate(points.items()):
        middle, low, high = np.array([[row[key] for key in ("difference", "low", "high")] for _, row in those]).T
        how = {"fmt": MARKERS[at], "linestyle": "", "color": HUES[at + 1], "markersize": 4, "label": who}
        axes.errorbar(middle, [place for place, _ in those], xerr=[middle - low, high - middle], **how)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(range(1, len(rows) + 1), rows)
    axes.invert_yaxis()
    axes.set_xlabel("score against the same senders where nobody adopts, bits")
    legend_below(figure, axes, 2)
    return figure


if __name__ == "__main__":
    save_png(draw(), FIGURES, "adoption")
