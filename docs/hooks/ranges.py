"""Draws what wide ranges cost, from `results/reference`: `python docs/hooks/ranges.py`."""

from pathlib import Path

from matplotlib.figure import Figure
from results import NAMES, by_seed

from lcca.evaluation.report.figures.saving import save_png
from lcca.evaluation.report.figures.style import DASHES, HUES, MARKERS, drawing
from lcca.evaluation.settling.intervals import t_interval

FIGURES = Path(__file__).resolve().parents[1] / "figures"
RANGES = {"ranges": "link rates", "ranges-rtt": "RTTs", "ranges-senders": "numbers of senders"}


@drawing
def draw() -> Figure:
    """Return a row per parameter, a panel per signal set: by tested range, the score against E2E learnt on ×1."""
    figure = Figure(figsize=(9, 8.4), layout="constrained")
    for line, (name, words) in zip(figure.subplots(len(RANGES), 3, sharey="row"), RANGES.items(), strict=True):
        found = by_seed(name)
        learnt, tested = (sorted(each, key=lambda x: int(x[1:])) for each in (found, next(iter(found.values()))))
        base, *_ = sets = list(found[learnt[0]][tested[0]])
        for axes, of in zip(line, sets, strict=True):
            for at, each in enumerate(learnt):
                pairs = [zip(found[each][on][of], found[learnt[0]][on][base], strict=True) for on in tested]
                ends = [t_interval([own - other for own, other in pair]) for pair in pairs]
                axes.errorbar(
                    [place + 0.08 * (at - 1.5) for place in range(len(tested))],
                    [mean for mean, _, _ in ends],
                    [[mean - low for mean, low, _ in ends], [high - mean for mean, _, high in ends]],
                    color=HUES[at],
                    marker=MARKERS[at],
                    linestyle=DASHES[at],
                    label=f"learnt on ×{int(each[1:]):,}",
                )
            axes.set_title(NAMES[of])
            axes.set_xticks(range(len(tested)), [f"×{int(on[1:]):,}" for on in tested])
            axes.set_xlabel(f"range of {words}, tested")
        line[0].set_ylabel("bits against E2E\nlearnt on ×1")
    figure.axes[0].legend()
    return figure


if __name__ == "__main__":
    save_png(draw(), FIGURES, "ranges")
