"""The first section of a report on headers: which header we recommend, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.regions import inside, regions_of
from lcca.evaluation.fabric.merit import starved
from lcca.evaluation.report.figures.saving import inline_svg, save
from lcca.evaluation.report.figures.style import (
    FAINT,
    INK,
    PAPER,
    VERDICT_HUES,
    VERDICT_MARKERS,
    drawing,
    is_narrow,
    letters,
    panels_by_utility,
)
from lcca.evaluation.report.sections.section import Content, data_table
from lcca.evaluation.report.words.headline import Statement
from lcca.evaluation.report.words.merit import BADGES, beside_score, bytes_words, net_percent, percent_of
from lcca.evaluation.report.words.statements import (
    NO_BREAK,
    capital,
    counted_units,
    counts,
    coverage,
    interval,
    listed,
    percent,
    void,
)
from lcca.evaluation.report.words.table import Columns, Table, stacked
from lcca.evaluation.settling.false_discovery import controlled_verdicts
from lcca.evaluation.trials.tables import RunTables

Json = dict[str, Any]

PARETO_TITLE = "Net benefit against header bytes"

TICKS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)


def which_header(tables: RunTables, figures: Path) -> Json | None:
    """Return the section, its figure saved in a folder; None for a run without headers.

    Keys: title, the answer in one line; statements, the recommendation and its reasons; table, a row per header, by net
    benefit over training seeds; caption and svg of the figure; regions, net benefit by region, None if networks are not
    known; basis, assumptions and limits, a sentence each;
    population, a sentence on the policies that the section is about.
    """
    content = pareto(tables)
    if content is None or content.figure is None:
        return None
    benefits = tables.summary["net_benefit"]
    rows = sorted(benefits["rows"], key=lambda row: (row["utility"], -(row["net_set"]["difference"] or 0)))
    save(content.figure, figures, "pareto")
    seeds = max(row["net_set"]["n"] for row in rows)
    trained = f"means over {seeds} training seeds" if seeds > 1 else "of one training each"
    return {
        "title": title(benefits),
        "statements": list(_statements(benefits, _gaps(tables), tables.summary)),
        "table": _table(rows),
        "caption": content.caption,
        "svg": inline_svg(content.figure, "pareto", escape(f"{PARETO_TITLE}. {content.caption}")),
        "regions": _regions(tables, rows),
        "basis": list(_basis(tables, benefits)),
        "population": (
            f"Policies were trained with the signals of each header. Values are {trained}, tested on fresh networks."
        ),
    }


def pareto(tables: RunTables) -> Content | None:
    """Return net benefit against bytes; None for a run without headers."""
    benefits = tables.summary.get("net_benefit")
    if not benefits or not benefits["rows"]:
        return None
    # The net benefits are of the pairs.
    sure = coverage([pair for choice in benefits["choices"] for pair in choice["pairs"]])
    caption = (
        f"The net benefit is the difference of the score from {benefits['baseline']} in bits, as a mean over training "
        f"seeds, with the header's bytes charged on packets of {benefits['packet_bytes']:,} bytes. Vertical lines are "
        f"confidence intervals ({sure}); a header without a line has too few training seeds for one. The dashed line "
        "is the Pareto front: no other header has a larger estimate with as few bytes. In the grey band a header "
        "brings less than it must. ▲ pays, ▼ does not pay, ○ open. Headers of equal size are drawn side by side."
    )
    fronts = {choice["utility"]: choice["front"] for choice in benefits["choices"]}
    points = [
        {
            **{key: row[key] for key in ("header", "utility", "wire_bytes")},
            "net": row["net_set"]["difference"],
            **{end: row["net_set"][end] for end in ("low", "high")},
            "verdict": BADGES[row["decision"]],
            "on_front": row["header"] in fronts[row["utility"]],
            "margin": row["required"],
        }
        for row in benefits["rows"]
    ]
    return Content(caption, draw_pareto(points, benefits["baseline"]), data=data_table(points))


@drawing
def draw_pareto(points: Sequence[Json], baseline: str) -> Figure:
    """Draw one panel per utility: up is better, left is smaller."""
    figure, axes = panels_by_utility((point["utility"] for point in points), 3.9, columns=1)
    for utility, ax in axes.items():
        _draw(ax, [point for point in points if point["utility"] == utility], baseline)
    return figure


def _draw(ax: Axes, points: Sequence[Json], baseline: str) -> None:
    right = 1.9 * max(1, *(point["wire_bytes"] for point in points))
    ax.set_xscale("symlog", base=2, linthresh=1)
    ax.axhspan(-points[0]["margin"], points[0]["margin"], color=FAINT, alpha=0.45, linewidth=0)
    ax.axhline(0, color=INK, linewidth=0.8)
    by_size = sorted(points, key=lambda point: (point["wire_bytes"], -point["net"]))
    xs, ys = [0.0], [0.0]  # the stairs of the front, from the baseline on
    for point in (point for point in by_size if point["on_front"]):
        xs += [float(point["wire_bytes"])] * 2
        ys += [ys[-1], point["net"]]
    ax.plot([*xs, right], [*ys, ys[-1]], color=INK, linewidth=1, linestyle="--", alpha=0.6)
    ax.plot(0, 0, marker="D", color=INK, markersize=6)
    ax.annotate(baseline, (0, 0), xytext=(0, -13), textcoords="offset points", ha="right", fontsize=letters(9))
    count: dict[int, int] = {}
    for point in by_size:
        count[point["wire_bytes"]] = count.get(point["wire_bytes"], 0) + 1
        _draw_point(ax, point, count[point["wire_bytes"]] - 1)
    ax.set_xlim(-0.6, right)
    ax.set_xticks([tick for tick in TICKS if tick <= right])
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.set_xlabel("bytes that the header adds to a data packet")
    ax.set_ylabel(f"net benefit over {baseline}, bits")


def _draw_point(ax: Axes, point: Json, number: int) -> None:
    """Draw a header; headers of equal size side by side, their names one below the other."""
    x = point["wire_bytes"] * 1.07**number if point["wire_bytes"] else 0.12 * (number + 1)
    hue, marker = VERDICT_HUES[point["verdict"]], VERDICT_MARKERS[point["verdict"]]
    if None not in (point["low"], point["high"]):
        ax.plot([x, x], [point["low"], point["high"]], color=hue, linewidth=2, solid_capstyle="butt")
    face = PAPER if point["verdict"] == "not settled" else hue
    ax.plot(x, point["net"], marker=marker, color=hue, markerfacecolor=face, markersize=7, linestyle="none")
    side: Literal[-1, 1] = -1 if is_narrow() and point["wire_bytes"] > 1 else 1
    ax.annotate(
        point["header"],
        (x, point["net"]),
        xytext=(8 * side, 3 - 12 * number),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        fontsize=letters(8.5),
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
        row = _row(benefits, take, choices[0]["utility"])
        value = percent(row["net_set"]["throughput_equivalent_percent"]["difference"] or 0)
        sure = "" if row["decision"] == "pays" else f" ({row['decision']})"
        return f"Take {take}{sure}: {bytes_words(row['wire_bytes'])}, {value} throughput with its bytes charged"
    opened = [row["header"] for row in benefits["rows"] if row["decision"] == "open"]
    left = f"{len(opened)} of {len(benefits['rows'])} headers are open" if opened else "no header pays"
    return f"Keep {take} without a header: {left}"


def _gaps(tables: RunTables) -> dict[str, float]:
    """Return the bits between the baseline's trainings and equal shares, by utility."""
    fair = {row["utility"]: row["fair_bits"] for row in tables.summary.get("ideal", ())}
    base = tables.summary["net_benefit"]["baseline"]
    rows = [row for row in tables.summary.get("signal_sets", ()) if row["name"] == base and row["utility"] in fair]
    return {row["utility"]: fair[row["utility"]] - row["score_bits"] for row in rows}


