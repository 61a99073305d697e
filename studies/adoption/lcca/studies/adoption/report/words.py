"""What adopters of a policy gain, and what it costs the others, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcca.evaluation.report.words.statements import with_interval
from lcca.evaluation.report.words.table import Table

POPULATIONS = ("adopters", "others")


def adoption_table(content: Mapping[str, Any]) -> Table:
    """Return a row per share: both verdicts, and what adopters take of the throughput over their fair share of it."""
    head = ("share", "adopters", "", "others", "", "adopters take", "Jain's index")
    rows = []
    for each in content["adoption"]:
        cells = [cell for of in POPULATIONS for cell in _cells(each[of])]
        fair = each["fairness"]
        rows.append((f"{100 * each['share']:g} %", *cells, _mean(fair["taken_adopters"]), _mean(fair["jain_all"])))
    whole = content["alone"][1]["fairness"]
    rows.append(("100 %", *_cells(content["everyone"]), "", "", "", _mean(whole["jain_all"])))
    title = f"{content['adopted']} beside {content['other']}: score, and that of the same senders without adoption"
    return Table(title, head, rows)


def _cells(row: Mapping[str, Any]) -> tuple[str, str]:
    return with_interval(row), row["verdict"]


def _mean(value: Mapping[str, Any]) -> str:
    return "–" if value["mean"] is None else f"{value['mean']:.3f}"
