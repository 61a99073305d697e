"""Choosing the duration of a trial: `lcca estimate --durations`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.estimation.durations import DurationRow, duration_rows, shortest_unbiased
from lcca.evaluation.report.figures.durations import draw_durations
from lcca.evaluation.report.figures.style import save
from lcca.evaluation.trials.blocks import Block, equal_blocks, run_blocks, to_the_end
from lcca.evaluation.trials.layout import DURATION, DURATIONS
from lcca.evaluation.trials.running import run_flows
from lcca.experiments.campaign.config import require
from lcca.experiments.estimation.config import EstimationConfig
from lcca.experiments.estimation.sources import Inputs, flow_values, read_inputs
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import finite_values
from lcca.remy_plus.engine import Engine

TRIALS_OF_LONGEST = 50
"""Trials of the longest duration, unless the simulated time is given."""

BLOCK = 50
"""Trials that are run, and kept, at a time."""


def parse_durations(text: str) -> tuple[float, ...]:
    """Return the durations (µs) in a list such as ``20000,50000,1e5``, the shortest first.

    Raises:
        InputError: not at least two different positive numbers.
    """
    try:
        found = sorted({float(part) for part in text.split(",")})
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
    resume: bool,
    quiet: bool = False,
) -> dict[str, Any]:
    """Estimate the pooled quantile at each duration, at equal simulated time in total, with fresh seeds for each.

    Blocks of trials are kept in the estimation's folder and are not run again.

    Args:
        config: names the policy, the network and the quantile.
        path: of the estimation's folder.
        durations: µs, the shortest first.
        simulated_time: µs in total at each duration; None for 50 trials of the longest.
        jobs: threads.
        resume: whether the folder may be there already.
        quiet: whether to leave progress out.

    Returns:
        The content of durations.json.

    Raises:
        InputError: the configuration has no quantile of flows, the time is not enough for two trials, or the folder is
            not free.
    """
    require(
        config.network is not None and config.estimate.quantile is not None,
        "--durations: needs a quantile of flows: give network (not networks or fabric) and estimate.quantile",
    )
    total = TRIALS_OF_LONGEST * durations[-1] if simulated_time is None else simulated_time
    require(
        2 * durations[-1] <= total < math.inf,
        f"--simulated-time: must be enough for two trials of {durations[-1]:g} µs, got {total:g}",
    )
    inputs = read_inputs(config)
    with opened(config, path, resume=resume, quiet=quiet) as begun:
        content = _content(config, _rows(begun, inputs, durations, total, jobs))
        begun.folder.write_json(DURATIONS, content)
        if begun.folder.complete:
            begun.folder.set_state(COMPLETE)  # these trials belong to it now
    return content


def _rows(
    begun: Run[EstimationConfig, None], inputs: Inputs, durations: Sequence[float], total: float, jobs: int
) -> list[DurationRow]:
    asked = begun.config.estimate
    assert asked.quantile is not None
    flows: dict[float, list[NDArray[np.float64]]] = {}
    with begun.reporter.task(f"{asked.metric} at {len(durations)} durations", len(durations)) as task:
        for i, duration in enumerate(durations):
            flows[duration] = _trials(begun.on(Engine(duration, jobs=jobs)), inputs, round(total / duration))
            require(bool(flows[duration]), f"--simulated-time: too short, no flow began in {total:g} µs")
            task.update(i + 1, f"{duration:g} µs: {len(flows[duration])} trials")
    rows = duration_rows(flows, asked.quantile, asked.confidence)
    save(draw_durations(rows, f"{asked.metric}, p{100 * asked.quantile:g}"), begun.folder.figures, "durations")
    return rows


def _trials(run: Run[EstimationConfig, Engine], inputs: Inputs, trials: int) -> list[NDArray[np.float64]]:
    network = inputs.network
    assert network is not None
    phase, words = run.phase(DURATION), repr(run.engine.duration)

    def anew(block: Block) -> pd.DataFrame:
        seeds = [derive(run.config.seed, "durations", words, k) for k in range(block.first, block.end)]
        return run_flows(run.engine, {"policy": inputs.policy}, [network], seeds)

    def keep(block: Block, run_block: Callable[[Block], pd.DataFrame]) -> pd.DataFrame:
        return phase.part(words, block.first, block.size, run=lambda: run_block(block))  # the last is cut by the total

    parts, _ = run_blocks(equal_blocks(BLOCK, trials), anew, to_the_end, keep=keep)
    return [values for part in parts for values in flow_values(part, run.config.estimate.metric)]


def _content(config: EstimationConfig, rows: Sequence[DurationRow]) -> dict[str, Any]:
    return {
        "format": 1,
        "name": config.name,
        "config_hash": config.hash,
        "metric": config.estimate.metric,
        "quantile": config.estimate.quantile,
        "confidence": config.estimate.confidence,
        "shortest_unbiased_us": shortest_unbiased(rows),
        "rows": [finite_values(asdict(row) | {"biased": row.biased}) for row in rows],
    }