def _statements(benefits: Json, gaps: Mapping[str, float], summary: Json) -> Iterator[Statement]:
    several = len(benefits["choices"]) > 1
    for choice in benefits["choices"]:
        yield _choice(benefits, choice, gaps.get(choice["utility"]))
        for row in sorted(benefits["rows"], key=lambda row: -(row["net_set"]["difference"] or 0)):
            if row["utility"] == choice["utility"]:
                beside = beside_score(row) + _beside_ideals(row, summary.get("worth_at_most", ()))
                beside += _starved(row, summary.get("merit", ()))
                yield Statement(BADGES[row["decision"]], sentence(row, benefits["baseline"], several) + beside)


def _choice(benefits: Json, choice: Json, gap: float | None) -> Statement:
    under = f" under utility {choice['utility']}" if len(benefits["choices"]) > 1 else ""
    if note := no_choice_yet(choice["pairs"]):
        return Statement("not settled", f"{capital(note)}{under}.")
    base, others = benefits["baseline"], [name for name in choice["answers"] if name != choice["take"]]
    left = "every other choice is settled worse"
    if others:
        left = f"{listed(others)} may be best too"
    if choice["take"] == base:
        return Statement("not settled", f"We recommend {base} without a header{under}; {left}.")
    row = _row(benefits, choice["take"], choice["utility"])
    size = bytes_words(row["wire_bytes"])
    text = f"We recommend {row['header']}{under}: with {size} it is the smallest header that may be best; {left}."
    if gap is not None and gap > 0:
        closed = percent(100 * row["net_set"]["difference"] / gap, signed=False)
        text += f" With its bytes charged it closes {closed} of the gap between {base} and what is possible."
    return Statement(BADGES[row["decision"]], text)


