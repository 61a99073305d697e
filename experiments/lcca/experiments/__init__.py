"""Experiments from a file or a call to a verdict and a report, and their results as tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcca.evaluation.trials.loaded_run import LoadedRun
    from lcca.experiments.reading.fabric_runs import load_run
    from lcca.experiments.recipes.acc import acc
    from lcca.experiments.recipes.agree import agree
    from lcca.experiments.recipes.compare import compare
    from lcca.experiments.recipes.evaluate import evaluate
    from lcca.experiments.recipes.rank import rank
    from lcca.experiments.recipes.study import study
    from lcca.experiments.recipes.sweep import sweep
    from lcca.experiments.recipes.tune import tune

__all__ = ["LoadedRun", "acc", "agree", "compare", "evaluate", "load_run", "rank", "study", "sweep", "tune"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: it needs pandas."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    elsewhere = {"LoadedRun": "lcca.evaluation.trials.loaded_run", "load_run": f"{__name__}.reading.fabric_runs"}
    return getattr(import_module(elsewhere.get(name, f"{__name__}.recipes.{name}")), name)
