"""Choosing the duration of a trial: `lcca estimate --durations`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.report.figures.saving import save
from lcca.evaluation.trials.blocks import Block, equal_blocks
from lcca.evaluation.trials.executors import executor as workers_of
from lcca.evaluation.trials.layout import DURATIONS
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.inputs.errors import InputError, require
from lcca.inputs.json_values import finite_values
from lcca.inputs.numbers import real
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.cceval.accuracy import values_of
from lcca.studies.cceval.config import EstimationConfig
from lcca.studies.cceval.estimators.durations import DurationRow, duration_rows, shortest_unbiased
from lcca.studies.cceval.estimators.phases import FlowSpans, Phases, phases, together
from lcca.studies.cceval.phases import DURATION
from lcca.studies.cceval.places import Measured
from lcca.studies.cceval.recipe import heading
from lcca.studies.cceval.report.figures import draw_durations
from lcca.workers.pool import Pool

TRIALS_OF_LONGEST = 50
"""Trials of the longest duration, unless the simulated time is given."""


def parse_durations(text: str) -> tuple[float, ...]:
    """Return the durations (µs) in a list such as ``20000,50000,1e5``, the shortest first.

    Raises:
        InputError: not at least two different positive numbers.
    """
    try:
        found = sorted({real(part) for part in text.split(",")})
    except ValueError:
        raise InputError(f"--durations: numbers of µs with commas are needed, got {text[:60]!r}") from None
    require(all(0 < each < math.inf for each in found), f"--durations: must be numbers of µs > 0, got {text[:60]}")
    require(len(found) >= 2, "--durations: at least two different ones are needed, as in 20000,50000,200000")
    return tuple(found)


def try_durations(
    config: EstimationConfig,
    path: Path,
    durations: Sequence[float],
    simulated_time: float | None,
    *,
    jobs: int,
    executor: str = "local",
    resume: bool,
    quiet: bool = False,
) -> dict[str, Any]:
    """Estimate the pooled quantile at each duration, at equal simulated time in total, with fresh seeds for each.

    Blocks of trials are kept in the estimation's folder and are not run again.

    Args:
        config: names the policy, the network or the fabric, and the quantile.
        path: of the estimation's folder.
        durations: µs, the shortest first.
        simulated_time: µs in total at each duration; None for 50 trials of the longest.
        jobs: threads, or workers of another executor.
        executor: where trials run; never changes a result.
        resume: whether the folder may be there already.
        quiet: whether to leave progress out.

    Returns:
        The content of durations.json.

    Raises:
        InputError: the configuration has no quantile of flows, the time is not enough for two trials, or the folder is
            not free.
    """
    require(
        config.estimate.quantile is not None,
        "--durations: needs one quantile of flows: give network or fabric (not networks) and estimate.quantile",
    )
    places = {each: config.place.lasting(each) for each in durations}
    total = TRIALS_OF_LONGEST * durations[-1] if simulated_time is None else simulated_time
    require(
        2 * durations[-1] <= total < math.inf,
        f"--simulated-time: must be enough for two trials of {durations[-1]:g} µs, got {total:g}",
    )
    policy = config.read_policy()
    with workers_of(executor, jobs) as workers, opened(config, path, resume=resume, quiet=quiet) as begun:
        workers.tell = begun.reporter.say
        content = _content(config, _tried(begun, policy, places, total, workers), begun.folder.figures)
        begun.folder.write_json(DURATIONS, content)
        if begun.folder.complete:
            begun.folder.set_state(COMPLETE)  # these trials belong to it now
    return content


@dataclass(frozen=True, eq=False)
class Tried:
    """The trials of one duration: values of the flows that count, by trial, and when all flows started and ended."""

    values: list[NDArray[np.float64]]
    spans: FlowSpans


def _tried(
    begun: Run[EstimationConfig, None], policy: Policy, places: Mapping[float, Measured], total: float, workers: Pool
) -> dict[float, Tried]:
    found: dict[float, Tried] = {}
    title = f"{begun.config.estimate.words_for_it} at {len(places)} durations"
    with begun.reporter.task(title, len(places)) as task:
        for done, (duration, place) in enumerate(places.items(), 1):
            found[duration] = _trials(begun, policy, duration, place, round(total / duration), workers)
            require(bool(found[duration].values), f"--simulated-time: too short, no flow began in {total:g} µs")
            task.update(done, f"{duration:g} µs: {len(found[duration].values)} trials")
    return found


def _trials(
    run: Run[EstimationConfig, None], policy: Policy, duration: float, place: Measured, trials: int, workers: Pool
) -> Tried:
    phase, words, asked = run.phase(DURATION), repr(duration), run.config.estimate
    anew = place.rows(asked, policy, run.config.seed, ("durations", words), workers)

    def keep(block: Block, run_block: Callable[[Block], pd.DataFrame]) -> pd.DataFrame:
        return phase.part(words, block.first, block.size, run=lambda: run_block(block))  # the last is cut by the total

    values, spans = [], []
    for block in equal_blocks(place.few or asked.block, trials):
        part = keep(block, anew)
        values += list(values_of(asked, part))
        starts = part["start_us"].to_numpy(dtype=np.float64)
        spans.append((block.size, starts, starts + part["fct_us"].to_numpy(dtype=np.float64)))
    return Tried(values, together(spans))


def _content(config: EstimationConfig, tried: Mapping[float, Tried], figures: Path) -> dict[str, Any]:
    asked = config.estimate
    assert asked.quantile is not None
    rows = duration_rows({each: found.values for each, found in tried.items()}, asked.quantile, asked.confidence)
    save(draw_durations(rows, asked.words_for_it), figures, "durations")
    parts = phases({each: found.spans for each, found in tried.items()})
    return heading(config) | {
        "accuracy_percent": asked.accuracy_percent,
        "shortest_unbiased_us": shortest_unbiased(rows),
        "estimates": [_row(config, row, part) for row, part in zip(rows, parts, strict=True)],
    }


def _row(config: EstimationConfig, row: DurationRow, phases: Phases) -> dict[str, Any]:
    asked = config.estimate
    row_of = {"metric": asked.metric, "quantile": asked.quantile, "confidence": asked.confidence}
    needed = {"trials_needed": row.trials_for(asked.accuracy_percent, asked.confidence)}
    return row_of | finite_values(asdict(row) | {"biased": row.biased} | needed | asdict(phases))
