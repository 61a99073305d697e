"""Calls that run at the same time: in threads, or in processes where Python itself would hold threads up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lcca.gym_envs.processes.workers import Failure, run_all
from lcca.inputs.errors import InputError
from lcca.remy_plus.simulator import trial_completed

T = TypeVar("T")


def in_threads(calls: Iterable[Callable[[], T]], jobs: int) -> list[T]:
    """Return what calls give, each a trial, in their order; so many run at once.

    A single one runs in this thread, where Ctrl-C ends it.
    """
    if jobs == 1:
        return _one_by_one(calls)
    found: list[T] = []
    pool = ThreadPoolExecutor(jobs)
    try:
        for each in [pool.submit(call) for call in calls]:
            found.append(each.result())
            trial_completed()
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _one_by_one(calls: Iterable[Callable[[], T]]) -> list[T]:
    found: list[T] = []
    for call in calls:
        found.append(call())
        trial_completed()
    return found


def in_processes(calls: Iterable[Callable[[], T]], jobs: int) -> list[T]:
    """Return what calls give, each a trial, in their order; they and what they give travel by pickle.

    Raises:
        InputError: a call raised one, or its process died.
    """
    found: dict[int, T] = {}
    for at, result in run_all(_call, list(calls), jobs):
        if isinstance(result, Failure):
            raise InputError(result.reason)
        found[at] = result
    return [found[at] for at in sorted(found)]


def _call(call: Callable[[], T]) -> T:
    return call()
