"""Unfairness by signal set: the paper's Fig. 18."""

import math
from collections.abc import Sequence

from lcca.evaluation.comparison.fairness import FairnessRow, fairness_data
from lcca.evaluation.report.figures.data import data_table
from lcca.evaluation.report.figures.fairness import draw_fairness
from lcca.evaluation.report.sections.section import TRAININGS, Content
from lcca.evaluation.report.words.headline import MINUS
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.tables import RunTables

MOST_NAMED = 8


def fairness(tables: RunTables) -> Content | None:
    """Return unfairness by signal set."""
    rows = fairness_data(tables)
    if not rows:
        return None
    seeds = max(len(row.policies) for row in rows)
    over = "training seeds" if seeds > 1 else "networks only, as there is one training seed"
    least, most = (f"{choose(row.networks for row in rows):,}" for choose in (min, max))
    caption = (
        "Unfairness: standard deviation, over the senders of a trial, of throughput share over link rate (no unit, 0 "
        "is fair), mean over test networks with at least two senders "
        f"({most if least == most else f'{least} to {most}'} networks, {seeds} "
        f"{'trainings' if seeds > 1 else 'training'} per signal "
        f"set), with a 95 % Student's t interval over {over}. Judge differences by the table: they are paired. The "
        "stopping rule looks at scores, not at fairness. Paper's Fig. 18."
    )
    return Content(caption, draw_fairness(rows), sentence(rows), (_table(rows),), TRAININGS, data_table(rows))


def sentence(rows: Sequence[FairnessRow]) -> str:
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
        if own and len(compared) > MOST_NAMED:
            parts.append(f"{len(own)} of {len(compared)} {word}")
        elif own:
            names = own[0] if len(own) == 1 else f"{', '.join(own[:-1])} and {own[-1]}"
            parts.append(f"{names} {'is' if len(own) == 1 else 'are'} {word}")
    return f"Against {other}: {'; '.join(parts)}."


def _table(rows: Sequence[FairnessRow]) -> Table:
    several = len({row.utility for row in rows}) > 1
    body = [
        (
            row.group + (f" ({row.utility})" if several else ""),
            f"{row.mean:.4f}",
            _ends(row.low, row.high, ""),
            *_differs(row),
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
    return "–" if math.isnan(mean) else f"{mean:+.4f}".replace("-", MINUS), _ends(low, high, "+"), row.word


def _ends(low: float, high: float, sign: str) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no interval yet"
    return f"[{low:{sign}.4f}, {high:{sign}.4f}]".replace("-", MINUS)
