"""Trials of controllers on common traces and seeds, and what is reported of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.gym_envs.ecn.env import Ns3EcnEnv
from lcca.gym_envs.ecn.switch import SwitchRecord, queue_percentile
from lcca.trainers.ecn.controllers import Controller


@dataclass(frozen=True)
class Outcome:
    """One trial.

    Attributes:
        utility: mean over intervals.
        record: flows and queue.
    """

    utility: float
    record: SwitchRecord


def run_trial(env: Ns3EcnEnv, controller: Controller, trace: int, seed: int) -> Outcome:
    """Play a trial under a controller.

    Args:
        env: whose action space does not matter: controllers give settings.
        controller: sets the marking.
        trace: seed of the flows.
        seed: of the marks, and of anything random in the controller.
    """
    seen, _ = env.reset(options={"trace": trace, "trial_seed": seed})
    choose = controller.begin(seed)
    utilities: list[float] = []
    over = False
    while not over:
        seen, utility, _, over, _ = env.mark(choose(seen))
        utilities.append(utility)
    return Outcome(float(np.mean(utilities)), env.record())


def pooled(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what is reported of trials: their mean utility, and figures pooled over flows and over time.

    Completion times are those of small flows (below 100 KB) that ended. Queues are in packets that wait.
    """
    records = [outcome.record for outcome in outcomes]
    fct, slowdown = (np.concatenate([getattr(r, name)[r.small] for r in records]) for name in ("fct_us", "slowdown"))
    large = np.concatenate([r.fct_us[~r.small] for r in records])
    queue = _summed([r.queue_us for r in records])
    return {
        "trials": len(outcomes),
        "utility": float(np.mean([outcome.utility for outcome in outcomes])),
        "small_fct_p50_us": _quantile(fct, 0.5),
        "small_fct_p99_us": _quantile(fct, 0.99),
        "small_slowdown_p50": _quantile(slowdown, 0.5),
        "small_slowdown_p99": _quantile(slowdown, 0.99),
        "large_fct_p99_us": _quantile(large, 0.99),
        "queue_mean": float((queue * np.arange(len(queue))).sum() / queue.sum()),
        "queue_p50": queue_percentile(queue, 0.5),
        "queue_p95": queue_percentile(queue, 0.95),
        "queue_p99": queue_percentile(queue, 0.99),
        "unfinished": int(np.isnan(fct).sum() + np.isnan(large).sum()),
        "marked": sum(r.marked for r in records),
        "dropped": sum(r.dropped for r in records),
    }


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    ended = values[~np.isnan(values)]
    return float(np.quantile(ended, share)) if len(ended) else None


def _summed(histograms: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total = np.zeros(max(map(len, histograms)))
    for histogram in histograms:
        total[: len(histogram)] += histogram
    return total
