"""The section on where the bits between policies and the fair share go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.bounds.gap import GapGroup, gap_groups, gap_phases
from lcca.evaluation.report.figures.style import HUES, INK, drawing, mark_of, panels
from lcca.evaluation.report.sections.section import TRAININGS, Content, data_table
from lcca.evaluation.report.words.gap import NOTE, gap_table, phase_table
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import BELOW_FAIR, GAP_PARTS
from lcca.evaluation.trials.tables import RunTables, group_of

Json = dict[str, Any]

KINDS = (layout.RANK, "compare", "evaluate")
"""Runs without trainings whose trials tell of the fair share; each names its phase as well."""

HATCHES = ("", "////", "....")
"""Of the parts, to tell them apart without colours."""


def gap(tables: RunTables) -> Content | None:
    """Return where the bits go by utility; None where no trial tells."""
    found = {utility: groups for utility, trials in _trials(tables) if (groups := gap_groups(trials))}
    if not found:
        return None
    networks = max(each.networks for groups in found.values() for each in groups)
    caption = (
        "Stacks show by how many bits the mean score is below what is possible, and by which cause, over up to "
        f"{networks:,} networks each. Lines show the same by number of senders, with one standard error over networks. "
        f"{NOTE}"
    )
    parts = tuple(
        gap_table(groups, f"{utility and f'Utility {utility}: '}± one standard error over networks")
        for utility, groups in found.items()
    )
    whose = "Selected policies" if tables.has_trainings else "All networks"
    parts += tuple(phase_table(phases, whose, tables.group_named) for phases in _phases(tables) if phases)
    rows = [{"utility": utility, **each.to_json()} for utility, groups in found.items() for each in groups]
    population = TRAININGS if tables.has_trainings else ""
    return Content(caption, draw_gap(found), tables=parts, population=population, data=data_table(rows))


def _trials(tables: RunTables) -> list[tuple[str, pd.DataFrame]]:
    """Return trials by utility, named by what the report calls their policies, with what their networks are."""
    if not tables.has_trainings:
        kind = tables.manifest["kind"]
        rows = tables.run.rows(kind) if kind in KINDS else pd.DataFrame()
        return [(str(utility), own) for utility, own in rows.groupby("utility")] if "senders" in rows else []
    by_utility: dict[str, list[pd.DataFrame]] = {}
    for policy, trials in tables.trials_by_policy():
        by_utility.setdefault(policy["utility"], []).append(trials.assign(policy=group_of(policy)))
    networks = tables.trained_networks
    if networks.empty:
        return []
    return [(utility, pd.concat(own).merge(networks, on="network")) for utility, own in by_utility.items()]


def _phases(tables: RunTables) -> list[list[Json]]:
    """Return what is lost by phase, by utility: of a sweep by the policies that it selected, else by all."""
    if not tables.has_trainings:
        return [gap_phases(trials) for _, trials in _trials(tables)]
    selected = tables.trials[tables.trials["policy"].isin([each["id"] for each in tables.policies])]
    return [gap_phases(own) for _, own in selected.groupby("utility")]


@drawing
def draw_gap(found: Mapping[str, Sequence[GapGroup]]) -> Figure:
    """Draw two panels per utility: the parts of every policy's gap, and the gap by number of senders."""
    figure, axes = panels(2 * len(found), 3.2, columns=2)
    for i, (utility, groups) in enumerate(found.items()):
        names = list(dict.fromkeys(each.policy for each in groups))
        _draw_parts(axes[2 * i], [each for each in groups if not each.by])
        _draw_by_senders(axes[2 * i + 1], groups, names)
        axes[2 * i].set_title(f"utility {utility}", loc="left")
    return figure


def _draw_parts(ax: Axes, groups: Sequence[GapGroup]) -> None:
    """Draw a stack per policy; parts below 0 hang from the line."""
    x, tops = np.arange(len(groups)), np.zeros((2, len(groups)))
    for metric, hue, hatch in zip(GAP_PARTS, HUES[4:7], HATCHES, strict=True):
        values = np.array([each.bits[metric.name] or 0.0 for each in groups])
        stack = np.where(values < 0, tops[0], tops[1])
        ax.bar(x, values, 0.7, stack, color=hue, hatch=hatch, edgecolor=INK, linewidth=0.5, label=metric.label)
        tops += np.where([values < 0, values >= 0], values, 0.0)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xticks(x, [each.policy for each in groups])
    if max(len(each.policy) for each in groups) * len(groups) > 20:
        ax.tick_params(axis="x", rotation=30)
    ax.set_ylabel("below what is possible, bits")
    ax.grid(visible=False, axis="x")
    ax.legend()


def _draw_by_senders(ax: Axes, groups: Sequence[GapGroup], names: Sequence[str]) -> None:
    """Draw a line per policy, or points where all networks have about as many senders."""
    by_senders = [each for each in groups if each.by == "senders"]
    shown = by_senders or [each for each in groups if not each.by]
    begins = sorted({each.low for each in shown})
    for name in names:
        own, mark = [each for each in shown if each.policy == name], mark_of(name, names)
        x = [begins.index(each.low) for each in own]
        bits, errors = ([each.bits[key] or 0.0 for each in own] for key in (BELOW_FAIR.name, f"{BELOW_FAIR.name}_se"))
        ax.errorbar(x, bits, errors, color=mark.hue, marker=mark.marker, linestyle=mark.dashes, label=name)
    words = {each.low: each.words.removesuffix(" senders").removesuffix(" sender") for each in shown}
    ax.set_xticks(range(len(begins)), [words[low].replace(" to ", "–") for low in begins])
    ax.set_xlabel("senders" if by_senders else "")
    ax.legend()
