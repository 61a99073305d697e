"""The first section of a report on headers: which header we recommend, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.regions import inside, regions_of
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.pareto import Point, draw_pareto
from lcca.evaluation.report.figures.saving import inline_svg, save
from lcca.evaluation.report.sections.section import Content
from lcca.evaluation.report.words.headline import NO_BREAK, Statement, counts, percent
from lcca.evaluation.report.words.statements import capital, coverage
from lcca.evaluation.settling.false_discovery import controlled_verdicts
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.json_values import finite

Json = dict[str, Any]

PARETO_TITLE = "Net benefit against header bytes"

BADGES = {"pays": "better", "does not pay": "worse", "open": "not settled"}
"""Verdicts whose colours and markers decisions have."""


@dataclass(frozen=True)
class RegionBenefit:
    """The net benefit of a header in one region of the network space, in bits; ends are None where unknown."""

    header: str
    utility: str
    region: str
    mean: float
    low: float | None
    high: float | None
    n: int
    verdict: str


@dataclass(frozen=True)
class WhichHeader:
    """The section.

    Attributes:
        title: the answer in one line.
        statements: the recommendation and its reasons, the most important first.
        rows: of `net_benefit.rows` in summary.json, by net benefit over training seeds, with the `badge` of a decision.
        caption: of the figure.
        svg: the Pareto figure.
        regions: net benefit by region; empty if networks are not known.
        basis: assumptions and limits, a sentence each.
        population: a sentence on the policies that the section is about.
    """

    title: str
    statements: tuple[Statement, ...]
    rows: tuple[Json, ...]
    caption: str
    svg: str
    regions: tuple[RegionBenefit, ...]
    basis: tuple[str, ...]
    population: str


def which_header(tables: RunTables, figures: Path) -> WhichHeader | None:
    """Return the section, its figure saved in a folder; None for a run without headers."""
    benefits = tables.summary.get("net_benefit")
    if not benefits or not benefits["rows"]:
        return None
    rows = sorted(benefits["rows"], key=lambda row: (row["utility"], -(row["net_set"]["difference"] or 0)))
    content = pareto(tables)
    assert content is not None and content.figure is not None
    save(content.figure, figures, "pareto")
    return WhichHeader(
        title=title(benefits),
        statements=tuple(_statements(benefits, _gaps(tables))),
        rows=tuple(row | {"badge": BADGES[row["decision"]]} for row in rows),
        caption=content.caption,
        svg=inline_svg(content.figure, "pareto", escape(f"{PARETO_TITLE}. {content.caption}")),
        regions=tuple(_regions(tables, rows)),
        basis=tuple(_basis(tables, benefits)),
        population=_population(rows),
    )


def pareto(tables: RunTables) -> Content | None:
    """Return net benefit against bytes; None for a run without headers."""
    benefits = tables.summary.get("net_benefit")
    if not benefits or not benefits["rows"]:
        return None
    points = _points(benefits)
    return Content(_caption(benefits), draw_pareto(points, benefits["baseline"]), data=data_table(points))


def _points(benefits: Json) -> list[Point]:
    fronts = {choice["utility"]: choice["front"] for choice in benefits["choices"]}
    return [
        Point(
            row["header"],
            row["utility"],
            row["wire_bytes"],
            row["net_set"]["difference"],
            row["net_set"]["low"],
            row["net_set"]["high"],
            BADGES[row["decision"]],
            row["header"] in fronts[row["utility"]],
            row["required"],
        )
        for row in benefits["rows"]
    ]


def _caption(benefits: Json) -> str:
    sure = coverage(
        [pair for choice in benefits["choices"] for pair in choice["pairs"]]
    )  # the net benefits are of them
    return (
        f"Net benefit: difference of the score from {benefits['baseline']} in bits, mean over training seeds, the "
        f"header's bytes charged on packets of {benefits['packet_bytes']} bytes, with its interval ({sure}), "
        "against the bytes on a data packet. Dashed: the Pareto front, headers that no other beats in both, by their "
        "estimates. Band: less than what a header must bring. ▲ pays, ▼ does not pay, ○ open; without a line: too few "
        "training seeds for an interval. Headers of equal size are drawn side by side."
    )


# --- in words


def title(benefits: Json) -> str:
    """Return the answer in one line."""
    choices = benefits["choices"]
    if notes := list(dict.fromkeys(filter(None, (no_choice_yet(choice.get("pairs", ())) for choice in choices)))):
        return "; ".join(capital(note) for note in notes)
    takes = {choice["take"] for choice in choices}
    if len(takes) > 1:
        parts = [f"{choice['take']} (utility {choice['utility']})" for choice in choices]
        return f"The recommendation depends on the utility: {', '.join(parts)}"
    take = takes.pop()
    if take != benefits["baseline"]:
        return f"Take {_of(benefits, choices[0])}"
    opened = [row["header"] for row in benefits["rows"] if row["decision"] == "open"]
    left = f"{len(opened)} of {len(benefits['rows'])} headers are open" if opened else "no header pays"
    return f"Keep {take} without a header: {left}"


def _of(benefits: Json, choice: Json) -> str:
    row = _row(benefits, choice["take"], choice["utility"])
    value = percent(row["net_set"]["throughput_equivalent_percent"]["difference"] or 0)
    sure = "" if row["decision"] == "pays" else f" ({row['decision']})"
    return f"{row['header']}{sure}: {_bytes(row['wire_bytes'])}, {value} throughput with its bytes charged"


def _gaps(tables: RunTables) -> dict[str, float]:
    """Return the bits between the baseline's trainings and the fair share, by utility."""
    fair = {row["utility"]: row["fair_bits"] for row in tables.summary.get("ideal", ())}
    base = tables.summary["net_benefit"]["baseline"]
    rows = [row for row in tables.summary.get("signal_sets", ()) if row["name"] == base and row["utility"] in fair]
    return {row["utility"]: fair[row["utility"]] - row["score_bits"] for row in rows}


