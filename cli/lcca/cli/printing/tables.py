"""The tables that commands print on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from lcca.cli.printing.console import wide_console
from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.report.words.headline import score_explained
from lcca.evaluation.report.words.statements import (
    NOT_SETTLED,
    coverage,
    coverage_apart,
    finding,
    interval,
    rules_words,
    sign_and_size,
)
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import UTILITIES, utilities_of
from lcca.experiments.runs.remaining import words_for_time

if TYPE_CHECKING:
    from lcca.experiments.testing.forecast import Forecast


def print_sets(summary: dict[str, Any]) -> None:
    """Print one line per signal set or header: what its trainings score."""
    table = Table(title=f"{summary['campaign']}: trainings on fresh networks, each seed's on networks of its own")
    for name in ("signals", "utility", "training seeds", "score (bits)", "SD over seeds", "expected best of 5"):
        table.add_column(name, justify="left" if name == "signals" else "right", overflow="fold")
    for row in summary["signal_sets"]:
        table.add_row(
            escape(row["name"]),
            row["utility"],
            str(len(row["training_seeds"])),
            *(with_error(row[key], None) for key in ("score_bits", "score_bits_sd", "best_of_score_bits")),
        )
    wide_console().print(table)


MEASURED = {"throughput / link": "throughput_over_link", "delay / rtt": "delay_over_rtt", "starved": "starved"}
ON_FABRIC = {"slowdown": "slowdown_mean", "p99": "slowdown_p99"}
"""What is shown of a policy's test: keys of its summary by their heads."""


def _on_networks(summary: dict[str, Any]) -> bool:
    return any("throughput_over_link" in each["trained"] for each in summary["policies"])


def print_policies(summary: dict[str, Any]) -> None:
    """Print one line per policy: its results on the test networks of its training seed."""
    table = Table(title=f"{summary['campaign']}: policies on fresh test networks")
    shown = MEASURED if _on_networks(summary) else ON_FABRIC
    for name in ("policy", "rules", "score (bits)", *shown, "trials", "networks of"):
        table.add_column(name, justify="left" if name == "policy" else "right", overflow="fold")
    for policy in summary["policies"]:
        test = policy["trained"]
        table.add_row(
            policy["id"] + (" *" if policy["selected"] else ""),
            rules_words(policy["rules"]),
            with_error(test["score_bits"], test["score_bits_se"]),
            *(
                with_error(test[key], test[f"{key}_se"]) if key != "starved" else str(test[key])
                for key in shown.values()
            ),
            str(test["trials"]),
            f"training seed {policy['training_seed']}",
        )
    console = wide_console()
    console.print(table)
    console.print(
        "± is one standard error over networks; * best of its signal set on the validation networks", style="dim"
    )
    console.print(_score_words(p["utility"] for p in summary["policies"]), style="dim")


def _score_words(utilities: Iterable[str]) -> str:
    """Return what a score is, of utilities by name; of one with weights of its own its unit alone."""
    names = set(utilities)
    known = utilities_of("", names)
    return score_explained(known) if known.keys() == names else "Score in bits."


def print_verdicts(summary: dict[str, Any]) -> None:
    """Print the comparisons: signal sets first, then selected policies, then hand-designed ones with learnt ones."""
    for level, title in (
        ("set", "signal sets, mean over training seeds; all intervals hold together"),
        ("policy", "selected policies, paired on fresh networks"),
    ):
        rows = [c for c in summary["comparisons"] if c["level"] == level]
        if rows:
            console = wide_console()
            console.print(_verdict_table(title, rows))
            for note in notes(rows):
                console.print(note, style="dim", markup=False)
    if by_hand := summary.get("hand_designed"):
        wide_console().print(_designed(by_hand))


def _designed(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="hand-designed policies against what was learnt from a set with their signals, bytes free")
    for name in ("by hand", "learnt", "signals", _difference_head(rows), "sign and size", "so the learner"):
        table.add_column(name, justify="right" if name.startswith("difference") else "left", overflow="fold")
    for row in rows:
        difference = interval(row["difference"], row["low"], row["high"], "{:+.3f}")
        words = (", ".join(row["signals"]), difference, sign_and_size(row), finding(row))
        table.add_row(escape(row["B"]), escape(row["A"]), *words)
    return table


