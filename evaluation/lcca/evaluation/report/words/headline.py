"""The answer of a run in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.trials.utility import Utility

Json = dict[str, Any]

MINUS = "−"
NO_BREAK = "\u00a0"
NO_BREAK_HYPHEN = "\u2011"
VERBS = {"better": "better than", "worse": "worse than", "equivalent": "equivalent to"}


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
        policies_summed_up: the same in a few words.
    """

    title: str
    sets: tuple[Statement, ...]
    policies: tuple[Statement, ...]
    policies_summed_up: str


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
        policies_summed_up=summed_up(policies),
    )


def _renamed(comparison: Json, names: Mapping[str, str]) -> Json:
    a, b = comparison["A"], comparison["B"]
    return {**comparison, "A": names.get(a, a), "B": names.get(b, b)}


def _title(sets: Sequence[Json], policies: Sequence[Json]) -> str:
    if any(each["verdict"] != "not settled" for each in sets):
        return f"Signal sets: {summed_up(sets)}"
    if not policies:
        return "Nothing is settled yet" if sets else "Nothing was compared"
    if not sets:
        return f"Selected policies: {summed_up(policies)}"
    one_seed = max(each["n"] for each in sets) < 2
    lack = "not settled by one training seed" if one_seed else "not settled"
    return f"Selected policies: {summed_up(policies)}. Signal sets: {lack}"


def summed_up(comparisons: Sequence[Json]) -> str:
    """Return such as "link better than e2e; queue not settled", or counts where there are many."""
    parts: list[str] = []
    for verdict in ("better", "equivalent", "worse", "not settled"):
        found = [each for each in comparisons if each["verdict"] == verdict]
        if found:
            parts.append(_part(verdict, found, len(comparisons)))
    return "; ".join(parts).replace("-", NO_BREAK_HYPHEN)


def _part(verdict: str, found: Sequence[Json], total: int) -> str:
    baselines = list(dict.fromkeys(each["A"] for each in found))
    names = list(dict.fromkeys(each["B"] for each in found))
    if total > 4 or len(names) < len(found):
        return f"{len(found)} of {total} {verdict}"
    if verdict == "not settled":
        return f"{_listed(names)} not settled"
    return f"{_listed(names)} {VERBS[verdict]} {_listed(baselines)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentence(comparison: Json, name_utility: bool) -> str:
    verdict, a, b = comparison["verdict"], comparison["A"], comparison["B"]
    margin = percent(_margin_percent(comparison), signed=False)
    if verdict == "not settled":
        text = f"{b} against {a} is not settled: {_interval(comparison)}{_outlook(comparison)}"
    elif verdict == "equivalent":
        slight = {"+": f", slightly in favour of {b}", "-": f", slightly in favour of {a}"}
        aside = slight.get(comparison["direction"], "")
        text = f"{b} is equivalent to {a}: within ±{margin}{aside}, {_interval(comparison)}"
    else:
        beyond = f", by more than {margin}" if comparison["by_more_than_margin"] else ""
        text = f"{b} is {VERBS[verdict]} {a}{beyond}: {_interval(comparison)}"
    by = f" (utility {comparison['utility']})" if name_utility else ""
    return f"{text}{by}; over {_basis(comparison)}."


def _margin_percent(comparison: Json) -> float:
    bits = comparison["difference"]
    percent_of = comparison["throughput_equivalent_percent"]["difference"]
    margin: float = comparison["margin"]
    if not bits or not percent_of or percent_of <= -100:
        return float(100 * (2**margin - 1))
    return float(100 * ((1 + percent_of / 100) ** (margin / bits) - 1))


def _interval(comparison: Json) -> str:
    """Return the difference with its interval, in throughput-equivalent percent."""
    value = comparison["throughput_equivalent_percent"]
    if value["difference"] is None:
        return "no estimate yet"
    if value["low"] is None or value["high"] is None:
        return f"{percent(value['difference'])} throughput-equivalent, no interval yet"
    if comparison["sigma_d"] == 0:
        return f"{percent(value['difference'])} throughput-equivalent on every pair"
    ends = f"{percent(value['low'])} to {percent(value['high'])}"
    confidence = f"{100 * (1 - comparison['alpha']):.3g}{NO_BREAK}%"
    return f"{percent(value['difference'])} throughput-equivalent ({confidence} interval {ends})"


def _outlook(comparison: Json) -> str:
    if not comparison["likely_n"]:
        return ""
    low, high = comparison["likely_n"]
    unit = "training seeds" if comparison["level"] == "set" else "pairs"
    return f"; forecast {low:,} {unit}" if low == high else f"; forecast {low:,} to {high:,} {unit}"


def _basis(comparison: Json) -> str:
    n = comparison["n"]
    unit = "training seed" if comparison["level"] == "set" else "pair"
    return f"{n:,} {unit}{'' if n == 1 else 's'}"


def score_explained(utilities: Mapping[str, Utility]) -> str:
    """Return what a score is, from the utilities of a run by name."""
    doubled = {name: each.difference(100) for name, each in utilities.items()}
    if all(bits == 1 for bits in doubled.values()):
        return "Score in bits: +1 bit = twice the throughput at equal delay."
    each = "; ".join(f"utility {name}: {bits:+.3g} bit{'' if bits == 1 else 's'}" for name, bits in doubled.items())
    return f"Score in bits. Twice the throughput at equal delay: {each}."


def counts(low: int, high: int) -> str:
    """Return "40 to 1,200", or one number where both are the same."""
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def percent(value: float, signed: bool = True) -> str:
    """Return a percentage to three digits, with a proper minus sign."""
    if value == 0:
        return f"0{NO_BREAK}%"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 9.95 else 2
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    if not signed and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS) + NO_BREAK + "%"