def sentence(row: Json, base: str, name_utility: bool) -> str:
    """Return the result for one header in a sentence."""
    net, gross, cost = row["net_set"], row["gross_set"], row["cost_set"]
    required, size = percent(row["required_percent"], signed=False), bytes_words(row["wire_bytes"])
    ahead = f" (forecast: {counts(*net['likely_n'])} training seeds)" if net["likely_n"] else ""
    words = {
        "pays": f"pays: with its {size} charged it brings more than {required}",
        "does not pay": f"does not pay: with its {size} charged it brings less than {required}",
        "open": f"is open: it is not settled whether it brings {required}{ahead}",
    }[row["decision"]]
    paid = "" if cost is None else f": signals {percent_of(gross)}, bytes {percent_of(cost)}"
    if gross["verdict"] == "worse":
        words += (
            f"; it was trained too little: a policy can ignore signals, but it is worse than {base} with bytes free"
        )
    if reason := void(gross):
        words += f"; {reason}"
    by = f" (utility {row['utility']})" if name_utility else ""
    remark = f"; {row['remark']}" if "remark" in row else ""
    return (
        f"{row['header']}{by} {words}. Its net benefit is {net_percent(net)} over {counted_units(net)}{paid}{remark}."
    )


def _beside_ideals(row: Json, most: Sequence[Json]) -> str:
    """Return which share of the gap to ideals a header closes; nothing of those that are no better than the rival."""
    net, said = row["net_set"]["difference"], []
    for each in (each for each in most if each["utility"] == row["utility"]):
        worth, words = each["worth_bits"], f"from {each['rival']} to {each['ideal']}"
        if net is None or worth is None or worth <= 0:
            continue
        if worth <= row["required"]:
            said.append(f"{worth:.3f} bits {words}, less than what it must bring")
            continue
        if each["rival"] in {other["ideal"] for other in most}:
            said.append(f"{worth:.3f} bits {words}, the most that a network adds to hosts that schedule perfectly")
            continue
        share = percent(100 * (each["base_bits"] + net - each["rival_bits"]) / worth, signed=False)
        said.append(f"{worth:.3f} bits {words}, of which it closes {share}")
    return f" The gap to the ideals, with its bytes charged, is {'; '.join(said)}." if said else ""


def _starved(row: Json, merits: Sequence[Json]) -> str:
    """Return what must be said beside the verdict on a header if long flows pay for it; see `starved`."""
    named = (row["utility"], "set", row["net_set"]["B"])
    said = [starved(each["merit"]) for each in merits if (each["utility"], each["level"], each["id"]) == named]
    return f" {capital(said[0])}." if said and said[0] else ""


