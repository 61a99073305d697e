"""The tables of `lcca map`."""

from __future__ import annotations

from typing import Any

from lcca.cli.printing.console import print_table, wide_console
from lcca.evaluation.report.words.maps import notes, region_table, worth_in_words


def print_map(summary: dict[str, Any]) -> None:
    """Print a headline and a table of regions for each pair and metric."""
    for each in summary["maps"]:
        wide_console().print(worth_in_words(each), style="bold", markup=False)
        print_table(region_table(each, summary), *notes(each, summary)[:1])
    for note in notes(summary["maps"][-1], summary)[1:]:
        wide_console().print(note, style="dim", markup=False)
