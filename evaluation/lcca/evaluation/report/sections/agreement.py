"""The section on two simulators: verdicts in ns-3, and how far both agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.agreement import paired
from lcca.evaluation.report.figures.style import FAINT, drawing, legend_below, mark_of, panels
from lcca.evaluation.report.sections.section import BOTH, SELECTED, Content
from lcca.evaluation.report.words.results import agreement_table, verdicts_tables
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE, shown
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


def ns3_validation(tables: RunTables) -> Content | None:
    """Scatter of both simulators, verdicts in ns-3, and bias and spread per policy and topology."""
    records: list[Json] = list(tables.summary.get("ns3", []))
    return _content(records, tables.run.rows(layout.NS3_VALIDATION)) if records else None


def both_simulators(tables: RunTables) -> Content | None:
    """Return the same of a run in both simulators."""
    found = tables.summary
    if "order_flips" not in found:
        return None
    return replace(_content([{**found, "comparisons": []}], tables.run.rows("agree")), population="")


def _content(records: Sequence[Json], trials: pd.DataFrame) -> Content:
    simulators = records[0].get("simulators", ["engine", records[0]["simulator"]])
    fast, real = (trials[(trials["simulator"] == simulators[0]) == first] for first in (True, False))
    names = list(dict.fromkeys(record["topology"] for record in records))
    both = {name: paired(*(part[part["topology"] == name] for part in (fast, real))) for name in names}
    figure = draw_agreement(both, ("fast engine" if simulators[0] == "engine" else simulators[0], simulators[1]))
    data = pd.concat([rows.assign(topology=name) for name, rows in both.items()], ignore_index=True)
    caption = (
        "The figure shows score, throughput share and mean delay of the same trials in both simulators, with the same "
        "networks, seeds, on and off times and random losses. A dot is a trial; on the grey line both simulators "
        "agree."
    )
    if any(each.startswith("ns-3") for each in simulators):
        caption += (
            " ns-3 charges the bytes of in-network signals and simulates TCP with acknowledgements and retransmissions."
        )
    if any(each.startswith("linux") for each in simulators):
        caption += " Trials on Linux took place in real time."
    if any(record["comparisons"] for record in records):
        caption += " The figure and the agreement are about selected policies."
    if sets := any(c["level"] == "set" for record in records for c in record["comparisons"]):
        caption += (
            " Verdicts on signal sets are simultaneous, over training seeds that are each tested on their own networks."
        )
    found = [each for record in records for each in record["agreement"]]
    tables = (*_verdicts(records), agreement_table(found, simulators))
    return Content(caption, figure, _answer(records), tables, BOTH if sets else SELECTED, data)


def _answer(records: Sequence[Json]) -> str:
    scores = [a for record in records for a in record["agreement"] if a["metric"] == SCORE.name]
    if not scores:
        return "Nothing ran in both simulators."
    agreed = sum(a["verdict"].startswith("agree") for a in scores)
    largest = max((abs(a["difference"]) for a in scores if a["difference"] is not None), default=0.0)
    flips = [flip for record in records for flip in record["order_flips"]]
    sure = sum(flip["settled"] for flip in flips)
    order = "rank all policies alike" if not flips else f"rank {len(flips)} pairs differently ({sure} settled)"
    return (
        f"{agreed} of {len(scores)} mean scores agree within {scores[0]['margin']:g} bits; the largest difference is "
        f"{largest:.3f} bits. The simulators {order}."
    )


def _verdicts(records: Sequence[Json]) -> tuple[Table, ...]:
    rows = [c | {"B": f"{c['B']} ({record['topology']})"} for record in records for c in record["comparisons"]]
    return verdicts_tables(rows, f"In {records[0]['simulator']}, paired on fresh networks")


@drawing
def draw_agreement(both: Mapping[str, pd.DataFrame], names: tuple[str, str]) -> Figure:
    """Draw score, throughput and delay of the second simulator against the first, a dot per trial, a row per topology.

    Args:
        both: per topology, as `lcca.evaluation.comparison.agreement.paired` returns it.
        names: of the simulators.
    """
    policies = list(dict.fromkeys(policy for rows in both.values() for policy in rows["policy"]))
    metrics = shown(NETWORK_TRIALS, "compare")
    wide = len(metrics)
    figure, axes = panels(wide * len(both), 2.5 + 0.1 * len(policies) / len(both), columns=wide)
    for i, (topology, rows) in enumerate(both.items()):
        for ax, metric in zip(axes[wide * i : wide * (i + 1)], metrics, strict=True):
            _panel(ax, rows, metric.name, policies)
            ax.set_title(f"{topology}: {metric.head}" if metric is metrics[0] else metric.head, loc="left")
            ax.set_xlabel(names[0])
        axes[wide * i].set_ylabel(names[1])
    legend_below(figure, axes[0], 3, markerscale=2, handletextpad=0.1)
    return figure


def _panel(ax: Axes, both: pd.DataFrame, metric: str, policies: Sequence[str]) -> None:
    values = both[[f"{metric}_1", f"{metric}_2"]].to_numpy(dtype=np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    if values.size:
        ends = [values.min(), values.max()]
        ax.plot(ends, ends, color=FAINT, linewidth=1.2, zorder=0)
    for policy in policies:
        rows = both[both["policy"] == policy]
        mark = mark_of(policy, policies)
        look: Any = {"color": mark.hue, "marker": mark.marker, "s": 9, "alpha": 0.7, "linewidths": 0}
        ax.scatter(rows[f"{metric}_1"], rows[f"{metric}_2"], label=policy, **look)
