"""A search that takes a second: few, small and short networks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.engine import Engine
from lcca.trainers.base import Keeper, Task, WarmStart
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer

from .conformance import SPACE

MakeTrainer = Callable[..., RplusTrainer]

TINY = {"rounds": 2, "passes": 1, "networks": 8, "check_networks": 60, "optimise": ["pacing"]}


@pytest.fixture(scope="session")
def space() -> NetworkSpace:
    return SPACE


@pytest.fixture(scope="session")
def make_trainer(space: NetworkSpace) -> MakeTrainer:
    """Return a function that makes a trainer; keywords beside its arguments are of its configuration."""

    def make(
        checkpoint: Path | None = None,
        jobs: int = 1,
        seed: int = 1,
        identity: str = "test",
        keep: Keeper = lambda round_, table: None,
        signals: tuple[str, ...] = ("rtt_ratio", "queue"),
        shared: Path | None = None,
        warm_start: WarmStart | None = None,
        **config: object,
    ) -> RplusTrainer:
        task = Task(identity, signals, space, utility("default"), seed, warm_start=warm_start)
        engine = Engine(space.duration, jobs=jobs)
        return RplusTrainer(task, RplusConfig.model_validate(TINY | config), engine, checkpoint, keep, shared)

    return make