def _row(benefits: Json, header: str, utility: str) -> Json:
    found: Json = next(row for row in benefits["rows"] if (row["header"], row["utility"]) == (header, utility))
    return found


# --- assumptions and evidence


def _basis(tables: RunTables, benefits: Json) -> Iterator[str]:
    rows = benefits["rows"]
    if opened := sum(row["decision"] == "open" for row in rows):
        settled = "`training_seeds: auto` adds training seeds until all are settled."
        yield f"{opened} of {len(rows)} headers are open. {settled}"
    if any(row["gross_set"]["verdict"] == "worse" for row in rows):
        yield (
            "A header that is worse with its bytes free was trained too little, since a policy can ignore signals. "
            "More signals need more rules: give them a larger budget."
        )
    what = "of typical slowdown" if tables.on_fabric else "of throughput at equal delay"
    yield (
        f"A header pays if it brings more than {benefits['required_percent']:g}{NO_BREAK}% {what} "
        "(`required_percent`). Set this to what the header costs in hardware."
    )
    yield (
        f"Bytes are charged on packets of {benefits['packet_bytes']:,} bytes: a packet takes longer on the link by the "
        "bytes of the header. With shorter packets they cost more."
    )
    yield (
        "The selected policies were also run in ns-3 (see below)."
        if tables.summary.get("ns3")
        else "The selected policies were not run in ns-3. Add `validation.ns3` to the campaign, or run `lcca evaluate` "
        "on them with `--simulator ns3`."
    )


def _table(rows: Sequence[Json]) -> Table:
    columns: Columns = {
        "Header": lambda row: "\n".join(dict.fromkeys((row["header"], row["title"], f"utility {row['utility']}"))),
        **{"Bytes": "wire_bytes", "On ACKs": "reflected_bytes", "Decision": "decision"},
        "Net benefit, mean over trainings": lambda row: stacked(net_percent(row["net_set"])),
        "Signals, bytes free": lambda row: stacked(net_percent(row["gross_set"])),
        "Cost of the bytes": lambda row: stacked(net_percent(row["cost_set"])) if row["cost_set"] else "0",
        "Training seeds": lambda row: f"{row['net_set']['n']}" + _ahead(row),
        "Selected policy, net": lambda row: f"{stacked(net_percent(row['net']))}, {row['net']['n']:,} pairs",
    }
    judged = [row | {"verdict": BADGES[row["decision"]]} for row in rows]
    return Table.of("Headers", judged, columns, ("Decision",), "Decision")


def _ahead(row: Json) -> str:
    likely = row["net_set"]["likely_n"] if row["decision"] == "open" else None
    return f"\nforecast {counts(*likely)}" if likely else ""


def _regions(tables: RunTables, rows: Sequence[Json]) -> Table | None:
    """Return net benefit by region in bits, with the false-discovery rate controlled over all of them."""
    regions = [(region, region.of(tables.networks)) for region in regions_of(tables.networks)]
    found = []
    for row in rows:
        differences = tables.differences(row["net"]).sort_values("network")
        for region, networks in regions:
            found.append((row, region, inside(differences, networks, row["net"]["margin"], tables.block)))
    verdicts = controlled_verdicts([each.evidence for _, _, each in found])
    known = [
        {**row, "region": region, "found": each, "verdict": verdict.name}
        for (row, region, each), verdict in zip(found, verdicts, strict=True)
        if each.n
    ]
    columns: Columns = {
        "Header": lambda row: f"{row['header']}\nutility {row['utility']}",
        **{"Region": lambda row: f"{row['region'].name}, {row['region'].bound}", "Verdict": "verdict"},
        "Net benefit, bits": lambda row: _bits(row["found"]),
        "Networks": lambda row: f"{row['found'].n:,}",
    }
    return Table.of("Regions", known, columns, ("Region", "Verdict"), "Verdict") if known else None


def _bits(found: Any) -> str:
    return stacked(interval(found.mean, found.low, found.high, "{:+.3f}"))
