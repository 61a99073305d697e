"""Where trials run: threads of this process, worker processes, or a Ray cluster. The records are the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.engine import Request, Runner, run_here
from lcca.remy_plus.record import Columns
from lcca.workers import EXECUTORS
from lcca.workers.pool import Pool, Threads
from lcca.workers.processes import Processes


def executor(name: str, workers: int) -> Pool:
    """Return the pool of a name.

    Raises:
        InputError: an unknown name, or Ray is not installed.
    """
    match name:
        case "local":
            return Threads(workers)
        case "processes":
            return Processes(workers)
        case "ray":
            from lcca.workers.cluster import RayCluster  # of an extra

            return RayCluster(workers)
    raise InputError(f"unknown executor {name[:40]!r}{did_you_mean(name, EXECUTORS)}")


@dataclass(frozen=True)
class Batches:
    """Runs batches of the fast engine on a pool; a `Runner`.

    It cuts a batch into parts of whole trials, lets workers run them, and puts the columns together in the order of the
    trials, so that a record never depends on who ran it. A trial that no worker survives is reported as failed, and the
    others go on.

    Attributes:
        pool: of workers that are not here.
        part: runs a part.
    """

    pool: Pool
    part: Runner = run_here

    def __call__(self, request: Request) -> Columns:
        """Run a batch; trials that no worker survives come back with ``trial_error`` set."""
        if request.trials == 0:
            return run_here(request)
        edges = np.linspace(0, request.trials, min(self.pool.count * 2, request.trials) + 1).astype(int)
        parts = [replace(request.part(int(a), int(b)), jobs=1) for a, b in pairwise(edges)]
        return merge(self.pool.map_batches(self.part, parts, _halves, failed))


def runner_on(pool: Pool) -> Runner:
    """Return what runs batches of the engine on a pool: in this process the engine has threads of its own."""
    return run_here if pool.here else Batches(pool)


def _halves(part: Request) -> list[Request]:
    middle = part.trials // 2
    return [part.part(0, middle), part.part(middle, part.trials)] if middle else []


def failed(part: Request, reason: str) -> Columns:
    """Return the columns of one trial that could not be run: nothing sent, nothing received, and the reason."""
    blank = run_here(replace(part, duration=1e-9))  # a trial in which nothing happens has all columns and no packets
    return {**blank, "trial_error": np.array([f"a worker process died: {reason}"], dtype=object)}


def merge(parts: Sequence[Columns]) -> Columns:
    """Put the columns of consecutive parts together, as if they had run as one batch."""
    merged: dict[str, Any] = {}
    for name in parts[0].keys() - {"trial_error"}:
        columns = [p[name] for p in parts]
        if name == "rule_hits":
            merged[name] = [sum(each) for each in zip(*columns, strict=True)]
        elif name.endswith("_begin"):
            ends = np.cumsum([0, *(int(c[-1]) for c in columns)])
            shifted = [c[:-1] + ends[i] for i, c in enumerate(columns)]
            merged[name] = np.concatenate([*shifted, ends[-1:]])
        else:
            merged[name] = np.concatenate(columns)
    errors = [p.get("trial_error", np.full(len(p["trial_sent"]), "", dtype=object)) for p in parts]
    if any((e != "").any() for e in errors):
        merged["trial_error"] = np.concatenate(errors)
    return merged
