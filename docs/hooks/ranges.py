"""Draws what wide ranges of link rates cost, from `results/reference/ranges.json`: `python docs/hooks/ranges.py`."""

from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure
from results import NAMES, by_seed

from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.report.figures.style import DASHES, HUES, MARKERS, drawing
from lcca.evaluation.settling.intervals import t_interval

FIGURES = Path(__file__).resolve().parents[1] / "figures"


@drawing
def draw() -> Figure:
    """Return a panel per signal set: by tested range, the score against E2E learnt on that very range."""
    found = by_seed("ranges")
    tested = sorted(found, key=lambda each: int(each[1:]))
    sets = list(found[tested[0]][tested[0]])
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, of in zip(figure.subplots(1, len(sets), sharey=True), sets, strict=True):
        for at, learnt in enumerate(tested):
            gains = [
                [own - base for own, base in zip(found[learnt][on][of], found[on][on][sets[0]], strict=True)]
                for on in tested
            ]
            ends = [t_interval(each) for each in gains]
            where = [place + 0.08 * (at - 1.5) for place in range(len(tested))]
            axes.errorbar(
                where,
                [fmean(each) for each in gains],
                [[mean - low for mean, low, _ in ends], [high - mean for mean, _, high in ends]],
                color=HUES[at],
                marker=MARKERS[at],
                linestyle=DASHES[at],
                label=f"learnt on ×{int(learnt[1:]):,}",
            )
        axes.set_title(NAMES[of])
        axes.set_xticks(range(len(tested)), [f"×{int(on[1:]):,}" for on in tested])
        axes.set_xlabel("link rates of the test")
    figure.axes[0].set_ylabel("bits against E2E\nlearnt on that range")
    figure.axes[0].legend()
    return figure


if __name__ == "__main__":
    save_png(draw(), FIGURES, "ranges")
