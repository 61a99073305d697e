"""Tables of results, from the summaries in `results/reference`: what stands after `<!-- results NAME -->` in pages."""

import json
import re
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from markdown_tables import judged, table

from lcca.evaluation.report.words.statements import interval, number, with_interval
from lcca.evaluation.settling.intervals import t_interval

Row = Mapping[str, Any]

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
NAMES = {
    **{"e2e": "E2E", "link": "Link", "queue": "Queue", "link+queue": "Link+Queue", "flows": "number of flows"},
    **{"fair-rate": "RCP's fair rate", "capacity+flows": "capacity and number of flows"},
}
METRICS = {"score_bits": "score", "throughput_share": "throughput", "delay_us": "delay"}
IMPERFECT = {
    **{"exact": "exact", "map": "map: {} bits", "age": "map: 64 bits, forgets in {} µs", "refresh": "read every {} µs"},
    **{"delay": "{} µs late", "sample": "in {} of packets", "loss": "{} of stamps lost", "noise": "noise {}"},
    **{"bias": "bias {}", "bits": "field: {} bit(s)", "switch": "all of a switch"},
}
"""Entries of `configs/headers/imperfect*.yaml` in words; the value of a family's grid ends its names."""
VERDICTS = ("better", "worse", "equivalent", "not settled")


def read(name: str, folder: Path = REFERENCE) -> dict[str, Any]:
    """Return a summary."""
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


def compared(summary: Row) -> dict[str, Row]:
    """Return the set-level comparisons with the baseline by signal set."""
    first = (summary.get("net_benefit") or {}).get("baseline") or summary["signal_sets"][0]["name"]
    found = [each for each in summary["comparisons"] if each["level"] == "set" and each.get("phase", "test") == "test"]
    return {each["B"]: each for each in found if each["A"] == first}


def sets(name: str, equivalent: str = "as throughput") -> str:
    """Return signal sets over training seeds, against the baseline."""
    summary = read(name)
    against, rows = compared(summary), []
    for each in summary["signal_sets"]:
        row = against.get(each["name"])
        score = f"{each['score_bits']:.3f} ({each['score_bits_sd']:.3f})"
        cells = ["", "", ""]
        if row:
            percent = f"{row['throughput_equivalent_percent']['difference']:+.1f} %"
            cells = [with_interval(row), percent, f"**{row['verdict']}**"]
        rows.append([NAMES.get(each["name"], f"`{each['name']}`"), score, f"{len(each['scores_bits'])}", *cells])
    return table(("signal set", "score, bits (SD)", "seeds", "against E2E", equivalent, "verdict"), rows)


def learners() -> str:
    """Return what sets are worth to laws and to tables."""
    laws, tables = (compared(read(name)) for name in ("signals", "signals-tables"))
    rows = [
        [NAMES[name], *(cell for one in (laws[name], tables[name]) for cell in (with_interval(one), one["verdict"]))]
        for name in laws
    ]
    return table(("signal set", "laws: against E2E, bits", "", "rule tables: against E2E, bits", ""), rows)


def headers(name: str) -> str:
    """Return headers by their net benefit over training seeds, and other sets without one by their difference."""
    summary = read(name)
    benefit = summary["net_benefit"]
    scores = {
        each["name"]: f"{each['score_bits']:.3f} ({each['score_bits_sd']:.3f})" for each in summary["signal_sets"]
    }
    own = [each for each in benefit["rows"] if each.get("net_set")]
    base = benefit["baseline"]
    rows = [[f"none ({NAMES.get(base, f'`{base}`')})", "", scores[base], "", "", "", ""]]
    for other, row in compared(summary).items():
        if other not in {each["header"] for each in own}:
            label = f"none ({NAMES.get(other, f'`{other}`')})"
            rows.append([label, "", scores[other], "", "", *judged(row)])
    for each in sorted(own, key=lambda each: -each["net_set"]["difference"]):
        net, gross, cost = each["net_set"], each["gross_set"], each["cost_set"]
        paid = f"{cost['difference']:+.3f}" if cost else "0"
        score = scores[each["header"]]
        first = (
            f"`{each['header']}`",
            f"{each['wire_bytes']:g}",
            score,
            f"{gross['difference']:+.3f}",
        )
        rows.append([*first, paid, with_interval(net), f"**{each['decision']}**"])
    return table(("header", "bytes", "score, bits (SD)", "gross", "cost", "net", ""), rows)


