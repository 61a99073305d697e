"""The tables of what a run has found, whoever shows them: the report or the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.comparison.ranking import Standing, rank_words
from lcca.evaluation.report.words.headline import SIDES, paid_words
from lcca.evaluation.report.words.merit import net_percent, percent_of
from lcca.evaluation.report.words.statements import (
    TOO_WIDE,
    capital,
    coverage,
    coverage_apart,
    finding,
    interval,
    number,
    rules_words,
    sign_and_size,
    verdict_words,
    with_error,
    with_interval,
)
from lcca.evaluation.report.words.table import Columns, Table, stacked
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, OF_JOBS, SCORE, Metric

Json = dict[str, Any]

GAP = "Share of the gap closed"


def standing(row: Json) -> Standing:
    """Return the place of a policy from its record; the keys of scores are sorted where it is read from a file."""
    mean, low, high = (math.nan if (at := row["score_bits"][end]) is None else at for end in ("mean", "low", "high"))
    ranks = (row[name] for name in ("best_rank", "worst_rank", "ties", "better_than", "worse_than"))
    return Standing(row["id"], mean, low, high, *ranks)


def ranks_table(policies: Sequence[Json], caption: str = "Ranks", score: str = "Score, bits") -> Table:
    """Return a row per policy that was ranked."""
    columns: Columns = {
        **{"Policy": "id", "Rank": lambda row: rank_words(standing(row))},
        score: lambda row: with_interval(row["score_bits"], "mean", "{:.3f}"),
        **{"Ties": "ties", "Better than": "better_than", "Worse than": "worse_than"},
    }
    return Table.of(caption, policies, columns, ("Policy", "Ties"))


def sets_table(rows: Sequence[Json], caption: str = "Scores over training seeds, in bits") -> Table:
    """Return a row per signal set or header: what its trainings score."""
    best = "best_of_difference_bits"
    columns: Columns = {
        **{"Signals": "name", "Utility": "utility", "Training seeds": lambda row: str(len(row["training_seeds"]))},
        **{"Score, bits": ("score_bits", 3), "SD over seeds": ("score_bits_sd", 3)},
        f"Expected best of {rows[0]['best_of']}": ("best_of_score_bits", 3),
        "… less the baseline's (± se)": lambda row: with_error(row[best] or None, row[f"{best}_se"], signed=True),
    }
    return Table.of(caption, rows, columns, left=2)


def designed_table(rows: Sequence[Json]) -> Table:
    """Return a row per hand-designed policy and learnt one with its signals."""
    columns: Columns = {
        **{"Hand-designed": "B", "Learnt": "A", "Signals": lambda row: ", ".join(row["signals"])},
        f"Difference, bits [{coverage(rows)}]": with_interval,
        **{"Sign and size": sign_and_size, "So the learner": finding},
    }
    return Table.of("Hand-designed policies against learnt ones, bytes free", rows, columns, left=3)


def ideal_sets_table(found: Json) -> Table:
    """Return how near signal sets come to what is possible, of what a run knows of ideals."""
    columns: Columns = {
        **{"Signals": "name", "Score, bits": ("score_bits", 3), "Below what is possible": ("below_fair_bits", 3)},
        GAP: share_of_gap,
    }
    return Table.of(f"Signal sets over training seeds, utility {found['utility']}", found["signal_sets"], columns)


def ideals_table(found: Json, caption: str, call: Callable[[str], str] = str) -> Table:
    """Return what is possible and how near policies come, if there are any; `call` returns what one is called."""
    policies = found.get("policies", [])
    rows = [(call(row["policy"]), number(row["score_bits"]), share_of_gap(row)) for row in policies]
    known = {words: name for name, words in WORDS.items() if found[name] is not None}
    rows += [(words, with_error(found[name], found.get(f"{name}_se")), "") for words, name in known.items()]
    if (bits := found.get("population_fair_bits")) is not None:
        rows.append(("equal shares, mean of the space in closed form", number(bits), ""))
    head = ("Policy or ideal", "Score, bits (± se)", GAP)[: 3 if policies else 2]
    return Table(caption, head, [row[: len(head)] for row in rows])


def share_of_gap(row: Json) -> str:
    """Return which share of the gap to an ideal is closed."""
    return "" if row["gap_closed"] is None else f"{100 * row['gap_closed']:.0f} %"


def simulator_label(name: str) -> str:
    """Return what a simulator is called in sentences: the engine, ns-3, Linux."""
    return next((word for start, word in (("ns-3", "ns-3"), ("linux", "Linux")) if name.startswith(start)), name)


def agreement_table(rows: Sequence[Json], simulators: Sequence[str] = ("engine", "ns-3")) -> Table:
    """Return a row per topology, policy and metric: how far the simulators, the second and the first, are apart."""
    one, other = map(simulator_label, simulators)
    columns: Columns = {
        **{"Topology": "topology", "Policy": "policy", "Metric": _agreed_on},
        **{capital(one): ("first", 3), other: ("second", 3), f"{other} − {one} [95 %]": with_interval},
        **{"Spread": ("spread", 3), "Starved in one only: without these": _starved},
        "Verdict": lambda row: row["verdict"] or "–",
    }
    return Table.of("Differences between the simulators", rows, columns, ("Topology", "Policy", "Metric", "Verdict"))


def _agreed_on(row: Json) -> str:
    return NETWORK_TRIALS[row["metric"]].label + (", bits" if row["metric"] == SCORE.name else ", %")


def _starved(row: Json) -> str:
    return f"{row['starved']}: {number(row['without_starved'], signed=True)}" if row["starved"] else ""


def question_table(question: Json, rows: Sequence[Json], caption: str = "") -> Table:
    """Return the comparisons that answer a question of a study."""
    columns: dict[str, Any] = {
        **{"Scenario": "condition", "B": "B", "Against A": "A", "By": "utility", "Difference, bits": with_interval},
        **{"A worse by": percent_of, "Pairs": "n", "Verdict": verdict_words},
    }
    if question["expected"] is not None:
        columns[f"Theirs: {question['expected']}"] = lambda row: row["agreement"] or ""
    return Table.of(caption, rows, columns, {*columns} - {"Difference, bits", "A worse by", "Pairs"})


def verdicts_table(rows: Sequence[Json], caption: str = "", runs: Sequence[Sequence[Json]] = ()) -> Table:
    """Return a row per comparison of one level; intervals of several `runs` hold for each run apart."""
    columns: Columns = {
        "Candidate": lambda row: f"{row['B']}\nagainst {row['A']}",
        **{"Utility": "utility", "Verdict": lambda row: verdict_words(row) + _adjusted(row)},
        capital(paid_words((row["utility"] for row in rows), *SIDES)): lambda row: stacked(net_percent(row)),
        f"Difference, bits [{coverage_apart(runs or [rows])}]": lambda row: stacked(with_interval(row)),
        "Training seeds" if rows[0]["level"] == "set" else "Pairs": ("n", 0),
        **({"Forecast": forecast_words} if any(map(forecast_words, rows)) else {}),
    }
    return Table.of(caption, rows, columns, ("Candidate", "Utility", "Verdict"), "Verdict")


def verdicts_tables(rows: Sequence[Json], caption: str, runs: Sequence[Sequence[Json]] = ()) -> tuple[Table, ...]:
    """Return such a table of signal sets, and one of policies, as far as there are any."""
    tables = []
    for level, words in (("set", "signal sets over training seeds"), ("policy", "selected policies")):
        apart = [[row for row in run if row["level"] == level] for run in (rows, *runs)]
        tables += [verdicts_table(apart[0], f"{caption}: {words}", apart[1:])] if apart[0] else []
    return tuple(tables)


def _adjusted(row: Json) -> str:
    return f"\nadjusted: {row['adjusted_verdict']}" if row["adjusted_verdict"] != row["verdict"] else ""


def forecast_words(comparison: Json) -> str:
    """Return how many more units an open comparison will take."""
    if not comparison["likely_n"]:
        return ""
    unit = "pairs" if comparison["level"] == "policy" else "training seeds"
    low, high = (max(n - comparison["n"], 0) for n in comparison["likely_n"])
    if high == 0:
        return "the next look"
    if high > TOO_WIDE * max(low, 1):
        return f"unknown, at least {max(low, 1)} more {unit}"
    if low == high:
        return f"about {high} more {unit}"
    return f"about {low}–{high} more {unit}" if low else f"up to {high} more {unit}"


def statistics_table(rows: Sequence[Json]) -> Table:
    """Return what else is known of comparisons."""
    columns: Columns = {
        "Comparison": lambda row: f"{row['B']} against {row['A']}, {row['utility']}",
        **{"Margin, bits": ("margin", 4), "α": lambda row: f"{row['alpha']:.3g}"},
        "Adjusted verdict": "adjusted_verdict",
        **{"σ of differences": ("sigma_d", 4), "Correlation": ("correlation", 3), "Skewness": ("skewness", 2)},
        **{"Looks": "looks", "e-value": lambda row: "–" if row["e_value"] is None else f"{row['e_value']:.3g}"},
        **{"Ceiling n": ("ceiling_n", 0), "Paper's relative %*": ("paper_relative_percent", 2), "Note": "note"},
    }
    return Table.of("All statistics", rows, columns, ("Comparison", "Adjusted verdict", "Note"))


def policies_table(
    summary: Json, metrics: Sequence[Metric], caption: str = "", trained: Mapping[str, int] | None = None
) -> Table:
    """Return a row per training: its results on the test networks of its training seed.

    Args:
        summary: the run's.
        metrics: those that are shown where they were measured.
        caption: above it.
        trained: trials of each training.
    """
    rows = summary["policies"]
    known = [each for each in metrics if any(each.name in row["trained"] for row in rows)]
    columns: Columns = {
        "Policy": lambda row: row["id"] + " *" * row.get("selected", False),
        "Rules": lambda row: rules_words(row["rules"]),
        **{capital(each.head): partial(measured, metric=each) for each in (SCORE, *known)},
        "Trials": lambda row: f"{row['trained']['trials']:,}",
        "Training seed": lambda row: "–" if row["training_seed"] is None else str(row["training_seed"]),
        **({"Training trials": lambda row: number(trained.get(row["id"]), 0)} if trained else {}),
        **({"Validation score, bits": ("validation_score_bits", 3)} if trained else {}),
    }
    return Table.of(caption, rows, columns)


def measured(row: Json, metric: Metric, form: str = "") -> str:
    """Return a measure in the metric's unit: a mean with its interval, or a number with its standard error."""
    row = row.get("trained", row)
    value, digits = row.get(metric.name), 0 if metric.together == "sum" else metric.digits
    if isinstance(value, Mapping):
        keys = ("value" if "value" in value else "mean", "low", "high")
        middle, low, high = (None if (at := value.get(key)) is None else at / metric.scale for key in keys)
        return interval(middle, low, high, form or f"{{:,.{digits}f}}")
    value, error = (each and each / metric.scale for each in (value, row.get(f"{metric.name}_se")))
    return with_error(value, error, digits)


