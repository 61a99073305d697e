"""The training of ACC: kept in a run's folder, and the same bytes after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lcca.experiments.runs.context import Run
from lcca.inputs.extras import require_libraries
from lcca.remy_plus.tuners.acc import AccModel
from lcca.trainers.ecn.config import FabricAccConfig

if TYPE_CHECKING:
    from lcca.experiments.ecn.fabric import OnFabric
    from lcca.trainers.ecn.double_dqn import DoubleDqn


def require_installed() -> None:
    """Check that what a training needs is installed.

    Raises:
        MissingPackage: something is not.
    """
    require_libraries(FabricAccConfig.libraries, "trainings of ACC")


def learn(run: Run[Any, None], place: OnFabric) -> AccModel:
    """Return what was learnt; trained unless it is in the folder."""
    if (known := place.kept(run.path)) is not None:
        return known
    from lcca.trainers.ecn.training import train

    config, learner = run.config, place.learner()
    steps = config.trainer.dqn.steps
    run.folder.set_state("training")
    with run.reporter.task(f"training {config.name}", steps) as task, run.costs.phase("training"):

        def tell(learner: DoubleDqn, returns: list[float]) -> None:
            recent = returns[-50:]
            note = f"{learner.steps:,} of {steps:,} steps, reward {sum(recent) / len(recent):.4f} of late"
            task.update(min(learner.steps, steps), note)

        returns = train(learner, place.play, folder=run.path, every=config.trainer.checkpoint_every, tell=tell)
        learnt = place.learnt(learner, returns, run.path)
    run.folder.set_state("trained")
    return learnt
