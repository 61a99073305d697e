"""The results of the sections per network, each in one plain sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence

from lcca.evaluation.comparison.fairness import FairnessRow
from lcca.evaluation.comparison.per_network import Share
from lcca.evaluation.comparison.regions import RegionRow
from lcca.evaluation.report.figures.per_network import CorrelationRow
from lcca.evaluation.report.figures.shares import ShareRow
from lcca.evaluation.report.words.headline import NO_BREAK, percent

MOST_NAMED = 4
VERDICTS = ("better", "equivalent", "worse", "not settled")
MORE = {
    "link_rate": "a faster link",
    "rtt": "a longer RTT",
    "senders": "more senders",
    "buffer": "a larger buffer",
    "mean_on": "longer on-times",
    "mean_off": "longer off-times",
    "loss": "more loss",
    "load": "a higher load",
}


def share_percent(share: Share) -> str:
    """Return a share as a percentage."""
    return percent(share.percent, signed=False)


def correlations_sentence(rows: Sequence[CorrelationRow]) -> str:
    """Return the significant correlations, the strongest first."""
    found = sorted((row for row in rows if row.found), key=lambda row: -abs(row.correlation))
    if not found:
        return f"None of the {len(rows)} correlations is significant."
    other, named = _shortened([(row.comparison, row.utility) for row in rows])
    parts = []
    for row in found[:MOST_NAMED]:
        verb, r = "better" if row.correlation > 0 else "worse", f"{row.correlation:+.2f}".replace("-", "−")
        parts.append(f"{named[row.comparison, row.utility]} does {verb} with {MORE[row.parameter]} (r = {r})")
    rest = len(found) - len(parts)
    more = f"; {rest} more of the {len(rows)} correlations {'is' if rest == 1 else 'are'} significant" if rest else ""
    return f"{_against(other)}{'; '.join(parts)}{more}."


def regions_sentence(rows: Sequence[RegionRow]) -> str:
    """Return how often each comparison is better, equivalent, worse or not settled."""
    other, named = _shortened([(row.comparison, row.utility) for row in rows])
    if len(named) > MOST_NAMED:
        return f"{len(rows)} verdicts by region: {verdict_counts([row.verdict.name for row in rows])}."
    regions = len({row.region.name for row in rows})
    parts = []
    for key, name in named.items():
        verdicts = [row.verdict.name for row in rows if (row.comparison, row.utility) == key]
        parts.append(f"{name} is {verdict_counts(verdicts, 'in ')}")
    return f"{f'Against {other} in' if other else 'In'} {regions} regions: {'; '.join(parts)}."


def verdict_counts(verdicts: Iterable[str], preposition: str = "") -> str:
    """Return such as "better in 3, not settled in 1", in a fixed order."""
    counts = Counter(verdicts)
    if preposition:
        return ", ".join(f"{name} {preposition}{counts[name]}" for name in VERDICTS if counts[name])
    return ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name])


def significance_sentence(rows: Sequence[ShareRow]) -> str:
    """Return on how many networks the score is significantly better and worse."""
    scores = [row for row in rows if row.metric == "score_bits"]
    if len(scores) > MOST_NAMED:
        best, worst = (_range([side(row) for row in scores]) for side in (_better, _worse))
        return f"The score is significantly better on {best} of networks, and worse on {worst}, by comparison."
    other, named = _shortened([(row.comparison, row.utility) for row in scores])
    parts = [
        f"{named[row.comparison, row.utility]} on {share_percent(row.better)} of networks (worse on "
        f"{share_percent(row.worse)})"
        for row in scores
    ]
    return f"The score is significantly better{_than(other)}: {'; '.join(parts)}."


def outputs_sentence(rows: Sequence[ShareRow]) -> str:
    """Return how often throughput and delay, or the primary and the secondary metric, are better."""
    by_role = {(row.comparison, row.utility, row.role): row for row in rows if row.role}
    secondary = [key for key in by_role if key[2] == "secondary"]
    if secondary:
        ahead = sum(by_role[c, u, r].better.count > by_role[c, u, "primary"].better.count for c, u, r in secondary)
        return (
            f"The secondary metric is significantly better on more networks than the primary one in {ahead} of "
            f"{len(secondary)} comparisons."
        )
    of = {(row.comparison, row.utility, row.metric): row for row in rows}
    other, named = _shortened([(row.comparison, row.utility) for row in rows])
    parts = []
    for key, name in list(named.items())[:MOST_NAMED]:
        throughput, delay = of[*key, "throughput_share"], of[*key, "delay_us"]
        parts.append(
            f"{name} on {share_percent(throughput.better)} and {share_percent(delay.better)} of networks (worse on "
            f"{share_percent(throughput.worse)} and {share_percent(delay.worse)})"
        )
    return f"Throughput and delay are significantly better{_than(other)}: {'; '.join(parts)}."


def rivals_sentence(rows: Sequence[ShareRow]) -> str:
    """Return on how many networks candidates differ significantly in score from each other."""
    scores = [row for row in rows if row.metric == "score_bits"]
    named = _labels([(row.comparison, row.utility) for row in scores])
    if len(scores) > MOST_NAMED:
        return f"Candidates differ significantly in score on {_range([_either(row) for row in scores])} of networks."
    parts = [
        f"{named[row.comparison, row.utility]} on {percent(_either(row), signed=False)} of networks "
        f"(better on {share_percent(row.better)}, worse on {share_percent(row.worse)})"
        for row in scores
    ]
    return f"The score differs significantly for {'; '.join(parts)}."


def fairness_sentence(rows: Sequence[FairnessRow]) -> str:
    """Return which candidates are fairer than the baseline."""
    compared = [row for row in rows if row.difference is not None]
    if not compared:
        return "Nothing was compared."
    baselines = list(dict.fromkeys(row.group for row in rows if row.difference is None))
    other = baselines[0] if len(baselines) == 1 else "the baseline"
    several = len({row.utility for row in rows}) > 1
    parts = []
    for word in ("fairer", "less fair", "not settled"):
        own = [row.group + (f" ({row.utility})" if several else "") for row in compared if row.word == word]
        if own and len(compared) > 2 * MOST_NAMED:
            parts.append(f"{len(own)} of {len(compared)} {word}")
        elif own:
            parts.append(f"{_listed(own)} {'is' if len(own) == 1 else 'are'} {word}")
    return f"Against {other}: {'; '.join(parts)}."


def _better(row: ShareRow) -> float:
    return row.better.percent


def _worse(row: ShareRow) -> float:
    return row.worse.percent


def _either(row: ShareRow) -> float:
    return row.better.percent + row.worse.percent


def _range(values: Sequence[float]) -> str:
    low, high = percent(min(values), signed=False), percent(max(values), signed=False)
    return low if low == high else f"{low.removesuffix('%').rstrip(NO_BREAK)} to {high}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _labels(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a name for each (comparison, utility), with the utility where there are several."""
    known = list(dict.fromkeys(keys))
    several = len({utility for _, utility in known}) > 1
    return {key: f"{key[0]} ({key[1]})" if several else key[0] for key in known}


def _shortened(keys: Iterable[tuple[str, str]]) -> tuple[str, dict[tuple[str, str], str]]:
    """Return (A, names without it) where all are compared with the same A, else ("", full names)."""
    named = _labels(keys)
    sides = {comparison.rpartition(" against ")[2] for comparison, _ in named}
    if len(sides) != 1:
        return "", named
    other = sides.pop()
    return other, {key: name.replace(f" against {other}", "", 1) for key, name in named.items()}


def _against(other: str) -> str:
    return f"Against {other}: " if other else ""


def _than(other: str) -> str:
    return f" than {other}'s" if other else ""