def imperfect(name: str, what: str = "number of flows") -> str:
    """Return what headers are worth to laws that learnt with exact numbers, bits, over training seeds."""
    found = {each["name"]: each for each in read(name)["headers"] if each["name"] not in ("e2e", "free")}
    rows = []
    for each in sorted(found, key=lambda each: -found[each]["against_e2e"]["difference"]):
        own, other = found[each]["against_e2e"], found[each].get("against_exact")
        rows.append([imperfection(each), *judged(own), with_interval(other) if other else ""])
    return table((what, "against E2E", "", "against exact numbers"), rows)


def imperfect_in_both() -> str:
    """Return the same against E2E in ns-3, and in the engine on the same networks."""
    found = {place: {each["name"]: each for each in part["headers"]} for place, part in read("imperfect-ns3").items()}
    rows = []
    for name in sorted(found["engine"], key=lambda each: -found["engine"][each]["scores_bits"][0]):
        cells = (found[place][name].get("against_e2e") for place in ("engine", "ns-3"))
        if name != "e2e":
            rows.append([imperfection(name), *(x for each in cells for x in judged(each))])
    return table(("number of flows", "in the engine, against E2E", "", "in ns-3", ""), rows)


def learnt_with(name: str) -> str:
    """Return what headers are worth to laws that learnt with them, without their bytes, bits."""
    base, *others = read(name)["signal_sets"]
    rows = [[imperfection(each["name"]), _seeds(_less(each["scores_bits"], base["scores_bits"]))] for each in others]
    return table(("number of flows", "against E2E"), rows)


def imperfection(name: str) -> str:
    """Return what a header of `configs/headers/imperfect*.yaml` is not exact in."""
    value = re.search(r"-(-?[\d.]+)$", name)
    words = IMPERFECT[name.partition("_")[0]].format(value[1] if value else "")
    return words.replace("map: 0 bits", "list of flows")


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
        cells = [judged(each[header], "decision") for each in by_header]
        rows.append([f"`{header}`", *(cell for pair in cells for cell in pair)])
    return table(("header", *(head for each in found for head in (each["buffers"], ""))), rows)


def generalised(name: str) -> str:
    """Return what headers bring where nothing was trained, bits."""
    found = read(name)["generalisation"]
    against = [{row["B"].removesuffix("+bytes"): row for row in each["comparisons"]} for each in found]
    order = sorted(against[0], key=lambda each: -against[0][each]["difference"])
    first = ["E2E's score", *(f"{each['mean_score_bits_over_seeds']['e2e']:.3f}" for each in found)]
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
            cells += ["–".join(map(str, sorted(ranks))), with_interval(score, "mean")]
        rows.append([policy.split(":")[0] + (", tuned" if ":" in policy else ""), *cells])
    return table(("", *(head for place in places for head in (f"{place}: rank", "score, bits"))), rows)


