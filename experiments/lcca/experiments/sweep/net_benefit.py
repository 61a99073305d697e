"""The net benefit of a campaign's headers, from its test trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.net_benefit import CHARGED, NetBenefit, best_of, choose
from lcca.experiments.sweep.groups import Group

if TYPE_CHECKING:
    from lcca.experiments.sweep.selection import Chosen


def header_benefits(group: Group, trials: pd.DataFrame, total: int) -> list[NetBenefit]:
    """Return the net benefit of every header; `total` comparisons share α in the adjusted verdicts."""
    own = [c for c in group.selected.values() if c.learner.candidate.header is not None]
    return [_benefit(group, trials, each, total) for each in own]


def benefits_content(
    groups: Sequence[Group], trials: dict[str, pd.DataFrame], headers: int, packet_bytes: int
) -> dict[str, Any]:
    """Return what summary.json holds about headers.

    Args:
        groups: the policies under each utility.
        trials: of the test, by utility.
        headers: how many there are.
        packet_bytes: of a data packet without them.
    """
    rows, choices = [], []
    for group in groups:
        tested = trials[group.utility.name]
        own = header_benefits(group, tested, len(groups) * headers)
        rows += [row.to_json() for row in own]
        choices.append(_choice(group, tested, own))
    return {"baseline": groups[0].baseline, "packet_bytes": packet_bytes, "rows": rows, "choices": choices}


def _choice(group: Group, trials: pd.DataFrame, rows: list[NetBenefit]) -> dict[str, Any]:
    """Return which header to take, and the comparisons of the others (B) with the best one (A)."""
    best = best_of(rows)
    others = [row for row in rows if best is not None and row.header != best.header]
    rivals = [(row, group.compare(trials, best.net.B, row.net.B, len(others))) for row in others if best]
    choice = choose(group.utility.name, rows, rivals)
    return {**vars(choice), "front": list(choice.front), "rivals": [each.to_json() for _, each in rivals]}


def _benefit(group: Group, trials: pd.DataFrame, selected: Chosen, total: int) -> NetBenefit:
    candidate, free = selected.learner.candidate, selected.learner.id
    charged = free + CHARGED
    gross = group.compare(trials, group.base, free, total)
    gross_set = group.compare_candidates(trials, candidate.name, total)
    return NetBenefit(
        header=candidate.name,
        title=candidate.signals.title,
        utility=group.utility.name,
        wire_bytes=candidate.wire_bytes,
        reflected_bytes=candidate.reflected_bytes,
        packet_bytes=candidate.packet_bytes,
        gross=gross,
        cost=group.compare(trials, free, charged, total) if candidate.costs else None,
        net=group.compare(trials, group.base, charged, total) if candidate.costs else gross,
        gross_set=gross_set,
        net_set=group.compare_candidates(trials, candidate.name, total, CHARGED) if candidate.costs else gross_set,
    )
