"""A search for a header in words: what to build within each budget, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcca.evaluation.report.words.statements import listed, number, signs, with_interval
from lcca.evaluation.report.words.table import Table

Json = Mapping[str, Any]


def headline(summary: Json) -> str:
    """Return what to build within the whole budget."""
    whole, by_name = buildable(summary), _by_name(summary)
    if summary["placebo_pays"]:
        return "nothing can be said: a number that says nothing seems to pay, so the search or its budget is at fault"
    within = f"within {_size(whole)}"
    if whole["take"] is None:
        rest = f"; {listed(whole['open'])} not settled" if whole["open"] else ""
        return f"no header pays {within}{rest}"
    row = by_name[whole["take"]]
    return signs(f"{within}, {row['header']} pays: {with_interval(row)} bits net of its {_bytes(row['bytes'])}")


def buildable(summary: Json) -> Json:
    """Return the answer for the whole budget that can be built: of bounded state."""
    return next(each for each in reversed(summary["design"]) if each["state_bits"] is not None)


def answer_table(summary: Json) -> Table:
    """Return a row per budget: the header to take, or none."""
    by_name = _by_name(summary)
    rows = []
    for each in summary["design"]:
        taken = by_name.get(each["take"])
        cells = (signs(with_interval(taken)), f"{taken['bytes']}", _state(taken["state_bits"])) if taken else ("",) * 3
        others = "; ".join(filter(None, (_named("as good", each["as_good"]), _named("open", each["open"]))))
        rows.append((_size(each), each["take"] or "none", *cells, others))
    head = ("at most", "build", "net, bits", "bytes", "state, bits", "others")
    return Table("The cheapest header that pays and is not settled worse than another", head, rows, {"build", "others"})


def confirmed_table(summary: Json) -> Table:
    """Return a row per header that was confirmed."""
    screened = {row["header"]: row["screened"] for row in summary["tried"]}
    rows = [
        (
            row["header"],
            *("; ".join(f"{each['source']}, {each['measured']}, {each['bits']} bits" for each in row["says"]),),
            *(f"{row['bytes']}", _state(row["state_bits"]), f"{row['operations']}", signs(with_interval(row))),
            *(row["decision"], "placebo" if row["placebo"] else "oracle" if row["oracle"] else ""),
            number(screened[row["header"]], 4, signed=True),
        )
        for row in sorted(summary["confirmed"], key=lambda row: -row["difference"])
    ]
    head = ("header", "says", "bytes", "state, bits", "operations", "net, bits", "pays?", "", "order in the search")
    return Table(f"Confirmed against {summary['baseline']}", head, rows, {"header", "says", "pays?", ""})


def tried_table(summary: Json) -> Table:
    """Return a row per header that was screened."""
    rows = [
        (row["phase"], row["header"], number(row["screened"], 4, signed=True), number(row["error"], 4))
        for row in summary["tried"]
    ]
    return Table("All that was tried, phase by phase", ("phase", "header", "order", "its error"), rows, 2)


def notes(summary: Json) -> list[str]:
    """Return what a reader must know, in sentences."""
    seeds = {row["n"] for row in summary["confirmed"]}
    found = [
        f"Confirmed values rest on {' or '.join(map(str, sorted(seeds)))} training seeds and networks that no phase of "
        "the search has met; their confidence intervals hold together.",
        f"A header pays if it brings {summary['required_percent']:g} % of {summary['percent_of']} net of its bytes.",
        "The order in the search is no worth: the best of many is so by luck too.",
    ]
    if bound := summary["bound"]:
        text = f"All numbers of the network together, free and exact, bring {with_interval(bound)} bits"
        found.append(signs(f"{text} by this learner: about the most that any header of them can."))
    return found


NOT_TRIED = (
    "Not tried: numbers of the way back, records of each hop, headers on some packets alone, three numbers or more, "
    "what hosts say of themselves beside bytes left, and paths."
)


def _size(row: Json) -> str:
    state = "any state" if row["state_bits"] is None else f"{row['state_bits']:,} bits of state"
    return f"{_bytes(row['bytes'])} and {state}"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _state(bits: int | None) -> str:
    return "grows with flows" if bits is None else f"{bits:,}"


def _named(what: str, names: list[str]) -> str:
    return f"{what}: {', '.join(names)}" if names else ""


def _by_name(summary: Json) -> dict[str, Json]:
    return {row["header"]: row for row in summary["confirmed"]}
