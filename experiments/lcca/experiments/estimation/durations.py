"""Choosing the duration of a trial: `lcca estimate --durations`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.estimation.durations import DurationRow, duration_rows, shortest_unbiased
from lcca.evaluation.report.figures.durations import draw_durations
from lcca.evaluation.report.figures.style import save
from lcca.evaluation.trials.running import run_flows
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import require
from lcca.experiments.estimation.run import EstimationConfig, claim, flow_values
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy

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
    folder: Path,
    durations: Sequence[float],
    simulated_time: float | None,
    jobs: int,
    reporter: Reporter,
) -> list[DurationRow]:
    """Estimate the pooled quantile at each duration, at equal simulated time in total, with fresh seeds for each.

    Blocks of trials are kept in the folder and are not run again.

    Args:
        config: names the policy, the network and the quantile.
        folder: the estimation's folder.
        durations: µs, the shortest first.
        simulated_time: µs in total at each duration; None for 50 trials of the longest.
        jobs: threads.
        reporter: told how far it is.

    Raises:
        InputError: the configuration has no quantile of flows, or the time is not enough for two trials.
    """
    require(
        config.network is not None and config.estimate.quantile is not None,
        "--durations: needs a quantile of flows: give network (not networks) and estimate.quantile",
    )
    total = TRIALS_OF_LONGEST * durations[-1] if simulated_time is None else simulated_time
    require(
        2 * durations[-1] <= total < math.inf,
        f"--simulated-time: must be enough for two trials of {durations[-1]:g} µs, got {total:g}",
    )
    assert config.estimate.quantile is not None
    policy = policyfile.load(config.policy).policy
    flows: dict[float, list[NDArray[np.float64]]] = {}
    claim(folder, config)
    with reporter.task(f"{config.estimate.metric} at {len(durations)} durations", len(durations)) as task:
        for i, duration in enumerate(durations):
            flows[duration] = _trials(config, folder, policy, Engine(duration, jobs=jobs), round(total / duration))
            require(bool(flows[duration]), f"--simulated-time: too short, no flow began in {total:g} µs")
            task.update(i + 1, f"{duration:g} µs: {len(flows[duration])} trials")
    return duration_rows(flows, config.estimate.quantile, config.estimate.confidence)


def _trials(
    config: EstimationConfig, folder: Path, policy: Policy, engine: Engine, trials: int
) -> list[NDArray[np.float64]]:
    assert config.network is not None
    store, network = TrialStore(folder / "trials"), config.network.build()
    found: list[NDArray[np.float64]] = []
    for first in range(0, trials, BLOCK):
        size = min(BLOCK, trials - first)
        part = f"duration-{engine.duration:.15g}-{first:06d}-{size}"
        if not store.has(part):
            words = ("durations", repr(engine.duration))
            seeds = [derive(config.seed, *words, first + k) for k in range(size)]
            store.add(part, run_flows(engine, {"policy": policy}, [network], seeds))
        found += flow_values(store.read(part), config.estimate.metric)
    return found


def write_durations(folder: Path, config: EstimationConfig, rows: Sequence[DurationRow]) -> dict[str, Any]:
    """Write durations.json and its figure; return the content."""
    content = {
        "format": 1,
        "name": config.name,
        "config_hash": config.hash,
        "metric": config.estimate.metric,
        "quantile": config.estimate.quantile,
        "confidence": config.estimate.confidence,
        "shortest_unbiased_us": shortest_unbiased(rows),
        "rows": [_json(row) for row in rows],
    }
    text = json.dumps(content, sort_keys=True, indent=1, allow_nan=False) + "\n"
    write_atomically(folder / "durations.json", text.encode())
    (folder / "figures").mkdir(exist_ok=True)
    p = 100 * (config.estimate.quantile or 0)
    save(draw_durations(rows, f"{config.estimate.metric}, p{p:g}"), folder / "figures", "durations")
    return content


def _json(row: DurationRow) -> dict[str, Any]:
    values = asdict(row) | {"biased": row.biased}
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
