"""A contender that is trained before a study begins: what `train:` of a contender takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.forecast import Cost
from lcca.remy_plus.policies.policy import Policy


@dataclass(frozen=True)
class Learner:
    """What trains contenders.

    Attributes:
        config: of a training, as its file says it.
        start: returns the name of the policy that a training starts from.
        require: raises what is not installed.
        cost: returns what a training costs.
        train: takes a configuration, a folder and whether to leave progress out; goes on with the training there, and
            returns what was learnt and what it was found from, for reports.
    """

    config: type[RunConfig]
    start: Callable[[Any], str]
    require: Callable[[], None]
    cost: Callable[[Any], Cost]
    train: Callable[[Any, Path, bool], tuple[Policy, dict[str, Any]]]
