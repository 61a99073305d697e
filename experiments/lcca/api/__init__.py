"""All that a script or a notebook needs by one import: ``import lcca.api as lcca``.

Experiments are the commands of the same names: `compare`, `rank`, `evaluate`, `agree`, `stress`, `sweep`, `map`,
`tune`, `study`, `acc`; `bound` says what is possible. `load_run` reads a run folder. `Space` and `Scenario` say where
contenders meet, as YAML files do; `policy` is a contender by its name. (`lcca` itself is a namespace and has no names
of its own.)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lcca.experiments.recipes import FUNCTIONS
from lcca.inputs.studies import added

if TYPE_CHECKING:
    from lcca.evaluation.fabric.scenario import FabricScenario as Scenario
    from lcca.evaluation.scenarios.networks import NetworkSpace as Space
    from lcca.evaluation.trials.loaded_run import LoadedRun
    from lcca.experiments.reading.fabric_runs import load_run
    from lcca.experiments.recipes.agree import agree
    from lcca.experiments.recipes.compare import compare
    from lcca.experiments.recipes.evaluate import evaluate
    from lcca.experiments.recipes.evaluate import possible as bound
    from lcca.experiments.recipes.prepared import Result
    from lcca.experiments.recipes.rank import rank
    from lcca.experiments.recipes.study import study
    from lcca.experiments.recipes.sweep import sweep
    from lcca.experiments.recipes.tune import tune
    from lcca.signal_sets.load import resolve as policy

_PLACES = {
    **FUNCTIONS,
    "bound": ("lcca.experiments.recipes.evaluate", "possible"),
    "LoadedRun": ("lcca.evaluation.trials.loaded_run", "LoadedRun"),
    "Result": ("lcca.experiments.recipes.prepared", "Result"),
    "Scenario": ("lcca.evaluation.fabric.scenario", "FabricScenario"),
    "Space": ("lcca.evaluation.scenarios.networks", "NetworkSpace"),
    "load_run": ("lcca.experiments.reading.fabric_runs", "load_run"),
    "policy": ("lcca.signal_sets.load", "resolve"),
}

__all__ = [
    "LoadedRun",
    "Result",
    "Scenario",
    "Space",
    "agree",
    "bound",
    "compare",
    "evaluate",
    "load_run",
    "policy",
    "rank",
    "study",
    "sweep",
    "tune",
    *added("functions"),
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: most need pandas."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
