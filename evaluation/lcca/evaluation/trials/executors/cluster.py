"""Trials on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable

from lcca.evaluation.trials.executors.cluster_pool import ClusterPool
from lcca.evaluation.trials.executors.pool import PoolExecutor
from lcca.remy_plus.engine import Runner, run_here


class RayCluster(PoolExecutor):
    """Trials on an existing Ray cluster (RAY_ADDRESS), or on one that Ray starts here.

    Args:
        workers: how many parts are in flight at once.
        threads: processor cores that each part takes.
        runner: runs a part.

    Raises:
        InputError: as `ClusterPool`.
    """

    name = "ray"
    away = True

    def __init__(self, workers: int, threads: int = 1, runner: Runner = run_here) -> None:
        self._said: Callable[[str], None] = lambda text: None
        super().__init__(ClusterPool(workers, threads, self._tell), threads, runner)

    def report_to(self, tell: Callable[[str], None]) -> None:
        """Tell when nodes come, go or are waited for."""
        self._said = tell

    def pool(self, count: int) -> ClusterPool:
        """Return what makes other calls on the cluster, each on one core."""
        return ClusterPool(count, 1, self._tell)

    def _tell(self, text: str) -> None:
        self._said(text)
