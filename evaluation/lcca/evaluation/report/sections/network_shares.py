"""On what share of networks candidates differ: the selected policies, and all trainings (paper §5.1, Fig. 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.network_shares import NetworkShares, Share, shares_of_run
from lcca.evaluation.report.figures.style import INK, drawing, hue_of, panels_by_utility
from lcca.evaluation.report.sections.section import REPEATED, REPEATED_TOO, Content, data_table
from lcca.evaluation.report.words.statements import NO_BREAK, percent, with_interval
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

MOST_NAMED = 4


def per_network(tables: RunTables) -> Content | None:
    """Return on what share of networks candidates are significantly better and worse."""
    rows = shares_of_run(tables)
    if not rows:
        return None
    baselines = {c["utility"]: tables.group_named(c["A"]) for c in reversed(tables.comparisons)}
    against = [row for row in rows if row.A == baselines[row.utility]]
    caption = (
        "Bars show on which percentage of networks a candidate is significantly better (right) or worse (left) than "
        "the baseline, that is, by more than the noise of a trial. With s the difference of the means over seeds, "
        "divided by the larger standard deviation of the two, it is better where s(score) > 1, s(throughput) > 1 or "
        f"s(delay) < −1, and worse in the reverse cases; this is an effect size and not a test. Lines are 95 % Wilson "
        f"intervals over {rows[0].better.n:,} networks with {tables.repeated['seed'].nunique()} seeds each; every "
        "policy meets the same traffic. The paper has this in Figs. 8 and 10 and Table 2."
    )
    several = len(tables.utilities) > 1
    columns: Columns = {
        "Comparison": lambda row: _named(row.name, row.utility, several),
        "Metric": lambda row: NETWORK_TRIALS[row.metric].label,
        **{"Better, % [95 %]": lambda row: _share(row.better), "Worse, % [95 %]": lambda row: _share(row.worse)},
        "Networks": lambda row: f"{row.better.n:,}",
    }
    over_seeds = shares_over_seeds(tables)
    below = (Table.of("Shares of networks, selected policies", rows, columns, left=2), *over_seeds)
    whose = REPEATED_TOO if over_seeds else REPEATED
    return Content(caption, draw_shares(against, tables.groups), sentence(against), below, whose, data_table(against))


def _named(name: str, utility: str, several: bool) -> str:
    return f"{name} ({utility})" if several else name


def sentence(rows: Sequence[NetworkShares]) -> str:
    """Return on how many networks the score is significantly better and worse than the baseline's."""
    scores = [row for row in rows if row.metric == SCORE.name]
    if len(scores) > MOST_NAMED:
        best, worst = _range([row.better.percent for row in scores]), _range([row.worse.percent for row in scores])
        return f"The score is significantly better on {best} of networks, and worse on {worst}, by comparison."
    several = len({row.utility for row in scores}) > 1
    others = list(dict.fromkeys(row.A for row in scores))
    parts = [
        _named(row.B if len(others) == 1 else row.name, row.utility, several)
        + f" on {percent(row.better.percent, signed=False)} of networks (worse on "
        + f"{percent(row.worse.percent, signed=False)})"
        for row in scores
    ]
    than = f" than {others[0]}'s" if len(others) == 1 else ""
    return f"The score is significantly better{than}: {'; '.join(parts)}."


def _range(values: Sequence[float]) -> str:
    low, high = percent(min(values), signed=False), percent(max(values), signed=False)
    return low if low == high else f"{low.removesuffix('%').rstrip(NO_BREAK)} to {high}"


def _share(share: Share) -> str:
    return f"{share.percent:.3g} [{share.low:.2g}, {share.high:.2g}]"


def shares_over_seeds(tables: RunTables) -> tuple[Table, ...]:
    """Return the table of candidates against the baseline, itself and each other; none where the run has none."""
    rows: list[Json] = tables.summary.get("per_network") or []
    if not rows:
        return ()
    baseline, level = rows[0]["A"], f"{100 * (1 - rows[0]['alpha']):g} %"
    caption = (
        "All trainings: shares of networks as mean ± standard deviation over training seeds, each tested on its own "
        f"networks, with header bytes free. Net is better less worse, with its {level} confidence interval over "
        f"training seeds, valid one at a time and at every number of seeds. {baseline} against {baseline} compares "
        "trainings of two training seeds, which were trained on different networks: it shows the variance between "
        "trainings."
    )
    several, none = len(tables.utilities) > 1, {"mean": None, "low": None, "high": None}
    columns: Columns = {
        "Comparison": lambda row: _named(f"{row['B']} against {row['A']}", row["utility"], several),
        "Metric": lambda row: NETWORK_TRIALS[row["metric"]].label,
        "Better, %": lambda row: _moments(row["better_percent"]),
        "Worse, %": lambda row: _moments(row["worse_percent"]),
        f"Net, % [{level}]": lambda row: with_interval(row["net_percent"] or none, "mean", "{:+.0f}"),
        "Training seeds": "training_seeds",
    }
    return (Table.of(caption, rows, columns, left=2),)


def _moments(found: Json) -> str:
    if found["mean"] is None:
        return "–"
    return f"{found['mean']:.0f}" + ("" if found["sd"] is None else f" ± {found['sd']:.0f}")


@drawing
def draw_shares(rows: Sequence[NetworkShares], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: bars to the right where B is better, to the left where it is worse."""
    most = max(Counter(row.utility for row in rows).values())
    figure, axes = panels_by_utility((row.utility for row in rows), 0.95 + 0.21 * most, columns=1)
    ends = [end for row in rows for end in (row.better.high, row.worse.high) if np.isfinite(end)]
    reach = min(max([*ends, 5.0]) * 1.05, 100)
    for utility, ax in axes.items():
        _draw_utility(ax, [row for row in rows if row.utility == utility], groups)
        ax.set_xlim(-reach, reach)
    return figure


def _draw_utility(ax: Axes, rows: Sequence[NetworkShares], groups: Sequence[str]) -> None:
    names = list(dict.fromkeys(row.name for row in rows))
    places = [0.45 * names.index(row.name) + y for y, row in enumerate(rows)]
    for y, row in zip(places, rows, strict=True):
        hue = hue_of(row.B, groups) if row.B in groups else hue_of(row.name, names)
        for side, share in ((1, row.better), (-1, row.worse)):
            ax.barh([y], [side * share.percent], 0.78, color=hue, alpha=0.9 if side > 0 else 0.45, linewidth=0)
            ax.plot([side * share.low, side * share.high], [y, y], color=INK, linewidth=0.9)
    ax.axvline(0, color=INK, linewidth=0.8)
    labels = [(f"{row.name}: " if row.metric == SCORE.name else "") + NETWORK_TRIALS[row.metric].label for row in rows]
    ax.set_yticks(places, labels)
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.grid(visible=False, axis="y")
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):g}")
    ax.set_xlabel("% of networks (left: significantly worse, right: better)")
