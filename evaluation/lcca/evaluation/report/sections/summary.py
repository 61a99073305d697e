"""The first two pages of a report: question, answer, figure, what it means, how sure it is, its cost, what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from lcca.evaluation.report.sections.section import Section
from lcca.evaluation.report.sections.vendor import Part, header_question, vendor
from lcca.evaluation.report.words.commands import OPEN, Command
from lcca.evaluation.report.words.headline import TYPICAL, Answer, Statement, best_of
from lcca.evaluation.report.words.statements import NO_BREAK, capital, counts, coverage, interval, listed, percent
from lcca.evaluation.report.words.statements import void as reason
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.report.words.tuned import advice, recommended, settings
from lcca.evaluation.settling.intervals import UNFINISHED, positive_interval, t_interval
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, NETWORK_TRIALS, Metric
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.tables import RunTables, group_of
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.inputs.units import PACKET_BYTES

Json = dict[str, Any]

MOST = 8
"""Statements, and names in a question; what is left out of them is in the appendix."""

BETTER_FIRST = ("better", "worse", "equivalent", "not settled")

PLAIN = (
    *(FABRIC_TRIALS[name] for name in ("slowdown_mean", "slowdown_p99", "unfinished_percent")),
    replace(FABRIC_TRIALS["fct_p99_us"], unit="µs", scale=1.0, digits=1),
    replace(FABRIC_TRIALS["goodput_gbps"], digits=2),
)
"""What an operator of a fabric asks for."""


def summary(
    tables: RunTables, which: Json | None, answer: Answer, sections: Sequence[Section], typed: Sequence[Command]
) -> Json | None:
    """Return the summary of a run that compared something; None of any other.

    Args:
        tables: the run.
        which: its section on headers, if it has any.
        answer: its comparisons in words.
        sections: all others.
        typed: its commands.

    Returns:
        `question`; `answers`, statements; `moved`, the section whose figure and tables stand here and not below, or
        `svg` and `caption`; `population`, whose results these are; `parts` (`Part`), each with a title.
    """
    if not tables.comparisons or "questions" in tables.summary:
        return None
    took, left = Part("What this run cost", _took(tables)), Part("What is left to settle", _left(tables, typed))
    if (headers := vendor(tables)) is not None:
        question, answers, parts = headers["question"], headers["answers"], headers["parts"]
    else:
        question, answers = _question(tables), _answers(tables, which, answer)
        parts = [*_means(tables), Part("How sure this is", _sure(tables))]
    found: Json = {"question": question, "answers": answers, "parts": [*parts, took, left]}
    if which:
        return found | {key: which[key] for key in ("svg", "caption", "population")}
    drawn = {section.name: section for section in sections}
    moved = drawn.get("ranking") or drawn.get("forest")
    return found | {"moved": moved, "population": moved.content.population if moved else ""}


def _question(tables: RunTables) -> str:
    found, leading = tables.summary, tables.leading_comparisons
    if benefits := found.get("net_benefit"):
        return header_question(benefits, [])
    place = found.get("scenario") or found.get("benchmark")
    networks = f" on {found['topology']} networks" if "topology" in found else ""
    where = f" on {place}" if place else networks
    if any("best_rank" in each for each in tables.policies):
        return f"Which of {_some([each['id'] for each in tables.policies])} is best{where}?"
    if found.get("kind") == "tune":
        return f"Is {found['policy']} better with tuned parameters than with its own{where}?"
    contenders, rivals = (_some(list(dict.fromkeys(each[side] for each in leading))) for side in "BA")
    if leading[0]["level"] == "set":
        return f"Do policies learn more from the signals {contenders} than from {rivals}?"
    return f"{'Is' if len(leading) == 1 else 'Are'} {contenders} better than {rivals}{where}?"


def _some(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= MOST else f"{', '.join(names[:MOST])} and {len(names) - MOST} others"


def _answers(tables: RunTables, which: Json | None, answer: Answer) -> list[Statement]:
    if which:
        return list(which["statements"])
    if ranked := [each for each in tables.policies if "best_rank" in each]:
        first = [each for each in ranked if each["best_rank"] == 1]
        return [Statement("better" if len(first) == 1 else "not settled", f"{capital(best_of(ranked))}.")]
    found = sorted(answer.sets or answer.policies, key=lambda each: BETTER_FIRST.index(each.verdict))
    more = f"{len(found) - MOST} more comparisons are below."
    return [*found[:MOST], *([Statement("not settled", more)] if len(found) > MOST else [])]


# --- what it means


def _means(tables: RunTables) -> Iterator[Part]:
    """Yield throughput and times of contenders, and the values that a tuning came to."""
    trials, metrics = _trials(tables), _metrics(tables)
    metrics = [each for each in metrics if each.name in trials and trials[each.name].notna().any()]
    if metrics:
        base = dict.fromkeys(_name(tables, each["A"], each["utility"]) for each in tables.leading_comparisons)
        yield _table(tables, trials, metrics, next(iter(base)) if len(base) == 1 else "")
    if tables.summary.get("kind") == "tune":
        values = settings(tables.summary) if recommended(tables.summary) else None
        yield Part("Tuned, to paste", " ".join(map(advice, tables.leading_comparisons)), values)


def _trials(tables: RunTables) -> pd.DataFrame:
    """Return the trials of contenders: who ran them, and in which unit; one training seed, else one trial, is one."""
    if tables.has_trainings:
        rows = [
            trials.assign(who=_name(tables, group_of(policy), policy["utility"]), unit=policy["training_seed"])
            for policy, trials in tables.trials_by_policy()
            if policy["training_seed"] is not None
        ]
        return pd.concat(rows) if rows else pd.DataFrame()
    trials = tables.run.rows(tables.comparisons[0]["phase"])
    return trials.assign(who=trials["policy"], unit=trials["network"].astype(str) + "/" + trials["seed"].astype(str))


def _name(tables: RunTables, name: str, utility: str) -> str:
    return f"{name} (utility {utility})" if len(tables.utilities) > 1 and tables.has_trainings else name


def _metrics(tables: RunTables) -> Sequence[Metric]:
    if tables.on_fabric:
        return PLAIN
    share = NETWORK_TRIALS["throughput_share"].in_gbps(tables.packet_bytes or PACKET_BYTES)
    return replace(share, label="throughput"), replace(NETWORK_TRIALS["delay_us"], digits=2)


def _table(tables: RunTables, trials: pd.DataFrame, metrics: Sequence[Metric], base: str) -> Part:
    """Return means of contenders, and their differences from the baseline over the units that both have."""
    columns, order = {}, list(dict.fromkeys(trials["who"]))
    if ranked := [each["id"] for each in tables.policies if "best_rank" in each]:
        order.sort(key=lambda name: ranked.index(name) if name in ranked else len(ranked))
    scored = [each for name in tables.utilities if isinstance(each := UTILITIES.get(name), Ratio)]
    if tables.on_fabric and len(scored) == 1:
        scores = trials.pivot_table(index="unit", columns="who", values="score_bits")
        means = (scored[0].typical_interval(t_interval(scores.get(name, ()))) for name in order)
        columns[capital(scored[0].typical.head)] = [interval(*each, "{:,.3f}") for each in means]
    for metric in metrics:
        values = trials.pivot_table(index="unit", columns="who", values=metric.name) / metric.scale
        form, least = f"{{:,.{metric.digits}f}}", metric.least / metric.scale
        cells = {name: interval(*positive_interval(values[name], least=least), form) for name in values}
        columns[capital(metric.over_trials.head)] = [cells.get(name, "–") for name in order]
        if base in values:
            more = {name: t_interval(values[name] - values[base]) for name in values if name != base}
            form = f"{{:+,.{metric.digits}f}}"
            words = [interval(*more[name], form) if name in more else "" for name in order]
            columns[f"Δ {metric.over_trials.head}"] = [each.replace("-", "−") for each in words]
    rows = list(zip(order, *columns.values(), strict=True))
    unit = "training seeds" if tables.has_trainings else "trials"
    text = f"Values are means over {unit}, with 95{NO_BREAK}% confidence intervals that are valid one at a time."
    text += f" Δ is the difference from {base} over the same {unit}." if base else ""
    if not tables.on_fabric:
        text += f" Gb/s are computed for packets of {tables.packet_bytes or PACKET_BYTES:,} bytes."
    text += f" {TYPICAL}" * tables.on_fabric
    return Part("What it means", text, Table("", ["", *columns], rows))


# --- how sure, at what cost, what is left


def _sure(tables: RunTables) -> str:
    leading = tables.leading_comparisons
    n = counts(*(choose(each["n"] for each in leading) for choose in (min, max)))
    unit = (
        "training seeds" if leading[0]["level"] == "set" else "pairs; a pair is the same trial, run with both policies"
    )
    margins = sorted({each["margin"] for each in leading})
    margin = f"±{margins[0]:.3f} bits" if len(margins) == 1 else "the margins"
    settled = sum(each["verdict"] != "not settled" for each in leading)
    of = f"{settled} of {len(leading)} comparisons are settled" if len(leading) > 1 else "There is one comparison"
    text = f"{of}, with {n} {unit}. {_confidence(leading)} Differences within {margin} count as equivalent."
    if any("best_rank" in each for each in tables.policies):
        sure = percent(100 * (1 - tables.summary["alpha"]), signed=False)
        text += f" All ranks are right together with {sure} confidence."
    return f"{text} The results hold for the networks and loads of this run; other ones may give other results."


def _confidence(leading: Sequence[Json]) -> str:
    """Return in a sentence how sure the intervals of the leading comparisons are."""
    sure, _, how = coverage(leading).rpartition(" % ")
    if how == "simultaneous":
        return f"The confidence intervals are simultaneous: all of them hold with {sure} % confidence, at every look."
    which = "Each confidence interval" if how == "each" else "The confidence interval"
    return f"{which} holds with {sure or how.removesuffix(' %')} % confidence, at every look."


def _took(tables: RunTables) -> str:
    """Return training seeds, trainings, trials and CPU time, as far as they are known."""
    seeds = {each["training_seed"] for each in tables.policies if each.get("training_seed") is not None}
    done = [f"{len(seeds):,} training seeds, {len(tables.policies):,} trainings"] if seeds else []
    if phases := (tables.costs or {}).get("phases", []):
        trials, cpu = (sum(each.get(key) or 0 for each in phases) for key in ("trials", "cpu_s"))
        done.append(f"{trials:,} trials and {cpu:,.0f} CPU seconds")
    return f"This run took {', '.join(done)}." if done else "The cost of this run was not recorded."


def _left(tables: RunTables, typed: Sequence[Command]) -> str:
    """Return what settles the rest by the forecasts; where too much was unfinished, longer trials alone do."""
    if void := [each for each in tables.comparisons if reason(each) == UNFINISHED]:
        return f"{len(void)} of {len(tables.comparisons)} comparisons need longer trials: {void[0]['note']}."
    if found := [each for each in typed if each.purpose.startswith(OPEN)]:
        return f"{found[0].purpose.partition(';')[0]}: `{found[0].lines[-1]}`"
    opened = [each for each in tables.comparisons if each["verdict"] == "not settled"]
    if not opened:
        return "Every comparison is settled."
    likely = [each["likely_n"] or (2 * each["n"], 2 * each["n"]) for each in opened]
    ends = counts(*(max(each) for each in zip(*likely, strict=True)))
    return f"{len(opened)} comparisons are open; according to the forecasts {ends} pairs settle them (`--trials`)."