def by_seed(name: str) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return the scores of training seeds by point of a grid, condition and signal set, bits."""
    return {
        point["name"]: {
            each["condition"]: {row["name"]: row["scores_bits"] for row in each["signal_sets"]}
            for each in point["generalisation"]
        }
        for point in read(name)["points"]
    }


def ranges(name: str) -> str:
    """Return what sets are worth by ranges of link rates: learnt on one, tested on each; of the baseline its scores."""
    found = by_seed(name)
    learnt, tested = sorted(found, key=_factor), sorted(next(iter(found.values())), key=_factor)
    base, *others = found[learnt[0]][tested[0]]
    rows = []
    for each in learnt:
        rows.append([f"×{_factor(each):,}", NAMES[base], *(_mean_and_sd(found[each][on][base]) for on in tested)])
        for of in others:
            worth = [_seeds(_less(found[each][on][of], found[each][on][base])) for on in tested]
            rows.append(["", NAMES[of], *worth])
    return table(("learnt on", "signal set", *(f"tested on ×{_factor(on):,}, bits" for on in tested)), rows)


def range_costs(name: str) -> str:
    """Return what is lost by learning on the widest range where rates do not vary, and the other way round."""
    found = by_seed(name)
    narrow, wide = min(found, key=_factor), max(found, key=_factor)
    ways, rows, base = ((narrow, wide), (wide, narrow)), list[list[str]](), list[list[float]]()
    for of in found[narrow][narrow]:
        own = [_less(found[other][on][of], found[on][on][of]) for on, other in ways]
        base = base or own
        beside = [_seeds(_less(*each)) if rows else "" for each in zip(own, base, strict=True)]
        rows.append(
            [NAMES[of], *(cell for each, more in zip(own, beside, strict=True) for cell in (_seeds(each), more))]
        )
    heads = [f"on ×{_factor(on):,}, learnt on ×{_factor(other):,} instead" for on, other in ways]
    return table(("signal set", heads[0], "less E2E's loss", heads[1], "less E2E's loss"), rows)


def _factor(condition: str) -> int:
    return int(condition[1:])


def topologies(name: str) -> str:
    """Return what sets are worth on each topology over training seeds, learnt on the dumbbell alone or on all."""
    found = by_seed(name)
    learnt, rows = {"dumbbell": "the dumbbell alone", "all": "all four"}, []
    for on, scores in next(iter(found.values())).items():
        base, *others = scores
        first = [cell for each in found.values() for cell in (_mean_and_sd(each[on][base]), "")]
        rows.append([on, NAMES[base], *first])
        for of in others:
            worth = [_less(each[on][of], each[on][base]) for each in found.values()]
            rows.append(["", NAMES[of], *(cell for each in worth for cell in (_seeds(each), f"{stdev(each):.3f}"))])
    heads = [head for point in found for head in (f"learnt on {learnt[point]}: bits", "SD")]
    return table(("topology", "signal set", *heads), rows)


def _less(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    return [own - other for own, other in zip(scores, others, strict=True)]


def _seeds(differences: Sequence[float]) -> str:
    return interval(*t_interval(differences), "{:+.3f}")


def _mean_and_sd(scores: Sequence[float]) -> str:
    return f"{fmean(scores):.3f} ({stdev(scores):.3f})"


def maps(name: str) -> str:
    """Return where sets are worth something: shares of the space, and the regions that differ most, in per cent."""
    rows = []
    for each in read(name)["maps"]:
        pair = " against ".join(NAMES.get(each[side], f"`{each[side]}`") for side in "BA")
        shares = " / ".join(f"{100 * each['shares'][verdict]:.0f}" for verdict in VERDICTS)
        found = {row["words"]: row for row in (each["regions"][0], each["regions"][-1])}
        ends = "; ".join(f"{words}: {_percent(row)}" for words, row in found.items())
        rows.append([pair, METRICS[each["metric"]], shares, _percent(each["overall"]), ends])
    return table(("", "of", "% of the space " + " / ".join(VERDICTS), "whole space, %", "regions, %"), rows)


def maps_elsewhere() -> str:
    """Return the same of scores over other parameters, by utility: shares, and the mean over the whole space."""
    rows = []
    for each in read("paper/maps-elsewhere"):
        for row in (row for row in each["maps"] if row["metric"] == "score_bits" and row["A"] == "e2e"):
            shares = " / ".join(f"{100 * row['shares'][verdict]:.0f}" for verdict in VERDICTS)
            first = (" × ".join(axis["name"] for axis in each["over"]), each["utility"])
            rows.append([*first, NAMES[row["B"]], shares, _percent(row["overall"])])
    return table(("over", "utility", "against E2E", f"% of the space {' / '.join(VERDICTS)}", "whole space, %"), rows)


def _percent(row: Row) -> str:
    middle, low, high = (f"{round(row[key], 1) + 0.0:+.1f}" for key in ("percent", "percent_low", "percent_high"))
    return f"{middle} [{low}, {high}]"


def scheduling() -> str:
    """Return what orders of hosts bring to laws that learnt with round robin, and headers beside them, bits."""
    found, rows = read("fabric-scheduling")["scores_bits"], []
    seeds = sorted(found["websearch-lossy"]["shortest"]["e2e"])

    def scores(scenarios: Iterable[str], order: str, policy: str) -> list[float]:
        return [fmean(found[scenario][order][policy][seed] for scenario in scenarios) for seed in seeds]

    for name, scenarios in {**{each: [each] for each in found}, "all five": list(found)}.items():
        base, own = scores(scenarios, "round-robin", "e2e"), scores(scenarios, "shortest", "e2e")
        cells = [_less(own, base), _less(scores(scenarios, "least-sent", "e2e"), base)]
        cells += [_less(scores(scenarios, "scheduled", each), base) for each in ("e2e", "e2e+receiver-rank")]
        cells += [
            _less(scores(scenarios, "round-robin", "rank"), base),
            _less(scores(scenarios, "shortest", "rank"), own),
        ]
        rows.append([name, *map(_seeds, cells)])
    heads = ("", "shortest first", "least sent first", "learnt there", "and listening")
    return table((*heads, "`rank`, round robin", "`rank`, shortest first"), rows)


def ideals() -> str:
    """Return scores of ideals by scenario, and what a network that knows all flows adds to hosts alone, bits."""
    names = ("max-min", "srpt-senders", "srpt-receivers", "srpt-hosts", "srpt")
    rows = []
    for scenario, found in read("fabric-scheduling")["ideals"].items():
        cells = [f"{found[name]:.3f}" for name in names]
        rows.append([scenario, *cells, f"{found['srpt'] - found['srpt-hosts']:+.3f}"])
    return table(("", *(f"`{name}`" for name in names), "a network adds"), rows)


def core() -> str:
    """Return what a network that knows all flows adds to hosts alone, bits, by uplinks and load of the fullest link."""
    found = {(each["uplink_gbps"], each["fullest"]): each for each in read("fabric-scheduling")["core"]}
    loads = sorted({load for _, load in found})
    rows = []
    for uplink in sorted({uplink for uplink, _ in found}, reverse=True):
        added = (found[uplink, load]["srpt"] - found[uplink, load]["srpt-hosts"] for load in loads)
        rows.append([f"{200 / uplink:.3g}:1", *(f"{each:+.3f}" for each in added)])
    return table(("uplinks", *(f"load {load:g}" for load in loads)), rows)


def _marked(row: Row) -> str:
    """Return a difference in bits, in bold where its interval leaves out 0."""
    text = number(row["difference"], signed=True)
    return f"**{text}**" if row["low"] is not None and row["low"] * row["high"] > 0 else text


RANGES = ("", "-rtt", "-senders")
WAYS = {
    "hadoop": "all links well",
    "hadoop-slow-spine": "a spine at a quarter",
    "hadoop-two-slow-links": "two links at a quarter, further on",
    "hadoop-failure": "a link fails",
    "small-numbered": "all links well",
    "small-numbered-slow-spine": "a spine at a quarter",
    "small-numbered-failure": "a link fails",
}
"""What is the matter, by scenario of `benchmarks/ways.py`."""


def ways(jobs: bool) -> str:
    """Return what load balancers and learnt laws are better by than `mixed`, for flows or for jobs."""
    own, both = (
        [each for each in read(name)["scenarios"] if ("small" in each["scenario"]) == jobs]
        for name in ("ai-ways", "ai-ways-rings")
    )
    rows = [[label, *(with_interval(each["rows"][label]) for each in own)] for label in own[0]["rows"]]
    laws = [label for label in both[0]["rows"] if label.startswith("law")]
    rows += [[f"{label}, rings too", *(with_interval(each["rows"][label]) for each in both)] for label in laws]
    return table(("", *(WAYS[each["scenario"]] for each in own)), rows)


PEERS = {"ns3": "ns-3", "engine": "engine"}


def on_linux() -> str:
    """Return on how many networks policies do on Linux what ns-3 or the engine says, with medians."""
    head = (
        "",
        "beside",
        "goodput agrees",
        "queueing agrees",
        "both",
        "goodput, here and there",
        "10 to 90 % of networks",
    )
    rows = [
        [
            each["policy"],
            PEERS[each["peer"]],
            *(f"{each[key]} of {each['networks']}" for key in ("goodput_agrees", "queueing_agrees", "both")),
            f"{each['goodput']:.3f}, {each['goodput_there']:.3f}",
            f"{each['ratio_low']:.2f} to {each['ratio_high']:.2f}",
            f"{each['queue_ms']:.3g}, {each['queue_ms_there']:.3g}",
        ]
        for each in read("linux")
    ]
    return table((*head, "queueing, ms"), rows)


def laws_on_linux() -> str:
    """Return what laws learnt with and without jitter score on Linux and in the engine."""
    rows = [
        [where, *(f"{each['score_bits']:.3f}" for each in laws.values()), *(with_interval(each) for each in over)]
        for where, laws in read("linux-laws").items()
        for over in [[{**each, "difference": each["over"]} for each in laws.values() if "over" in each]]
    ]
    kinds = ("learnt without jitter", "with jitter", "and with `fair-share`")
    return table(("", *kinds, "jitter brings", "the header brings"), rows)


def jobs(name: str) -> str:
    """Return what headers bring to training jobs in each scenario, by Student's t over training seeds."""
    scores: dict[str, dict[str, Any]] = {}
    found = read(name)
    for each in (*({**row, "stratum": "all"} for row in found["signal_sets"]), *found["strata"]):
        scores.setdefault(each["stratum"], {})[each["name"]] = np.array(each["scores_bits"])
    names = [name for name in scores["all"] if name != "e2e+receiver-rank"]

    def cell(of: Mapping[str, Any], name: str) -> str:
        mean, low, high = t_interval(of[name] - of["e2e+receiver-rank"])
        return with_interval({"difference": mean, "low": low, "high": high})

    own = ["`e2e+receiver-rank`, score", *(f"{of['e2e+receiver-rank'].mean():.3f}" for of in scores.values())]
    return table(("", *scores), [own, *([f"`{name}`", *(cell(of, name) for of in scores.values())] for name in names)])


