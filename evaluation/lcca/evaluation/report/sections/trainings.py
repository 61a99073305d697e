"""The sections on what trainings did: throughput against delay, slowdowns, what is possible, learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.report.figures.style import INK, drawing, legend_below, mark_of, panel_of, panels_by_utility
from lcca.evaluation.report.sections.section import BOTH, SELECTED, TRAININGS, Content
from lcca.evaluation.report.words.results import ideal_sets_table, ideals_table, share_of_gap
from lcca.evaluation.report.words.statements import capital, interval, number
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.quantiles import quantile
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, SCORE, shown
from lcca.evaluation.trials.tables import RunTables, group_of

Json = dict[str, Any]

MOST_DOTS = 150  # per group, so that a page with many trials stays small


def tradeoff(tables: RunTables) -> Content | None:
    """Return throughput against delay of every signal set, network by network."""
    clouds = tradeoff_data(tables)
    if not clouds:
        return None
    most = max(map(len, clouds))
    first = f", of which about {MOST_DOTS} are drawn" if most > MOST_DOTS else ""
    caption = (
        "The figure shows throughput share over link rate against mean delay over RTT. A dot is the mean over the "
        f"trials of a network ({most:,} networks per signal set{first}). A large mark is the mean of a signal set, "
        "with 95 % confidence intervals over training seeds, or over networks where there is one training. The dots "
        "show how much networks differ; whether signal sets differ is to be read from the comparisons."
    )
    figure = draw_tradeoff(clouds, tables.groups)
    return Content(caption, figure, population=TRAININGS, data=pd.concat(clouds, ignore_index=True))


def tradeoff_data(tables: RunTables) -> list[pd.DataFrame]:
    """Return a table per utility and group, a row per training seed and network; none of a fabric.

    Columns: utility; group, a signal set or the id of a baseline; training_seed, 0 of a baseline; delay over RTT;
    throughput share over link rate.
    """
    if tables.on_fabric:
        return []
    columns = {"delay_over_rtt": "delay", "throughput_over_link": "throughput"}
    found: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for policy, trials in tables.trials_by_policy():
        trials = trials[["network", *columns]].assign(training_seed=policy.get("training_seed") or 0)
        found.setdefault((policy["utility"], group_of(policy)), []).append(trials)
    clouds = []
    for (utility, group), parts in found.items():
        means = pd.concat(parts).groupby(["training_seed", "network"], as_index=False).mean().dropna()
        points = means.drop(columns="network").reset_index(drop=True).rename(columns=columns)
        clouds.append(pd.DataFrame({"utility": utility, "group": group}, index=points.index).join(points))
    return [cloud for cloud in clouds if len(cloud)]


@drawing
def draw_tradeoff(clouds: Sequence[pd.DataFrame], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility: up is more throughput, right is less delay."""
    figure, axes = panels_by_utility((str(cloud["utility"].iloc[0]) for cloud in clouds), 3.6)
    for cloud in clouds:
        mark, dots = mark_of(cloud["group"].iloc[0], groups), cloud.iloc[:: -(-len(cloud) // MOST_DOTS)]
        look: Any = {"color": mark.hue, "marker": mark.marker}
        axes[cloud["utility"].iloc[0]].scatter(dots["delay"], dots["throughput"], s=7, alpha=0.35, linewidths=0, **look)
    for ax in axes.values():
        ax.autoscale(False)  # intervals over few training seeds are wider than all dots
    for cloud in clouds:
        _draw_mean(axes[cloud["utility"].iloc[0]], cloud, groups)
    for ax in axes.values():
        ax.invert_xaxis()
        ax.set(xlabel="mean delay / RTT (right: less delay)", ylabel="throughput share / link rate")
        ax.legend(loc="lower left")
    return figure


def _draw_mean(ax: Axes, cloud: pd.DataFrame, groups: Sequence[str]) -> None:
    group = cloud["group"].iloc[0]
    mark = mark_of(group, groups)
    (x, left, right), (y, low, high) = (tradeoff_mean(cloud, column) for column in ("delay", "throughput"))
    ends: Any = {"xerr": [[x - left], [right - x]], "yerr": [[y - low], [high - y]], "ecolor": INK, "elinewidth": 1}
    look: Any = {"color": mark.hue, "marker": mark.marker, "linestyle": mark.dashes, "markeredgecolor": INK}
    ax.errorbar([x], [y], **ends, **look, markersize=8, label=group)


def tradeoff_mean(cloud: pd.DataFrame, column: str) -> tuple[float, float, float]:
    """Return a mean with its 95 % interval: over training seeds, or over networks if there is one seed."""
    by_seed = cloud.groupby("training_seed")[column].mean()
    return t_interval(by_seed if len(by_seed) > 1 else cloud[column])


def slowdowns(tables: RunTables) -> Content | None:
    """Return scores and slowdowns on a fabric: a table per utility, a row per scenario and signal set."""
    if not (tables.on_fabric and tables.has_trainings):
        return None
    found: dict[str, list[pd.DataFrame]] = {}
    for policy, trials in tables.trials_by_policy():
        found.setdefault(policy["utility"], []).append(trials.assign(group=group_of(policy)))
    caption = (
        "Values are means over trials and training seeds, with header bytes free; the queue is that of a trial's "
        "fullest port. They show how large the differences are; the verdicts above say which of them are settled."
    )
    parts = tuple(_by_scenario(tables, utility, pd.concat(rows)) for utility, rows in found.items())
    return Content(caption, tables=parts, population=TRAININGS)


def _by_scenario(tables: RunTables, utility: str, trials: pd.DataFrame) -> Table:
    metrics = [each for each in (SCORE, *shown(FABRIC_TRIALS, "report")) if each.name in trials]
    means = trials.groupby(["scenario", "group"])[[each.name for each in metrics]].mean()
    rows = [
        (scenario, name, *(f"{means.loc[(scenario, name), m.name] / m.scale:,.{m.digits}f}" for m in metrics))
        for scenario in dict.fromkeys(trials["scenario"])
        for name in tables.groups
        if (scenario, name) in means.index
    ]
    head = ("Scenario", "Signal set", *(capital(each.over_trials.head) for each in metrics))
    return Table(f"Utility {utility}", head, rows, left=2)


def ideal(tables: RunTables) -> Content | None:
    """Return what no policy can exceed, and how near the selected ones come; None if the run does not say."""
    found: list[Json] = tables.summary.get("ideal") or []
    if not found:
        return None
    caption = (
        "Scores are in bits, on the test networks, with header bytes free. The ideals know at every instant which "
        "senders are on. No policy has an expected score above the upper bound. The gap is the difference between the "
        "baseline and equal shares; the table says which share of it a policy closes."
    )
    sets = [ideal_sets_table(each) for each in found if each.get("signal_sets")]
    if sets:
        caption += " Signal sets have means over training seeds, each tested on its own networks."
    selected = [ideals_table(each, _selected(each), tables.group_named) for each in found]
    return Content(caption, tables=(*sets, *selected), population=BOTH if sets else SELECTED)


def _selected(found: Json) -> str:
    return f"Selected policies, utility {found['utility']}, {found['networks']:,} networks"


def worth(tables: RunTables) -> Content | None:
    """Return the gap from the best policy without a header to ideals on a fabric, and who closes which share.

    None without ideals.
    """
    found: list[Json] = tables.summary.get("worth_at_most") or []
    if not found:
        return None
    caption = (
        "The gap from the best policy without a header to an ideal, which knows all flows, is about the most that any "
        "header can be worth with its bytes free; its 95 % confidence intervals are over trials. The ideal max-min "
        "gives all flows fair rates at every instant; srpt sends the flow with the fewest bytes left first. Scores of "
        "policies are those of the selected policies' trials. The score of a signal set is that of the baseline's "
        "policy plus the mean difference from the baseline over training seeds."
    )
    by_utility = {each["utility"]: [row for row in found if row["utility"] == each["utility"]] for each in found}
    return Content(caption, tables=tuple(map(_worth, by_utility.values())), population=BOTH, unfolded=True)


def _worth(rows: Sequence[Json]) -> Table:
    most = ", ".join(
        f"{row['ideal']} {interval(row['worth_bits'], row['worth_low'], row['worth_high'], '{:+.3f}')}" for row in rows
    )
    head = ("", "Score, bits", *(f"Of the gap to {row['ideal']}" for row in rows))
    body = [
        (f"{whose} {each['name']}", number(each["score_bits"]), *(share_of_gap(row[key][at]) for row in rows))
        for key, whose in (("signal_sets", "set"), ("policies", "policy"))
        for at, each in enumerate(rows[0][key])
    ]
    body += [(f"ideal {row['ideal']}", number(row["ideal_bits"]), *("" for _ in rows)) for row in rows]
    return Table(f"Utility {rows[0]['utility']}: bits above {rows[0]['rival']}: {most}", head, body)


def learning(tables: RunTables) -> Content | None:
    """Return the training score of every training against the packets simulated."""
    curves = learning_data(tables)
    if not curves:
        return None
    caption = (
        "The figure shows the training score in bits after each step against the packets simulated so far, as the mean "
        f"over the training seeds of a signal set with its 95 % confidence interval; there are {len(curves)} "
        "trainings. The training networks change from step to step, so small differences between steps mean nothing."
    )
    means = pd.concat(learning_means(curves), ignore_index=True)
    return Content(caption, draw_learning(curves, tables.groups), population=TRAININGS, data=means)


def learning_data(tables: RunTables) -> list[pd.DataFrame]:
    """Return a curve per training, by utility and in the order of the signal sets: a row per step.

    Columns: utility, of several trainers trainer, group (the signal set), training_seed, packets simulated up to the
    step, score after it in bits.
    """
    if "signal_set" not in tables.learning:
        return []
    whose = [name for name in ("utility", "trainer", "signal_set", "training_seed") if name in tables.learning]
    columns = [*whose, "packets", "score_bits"]
    curves = [
        whole.sort_values("step", kind="stable")[columns].rename(columns={"signal_set": "group", "score_bits": "score"})
        for _, whole in tables.learning.groupby(whose)
    ]
    order = {name: i for i, name in enumerate(tables.groups)}
    return sorted(curves, key=lambda curve: (_panel(curve), order.get(curve["group"].iloc[0], len(order))))


def _panel(curve: pd.DataFrame) -> str:
    return panel_of({str(key): value for key, value in curve.iloc[0].items()})


def learning_means(curves: Sequence[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return a table per utility, trainer and signal set: the mean score over training seeds, by packets simulated.

    Columns: those of `learning_data` without `training_seed`, and the ends of the score's 95 % interval, `low` and
    `high`. A training that has ended keeps its last score, one that has none yet is left out.
    """
    found: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for curve in curves:
        found.setdefault((_panel(curve), str(curve["group"].iloc[0])), []).append(curve)
    return [_mean(own) for own in found.values()]


def _mean(curves: Sequence[pd.DataFrame]) -> pd.DataFrame:
    ends = [curve["packets"].iloc[[0, -1]] for curve in curves]
    packets = np.linspace(min(each.iloc[0] for each in ends), max(each.iloc[1] for each in ends), MOST_DOTS)
    after = [np.searchsorted(curve["packets"], packets, side="right") for curve in curves]
    scores = [np.append(np.nan, curve["score"])[at] for curve, at in zip(curves, after, strict=True)]
    rows = pd.DataFrame([t_interval(each) for each in np.transpose(scores)], columns=["score", "low", "high"])
    whose = {key: curves[0][key].iloc[0] for key in ("utility", "trainer", "group") if key in curves[0]}
    return pd.DataFrame(whose | {"packets": packets}).join(rows)


@drawing
def draw_learning(curves: Sequence[pd.DataFrame], groups: Sequence[str]) -> Figure:
    """Draw one panel per utility and trainer; a line is a signal set, the mean over its training seeds."""
    means = learning_means(curves)
    figure, axes = panels_by_utility(map(_panel, means), 3.2)
    for panel, ax in axes.items():
        _draw_means(ax, [mean for mean in means if _panel(mean) == panel], groups)
    legend_below(figure, max(axes.values(), key=lambda ax: len(ax.get_legend_handles_labels()[1])), 4)
    return figure


def _draw_means(ax: Axes, means: Sequence[pd.DataFrame], groups: Sequence[str]) -> None:
    for mean in means:
        group, packets = str(mean["group"].iloc[0]), mean["packets"] / 1e6
        mark = mark_of(group, groups)
        ax.fill_between(packets, mean["low"], mean["high"], color=mark.hue, alpha=0.2, linewidth=0, step="post")
        look: Any = {"color": mark.hue, "linestyle": mark.dashes, "marker": mark.marker, "markersize": 4}
        ax.plot(packets, mean["score"], **look, drawstyle="steps-post", markevery=[-1], label=group)
    scores = pd.concat(means)["score"].to_numpy()
    floor, top = quantile(scores[~np.isnan(scores)], 0.05), float(np.nanmax(scores))
    pad = max(0.1 * (top - floor), 0.02)
    ax.set(xlim=(0, None), ylim=(floor - pad, top + pad))
    ax.set(xlabel="packets simulated in training, millions", ylabel="training score, bits")
