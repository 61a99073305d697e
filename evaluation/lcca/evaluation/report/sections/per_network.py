"""The sections of the report on the networks where a signal helps, and how (paper §5 and §A.6)."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.fairness import FairnessRow, fairness_data
from lcca.evaluation.comparison.per_network import (
    ERRORS,
    METRICS,
    NetworkSignificance,
    Share,
    chance_of_significance,
    network_significances,
)
from lcca.evaluation.comparison.regions import Region, RegionRow, region_data
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.fairness import draw_fairness
from lcca.evaluation.report.figures.per_network import (
    CorrelationRow,
    correlation_data,
    draw_correlations,
    significance_data,
)
from lcca.evaluation.report.figures.regions import draw_regions
from lcca.evaluation.report.figures.shares import ShareRow, draw_shares, share_data
from lcca.evaluation.report.figures.significance import draw_significance
from lcca.evaluation.report.sections.section import REPEATED, REPEATED_TOO, TRAININGS, Content, Maker, Table
from lcca.evaluation.report.sections.seed_shares import shares_over_seeds
from lcca.evaluation.report.words.headline import MINUS, NO_BREAK
from lcca.evaluation.report.words.per_network import (
    correlations_sentence,
    fairness_sentence,
    outputs_sentence,
    regions_sentence,
    rivals_sentence,
    significance_sentence,
)
from lcca.evaluation.trials.tables import RunTables
from lcca.evaluation.trials.utilities import utilities_of

BH = "Benjamini–Hochberg"

_sections = lru_cache(maxsize=1)(network_significances)  # several sections of one report need them


def correlations(tables: RunTables) -> Content | None:
    """Return the correlation of the paired difference with each parameter."""
    if tables.on_fabric:
        return None
    rows = correlation_data(tables)
    if not rows:
        return Content("Too few networks, or neither their parameters nor the differences vary.")
    caption = (
        "Pearson's correlation, over test networks, of the paired difference of the score in bits with each "
        f"parameter ({_n(row.n for row in rows)} networks, pooled over training seeds; one value per network, averaged "
        f"over seeds; load: senders per packet/µs). {_marks(rows)} The paper's Fig. 9 correlates s(score) instead."
    )
    return Content(
        caption, draw_correlations(rows, tables.groups), correlations_sentence(rows), (), TRAININGS, data_table(rows)
    )


def _marks(rows: Sequence[CorrelationRow]) -> str:
    return (
        "Bars: 95 % intervals, robust to skewed and unequal noise, not adjusted for their number. Filled: significant "
        f"at a false-discovery rate of 5 % ({BH} over all {len(rows)} correlations here). Right of 0: the candidate "
        "does better where the parameter is large."
    )


def regions(tables: RunTables) -> Content | None:
    """Return verdicts by region, and counts of networks by verdict where networks have several seeds."""
    rows = region_data(tables)
    if not rows:
        return None
    caption = (
        "Mean paired difference of the score, in bits, on the test networks of each region "
        f"({_n(row.found.n for row in rows)} networks per region, cut at the median), with its 95 % confidence "
        "sequence. Band: equivalence margin. ▲ better, ▼ worse, ■ equivalent, ○ not settled, at a false-discovery "
        f"rate of 5 % over all {len(rows)} rows ({BH} on e-values, valid at any stopping time, approximate where "
        "differences are skewed). Regions of different parameters share networks. Dotted: no interval yet."
    )
    cuts = list(dict.fromkeys(row.region for row in rows))
    every = (_region_table(rows), *(_verdict_table(section, cuts) for section in _sections(tables)))
    return Content(
        caption, draw_regions(rows, tables.groups), regions_sentence(rows), every, TRAININGS, data_table(rows)
    )


def _region_table(rows: Sequence[RegionRow]) -> Table:
    several = len({row.utility for row in rows}) > 1
    body = [
        (
            f"{row.region.name}, {row.region.bound}",
            row.comparison + (f" ({row.utility})" if several else ""),
            f"{row.found.n:,}",
            _signed(row.found.mean),
            _ends(row.found.low, row.found.high, True),
            row.verdict.name,
        )
        for row in rows
    ]
    head = ("Region", "Comparison", "Networks", "Difference, bits", "95 % confidence sequence", "Verdict")
    return Table("Verdicts by region, false-discovery rate 5 %", head, body, left=2)


def _verdict_table(section: NetworkSignificance, cuts: Sequence[Region]) -> Table:
    met = section.networks
    everywhere = [("all networks", None), *((f"{r.name}, {r.bound}", r.of(met)) for r in cuts if len(met))]
    body = []
    for name, networks in everywhere:
        for pair in section.pairs:
            counts = pair.verdicts(networks)
            body.append((name, pair.name, *(f"{count:,}" for count in (*counts.values(), sum(counts.values())))))
    caption = (
        f"Networks by verdict, selected policies, utility {section.utility}: a paired t-test per network on "
        f"{section.seeds} seeds (sensitive to outliers), false-discovery rate 5 % over all networks and "
        f"comparisons ({BH})"
    )
    head = ("Region", "Comparison", "Better", "Equivalent", "Worse", "Not settled", "Networks")
    return Table(caption, head, body, left=2)


def significance(tables: RunTables) -> Content | None:
    """Return the distribution of s for score, throughput and delay."""
    sections = _sections(tables)
    if not sections:
        return None
    rows = share_data(sections, utilities_of(tables.config, tables.utilities))
    caption = (
        "Share of networks whose s is at most the value on the axis, for score, throughput share and mean delay; s is "
        "the difference of the means over seeds (candidate − baseline) over the larger error of the two, without "
        f"unit; {_met(sections)}. Band, |s| ≤ 1: not significant by the paper's rule. Values beyond the axis are drawn "
        f"at its end. {_rule(sections)} Paper's Figs. 5 and 6."
    )
    figure = draw_significance(sections, tables.groups)
    tables_below = (_errors(sections),)
    return Content(caption, figure, significance_sentence(rows), tables_below, REPEATED, _s_by_network(sections))


def _met(sections: Sequence[NetworkSignificance]) -> str:
    networks, seeds = _n(each.count for each in sections), max(each.seeds for each in sections)
    return f"{networks} networks, {seeds} seeds each, the same traffic for every policy"


def _rule(sections: Sequence[NetworkSignificance]) -> str:
    """Return what |s| > 1 means with this error."""
    error, seeds = sections[0].error, max(each.seeds for each in sections)
    if error == "variance":
        return "Error e: variance over seeds, as in the paper's code; its size depends on the metric's unit."
    by_deviation, by_error = (
        _percent(100 * chance_of_significance(seeds, each)) for each in ("standard deviation", "standard error")
    )
    equals = "of networks between equal policies with independent noise, fewer with the same traffic"
    if error == "standard error":
        return (
            f"Error e: standard error over seeds: |s| > 1 is no evidence, as it holds by chance on {by_error} {equals}."
        )
    return (
        "Error e: standard deviation over seeds: |s| > 1 is an effect-size rule (the difference exceeds the noise of "
        f"one trial), not a test; it holds by chance on {by_deviation} (with the standard error {by_error}) {equals}."
    )


def _s_by_network(sections: Sequence[NetworkSignificance]) -> pd.DataFrame:
    """Return s of every network, a row per utility, comparison and metric."""
    parts = [
        pd.DataFrame(
            {
                "utility": section.utility,
                "comparison": pair.name,
                "metric": metric,
                "network": pair.table["network"],
                "s": pair.s(metric, section.error),
            }
        )
        for section in sections
        for pair in section.pairs
        for metric in METRICS
    ]
    return pd.concat(parts, ignore_index=True)


def _errors(sections: Sequence[NetworkSignificance]) -> Table:
    """Return how much depends on the definition of the error."""
    body = []
    for section in sections:
        for pair in section.pairs:
            for error in ERRORS:
                better, worse = (pair.share("score_bits", side, error) for side in (True, False))
                chance = chance_of_significance(section.seeds, error)
                between = "–" if math.isnan(chance) else _percent(100 * chance)
                body.append((_named(pair.name, section, sections), error, _share(better), _share(worse), between))
    head = ("Comparison", "Error e", "Score better, % [95 %]", "Score worse, % [95 %]", "By chance, equal policies")
    caption = (
        "Networks with |s(score)| > 1 by definition of the error (the variance is in bits² and depends on the unit)"
    )
    return Table(caption, head, body, left=2)


def significance_correlations(tables: RunTables) -> Content | None:
    """Return the correlation of s(score) with each parameter: the paper's Fig. 9."""
    sections = _sections(tables)
    rows = significance_data(sections)
    if not rows:
        return None
    caption = (
        f"Pearson's correlation of s(score) with each parameter ({_n(row.n for row in rows)} networks with a finite "
        f"s; {_met(sections)}; load: senders per packet/µs). {_marks(rows)} {_rule(sections)} Where noise differs "
        "between networks, s can correlate with a parameter although the difference in bits does not. Paper's Fig. 9."
    )
    return Content(
        caption,
        draw_correlations(rows, tables.groups, "s(score)"),
        correlations_sentence(rows),
        population=REPEATED,
        data=data_table(rows),
    )