def jobs_table(rows: Sequence[Json], caption: str = "") -> Table:
    """Return a row per scenario, policy or signal set, and job, of `lcca.evaluation.fabric.summary.by_job`."""
    columns: Columns = {
        **({"Scenario": "scenario"} if any(row.get("scenario") for row in rows) else {}),
        **{"Policy or signal set": "id", "Job": lambda row: str(row["job"] + 1)},
        **{capital(each.head): partial(_of_job, metric=each) for each in OF_JOBS.values()},
        "Trials": ("trials", 0),
        **({"Without an end": ("unfinished", 0)} if any(row["unfinished"] for row in rows) else {}),
    }
    return Table.of(caption, rows, columns, ("Scenario", "Policy or signal set"))


def _of_job(row: Json, metric: Metric) -> str:
    """Return a mean with its interval; a bound where the job did not end in every trial."""
    sign = {"less": "≥ ", "more": "≤ "}[metric.better] if row["unfinished"] else ""
    ends = {end: value / metric.scale for end, value in row[metric.name].items()}
    return sign + with_interval(ends, "mean", f"{{:,.{metric.digits}f}}")


def costs_table(phases: Sequence[Json]) -> Table:
    """Return what each phase took."""
    columns: Columns = {
        **{"Phase": "name", "CPU, s": ("cpu_s", 1), "Wall, s": ("wall_s", 1), "Trials": ("trials", 0)},
        "Packets, millions": lambda row: number((row["packets"] or 0) / 1e6, 1),
    }
    return Table.of("Cost", phases, columns)
