"""The first two pages of a report on headers on a fabric, for who builds the switches: what to take, and its worth.

All of it is read from summary.json, the configuration and the costs; nothing is computed but sums and words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.report.words.headline import Statement
from lcca.evaluation.report.words.measures import bytes_words, decided, percent_of
from lcca.evaluation.report.words.statements import NO_BREAK, counts, interval, listed, number
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

VERDICTS = {"better": "better", "worse": "worse", "not settled": "open"}

NEVER = (
    "Failures, link errors, changes of routes during a flow, packet spraying: the simulated fabric has none of them.",
    "Hardware, and other simulators.",
)


@dataclass(frozen=True)
class Part:
    """A heading with sentences, a list and a table, as far as it has them."""

    title: str
    text: str = ""
    points: Sequence[str] = ()
    table: Table | None = None


def vendor(tables: RunTables) -> Json | None:
    """Return the summary: `question`, `answers` (statements) and `parts`; None but for headers on a fabric."""
    benefits = tables.summary.get("net_benefit")
    if not benefits or not benefits["rows"] or not tables.on_fabric:
        return None
    scenarios, conditions = _places(tables.config)
    parts: list[Part] = []
    for choice in benefits["choices"]:
        rows = [row for row in benefits["rows"] if row["utility"] == choice["utility"]]
        rows.sort(key=lambda row: -(row["net_set"]["difference"] or 0))
        of = f", utility {choice['utility']}" if len(benefits["choices"]) > 1 else ""
        parts += _means(tables.summary, benefits, rows, of)
        parts += _where(tables.summary, rows, scenarios, conditions, of)
    names = list(dict.fromkeys(row["header"] for row in benefits["rows"]))
    return {
        "question": _question(names, benefits["baseline"], scenarios),
        "answers": [recommendation(benefits, choice) for choice in benefits["choices"]],
        "parts": [
            *parts,
            _bytes_and_state(benefits["rows"]),
            _cost(tables),
            _untested(benefits, scenarios, conditions),
        ],
    }


def recommendation(benefits: Json, choice: Json) -> Statement:
    """Return which header to take under a utility, or how many more training seeds that needs."""
    rows = {row["header"]: row for row in benefits["rows"] if row["utility"] == choice["utility"]}
    by = f" (utility {choice['utility']})" if len(benefits["choices"]) > 1 else ""
    open_ = [row for row in rows.values() if row["decision"] == "open"]
    if note := no_choice_yet(choice["pairs"]):
        return Statement("not settled", f"Not yet{by}: {_more(open_)}; {note.partition(': ')[2]}.")
    taken, names = rows.get(choice["take"]), [row["header"] for row in open_]
    if taken is None and open_:
        left = f"{len(open_)} of {len(rows)} headers are open ({listed(names)}), and none pays yet"
        return Statement("not settled", f"Not yet{by}: {left}; {_more(open_)}.")
    if taken is None:
        return Statement("worse", f"Take none{by}: no header brings {benefits['required_percent']:g} % for its bytes.")
    others = [name for name in choice["answers"] if name != choice["take"]]
    also = f" Not settled worse than any other: {listed(others)}." if others else ""
    if taken["decision"] == "open":
        text = f"Not yet{by}: {taken['header']} has the fewest bytes of what may be best, and is open; {_more(open_)}."
        return Statement("not settled", text + also)
    return Statement(
        "better", f"Take {taken['header']}{by}: {bytes_words(taken['wire_bytes'])} on a data packet.{also}"
    )


def _more(rows: Sequence[Json]) -> str:
    """Return about how many training seeds open headers still take, by their forecasts."""
    ends = []
    for net in (row["net_set"] for row in rows):
        likely = net["likely_n"] or (net["n"] + 1, net["n"] + 1)
        ends.append([max(end, FIRST_SEEDS, net["n"] + 1) - net["n"] for end in likely])
    least, most = (max(each, default=1) for each in zip(*ends, strict=True)) if ends else (1, 1)
    return f"about {counts(least, most)} more training seed{'' if most == 1 else 's'}"


def _question(names: Sequence[str], baseline: str, scenarios: Sequence[FabricScenario]) -> str:
    which = f"Which of the headers {listed(names)}" if len(names) > 1 else f"Is the header {names[0]}"
    is_ = "is" if len(names) > 1 else ""
    asked = f"{which} {is_} worth its bytes against none ({baseline})".replace("  ", " ")
    if not scenarios:
        return f"{asked}?"
    traffic = listed(list(dict.fromkeys(map(_traffic, scenarios))))
    return f"{asked}, for {traffic}, on {'; '.join(dict.fromkeys(map(_switches, scenarios)))}?"


def _means(summary: Json, benefits: Json, rows: Sequence[Json], of: str) -> Iterator[Part]:
    merits = {each["id"]: each["merit"] for each in summary.get("merit", ()) if _of_sets(each, rows)}
    base = benefits["baseline"]
    head = ["Header", "Score, net of bytes", "Figure of merit", "p99 slowdown below 100 kB"]
    head += ["p99 below 100 kB, µs", "against none, µs", "Throughput of flows from 1 MB", "p50 from 1 MB, µs"]
    cells = [[f"none ({base})", "", "", *_plain(merits.get(base), first=True)]]
    for row in rows:
        plain, by = _plain(merits.get(row["net_set"]["B"])), row.get("measures", {})
        slowdown = "; ".join(filter(None, [plain[0], decided(by.get("short_p99"))]))
        cells.append([row["header"], decided(row), decided(by.get("merit")) or "–", slowdown, *plain[1:]])
    text = (
        "Bytes charged; + is better but for µs. Per cents are of the inverse of slowdowns. To pay, a header must bring "
        f"more than {benefits['required_percent']:g}{NO_BREAK}%. Verdicts and their per cents are means over training "
        "seeds, each by the quantiles of its own flows; their intervals hold together over all pairs of headers, of each "
        "measure by itself. Score: all flows; figure of merit: the mean over sizes of p50 and p99. Slowdowns, µs and "
        "throughput are quantiles of the flows of all trainings; their 95 % intervals, over training seeds, hold one by "
        "one. Throughput: the median flow's, over what it has alone."
    )
    yield Part(f"What it means{of}", text, table=Table("", head, cells))


def _of_sets(merit: Json, rows: Sequence[Json]) -> bool:
    return merit["level"] == "set" and merit["utility"] == rows[0]["utility"]


def _plain(merit: Json | None, first: bool = False) -> list[str]:
    """Return the cells of a set of trainings from its row of figures of merit."""
    short, long = ((merit or {}).get(each) for each in ("short_p99", "long_p50"))
    if short is None or long is None:
        return ["–"] * 5
    return [
        number(short["slowdown"]["mean"], 2),
        number(short["us"]["mean"], 1),
        "" if first else _ends(short["us_more"], "{:+.1f}"),
        "" if first else _ends(long["throughput_percent"], "{:+.1f}", " %"),
        number(long["us"]["mean"], 1),
    ]


def _ends(value: Mapping[str, float | None], form: str, unit: str = "") -> str:
    return (interval(value["mean"], value["low"], value["high"], form) + unit).replace("-", "−")


def _where(
    summary: Json,
    rows: Sequence[Json],
    scenarios: Sequence[FabricScenario],
    conditions: Mapping[str, Sequence[FabricScenario]],
    of: str,
) -> Iterator[Part]:
    cells = []
    for scenario in scenarios:
        by_name = [{each["scenario"]: each["net_set"] for each in row.get("scenarios", ())} for row in rows]
        nets = [
            (each or {scenario.name: row["net_set"]}).get(scenario.name)
            for each, row in zip(by_name, rows, strict=True)
        ]
        cells.append([scenario.name, f"{_traffic(scenario)}; {_switches(scenario)}", *map(_verdict, nets)])
    for each in summary.get("generalisation", ()):
        if each["utility"] != rows[0]["utility"]:
            continue
        sets = {c["B"]: c for c in each["comparisons"] if c["level"] == "set"}
        met = conditions.get(each["condition"], ())
        words = "; ".join(dict.fromkeys(f"{_traffic(s)}; {_switches(s)}" for s in met))
        name = f"not trained on: {each['condition']}"
        cells.append([name, words, *(_verdict(sets.get(row["header"])) for row in rows)])
    if cells:
        head = ["", "Traffic and switches", *(row["header"] for row in rows)]
        text = (
            "Score against none, bytes charged, over training seeds: intervals hold together over all scenarios and "
            "headers, and over all conditions and headers. Open: neither better, nor worse, nor within the margin."
        )
        yield Part(f"On which traffic it holds{of}", text, table=Table("", head, cells, left=2))


def _verdict(net: Json | None) -> str:
    if net is None:
        return "–"
    within = f"within ±{100 * (2 ** net['margin'] - 1):.2g}{NO_BREAK}%"
    return f"{VERDICTS.get(net['verdict'], within)}, {percent_of(net)}"


def _bytes_and_state(rows: Sequence[Json]) -> Part:
    once = {row["header"]: row for row in rows}
    cells = []
    for name, row in once.items():
        switch = row.get("switch", {})
        bits = switch.get("state_bits", "–")
        state = "grows with flows" if bits is None else f"{bits:,}" if isinstance(bits, int) else bits
        sizes = (str(row["wire_bytes"]), str(row["reflected_bytes"]))
        cells.append([name, *sizes, state, str(switch.get("operations", "–"))])
    head = ["Header", "Bytes on data, one hop", "Bytes on ACKs", "State of a port, bits", "Operations on a packet"]
    text = "What a port needs beyond queues, byte counters and clocks; lcca show header NAME has the fields."
    return Part("Bytes and switch state", text, table=Table("", head, cells))


def _cost(tables: RunTables) -> Part:
    seeds = max(row["net_set"]["n"] for row in tables.summary["net_benefit"]["rows"])
    phases = (tables.costs or {}).get("phases", [])
    trials, cpu = (sum(each.get(key) or 0 for each in phases) for key in ("trials", "cpu_s"))
    done = f"{seeds:,} training seeds, {len(tables.policies):,} trainings"
    return Part("What this took", f"{done}, {trials:,} trials, {cpu:,.0f} CPU s." if phases else f"{done}.")


def _untested(
    benefits: Json, scenarios: Sequence[FabricScenario], conditions: Mapping[str, Sequence[FabricScenario]]
) -> Part:
    met = [*scenarios, *(each for some in conditions.values() for each in some)]
    points = ["Traffic and fabrics other than those above."]
    if not conditions:
        points[0] += " All were trained on: the campaign has no generalisation conditions."
    if met:
        rates = _alternatives(f"{rate:g}" for each in met for rate in sorted(set(each.fabric.gbps.tolist())))
        pfc = {each.switch.pfc for each in met}
        classes = {each.switch.priorities for each in met}
        points.append(f"Links other than {rates} Gb/s; more than {max(each.fabric.hosts for each in met):,} hosts.")
        points += ["Switches that drop."] if pfc == {True} else ["Switches with PFC."] if pfc == {False} else []
        points += ["Several classes of traffic."] if classes == {1} else ["One class of traffic."] * (1 not in classes)
    points.append(f"Packets of other sizes than {benefits['packet_bytes']:,} bytes without the header.")
    return Part("What was not tested", points=[*points, *NEVER])


# --- places in words


def _places(config: str) -> tuple[tuple[FabricScenario, ...], dict[str, tuple[FabricScenario, ...]]]:
    """Return a campaign's scenarios, and those of its conditions; nothing where its files are gone."""
    try:
        found: Any = parse(config, "configuration")[0]
        conditions = {each["name"]: each["networks"] for each in found.get("generalisation") or ()}
        others = {name: FabricSpace.model_validate(each).scenarios for name, each in conditions.items()}
        return FabricSpace.model_validate(found["networks"]).scenarios, others
    except (InputError, ValueError, LookupError, TypeError, AttributeError):
        return (), {}