def storage() -> str:
    """Return what a ring and the storage beside it take, in one class and with storage in its own."""
    places = ("small-storage", "small-storage-classes")

    def cells(found: Mapping[str, Any]) -> list[str]:
        least = "≥ " if found["unfinished"] else ""
        slow, p99 = f"{found['storage_slowdown']:.3g}", f"{found['storage_p99']:.3g}"
        return [f"{found['job_over_bound']:.2f}", f"{least}{slow}, {least}{p99}"]

    rows = [
        [f"{name.partition('.')[0]}{name.partition('.s')[2] and ', training seed ' + name.partition('.s')[2]}"]
        + [text for place in places for text in cells(found[place])]
        for name, found in read("ai-storage")["policies"].items()
    ]
    head = ("", "job", "storage: mean, p99", "job, two classes", "storage, two classes")
    return table(head, rows)


CAMPAIGNS = {f"fabric-{each}": f"fabric-{each}" for each in ("headers", "hosts-core", "hosts-paths")}
CAMPAIGNS |= {f"fabric-{each}": f"fabric-headers-{each}" for each in ("classes", "sprayed", "core")}
CAMPAIGNS |= {"fabric-hosts-edge": "fabric-hosts", "fabric-headers-fullest": "fabric-headers-fullest"}
CAMPAIGNS |= {f"fabric-scheduled-{each}": f"fabric-scheduled-{each}" for each in ("sprayed", "classes")}
CAMPAIGNS |= {each: each for each in ("ai-paths", "ai-paths-rings")}
RIVALS = ("fabric-sprayed-rivals", "fabric-hosts-rivals", "fabric-scheduled-classes-rivals")
TABLES: dict[str, Callable[[], str]] = {
    **{each: partial(sets, each) for each in ("quickstart", "signals", "signals-tables")},
    "learners": learners,
    **{each: partial(headers, name) for each, name in CAMPAIGNS.items()},
    **{f"{each}-elsewhere": partial(elsewhere, name) for each, name in CAMPAIGNS.items()},
    **{
        f"fabric-hosts-{each}": partial(headers, f"fabric-hosts-{each}")
        for each in ("rank", "core-rank", "core-fullest")
    },
    **{"fabric-scheduling": scheduling, "fabric-ideals": ideals, "fabric-core-map": core},
    "fabric-headers-buffers": lambda: buffers("fabric-headers"),
    "fabric-headers-trained-nowhere": lambda: generalised("fabric-headers"),
    "fabric-classes-buffers": lambda: buffers("fabric-headers-classes"),
    **{each: partial(rivals, each) for each in RIVALS},
    "fabric-hosts": lambda: sets("fabric-hosts-sprayed", "E2E's slowdown over its own"),
    "fabric-credit": lambda: sets("fabric-hosts-credit", "E2E's slowdown over its own"),
    "headers-quickstart": lambda: headers("headers-quickstart"),
    "imperfect-laws": lambda: imperfect("imperfect-laws"),
    "imperfect-ns3": imperfect_in_both,
    "imperfect-learnt": lambda: learnt_with("imperfect-learnt"),
    "imperfect-rank": lambda: imperfect("imperfect-rank", "rank, on a fabric"),
    "imperfect-fair-share": lambda: imperfect("imperfect-fair-share", "number of flows, on a fabric"),
    **{each: partial(jobs, each) for each in ("ai-headers", "ai-completion")},
    "ai-storage": storage,
    "linux": on_linux,
    "linux-laws": laws_on_linux,
    "linux-law": lambda: headers("linux-law"),
    "ai-ways": lambda: ways(False),
    "ai-ways-jobs": lambda: ways(True),
    "rl-cc": rl_cc,
    **{f"ranges{each}": partial(ranges, f"ranges{each}") for each in RANGES},
    **{f"range-costs{each}": partial(range_costs, f"ranges{each}") for each in RANGES},
    "topologies": lambda: topologies("topologies"),
    **{f"maps-{each}": partial(maps, f"paper/maps-{each}") for each in ("default", "2t", "2d")},
    "maps-elsewhere": maps_elsewhere,
    "maps-fabric": lambda: maps("maps-fabric"),
}

for file in sorted(ROOT.glob("studies/*/tables.py")):
    TABLES |= runpy.run_path(str(file))["TABLES"]
