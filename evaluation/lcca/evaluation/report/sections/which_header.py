"""The first page of a report on headers: which one to take, for a reader who reads only that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lcca.evaluation.comparison.regions import regions_of
from lcca.evaluation.report.figures.pareto import Point, draw_pareto
from lcca.evaluation.report.figures.style import inline_svg, save
from lcca.evaluation.report.words.headline import NO_BREAK, Statement, counts, percent
from lcca.evaluation.settling.false_discovery import controlled_verdicts, sequential
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]


@dataclass(frozen=True)
class RegionWorth:
    """The net worth of a header in one region of the network space, in bits; ends are None where unknown."""

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
    """The page.

    Attributes:
        title: the answer in one line.
        statements: what to take and why, the most important first.
        rows: of `worth.rows` in summary.json, by net worth.
        caption: of the figure.
        svg: the Pareto figure.
        regions: net worth by region; empty if networks are not known.
        basis: what all of it rests on, a sentence each.
    """

    title: str
    statements: tuple[Statement, ...]
    rows: tuple[Json, ...]
    caption: str
    svg: str
    regions: tuple[RegionWorth, ...]
    basis: tuple[str, ...]


def which_header(tables: RunTables, figures: Path) -> WhichHeader | None:
    """Return the first page, its figure saved in a folder; None for a run without headers."""
    worth = tables.summary.get("worth")
    if not worth or not worth["rows"]:
        return None
    rows = sorted(worth["rows"], key=lambda row: (row["utility"], -(row["net"]["difference"] or 0)))
    caption = _caption(rows[0], worth["baseline"])
    drawn = draw_pareto(_points(worth), worth["baseline"])
    save(drawn, figures, "pareto")
    return WhichHeader(
        title=title(worth),
        statements=tuple(_statements(worth)),
        rows=tuple(rows),
        caption=caption,
        svg=inline_svg(drawn, "pareto", escape(f"Net worth against header bytes. {caption}")),
        regions=tuple(_regions(tables, rows)),
        basis=tuple(_basis(tables, worth)),
    )


def _points(worth: Json) -> list[Point]:
    fronts = {choice["utility"]: choice["front"] for choice in worth["choices"]}
    return [
        Point(
            row["header"],
            row["utility"],
            row["wire_bytes"],
            row["net"]["difference"],
            row["net"]["low"],
            row["net"]["high"],
            row["net"]["verdict"],
            row["header"] in fronts[row["utility"]],
            row["net"]["margin"],
        )
        for row in worth["rows"]
        if row["net"]["difference"] is not None
    ]


def _caption(row: Json, baseline: str) -> str:
    return (
        f"Net worth over {baseline} in bits (bytes charged on packets of {row['packet_bytes']} bytes) with its "
        "interval, against the bytes on a data packet. Dashed: the front of headers that no other beats in both, by "
        "their estimates. The band is the margin that does not matter. ▲ better than the baseline, ▼ worse, "
        "■ equivalent, ○ not settled; headers of equal size stand beside each other."
    )


# --- in words


def title(worth: Json) -> str:
    """Return the answer in one line."""
    choices = worth["choices"]
    takes = {choice["take"] for choice in choices}
    if takes == {None}:
        return f"No header is shown to be worth its bytes over {worth['baseline']}"
    if len(choices) == 1 or len(takes) == 1:
        sure = _row(worth, choices[0]["take"], choices[0]["utility"])["net_set"]["verdict"] == "better"
        return f"{'Take' if sure else 'These trained policies say: take'} {_of(worth, choices[0])}"
    parts = [f"{choice['take'] or worth['baseline']} (utility {choice['utility']})" for choice in choices]
    return f"Which header depends on the utility: {', '.join(parts)}"


def _of(worth: Json, choice: Json) -> str:
    row = _row(worth, choice["take"], choice["utility"])
    value = percent(row["net"]["throughput_equivalent_percent"]["difference"] or 0)
    return f"{row['header']}: {_bytes(row['wire_bytes'])}, worth {value} throughput-equivalent net of them"


def _statements(worth: Json) -> Iterator[Statement]:
    for choice in worth["choices"]:
        yield _choice(worth, choice)
        for row in sorted(worth["rows"], key=lambda row: -(row["net"]["difference"] or 0)):
            if row["utility"] == choice["utility"]:
                yield Statement(row["net"]["verdict"], sentence(row, worth["baseline"], len(worth["choices"]) > 1))


def _choice(worth: Json, choice: Json) -> Statement:
    under = f" under utility {choice['utility']}" if len(worth["choices"]) > 1 else ""
    base = worth["baseline"]
    if choice["take"] is None:
        return Statement("not settled", f"Keep {base}{under}: no header is settled better once its bytes are paid.")
    take = _row(worth, choice["take"], choice["utility"])
    if choice["take"] == choice["best"]:
        text = f"Take {take['header']}{under}: of all headers settled better than {base} it has the largest net worth"
        text += ", and no cheaper one is shown to do as well."
    else:
        best = _row(worth, choice["best"], choice["utility"])
        text = (
            f"Take {take['header']} ({_bytes(take['wire_bytes'])}){under}: the largest estimate is that of "
            f"{best['header']} ({_bytes(best['wire_bytes'])}), but the cheaper one is not worse by more than the "
            "margin."
        )
    return Statement("better", text)


def sentence(row: Json, base: str, name_utility: bool) -> str:
    """Return what there is to say of one header."""
    net, gross, cost = row["net"], row["gross"], row["cost"]
    words = {
        "better": f"worth its {_bytes(row['wire_bytes'])}",
        "equivalent": f"makes no difference that matters against {base}",
        "worse": f"not worth its {_bytes(row['wire_bytes'])}: worse than {base}",
        "not settled": "not settled" + _outlook(net),
    }[net["verdict"]]
    if row["cost"] is None and net["verdict"] in ("better", "worse"):
        words = f"{net['verdict']} than {base}, and adds no bytes"
    paid = "" if cost is None else f"; signals {_percent(gross)}, bytes {_percent(cost)}"
    if gross["verdict"] == "worse":
        words = f"trained too little: worse than {base} even with its bytes free, although it could ignore its signals"
    by = f" (utility {row['utility']})" if name_utility else ""
    return f"{row['header']}{by}: {words}. Net {_percent(net)}{_ends(net)}{paid}."


def _outlook(net: Json) -> str:
    return f", about {counts(*net['likely_n'])} pairs would tell" if net["likely_n"] else ""


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


def _row(worth: Json, header: str, utility: str) -> Json:
    found: Json = next(row for row in worth["rows"] if (row["header"], row["utility"]) == (header, utility))
    return found


# --- what it rests on


def _basis(tables: RunTables, worth: Json) -> Iterator[str]:
    rows = worth["rows"]
    seeds = max(row["net_set"]["n"] for row in rows)
    pairs = max(row["net"]["n"] for row in rows)
    trained = f"the best of {seeds} trainings each" if seeds > 1 else "one training each"
    yield (
        f"These are policies learnt with each header's signals, {trained}, met on up to {pairs:,} fresh networks; "
        "every interval is valid at every look."
    )
    told = [row for row in rows if row["net_set"]["verdict"] != "not settled"]
    if len(told) < len(rows):
        yield (
            f"Over training seeds {len(rows) - len(told)} of {len(rows)} headers are not settled: another training "
            "could find better policies and change their order. Add training_seeds before committing silicon."
        )
    if any(row["gross"]["verdict"] == "worse" for row in rows):
        yield (
            "A header that does worse with its bytes free was trained too little: a policy may ignore signals, so none "
            "can be worth less than nothing. More signals make more rules to learn; give them a larger budget."
        )
    yield (
        f"Bytes are charged on packets of {worth['packet_bytes']} bytes: the link takes that much longer for each. "
        "Shorter packets pay more; the price of the switch's hardware is not in it."
    )
    ns3 = tables.summary.get("ns3")
    yield (
        "ns-3 has checked the champions (see below)."
        if ns3
        else "ns-3 has not checked these policies: add validation.ns3 to the campaign, or run lcca evaluate on them "
        "with --simulator ns3."
    )


# --- regions


def _regions(tables: RunTables, rows: Sequence[Json]) -> list[RegionWorth]:
    """Return net worth by region, with the false-discovery rate controlled over all of them."""
    regions = [(region, region.of(tables.networks)) for region in regions_of(tables.networks)]
    found = []
    for row in rows:
        differences = tables.differences(row["net"]).sort_values("network")
        for region, networks in regions:
            inside = differences.loc[differences["network"].isin(networks), "difference"]
            found.append((row, region, sequential(inside, row["net"]["margin"])))
    verdicts = controlled_verdicts([each.evidence for _, _, each in found])
    return [
        RegionWorth(
            row["header"],
            row["utility"],
            f"{region.name}, {region.bound}",
            each.mean,
            _end(each.low),
            _end(each.high),
            each.n,
            verdict.name,
        )
        for (row, region, each), verdict in zip(found, verdicts, strict=True)
        if each.n
    ]


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None
