"""Trials on a Ray cluster (`pip install lcca[ray]`)."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from lcca.evaluation.trials.executors.base import Executor, WorkerDied
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Request, Runner, run_here
from lcca.remy_plus.record import Columns


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise InputError("executor 'ray' needs the package ray: pip install 'lcca[ray]'") from None


class RayCluster(Executor):
    """An existing Ray cluster (RAY_ADDRESS), or one that Ray starts here.

    Args:
        workers: how many parts are in flight at once.
        threads: processor cores that each part takes.
    """

    name = "ray"

    def __init__(self, workers: int, threads: int = 1, runner: Runner = run_here) -> None:
        super().__init__(workers, threads)
        self._ray = _ray()
        if not self._ray.is_initialized():
            self._ray.init(configure_logging=False, log_to_driver=False, include_dashboard=False)
        # Retries are ours: they must be the same everywhere, and a poison trial must be found.
        self._run = self._ray.remote(num_cpus=self.threads, max_retries=0)(runner)

    def attempt(self, parts: Sequence[Request]) -> list[Columns | WorkerDied]:
        """Run the parts on the cluster."""
        return [self._outcome(reference) for reference in [self._run.remote(part) for part in parts]]

    def _outcome(self, reference: Any) -> Columns | WorkerDied:
        errors = self._ray.exceptions
        gone = (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.LocalRayletDiedError,
            errors.OutOfMemoryError,  # Ray kills workers where memory runs short
            errors.ObjectLostError,
            errors.RaySystemError,
        )
        try:
            columns: Columns = self._ray.get(reference)
            return columns
        except gone as error:
            return WorkerDied(f"{type(error).__name__}: a Ray worker died")

    def close(self) -> None:
        """Nothing to do: the cluster is not ours."""