def _traffic(scenario: FabricScenario) -> str:
    return " with ".join(_flows(part) for _, part in scenario.parts)


def _flows(part: Any) -> str:
    sizes, load = getattr(part, "sizes", None), getattr(part, "load", None)
    named = sizes if isinstance(sizes, str) else "flows of own sizes" if sizes else ""
    scale = getattr(part, "size_scale", None)
    if scale not in (None, 1, 1.0):
        named += f" × {scale:g}"
    if part.kind == "incast":
        named = f"incasts of {part.senders} × {named or f'{(part.bytes or 0) / 1000:g} kB'}"
    at = f" at {100 * load:.3g}{NO_BREAK}%" if load else ""
    return (named or part.kind) + at


def _switches(scenario: FabricScenario) -> str:
    switch, fabric = scenario.switch, scenario.fabric
    rates = _alternatives(f"{rate:g}" for rate in sorted(set(fabric.gbps.tolist())))
    per_port = switch.buffer_bytes_per_port
    buffer = f"{(per_port or switch.buffer_bytes) / 1e6:.3g} MB a {'port' if per_port else 'switch'}"
    classes = "one class" if switch.priorities == 1 else f"{switch.priorities} classes"
    drops = "PFC" if switch.pfc else "drops"
    return f"{scenario.topology.kind} of {fabric.hosts:,} hosts, {rates} Gb/s, {buffer}, {drops}, {classes}"


def _alternatives(words: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(words))