def outputs(tables: RunTables) -> Content | None:
    """Return the share of networks with significantly better throughput and delay: the paper's Fig. 8."""
    sections = _sections(tables)
    if not sections:
        return None
    rows = share_data(sections, utilities_of(tables.config, tables.utilities))
    caption = (
        "Percentage of networks where a candidate is significantly better (right) or worse (left) than the baseline: "
        "s(score) > 1, s(throughput) > 1, s(delay) < −1, and the reverse. Lines: 95 % Wilson intervals over "
        f"networks; {_met(sections)}. Primary: the metric with the larger weight in the utility. {_rule(sections)} "
        "Paper's Fig. 8."
    )
    over_seeds = shares_over_seeds(tables, rivals=False)
    below, whose = (_shares(rows), *over_seeds), REPEATED_TOO if over_seeds else REPEATED
    return Content(caption, draw_shares(rows, tables.groups), outputs_sentence(rows), below, whose, data_table(rows))


def rivals(tables: RunTables) -> Content | None:
    """Return candidates against each other, such as Link against Queue: the paper's Table 2 and Fig. 10."""
    sections = _sections(tables)
    rows = share_data(sections, utilities_of(tables.config, tables.utilities), rivals=True)
    if not rows:
        return None
    caption = (
        "Percentage of networks where the candidate named first is significantly better (right) or worse (left) than "
        f"the other. Lines: 95 % Wilson intervals over networks; {_met(sections)}. {_rule(sections)} Paper's Table 2 "
        "(score) and Fig. 10 (throughput, delay)."
    )
    over_seeds = shares_over_seeds(tables, rivals=True)
    below, whose = (_shares(rows), *over_seeds), REPEATED_TOO if over_seeds else REPEATED
    return Content(caption, draw_shares(rows, tables.groups), rivals_sentence(rows), below, whose, data_table(rows))