def _statements(benefits: Json, gaps: Mapping[str, float]) -> Iterator[Statement]:
    for choice in benefits["choices"]:
        yield _choice(benefits, choice, gaps.get(choice["utility"]))
        for row in sorted(benefits["rows"], key=lambda row: -(row["net_set"]["difference"] or 0)):
            if row["utility"] == choice["utility"]:
                yield Statement(
                    BADGES[row["decision"]], sentence(row, benefits["baseline"], len(benefits["choices"]) > 1)
                )


def _choice(benefits: Json, choice: Json, gap: float | None) -> Statement:
    under = f" under utility {choice['utility']}" if len(benefits["choices"]) > 1 else ""
    if note := no_choice_yet(choice["pairs"]):
        return Statement("not settled", f"{capital(note)}{under}.")
    base, answers = benefits["baseline"], choice["answers"]
    others = [name for name in answers if name != choice["take"]]
    left = (
        f"not settled worse than any other are also {', '.join(others)}"
        if others
        else "every other choice is settled worse"
    )
    if choice["take"] == base:
        return Statement("not settled", f"Keep {base} without a header{under}: no bytes; {left}.")
    row = _row(benefits, choice["take"], choice["utility"])
    text = f"We recommend {row['header']}{under}, {_bytes(row['wire_bytes'])}, the fewest of what may be best; {left}."
    if gap is not None and gap > 0:
        share = 100 * row["net_set"]["difference"] / gap
        closed = percent(share, signed=False)
        text += f" It closes {closed} of the gap between {base} and the fair share, its bytes charged."
    return Statement(BADGES[row["decision"]], text)


