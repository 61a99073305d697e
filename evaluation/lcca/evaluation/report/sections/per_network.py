"""On what share of networks candidates differ: the selected policies, and all trainings (paper §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcca.evaluation.comparison.per_network import NetworkShares, Share, shares_of_run
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.shares import draw_shares
from lcca.evaluation.report.sections.section import REPEATED, REPEATED_TOO, Content
from lcca.evaluation.report.words.headline import NO_BREAK, percent
from lcca.evaluation.report.words.statements import interval
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

MOST_NAMED = 4


def per_network(tables: RunTables) -> Content | None:
    """Return on what share of networks candidates are significantly better and worse: the paper's Fig. 8."""
    rows = shares_of_run(tables)
    if not rows:
        return None
    baselines = {c["utility"]: tables.group_named(c["A"]) for c in reversed(tables.comparisons)}
    against = [row for row in rows if row.A == baselines[row.utility]]
    caption = (
        "Percentage of networks where a candidate is significantly better (right) or worse (left) than the baseline: "
        "s(score) > 1, s(throughput) > 1, s(delay) < −1, and the reverse; s is the difference of the means over seeds "
        f"over the larger standard deviation of the two. Lines: 95 % Wilson intervals over {rows[0].better.n:,} "
        f"networks, {tables.repeated['seed'].nunique()} seeds each, the same traffic for every policy. |s| > 1 is an "
        "effect-size rule (the difference exceeds the noise of one trial), not a test. Paper's Figs. 8 and 10, Table 2."
    )
    several = len(tables.utilities) > 1
    over_seeds = shares_over_seeds(tables)
    below = (_shares(rows, several), *over_seeds)
    whose = REPEATED_TOO if over_seeds else REPEATED
    return Content(caption, draw_shares(against, tables.groups), sentence(against), below, whose, data_table(against))


def sentence(rows: Sequence[NetworkShares]) -> str:
    """Return on how many networks the score is significantly better and worse than the baseline's."""
    scores = [row for row in rows if row.metric == "score_bits"]
    if len(scores) > MOST_NAMED:
        best, worst = _range([row.better.percent for row in scores]), _range([row.worse.percent for row in scores])
        return f"The score is significantly better on {best} of networks, and worse on {worst}, by comparison."
    several = len({row.utility for row in scores}) > 1
    others = list(dict.fromkeys(row.A for row in scores))
    parts = [
        (row.B if len(others) == 1 else row.name)
        + (f" ({row.utility})" if several else "")
        + f" on {percent(row.better.percent, signed=False)} of networks (worse on "
        + f"{percent(row.worse.percent, signed=False)})"
        for row in scores
    ]
    than = f" than {others[0]}'s" if len(others) == 1 else ""
    return f"The score is significantly better{than}: {'; '.join(parts)}."


def _range(values: Sequence[float]) -> str:
    low, high = percent(min(values), signed=False), percent(max(values), signed=False)
    return low if low == high else f"{low.removesuffix('%').rstrip(NO_BREAK)} to {high}"


def _shares(rows: Sequence[NetworkShares], several: bool) -> Table:
    body = [
        (
            row.name + (f" ({row.utility})" if several else ""),
            NETWORK_TRIALS[row.metric].label,
            _share(row.better),
            _share(row.worse),
            f"{row.better.n:,}",
        )
        for row in rows
    ]
    head = ("Comparison", "Metric", "Better, % [95 %]", "Worse, % [95 %]", "Networks")
    return Table("Shares of networks, selected policies", head, body, left=2)


def _share(share: Share) -> str:
    return f"{share.percent:.3g} [{share.low:.2g}, {share.high:.2g}]"


def shares_over_seeds(tables: RunTables) -> tuple[Table, ...]:
    """Return the table of candidates against the baseline, itself and each other; none where the run has none."""
    rows: list[Json] = tables.summary.get("per_network") or []
    if not rows:
        return ()
    baseline, level = rows[0]["A"], f"{100 * (1 - rows[0]['alpha']):g} %"
    caption = (
        "All trainings: shares of networks, mean ± standard deviation over training seeds, each on networks of its "
        f"own, header bytes free. Net: better less worse, with its {level} interval over training seeds, each by "
        f"itself and at every number of seeds. {baseline} against {baseline}: trainings of two training seeds, which "
        "learnt on other networks too: what luck in training does."
    )
    head = ("Comparison", "Metric", "Better, %", "Worse, %", f"Net, % [{level}]", "Training seeds")
    return (Table(caption, head, [_cells(row, len(tables.utilities) > 1) for row in rows], left=2),)


def _cells(row: Json, several: bool) -> tuple[str, ...]:
    name = f"{row['B']} against {row['A']}" + (f" ({row['utility']})" if several else "")
    shares, net = (_moments(row[key]) for key in ("better_percent", "worse_percent")), row["net_percent"] or {}
    ends = interval(net.get("mean"), net.get("low"), net.get("high"), "{:+.0f}")
    return (name, NETWORK_TRIALS[row["metric"]].label, *shares, ends, f"{row['training_seeds']}")


def _moments(found: Json) -> str:
    if found["mean"] is None:
        return "–"
    return f"{found['mean']:.0f}" + ("" if found["sd"] is None else f" ± {found['sd']:.0f}")
