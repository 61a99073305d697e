"""The contenders of a study: what they run, found first where a tuning finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.experiments.runs.context import Run
from lcca.experiments.study.config import Contender, StudyConfig
from lcca.experiments.tuning.run import tune
from lcca.remy_plus.fabric.policies import load_for_fabric
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.policy import Policy


@dataclass(frozen=True)
class Prepared:
    """A contender that is ready to run.

    Attributes:
        policy: that it runs.
        told: what reports say of it: its name elsewhere, and what a tuning found.
    """

    policy: Policy
    told: Mapping[str, Any]


def prepared(run: Run[StudyConfig, None], jobs: int) -> dict[str, Prepared]:
    """Return all contenders, having tuned those that need it; a tuning that was stopped goes on."""
    return {name: _prepared(run, name, each, jobs) for name, each in run.config.contenders.items()}


def _prepared(run: Run[StudyConfig, None], name: str, contender: Contender, jobs: int) -> Prepared:
    if contender.tune is None:
        return Prepared(load_for_fabric(contender.policy).policy, {"policy": contender.policy})
    folder = contender_folder(run.path, name)
    run.reporter.say(f"contender {name}: tuning {contender.start}")
    found = tune(contender.tune, folder, jobs=jobs, resume=True)
    told = {"policy": contender.start, "tuned": found["tuned"]["parameters"], "default": found["default"]["parameters"]}
    return Prepared(policyfile.read(folder / layout.POLICY).policy, told | {"tuned_on": found["scenario"]})


def contender_folder(run: Path, name: str) -> Path:
    """Return the folder of the run that finds a contender."""
    return run / layout.CONTENDERS / name