def print_net_benefit(summary: dict[str, Any]) -> None:
    """Print the net benefit of headers, if the campaign has any."""
    found = summary.get("net_benefit")
    if not found:
        return
    table = Table(
        title=f"headers against {found['baseline']} over training seeds, bytes charged on "
        f"{found['packet_bytes']}-byte packets; all intervals hold together"
    )
    for name in (
        "header",
        "bytes",
        "utility",
        "gross (bytes free)",
        "cost of the bytes",
        f"net (bits) [{coverage([pair for choice in found['choices'] for pair in choice['pairs']])}]",
        "decision",
        "training seeds",
        "forecast",
    ):
        table.add_column(name, justify="left" if name in ("header", "decision") else "right", overflow="fold")
    for row in found["rows"]:
        net = row["net_set"]
        table.add_row(
            escape(row["header"]),
            str(row["wire_bytes"]),
            row["utility"],
            _bits(row["gross_set"]),
            _bits(row["cost_set"]) if row["cost_set"] else "0",
            interval(net["difference"], net["low"], net["high"], "{:+.3f}"),
            row["decision"],
            str(net["n"]),
            forecast_words(net) if row["decision"] == "open" else "",
        )
    wide_console().print(table)
    # Finished runs from before it was written there tell it by their policies.
    of = found.get("percent_of") or ("throughput at equal delay" if _on_networks(summary) else "slowdown")
    print(f"pays: more than {found['required_percent']:g} % of {of}, its bytes charged")
    for choice in found["choices"]:
        if note := no_choice_yet(choice["pairs"]):
            print(f"utility {choice['utility']}: {note}")
            continue
        others = [name for name in choice["answers"] if name != choice["take"]]
        also = f" (may also be best: {', '.join(others)})" if others else ""
        print(f"utility {choice['utility']}: recommended: {choice['take']}{also}")


def _bits(comparison: dict[str, Any]) -> str:
    value = comparison["difference"]
    return "–" if value is None else f"{value:+.3f}"


def print_points(summary: dict[str, Any]) -> None:
    """Print the comparisons of a grid's points, one line each: of signal sets, then of selected policies."""
    for level, title in (("set", "signal sets, mean over training seeds"), ("policy", "selected policies")):
        rows = [(point["name"], c) for point in summary["points"] for c in point["comparisons"] if c["level"] == level]
        if rows:
            wide_console().print(_points_table(f"{summary['grid']}: {title} at the points of the grid", rows))


def _points_table(title: str, rows: list[tuple[str, dict[str, Any]]]) -> Table:
    table = Table(title=title)
    by_point = [[c for point, c in rows if point == name] for name in dict.fromkeys(point for point, _ in rows)]
    difference = f"difference (bits) [{coverage_apart(by_point)}]"
    for name in ("point", "B", "against A", "utility", difference, "verdict", "n"):
        table.add_column(name, justify="right" if name in (difference, "n") else "left", overflow="fold")
    for point, c in rows:
        found = interval(c["difference"], c["low"], c["high"], "{:+.3f}")
        table.add_row(point, escape(c["B"]), escape(c["A"]), c["utility"], found, verdict_words(c), str(c["n"]))
    return table


