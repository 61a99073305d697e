"""A search that takes a second: few, small and short networks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus.engine import Engine
from lcca.trainers.rplus import RplusConfig, RplusTrainer
from lcca.trainers.rplus.trainer import Keeper, Start, Task

MakeTrainer = Callable[..., RplusTrainer]

SPACE = {
    "link_rate": {"min": 1, "max": 2, "step": 0.5},
    "rtt": {"min": 10, "max": 20, "step": 5},
    "senders": {"min": 1, "max": 2, "step": 1},
    "buffer": 50,
    "mean_on": 500,
    "mean_off": 100,
    "loss": 0.001,
    "duration": 1000,
}
TINY = {"rounds": 2, "passes": 1, "networks": 8, "check_networks": 60}


@pytest.fixture
def space() -> NetworkSpace:
    return NetworkSpace.model_validate(SPACE)


@pytest.fixture
def make_trainer(space: NetworkSpace) -> MakeTrainer:
    """Return a function that makes a trainer; keywords beside its arguments are of its configuration."""

    def make(
        checkpoint: Path | None = None,
        jobs: int = 1,
        seed: int = 1,
        identity: str = "test",
        keep: Keeper = lambda round_, table: None,
        signals: tuple[str, ...] = ("rtt_ratio", "queue"),
        opening: Path | None = None,
        start: Start | None = None,
        **config: object,
    ) -> RplusTrainer:
        task = Task(identity, signals, space, utility("default"), seed, start=start)
        engine = Engine(space.duration, jobs=jobs)
        return RplusTrainer(
            task, RplusConfig.model_validate(TINY | config), engine, checkpoint, keep=keep, opening=opening
        )

    return make
