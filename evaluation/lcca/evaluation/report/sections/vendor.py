"""The summary of a report on headers on a fabric, for who builds the switches: what to take, and its worth.

All of it is read from summary.json and the configuration; nothing is computed but words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.report.words.headline import TYPICAL, Statement
from lcca.evaluation.report.words.merit import beside_score, bytes_words, decided, disagreements, percent_of
from lcca.evaluation.report.words.statements import NO_BREAK, counts, interval, listed, number
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

VERDICTS = {"better": "better", "worse": "worse", "not settled": "open"}

BUFFER_OF = {"buffer_bytes": "switch", "buffer_bytes_per_port": "port"}
ELSEWHERE = "not trained on: "

NEVER = (
    "The simulated fabric has no failures, no link errors, no changes of routes during a flow and no packet spraying. "
    "Nothing was run on hardware or in another simulator."
)


class Part(NamedTuple):
    """A heading with what is below it."""

    title: str
    text: str
    table: Table | None = None


Places = Mapping[str, Sequence[FabricScenario]]
"""Scenarios by what tables call them."""


def vendor(tables: RunTables) -> Json | None:
    """Return `question`, `answers` (statements) and `parts` of the summary; None but for headers on a fabric."""
    benefits = tables.summary.get("net_benefit")
    if not benefits or not benefits["rows"] or not tables.on_fabric:
        return None
    rows, choices, (trained, others) = benefits["rows"], benefits["choices"], _places(tables.config)
    parts = []
    for utility in (choice["utility"] for choice in choices):
        own = sorted((r for r in rows if r["utility"] == utility), key=lambda r: -(r["net_set"]["difference"] or 0))
        of = f", utility {utility}" if len(choices) > 1 else ""
        parts += [_means(tables.summary, benefits, own, of), _where(tables.summary, own, {**trained, **others}, of)]
    untested = _untested(benefits["packet_bytes"], trained, others)
    apart = [Statement("not settled", f"{each}.") for each in disagreements(rows)]
    return {
        "question": header_question(benefits, [scenario for met in trained.values() for scenario in met]),
        "answers": [*(recommendation(benefits, choice) for choice in choices), *apart],
        "parts": [*parts, _bytes_and_state(rows), untested],
    }


def recommendation(benefits: Json, choice: Json) -> Statement:
    """Return which header to take under a utility, or how many more training seeds that needs."""
    rows = {row["header"]: row for row in benefits["rows"] if row["utility"] == choice["utility"]}
    by = f" (utility {choice['utility']})" if len(benefits["choices"]) > 1 else ""
    open_ = [row for row in rows.values() if row["decision"] == "open"]
    others, taken = [name for name in choice["answers"] if name != choice["take"]], rows.get(choice["take"])
    also = f" {listed(others)} may be best too." if others else ""
    if note := no_choice_yet(choice["pairs"]):
        return Statement(
            "not settled", f"No recommendation yet{by}: {note.partition(': ')[2]}; it takes {_more(open_)}."
        )
    if taken is None and not open_:
        return Statement(
            "worse", f"Take no header{by}: with its bytes charged none brings {benefits['required_percent']:g} %."
        )
    if taken is None or taken["decision"] == "open":
        left = f"{listed([row['header'] for row in open_])} {'is' if len(open_) == 1 else 'are'} open"
        left += ", and no header pays" if taken is None else ""
        return Statement(
            "not settled", f"No recommendation yet{by}: {left}; to settle this takes {_more(open_)}.{also}"
        )
    size = bytes_words(taken["wire_bytes"])
    return Statement("better", f"Take {taken['header']}{by}: {size} on a data packet.{beside_score(taken)}{also}")


def _more(rows: Sequence[Json]) -> str:
    """Return about how many training seeds open headers still take, by their forecasts."""
    ends = []
    for net in (row["net_set"] for row in rows):
        likely = net["likely_n"] or (net["n"] + 1, net["n"] + 1)
        ends.append([max(end, FIRST_SEEDS, net["n"] + 1) - net["n"] for end in likely])
    least, most = (max(each, default=1) for each in zip(*ends, strict=True)) if ends else (1, 1)
    said = counts(least, most)
    about = "" if said.startswith("at least") else "about "
    return f"{about}{said} more training seed{'' if most == 1 else 's'}"


def header_question(benefits: Json, scenarios: Sequence[FabricScenario]) -> str:
    """Return what a campaign of headers asks, and for which traffic where that is known."""
    names = list(dict.fromkeys(row["header"] for row in benefits["rows"]))
    which = f"Which of the headers {listed(names)} is" if len(names) > 1 else f"Is the header {names[0]}"
    where = f", for {_traffic(scenarios)}, on {_switches(scenarios)}" if scenarios else ""
    return f"{which} worth its bytes against none ({benefits['baseline']}){where}?"


def _means(summary: Json, benefits: Json, rows: Sequence[Json], of: str) -> Part:
    own = ("set", rows[0]["utility"])
    merits = {m["id"]: m["merit"] for m in summary.get("merit", ()) if (m["level"], m["utility"]) == own}
    base = benefits["baseline"]
    head = ["Header", "Score, net of bytes", "Figure of merit", "p99 slowdown below 100 kB"]
    head += ["p99 below 100 kB, µs", "against none, µs", "Throughput from 1 MB, %", "p50 from 1 MB, µs"]
    cells = [[f"none ({base})", "", "", *_plain(merits.get(base), {})]]
    for row in rows:
        by, score = row.get("measures", {}), decided(row)
        cells.append([row["header"], score, decided(by.get("merit")), *_plain(merits.get(row["net_set"]["B"]), by)])
    text = (
        "Header bytes are charged. Except for µs, + is better. Per cents are of the inverse of slowdowns, and a header "
        f"pays if it brings more than {benefits['required_percent']:g}{NO_BREAK}%. Decisions and their per cents are "
        "means over training seeds, each tested on its own flows; for each measure the confidence intervals are "
        "simultaneous over all pairs of headers. The score is the typical slowdown; the figure of merit is a mean over "
        "flow sizes of p50 and p99. Slowdowns, µs and throughput are quantiles over the flows of all trainings; their "
        f"95 % confidence intervals, over training seeds, are valid one at a time. Throughput is that of the median "
        f"flow. {TYPICAL}"
    )
    return Part(f"What it means{of}", text, Table("", head, cells))


def _plain(merit: Json | None, by: Mapping[str, Json]) -> list[str]:
    """Return the cells of a set of trainings; differences of one that has other measures `by` its training seeds."""
    if merit is None or "short_p99" not in merit:
        return ["–"] * 5
    short, long = merit["short_p99"], merit["long_p50"]
    more, faster = (
        interval(value["value"], value["low"], value["high"], "{:+.1f}").replace("-", "−") if by else ""
        for value in (short["us_more"], long["throughput_percent"])
    )
    slowdown, *times = (number(value["value"], 1) for value in (short["slowdown"], short["us"], long["us"]))
    said = f"{slowdown}; {decided(by['short_p99'])}" if by else slowdown
    return [said, times[0], more, faster, times[1]]


def _where(summary: Json, rows: Sequence[Json], places: Places, of: str) -> Part:
    nets: dict[str, dict[str, Json]] = {}
    for row in rows:
        for each in row.get("scenarios", ()):
            nets.setdefault(each["scenario"], {})[row["header"]] = each["net_set"]
    for each in summary.get("generalisation", ()):
        if each["utility"] == rows[0]["utility"]:
            nets[ELSEWHERE + each["condition"]] = {c["B"]: c for c in each["comparisons"] if c["level"] == "set"}
    cells = [[name, *(_verdict(own.get(row["header"])) for row in rows)] for name, own in nets.items()]
    said = [f"{name}: {_traffic(met)}, {_switches(met)}" for name, met in places.items() if name in nets]
    text = (
        "The table compares scores with those without a header, with bytes charged, over training seeds. Confidence "
        "intervals are simultaneous over all scenarios and headers, and over all conditions and headers. Open means "
        "neither better, nor worse, nor within the margin. "
    )
    head = ["", *(row["header"] for row in rows)]
    return Part(f"On which traffic it holds{of}", text + "; ".join(said) + "." * bool(said), Table("", head, cells))


def _verdict(net: Json | None) -> str:
    if net is None:
        return "–"
    within = f"within ±{100 * (2 ** net['margin'] - 1):.2g}{NO_BREAK}%"
    return f"{VERDICTS.get(net['verdict'], within)}, {percent_of(net)}"


def _bytes_and_state(rows: Sequence[Json]) -> Part:
    columns: Columns = {
        **{"Header": "header", "Bytes on data, one hop": "wire_bytes", "Bytes on ACKs": "reflected_bytes"},
        "State of a port, bits": lambda row: _state(row.get("switch", {}).get("state_bits", "–")),
        "Operations on a packet": lambda row: f"{row.get('switch', {}).get('operations', '–')}",
    }
    found = {row["header"]: row for row in rows}.values()
    text = (
        "State and operations are what a port needs beyond queues, byte counters and clocks. `lcca show header NAME` "
        "prints the fields."
    )
    return Part("Bytes and switch state", text, Table.of("", found, columns))


def _state(bits: int | str | None) -> str:
    return "grows with flows" if bits is None else f"{bits:,}" if isinstance(bits, int) else bits


def _untested(packet_bytes: int, trained: Places, others: Places) -> Part:
    met = [scenario for each in (*trained.values(), *others.values()) for scenario in each]
    points = ["traffic and fabrics other than those above"]
    if met:
        pfc, classes = {each.switch.pfc for each in met}, {each.switch.classes for each in met}
        points += [f"links other than {_rates(met)} Gb/s", f"more than {max(s.fabric.hosts for s in met):,} hosts"]
        points += ["switches that drop"] if pfc == {True} else ["switches with PFC"] if pfc == {False} else []
        points += ["several classes of traffic"] if classes == {1} else ["one class of traffic"] * (1 not in classes)
    points.append(f"packets of other sizes than {packet_bytes:,} bytes without the header")
    trained_on = "" if others else " Policies were trained on all of the scenarios above."
    return Part("What was not tested", f"This campaign did not test {listed(points)}.{trained_on} {NEVER}")


# --- places in words


def _places(config: str) -> tuple[Places, Places]:
    """Return a campaign's scenarios, and those of its conditions; none where files that they name are gone."""
    try:
        found: Any = parse(config, "configuration")[0]
        spaces = {ELSEWHERE + each["name"]: each["networks"] for each in found.get("generalisation") or ()}
        others = {name: FabricSpace.model_validate(each).scenarios for name, each in spaces.items()}
        return {each.name: (each,) for each in FabricSpace.model_validate(found["networks"]).scenarios}, others
    except (InputError, ValueError, LookupError, TypeError, AttributeError):
        return {}, {}


