"""What the summaries of runs have in common, whatever was run: format 2 of summary.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.settling.quantiles import in_order
from lcca.evaluation.trials.loaded_run import FORMAT
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, SCORE
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.version import version
from lcca.inputs.json_values import interval

Json: TypeAlias = dict[str, Any]

CONFIDENCE = 0.95
"""Of intervals for what was measured, each by itself."""

NUMBERS = ["network", "seed", "trace"]
"""Columns of numbers that measure nothing: they say which trial it is."""


def head(config: RunConfig) -> Json:
    """Return what every summary begins with."""
    return {
        "format": FORMAT,
        "kind": config.run_kind.name,
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "seed": config.seed,
    }


def measured(rows: pd.DataFrame, names: Iterable[str], condition: str) -> list[Json]:
    """Return a record per contender under a condition: the mean over trials of every measure, with its interval."""
    beside = [each for column in map(str, rows) if column.endswith("_bits") for each in unfinished_columns(column)]
    numbers = rows.drop(columns=[*NUMBERS, *beside], errors="ignore").select_dtypes("number")
    numbers = numbers.rename(columns={each.name: each.over_trials.name for each in FABRIC_TRIALS.values()})
    known = {each.over_trials.name: each for each in FABRIC_TRIALS.values()}
    records = []
    for name in names:
        own = numbers[rows["policy"] == name]
        means = {str(key): known.get(str(key), SCORE).mean_interval(own[key], 1 - CONFIDENCE) for key in own}
        for of in ("slowdown", "fct"):
            family = [key for key in means if key.startswith(f"mean_of_trials_{of}_p")]
            ends = in_order([means[key][1:] for key in family])
            means |= {key: (means[key][0], *pair) for key, pair in zip(family, ends, strict=True)}
        found = {key: interval(*each) for key, each in means.items()}
        records.append({"id": name, "condition": condition, "trials": len(own), **found})
    return records


def compared(found: Iterable[Comparison], phase: str, condition: str = "", history: bool = False) -> list[Json]:
    """Return comparisons as records of a summary, with `history` with all their looks."""
    return [{"phase": phase, "condition": condition, **each.to_json(history)} for each in found]
