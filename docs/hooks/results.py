"""Writes the tables of results into pages, between marks, from the summaries in `results/reference`.

`python docs/hooks/results.py` writes them; a test compares. A table stands between `<!-- results NAME -->` and
`<!-- end -->`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
PLACE = re.compile(r"(<!-- results ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
NAMES = {
    **{"e2e": "E2E", "link": "Link", "queue": "Queue", "link+queue": "Link+Queue", "flows": "number of flows"},
    **{"fair-rate": "RCP's fair rate", "capacity+flows": "capacity and number of flows"},
}
MINUS = str.maketrans("-", "−")

Row = Mapping[str, Any]


def written(text: str) -> str:
    """Return a page with its tables of results written anew."""
    return PLACE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}\n{found[3]}", text)


def pages() -> list[Path]:
    """Return the pages that may have such tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read(name: str) -> dict[str, Any]:
    """Return a summary."""
    found: dict[str, Any] = json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
    return found


def compared(summary: Row) -> dict[str, Row]:
    """Return the set-level comparisons with the baseline by signal set."""
    first = summary["signal_sets"][0]["name"]
    found = [each for each in summary["comparisons"] if each["level"] == "set" and each.get("phase", "test") == "test"]
    return {each["B"]: each for each in found if each["A"] == first}


def bits(low: float, high: float, middle: float | None = None) -> str:
    """Return an interval in bits, with its middle."""
    text = f"[{low:+.3f}, {high:+.3f}]"
    return (text if middle is None else f"{middle:+.3f} {text}").translate(MINUS)


def sets(name: str, equivalent: str = "as throughput") -> str:
    """Return signal sets over training seeds, against the baseline."""
    summary = read(name)
    against, rows = compared(summary), []
    for each in summary["signal_sets"]:
        row = against.get(each["name"])
        score = f"{each['score_bits']:.3f} ({each['score_bits_sd']:.3f})".translate(MINUS)
        cells = ["", "", ""]
        if row:
            percent = f"{row['throughput_equivalent_percent']['difference']:+.1f} %".translate(MINUS)
            cells = [bits(row["low"], row["high"], row["difference"]), percent, f"**{row['verdict']}**"]
        rows.append([NAMES.get(each["name"], f"`{each['name']}`"), score, f"{len(each['scores_bits'])}", *cells])
    return table(("signal set", "score, bits (SD)", "seeds", "against E2E", equivalent, "verdict"), rows)


def learners() -> str:
    """Return what sets are worth to laws and to tables."""
    laws, tables = (compared(read(name)) for name in ("signals", "signals-tables"))
    rows = [
        [NAMES[name], *(cell for one in (laws[name], tables[name]) for cell in (_worth(one), one["verdict"]))]
        for name in laws
    ]
    return table(("signal set", "laws: against E2E, bits", "", "rule tables: against E2E, bits", ""), rows)


def headers(name: str) -> str:
    """Return headers by their net benefit over training seeds."""
    summary = read(name)
    benefit = summary["net_benefit"]
    scores = {
        each["name"]: f"{each['score_bits']:.3f} ({each['score_bits_sd']:.3f})" for each in summary["signal_sets"]
    }
    own = [each for each in benefit["rows"] if each.get("net_set")]
    rows = [["none (E2E)", "", scores[benefit["baseline"]].translate(MINUS), "", "", "", ""]]
    for each in sorted(own, key=lambda each: -each["net_set"]["difference"]):
        net, gross, cost = each["net_set"], each["gross_set"], each["cost_set"]
        paid = f"{cost['difference']:+.3f}".translate(MINUS) if cost else "0"
        score = scores[each["header"]].translate(MINUS)
        first = (
            f"`{each['header']}`",
            f"{each['wire_bytes']:g}",
            score,
            f"{gross['difference']:+.3f}".translate(MINUS),
        )
        rows.append([*first, paid, bits(net["low"], net["high"], net["difference"]), f"**{each['decision']}**"])
    return table(("header", "bytes", "score, bits (SD)", "gross", "cost", "net", ""), rows)


def rl_cc() -> str:
    """Return the contenders of RL-CC's benchmark: means over trials."""
    places, first = read("rl-cc/summary"), ("many-to-one-4", "many-to-one-128", "many-to-one-1024", "many-to-one-8192")
    rows = []
    for name in places["all-to-all"]:
        bursts, links = places["long-short-128"][name], {"all-to-all": 16}
        short, long = (each["slowdown"] for each in bursts["by_size"])
        ended = "" if bursts["flows_finished"] == bursts["flows"] else "> "
        cells = [_shared(places[place][name], links.get(place, 1)) for place in (*first, "all-to-all")]
        rows.append([f"`{name}`", *cells, f"{ended}{long['p50']:.2f} / {short['p99']:.0f}"])
    return table(("", *(f"{int(each.split('-')[-1]):,} flows" for each in first), "all-to-all", "long-short"), rows)