def _shares(rows: Sequence[ShareRow]) -> Table:
    several = len({row.utility for row in rows}) > 1
    body = [
        (
            row.comparison + (f" ({row.utility})" if several else ""),
            METRICS[row.metric] + (f" ({row.role})" if row.role else ""),
            _share(row.better),
            _share(row.worse),
            f"{row.better.n:,}",
        )
        for row in rows
    ]
    return Table(
        "Shares of networks, selected policies",
        ("Comparison", "Metric", "Better, % [95 %]", "Worse, % [95 %]", "Networks"),
        body,
        left=2,
    )


def fairness(tables: RunTables) -> Content | None:
    """Return unfairness by signal set: the paper's Fig. 18."""
    rows = fairness_data(tables)
    if not rows:
        return None
    seeds = max(len(row.policies) for row in rows)
    over = "training seeds" if seeds > 1 else "networks only, as there is one training seed"
    caption = (
        "Unfairness: standard deviation, over the senders of a trial, of throughput share over link rate (no unit, 0 "
        "is fair), mean over test networks with at least two senders "
        f"({_n(row.networks for row in rows)} networks, {seeds} {'trainings' if seeds > 1 else 'training'} per signal "
        f"set), with a 95 % Student's t interval over {over}. Judge differences by the table: they are paired. The "
        "stopping rule looks at scores, not at fairness. Paper's Fig. 18."
    )
    return Content(
        caption, draw_fairness(rows), fairness_sentence(rows), (_fairness_table(rows),), TRAININGS, data_table(rows)
    )


def _fairness_table(rows: Sequence[FairnessRow]) -> Table:
    several = len({row.utility for row in rows}) > 1
    body = [
        (
            row.group + (f" ({row.utility})" if several else ""),
            f"{row.mean:.4f}",
            _ends(row.low, row.high, False, 4),
            *(_differs(row)),
            f"{row.networks:,}",
        )
        for row in rows
    ]
    head = (
        "Signal set",
        "Unfairness",
        "95 % interval",
        "Paired difference",
        "Interval of the difference",
        "Verdict",
        "Networks",
    )
    compared = sum(row.difference is not None for row in rows)
    return Table(f"Paired difference from the baseline; {compared} differences share α = 5 %", head, body)


def _differs(row: FairnessRow) -> tuple[str, str, str]:
    if row.difference is None:
        return "–", "–", "baseline"
    mean, low, high = row.difference
    return _signed(mean, 4), _ends(low, high, True, 4), row.word


def _n(counts: Any) -> str:
    """Return "100", or "80 to 100" where counts differ."""
    known = list(counts)
    low, high = min(known, default=0), max(known, default=0)
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _named(name: str, section: NetworkSignificance, sections: Sequence[NetworkSignificance]) -> str:
    return f"{name} ({section.utility})" if len(sections) > 1 else name


def _share(share: Share) -> str:
    return "–" if not share.n else f"{share.percent:.3g} [{share.low:.2g}, {share.high:.2g}]"


def _percent(value: float) -> str:
    return f"{value:.2g}{NO_BREAK}%"


def _signed(value: float, digits: int = 3) -> str:
    return "–" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", MINUS)


def _ends(low: float, high: float, signed: bool, digits: int = 3) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval yet"
    sign = "+" if signed else ""
    return f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]".replace("-", MINUS)


PER_NETWORK_SECTIONS: tuple[tuple[str, str, Maker], ...] = (
    ("correlations", "Differences against network parameters", correlations),
    ("regions", "Differences by region of the network space", regions),
    ("significance", "Significance per network, by the paper's rule", significance),
    ("significance-correlations", "Significance against network parameters", significance_correlations),
    ("outputs", "Throughput and delay per network", outputs),
    ("rivals", "Candidates against each other", rivals),
    ("fairness", "Fairness", fairness),
)
