"""The contenders of a study: what they run, found first where a tuning or a training finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.experiments.ecn import training
from lcca.experiments.ecn.config import FabricAcc
from lcca.experiments.runs.context import Run
from lcca.experiments.studies.config import Contender, StudyConfig
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.tuning.search import require_installed, search_in
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.acc import read_acc_model
from lcca.remy_plus.tuners.registry import tuning
from lcca.signal_sets.load import resolve


@dataclass(frozen=True)
class Prepared:
    """A contender that is ready to run.

    Attributes:
        policy: that it runs.
        origin: its name elsewhere, and what was found where, for reports.
    """

    policy: Policy
    origin: Mapping[str, Any]


def prepared(run: Run[StudyConfig, None], jobs: int, quiet: bool = False) -> dict[str, Prepared]:
    """Return all contenders, having tuned and trained those that need it; what was stopped goes on.

    Raises:
        InputError: a package that one of them needs is not installed, which is said before any is tuned.
    """
    for each in run.config.contenders.values():
        if each.tune is not None:
            require_installed(each.tune)
        if each.train is not None:
            training.require_installed()
    return {name: _prepared(run, name, each, jobs, quiet) for name, each in run.config.contenders.items()}


def _prepared(run: Run[StudyConfig, None], name: str, contender: Contender, jobs: int, quiet: bool) -> Prepared:
    folder = run.path / layout.CONTENDERS / name
    if contender.tune is not None:
        return _tuned(contender.start, contender.tune, folder, jobs, quiet)
    if contender.train is not None:
        return _trained(contender.train, folder, quiet)
    return Prepared(resolve(contender.policy, "fabric").policy, {"policy": contender.policy})


def _tuned(start: str, config: TuningConfig, folder: Path, jobs: int, quiet: bool) -> Prepared:
    found, scenario = search_in(config, folder, jobs=jobs, quiet=quiet), config.fabric
    assert scenario is not None
    parameters = {"tuned": dict(found.best.params), "default": dict(found.candidates[0].params)}
    return Prepared(found.policy, {"policy": start, **parameters, "tuned_on": scenario.name})


def _trained(config: FabricAcc, folder: Path, quiet: bool) -> Prepared:
    model = read_acc_model(training.train_acc(config, folder, resume=True, quiet=quiet))
    origin = {"policy": f"{config.transport}@acc", "trained_on": config.space.name}
    return Prepared(replace(config.policy, tuner=tuning("acc", model)), origin)
