"""The contenders of a study: what they run, found first where a tuning or a training finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.experiments.ecn import fabric_run
from lcca.experiments.ecn.fabric_config import FabricAcc
from lcca.experiments.runs.context import Run
from lcca.experiments.study.config import Contender, StudyConfig
from lcca.experiments.tuning import run as tuning_run
from lcca.experiments.tuning.config import TuningConfig
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.acc import read_acc_model
from lcca.remy_plus.tuners.registry import tuning
from lcca.signal_sets.load import resolve


@dataclass(frozen=True)
class Prepared:
    """A contender that is ready to run.

    Attributes:
        policy: that it runs.
        told: what reports say of it: its name elsewhere, and what was found where.
    """

    policy: Policy
    told: Mapping[str, Any]


def prepared(run: Run[StudyConfig, None], jobs: int) -> dict[str, Prepared]:
    """Return all contenders, having tuned and trained those that need it; what was stopped goes on.

    Raises:
        InputError: a package that one of them needs is not installed, which is told before any is tuned.
    """
    for each in run.config.contenders.values():
        if each.tune is not None:
            tuning_run.require_installed(each.tune)
        if each.train is not None:
            fabric_run.require_installed(each.train)
    return {name: _prepared(run, name, each, jobs) for name, each in run.config.contenders.items()}


def _prepared(run: Run[StudyConfig, None], name: str, contender: Contender, jobs: int) -> Prepared:
    folder = contender_folder(run.path, name)
    if contender.tune is not None:
        return _tuned(contender.start, contender.tune, folder, jobs)
    if contender.train is not None:
        return _trained(contender.train, folder)
    return Prepared(resolve(contender.policy, "fabric").policy, {"policy": contender.policy})


def _tuned(start: str, config: TuningConfig, folder: Path, jobs: int) -> Prepared:
    found = tuning_run.tune(config, folder, jobs=jobs, resume=True)
    told = {"policy": start, "tuned": found["tuned"]["parameters"], "default": found["default"]["parameters"]}
    return Prepared(policyfile.read(folder / layout.POLICY).policy, told | {"tuned_on": found["scenario"]})


def _trained(config: FabricAcc, folder: Path) -> Prepared:
    model = fabric_run.train_fabric_acc(config, folder, resume=True)
    told = {"policy": f"{config.transport}@acc", "trained_on": config.space.name}
    return Prepared(replace(config.policy, tuner=tuning("acc", read_acc_model(model))), told)


def contender_folder(run: Path, name: str) -> Path:
    """Return the folder of the run that finds a contender."""
    return run / layout.CONTENDERS / name