def _traffic(scenarios: Sequence[FabricScenario]) -> str:
    return listed(list(dict.fromkeys(" with ".join(_flows(part) for _, part in each.parts) for each in scenarios)))


def _flows(part: Any) -> str:
    sizes, load, scale = (getattr(part, key, None) for key in ("sizes", "load", "size_scale"))
    named = sizes if isinstance(sizes, str) else "flows of own sizes" if sizes else part.kind
    if part.kind == "incast":
        named = f"incasts of {part.senders} × {named if sizes else f'{part.bytes / 1000:g} kB'}"
    scaled = f" × {scale:g}" if scale not in (None, 1) else ""
    return named + scaled + (f" at {100 * load:.3g}{NO_BREAK}%" if load else "")


def _switches(scenarios: Sequence[FabricScenario]) -> str:
    switches = [each.switch for each in scenarios]
    ways = [
        [f"{each.topology.kind} of {each.fabric.hosts:,} hosts at {_rates([each])} Gb/s" for each in scenarios],
        [f"{getattr(each, each.buffer_key) / 1e6:.3g} MB a {BUFFER_OF[each.buffer_key]}" for each in switches],
        ["PFC" if each.pfc else "drops" for each in switches],
        ["one class" if each.classes == 1 else f"{each.classes} classes" for each in switches],
    ]
    return ", ".join(" or ".join(dict.fromkeys(own)) for own in ways)


def _rates(scenarios: Sequence[FabricScenario]) -> str:
    return listed([f"{rate:g}" for rate in sorted({rate for each in scenarios for rate in each.fabric.gbps.tolist()})])