def _shared(trials: Row, links: int) -> str:
    """Return payload a link, Gb/s; Jain's index; the mean queue, µs at 100 Gb/s; and drops of full frames, Gb/s."""
    queue, dropped = trials["queue_mean_bytes"] / 12_500, trials["drops"] * 1048 * 8 / (1000 * trials["end_us"])
    return f"{trials['delivered_gbps'] / links:.0f} / {trials['jain_index']:.2f} / {queue:.1f} / {dropped:,.1f}"


def elsewhere(name: str) -> str:
    """Return the net benefit of headers by other measures and on each scenario, bits."""
    rows = [each for each in read(name)["net_benefit"]["rows"] if each.get("scenarios")]
    rows.sort(key=lambda each: -each["net_set"]["difference"])
    heads = ["header", "figure of merit", "p99 below 100 kB", *(each["scenario"] for each in rows[0]["scenarios"])]
    cells = []
    for each in rows:
        found = [each["measures"][measure]["net_set"] for measure in ("merit", "short_p99")]
        cells.append([f"`{each['header']}`", *map(_marked, [*found, *(one["net_set"] for one in each["scenarios"])])])
    return table(heads, cells)


def buffers(name: str) -> str:
    """Return the net benefit of headers, and what is decided, by the buffers of switches."""
    found = read(name)["buffers"]
    middles = {each["header"]: -each["difference"] for each in found[0]["rows"]}
    by_header = [{row["header"]: row for row in each["rows"]} for each in found]
    rows = []
    for header in sorted(middles, key=lambda each: middles[each]):
        cells = [(_worth(each[header]), f"**{each[header]['decision']}**") for each in by_header]
        rows.append([f"`{header}`", *(cell for pair in cells for cell in pair)])
    return table(("header", *(head for each in found for head in (each["buffers"], ""))), rows)


def generalised(name: str) -> str:
    """Return what headers bring where nothing was trained, bits."""
    found = read(name)["generalisation"]
    against = [{row["B"].removesuffix("+bytes"): row for row in each["comparisons"]} for each in found]
    order = sorted(against[0], key=lambda each: -against[0][each]["difference"])
    first = ["E2E's score", *(f"{each['mean_score_bits_over_seeds']['e2e']:.3f}".translate(MINUS) for each in found)]
    rows = [first, *([f"`{header}`", *(_marked(each[header]) for each in against)] for header in order)]
    return table(("", *(each["condition"] for each in found)), rows)


def rivals(name: str) -> str:
    """Return the ranks and scores of contenders by scenario, bits."""
    places = read(name)
    by_policy = [{row["policy"]: row for row in rows} for rows in places.values()]
    rows = []
    for policy in by_policy[0]:
        cells = []
        for each in by_policy:
            score, ranks = each[policy]["score_bits"], {each[policy]["best_rank"], each[policy]["worst_rank"]}
            cells += ["–".join(map(str, sorted(ranks))), bits(score["low"], score["high"], score["mean"])]
        rows.append([policy.split(":")[0] + (", tuned" if ":" in policy else ""), *cells])
    return table(("", *(head for place in places for head in (f"{place}: rank", "score, bits"))), rows)


def _marked(row: Row) -> str:
    """Return a difference in bits, in bold where its interval leaves out 0."""
    text = f"{row['difference']:+.3f}".translate(MINUS)
    return f"**{text}**" if row["low"] is not None and row["low"] * row["high"] > 0 else text


def _worth(row: Row) -> str:
    return bits(row["low"], row["high"], row["difference"])


def table(heads: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TABLES: Mapping[str, Callable[[], str]] = {
    "quickstart": lambda: sets("quickstart"),
    "signals": lambda: sets("signals"),
    "signals-tables": lambda: sets("signals-tables"),
    "learners": learners,
    "fabric-headers": lambda: headers("fabric-headers"),
    "fabric-headers-elsewhere": lambda: elsewhere("fabric-headers"),
    "fabric-headers-buffers": lambda: buffers("fabric-headers"),
    "fabric-headers-trained-nowhere": lambda: generalised("fabric-headers"),
    "fabric-classes-buffers": lambda: buffers("fabric-headers-classes"),
    "fabric-classes": lambda: headers("fabric-headers-classes"),
    "fabric-classes-elsewhere": lambda: elsewhere("fabric-headers-classes"),
    "fabric-sprayed": lambda: headers("fabric-headers-sprayed"),
    "fabric-sprayed-rivals": lambda: rivals("fabric-sprayed-rivals"),
    "fabric-sprayed-elsewhere": lambda: elsewhere("fabric-headers-sprayed"),
    "fabric-hosts": lambda: sets("fabric-hosts-sprayed", "E2E's slowdown over its own"),
    "headers-quickstart": lambda: headers("headers-quickstart"),
    "rl-cc": rl_cc,
}

if __name__ == "__main__":
    for page in pages():
        old = page.read_text(encoding="utf-8")
        if (new := written(old)) != old:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