def sentence(row: Json, base: str, name_utility: bool) -> str:
    """Return the result for one header in a sentence."""
    net, gross, cost = row["net_set"], row["gross_set"], row["cost_set"]
    required = percent(row["required_percent"], signed=False)
    words = {
        "pays": f"pays: it brings more than {required} with its {_bytes(row['wire_bytes'])} charged",
        "does not pay": f"does not pay: it brings less than {required} with its {_bytes(row['wire_bytes'])} charged",
        "open": f"open whether it brings {required}{_outlook(net)}",
    }[row["decision"]]
    paid = "" if cost is None else f"; signals {_percent(gross)}, bytes {_percent(cost)}"
    if gross["verdict"] == "worse":
        words += f"; trained too little: worse than {base} with its bytes free, although a policy can ignore signals"
    if gross.get("same"):
        words += f"; {gross['same']}"
    by = f" (utility {row['utility']})" if name_utility else ""
    seeds = f"{net['n']} training seed{'' if net['n'] == 1 else 's'}"
    return f"{row['header']}{by}: {words}. Net {_percent(net)}{_ends(net)} over {seeds}{paid}."


def _outlook(net: Json) -> str:
    return f" (forecast: {counts(*net['likely_n'])} training seeds)" if net["likely_n"] else ""


def _percent(comparison: Json) -> str:
    value = comparison["throughput_equivalent_percent"]["difference"]
    return "unknown" if value is None else percent(value)


def _ends(comparison: Json) -> str:
    ends = comparison["throughput_equivalent_percent"]
    if ends["low"] is None or ends["high"] is None:
        return ""
    return f" [{percent(ends['low']).removesuffix(NO_BREAK + '%')}, {percent(ends['high'])}]"


def _bytes(count: int) -> str:
    return f"{count}{NO_BREAK}byte{'' if count == 1 else 's'}"


def _row(benefits: Json, header: str, utility: str) -> Json:
    found: Json = next(row for row in benefits["rows"] if (row["header"], row["utility"]) == (header, utility))
    return found


# --- assumptions and evidence


def _population(rows: Sequence[Json]) -> str:
    seeds = max(row["net_set"]["n"] for row in rows)
    trained = f"the mean over {seeds} training seeds" if seeds > 1 else "one training each"
    return f"Trainings with each header's signals: {trained}, each on fresh networks of its own."


def _basis(tables: RunTables, benefits: Json) -> Iterator[str]:
    rows = benefits["rows"]
    opened = [row for row in rows if row["decision"] == "open"]
    if opened:
        yield (
            f"{len(opened)} of {len(rows)} headers are open. `training_seeds: auto` adds training seeds until all are "
            "settled."
        )
    if any(row["gross_set"]["verdict"] == "worse" for row in rows):
        yield (
            "A header that is worse with its bytes free was trained too little, since a policy can ignore signals. "
            "More signals need more rules: give them a larger budget."
        )
    what = "of slowdown" if tables.on_fabric else "of throughput at equal delay"
    yield (
        f"A header must bring {benefits['required_percent']:g}{NO_BREAK}% {what} to pay "
        "(`required_percent`); the cost of hardware is to be put there."
    )
    yield (
        f"Bytes are charged on packets of {benefits['packet_bytes']} bytes: each packet takes that much longer on the "
        "link. The cost is larger for shorter packets."
    )
    ns3 = tables.summary.get("ns3")
    yield (
        "The selected policies were validated in ns-3 (see below)."
        if ns3
        else "These policies were not validated in ns-3: add validation.ns3 to the campaign, or run lcca evaluate on "
        "them with --simulator ns3."
    )


# --- regions


def _regions(tables: RunTables, rows: Sequence[Json]) -> list[RegionBenefit]:
    """Return net benefit by region, with the false-discovery rate controlled over all of them."""
    regions = [(region, region.of(tables.networks)) for region in regions_of(tables.networks)]
    found = []
    for row in rows:
        differences = tables.differences(row["net"]).sort_values("network")
        for region, networks in regions:
            found.append((row, region, inside(differences, networks, row["net"]["margin"], tables.block)))
    verdicts = controlled_verdicts([each.evidence for _, _, each in found])
    return [
        RegionBenefit(
            row["header"],
            row["utility"],
            f"{region.name}, {region.bound}",
            each.mean,
            finite(each.low),
            finite(each.high),
            each.n,
            verdict.name,
        )
        for (row, region, each), verdict in zip(found, verdicts, strict=True)
        if each.n
    ]