def print_forecasts(name: str, found: Mapping[str, Forecast]) -> None:
    """Print the cost of campaigns, a line each."""
    table = Table(title=f"{name}: remaining work")
    for head in (
        "point",
        "trainings",
        "done",
        "trials per training",
        "test trials",
        "CPU ms per trial",
        "CPU time",
        "time",
    ):
        table.add_column(head, justify="left" if head == "point" else "right", overflow="fold")
    for point, each in found.items():
        ends, cpu = each.wall_s, each.cpu_s
        table.add_row(
            point or name,
            _range(*(end.trainings for end in each.ends)),
            str(sum(done for _, _, done in each.trainings)),
            f"{each.budget:,} {each.unit}",
            "–".join(f"{end.tests:,}" for end in each.ends),
            f"{1000 * each.trial_cpu_s:.2f}",
            "not known in advance" if cpu is None else words_for_time(*cpu),
            "not known in advance" if ends is None else f"{words_for_time(*ends)} on {each.jobs} cores",
        )
    wide_console().print(table)
    for point, each in found.items():
        if parts := each.cpu_parts:
            times = (f"{name} {words_for_time(*ends)} (by {key})" for name, (key, *ends) in parts.items())
            print(f"{point + ': ' if point else ''}CPU time: {', '.join(times)}")
        if each.ends[1].ns3:
            trials = " to ".join(dict.fromkeys(f"{end.ns3:,}" for end in each.ends))
            print(f"{point + ': ' if point else ''}besides, {trials} trials in ns-3, about 0.4 to 1 CPU s each")
        for id, _, done in each.trainings:
            print(f"{point + ': ' if point else ''}{id}: {'done' if done else 'to train'}")
    keys: set[str] = {cell for each in found.values() for _, cell, done in each.trainings if not done}
    print(f"{len(keys)} different trainings remain; grid points share equal ones")


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}–{most}"


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Return the notes, each once, with its candidates."""
    about: dict[str, list[str]] = {}
    for c in rows:
        if c["note"]:
            about.setdefault(c["note"], []).append(c["B"])
    return [f"{', '.join(names)}: {note}" if len(names) < len(rows) else note for note, names in about.items()]


def paid_words(utilities: Iterable[str]) -> str:
    """Return what the per cents of a difference are of, for utilities by name."""
    names = list(utilities)
    ratios = [each for name in names if isinstance(each := UTILITIES.get(name), Ratio)]
    words = {f"{each.measure} of {'B' if each.large else 'A'} larger by" for each in ratios}
    if len(ratios) < len(names):
        return "as throughput"
    return words.pop() if len(words) == 1 else "A worse by"


def _verdict_table(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=title)
    paid = paid_words([c["utility"] for c in rows])
    for name in ("B", "against A", "utility", _difference_head(rows), paid, "verdict", "n", "forecast"):
        table.add_column(name, justify="left" if name in ("B", "against A", "verdict") else "right", overflow="fold")
    for c in rows:
        table.add_row(
            escape(c["B"]),
            escape(c["A"]),
            c["utility"],
            interval(c["difference"], c["low"], c["high"], "{:+.3f}"),
            percent(c["throughput_equivalent_percent"]["difference"]),
            verdict_words(c),
            str(c["n"]),
            forecast_words(c),
        )
    return table


def _difference_head(comparisons: list[dict[str, Any]]) -> str:
    return f"difference (bits) [{coverage(comparisons)}]" if comparisons else "difference (bits)"


def with_error(value: float | None, error: float | None) -> str:
    """Return a number with its standard error."""
    if value is None:
        return "–"
    return f"{value:.3f}" + (f" ± {error:.3f}" if error is not None else "")


def percent(value: float | None) -> str:
    """Return a signed percentage."""
    return "–" if value is None else f"{value:+.1f} %"


def verdict_words(comparison: dict[str, Any]) -> str:
    """Return the verdict, and its two statements apart: the difference's sign, and its size against the margin."""
    words = sign_and_size(comparison)
    return words if comparison["verdict"] == NOT_SETTLED else f"{comparison['verdict']}: {words}"


def forecast_words(comparison: dict[str, Any]) -> str:
    """Return how many more units an open comparison will take."""
    if not comparison["likely_n"]:
        return ""
    unit = "pairs" if comparison["level"] == "policy" else "training seeds"
    low, high = (max(n - comparison["n"], 0) for n in comparison["likely_n"])
    if high == 0:
        return "the next look"
    if low == high:
        return f"about {high} more {unit}"
    return f"about {low}–{high} more {unit}" if low else f"up to {high} more {unit}"


OVER_SEEDS = ", mean over training seeds"


def print_ideals(found: Mapping[str, Any], title: str) -> None:
    """Print what is possible, and policies beside it, if there are any."""
    policies = found.get("policies", [])
    table = Table(title=f"{escape(title)} (± one standard error)")
    table.add_column("")
    for name in ("score (bits)", *(("share of the gap closed",) if policies else ())):
        table.add_column(name, justify="right")
    for row in [*found.get("signal_sets", ()), *policies]:
        share = "" if row["gap_closed"] is None else f"{100 * row['gap_closed']:.0f} %"
        name = f"{escape(row['policy'])}, on these networks" if "policy" in row else escape(row["name"]) + OVER_SEEDS
        table.add_row(name, with_error(row["score_bits"], None), share)
    for name, words in WORDS.items():
        if found[name] is not None:
            table.add_row(words, with_error(found[name], found[f"{name}_se"]))
    if found.get("population_fair_bits") is not None:
        table.add_row("fair share, mean of the space in closed form", with_error(found["population_fair_bits"], None))
    console = wide_console()
    console.print(table)
    if policies:
        sets = "; of signal sets from the baseline's mean" if found.get("signal_sets") else ""
        console.print(
            f"gap: from {found['baseline']} to the fair share{sets}; header bytes free", style="dim", markup=False
        )


def print_comparison(comparison: dict[str, Any], note: str = "") -> None:
    """Print one comparison, with its note and another one."""
    wide_console().print(_verdict_table("B against A, paired on fresh trials", [comparison]))
    for words in filter(None, (comparison["note"], note)):
        wide_console().print(words, style="dim", markup=False)
