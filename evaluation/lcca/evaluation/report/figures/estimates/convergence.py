"""Half-width of an estimate's interval against the required one, by number of trials."""

from __future__ import annotations

from matplotlib.figure import Figure

from lcca.evaluation.estimation.estimate import EstimateLook


def draw_convergence(looks: list[EstimateLook], metric: str) -> Figure:
    """Draw the half-width of the interval, and the required one, against the number of trials."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    n = [look.n for look in looks]
    axes.plot(n, [look.half_width for look in looks], marker="o", markersize=3, label="half-width of the interval")
    axes.plot(n, [look.required for look in looks], linestyle="--", label="required")
    axes.set(xlabel="trials", ylabel=f"{metric}: half-width")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(frameon=False)
    return figure
