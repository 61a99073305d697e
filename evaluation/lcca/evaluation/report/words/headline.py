"""The answer of a run in plain words."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK
from lcca.evaluation.comparison.sets import DEPENDS, FIRST_SEEDS, LEARNT_BY, TRAINED_TOO_LITTLE
from lcca.evaluation.report.words.statements import (
    NO_BREAK,
    NOT_SETTLED,
    capital,
    counted_units,
    counts,
    interval,
    listed,
    percent,
    sign_and_size,
    void,
)
from lcca.evaluation.report.words.table import Columns
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.evaluation.trials.layout import TEST
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, NETWORK_TRIALS
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.studies import added, attribute

Json = dict[str, Any]

THROUGHPUT = "throughput-equivalent"
"""What per cents of a difference are of, unless it is of a metric."""

SIDES = ("baseline", "candidate")
"""What the two sides of a difference are called where several are shown."""

TYPICAL = (
    "Typical is the geometric mean over trials, and of slowdowns over flows too, in which all count by their ratios; a "
    "mean is arithmetic, and depends mostly on the largest values."
)

COMPARED = {
    **{"better": "{} is better than {}", "worse": "{} is worse than {}", "equivalent": "{} is equivalent to {}"},
    NOT_SETTLED: "{} against {} is not settled",
}
"""What a verdict says of B and A."""

NO_BREAK_HYPHEN = "\u2011"


@dataclass(frozen=True)
class Statement:
    """One comparison in a sentence; `verdict` picks its colour."""

    verdict: str
    text: str


@dataclass(frozen=True)
class Answer:
    """The answer on the first page.

    Attributes:
        title: in one line.
        sets: a statement per comparison of signal sets, over training seeds.
        policies: a statement per comparison of trained policies.
    """

    title: str
    sets: tuple[Statement, ...]
    policies: tuple[Statement, ...]


def answer(comparisons: Sequence[Json], signal_sets: Mapping[str, str] | None = None) -> Answer:
    """Return the answer of a run from its comparisons (JSON records).

    Args:
        comparisons: the records.
        signal_sets: signal set by policy id; the title names policies by them.
    """
    several = len({each["utility"] for each in comparisons}) > 1
    sets = [each for each in comparisons if each["level"] == "set"]
    policies = [each for each in comparisons if each["level"] == "policy"]
    return Answer(
        title=_title(sets, [_renamed(each, signal_sets or {}) for each in policies]),
        sets=tuple(Statement(each["verdict"], _sentence(each, several)) for each in sets),
        policies=tuple(Statement(each["verdict"], _sentence(each, several)) for each in policies),
    )


def headline(result: Json) -> str:
    """Return what a run of any kind has found, in one line; empty where that is nothing yet."""
    comparisons, policies = result.get("comparisons", []), result.get("policies", [])
    for key, (study, headline_of) in added("headlines").items():
        if result.get(key) is not None:
            return str(attribute(study, headline_of)(result))
    if choices := result.get("net_benefit", {}).get("choices"):
        notes = {each["utility"]: no_choice_yet(each.get("pairs", ())) for each in choices}
        said = {each["utility"]: notes[each["utility"]] or f"take {each['take']}" for each in choices}
        alone = len(said) == 1
        return capital("; ".join(words if alone else f"{name}: {words}" for name, words in said.items()))
    if "signal_sets" in result:
        names = {each["id"]: each["signal_set"] for each in policies}
        return answer([each for each in comparisons if each["phase"] == TEST], names).title
    if ranked := [each for each in policies if "best_rank" in each]:
        return best_of(ranked)
    if "agreement" in result:
        scores = [each["verdict"] for each in result["agreement"] if each["metric"] == "score_bits"]
        return f"{sum(each.startswith('agree') for each in scores)} of {len(scores)} mean scores agree"
    if len(comparisons) == 1:
        return f"{comparisons[0]['B']}: {comparisons[0]['verdict']}"
    counted = Counter(each["verdict"] for each in comparisons)
    return ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common())


def best_of(ranked: Sequence[Json]) -> str:
    """Return which policies may be best, from their records with ranks."""
    first = [each["id"] for each in ranked if each["best_rank"] == 1]
    if not first:
        return f"open: {TOO_FEW_TO_RANK}"
    return f"best: {first[0]}" if len(first) == 1 else f"may be best: {', '.join(first)}"


def estimated(row: Json) -> tuple[str, str, float]:
    """Return what was estimated, its unit, and one of that unit in the unit of the record."""
    metric = (FLOWS | NETWORK_TRIALS | FABRIC_TRIALS).get(row["metric"])
    name = metric.over_trials.label if metric else str(row["metric"])
    if p := row.get("quantile"):
        name = "mean of trials' " * (row.get("target") == "mean-of-trials") + f"{name} p{100 * p:g}"
    elif row["metric"] in FLOWS:
        name = f"mean {name}"
    duration = f" at {row['duration_us']:g} µs" if "duration_us" in row else ""
    return f"{name}{duration}", *((metric.unit, metric.scale) if metric else ("", 1.0))


def _with_unit(row: Json) -> str:
    return capital(", ".join(filter(None, estimated(row)[:2])))


def _estimate(row: Json) -> str:
    value, low, high = (row[end] and row[end] / estimated(row)[2] for end in ("estimate", "low", "high"))
    return interval(value, low, high, "{:.5g}")


ESTIMATES: Columns = {"Metric": _with_unit, "Estimate with its interval": _estimate, "Trials": ("trials", 0)}
"""Columns of estimates."""


def _renamed(comparison: Json, names: Mapping[str, str]) -> Json:
    a, b = comparison["A"], comparison["B"]
    return {**comparison, "A": names.get(a, a), "B": names.get(b, b)}


def _title(sets: Sequence[Json], policies: Sequence[Json]) -> str:
    """Return the answer in about a dozen words: what is settled of signal sets, else of policies."""
    same = [each for each in sets or policies if void(each) not in ("", UNFINISHED)]
    unfinished = [each for each in sets or policies if void(each) == UNFINISHED]
    found = [each for each in sets or policies if each["verdict"] != NOT_SETTLED and not void(each)]
    if not sets and not policies:
        return "Nothing was compared"
    if unfinished and not found and not same:
        return capital(f"{UNFINISHED} for a verdict")
    if not found and not same:
        seeds = max((each["n"] for each in sets), default=FIRST_SEEDS)
        lack = f": {seeds} of at least {FIRST_SEEDS} training seeds" if seeds < FIRST_SEEDS else ""
        return f"Nothing is settled yet{lack}"
    total = len(sets or policies)
    most = 1 if len({each["verdict"] for each in sets or policies}) > 2 else 2
    parts = [part for verdict in ("better", "worse", "equivalent") if (part := _settled(found, verdict, total, most))]
    parts += [f"{listed([each['B'] for each in same]) if len(same) < 3 else len(same)} the same policy"] if same else []
    parts += [f"{len(unfinished)} without a verdict: {UNFINISHED}"] if unfinished else []
    parts += [f"{left} not settled"] if (left := total - len(found) - len(same) - len(unfinished)) else []
    return capital("; ".join(parts)).replace("-", NO_BREAK_HYPHEN)


def _settled(comparisons: Sequence[Json], verdict: str, total: int, most: int) -> str:
    """Return such as "flows and rank better than e2e", "3 equivalent" of more than `most`; empty of none."""
    own = [each for each in comparisons if each["verdict"] == verdict]
    names, baselines = dict.fromkeys(each["B"] for each in own), {each["A"] for each in own}
    if not own:
        return ""
    if len(names) < len(own) or len(own) > most or (verdict == "equivalent" and total > 2):
        return f"{len(own)} {verdict}"
    than = "to" if verdict == "equivalent" else "than"
    against = f" {than} {baselines.pop()}" if len(baselines) == 1 and (most > 1 or verdict == "better") else ""
    value = own[0]["throughput_equivalent_percent"]["difference"] if len(own) == 1 else None
    by = f", {percent(value)}" if value is not None and verdict != "equivalent" and most > 1 else ""
    return f"{listed(list(names))} {verdict}{against}{by}"


def _sentence(comparison: Json, name_utility: bool) -> str:
    said, verdict = sign_and_size(comparison, percent(margin_percent(comparison), signed=False)), comparison["verdict"]
    by = f" (utility {comparison['utility']})" if name_utility else ""
    form = f"{{}} against {{}}: {said}" if void(comparison) else COMPARED[verdict]
    subject = form.format(comparison["B"], f"{comparison['A']}{by}")
    ahead = _outlook(comparison) if verdict == NOT_SETTLED else ""
    size = "" if void(comparison) or said == NOT_SETTLED else f"; {said}"
    notes = comparison["note"].split("; ")
    remarks = "".join(f"; {each}" for each in notes if each.startswith((TRAINED_TOO_LITTLE, LEARNT_BY, DEPENDS)))
    apart = ";" if void(comparison) else ":"
    return f"{subject}{apart} {_interval(comparison)}, over {counted_units(comparison)}{size}{ahead}{remarks}."


def margin_percent(comparison: Json) -> float:
    """Return the margin of a comparison in per cent."""
    bits = comparison["difference"]
    percent_of = comparison["throughput_equivalent_percent"]["difference"]
    margin: float = comparison["margin"]
    if not bits or not percent_of or percent_of <= -100:
        return float(100 * (2**margin - 1))
    return float(100 * ((1 + percent_of / 100) ** (margin / bits) - 1))


def _interval(comparison: Json) -> str:
    """Return the difference with its interval, in percent of what the utility pays for."""
    value = comparison["throughput_equivalent_percent"]
    of = paid_words([comparison["utility"]], comparison["A"], comparison["B"])
    if value["difference"] is None:
        return "no estimate yet"
    if value["low"] is None or value["high"] is None:
        return f"{percent(value['difference'])} {of}, no interval yet"
    if comparison["sigma_d"] == 0:
        return f"{percent(value['difference'])} {of} on every pair"
    ends = f"{percent(value['low'])} to {percent(value['high'])}"
    confidence = f"{100 * (1 - comparison['alpha']):.3g}{NO_BREAK}%"
    return f"{percent(value['difference'])} {of} ({confidence} interval {ends})"


def _outlook(comparison: Json) -> str:
    if not comparison["likely_n"]:
        return ""
    unit = "training seeds" if comparison["level"] == "set" else "pairs"
    return f"; forecast {counts(*comparison['likely_n'])} {unit}"


def paid_words(utilities: Iterable[str], a: str = "A", b: str = "B") -> str:
    """Return what the per cents of a difference between two are of, for utilities by name."""
    names = list(utilities)
    ratios = [each for name in names if isinstance(each := UTILITIES.get(name), Ratio)]
    words = {f"typical {each.of.label}, {f'{b} above {a}' if each.large else f'{a} above {b}'}" for each in ratios}
    if len(ratios) < len(names):
        return THROUGHPUT
    return words.pop() if len(words) == 1 else f"{a} worse by"


def score_explained(utilities: Mapping[str, Utility]) -> str:
    """Return what a score is, from the utilities of a run by name."""
    ratios = [each for each in utilities.values() if isinstance(each, Ratio)]
    if ratios and len(ratios) == len(utilities):
        halves = dict.fromkeys(f"{'twice' if each.large else 'half'} the typical {each.of.label}" for each in ratios)
        return f"Score in bits: +1 bit = {' or '.join(halves)}."
    doubled = {name: each.difference(100) for name, each in utilities.items()}
    if all(bits == 1 for bits in doubled.values()):
        return "Score in bits: +1 bit = twice the throughput at equal delay."
    each = "; ".join(f"utility {name}: {bits:+.3g} bit{'' if bits == 1 else 's'}" for name, bits in doubled.items())
    return f"Score in bits. Twice the throughput at equal delay: {each}."
