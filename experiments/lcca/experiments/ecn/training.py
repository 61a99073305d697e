"""The training of ACC, at whatever place: kept in a run's folder, and the same bytes after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.evaluation.trials import layout
from lcca.experiments.ecn.config import AccRun, FabricAcc, IncastAcc
from lcca.experiments.ecn.fabric import OnFabric
from lcca.experiments.ecn.incast import InNs3
from lcca.experiments.ecn.place import AccPlace, Learnt
from lcca.experiments.runs.context import Run, opened

if TYPE_CHECKING:
    from lcca.trainers.ecn.double_dqn import DoubleDqn
    from lcca.trainers.ecn.training import Progress


def place_of(config: AccRun, jobs: int) -> AccPlace:
    """Return where a configuration trains and tests; to be closed.

    Raises:
        InputError: it is ns-3, which is not installed.
    """
    if isinstance(config, FabricAcc):
        return OnFabric(config, jobs)
    assert isinstance(config, IncastAcc)
    return InNs3(config, jobs)


def train_acc(config: FabricAcc, path: Path, *, resume: bool, quiet: bool = False) -> Path:
    """Train, and return the file of the model, as ``dcqcn@acc:FILE`` takes it; go on where a run was stopped.

    Args:
        config: of the run; what it says of the test is not done.
        path: of its folder.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: PyTorch or Gymnasium is not installed, or the folder is not free.
    """
    config.require_installed()
    place = OnFabric(config)
    if not (path / layout.MANIFEST).exists():
        place.require_flows(tests=False)
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if not run.folder.complete:
            learn(run, place)
        return path / layout.MODEL


def learn(run: Run[Any, None], place: AccPlace) -> Learnt:
    """Return what was learnt at a place, having trained unless that is in the run's folder."""
    if (known := place.kept(run.path)) is not None:
        return known
    from lcca.trainers.ecn.training import train

    config, learner = run.config, place.learner()
    steps = config.trainer.dqn.steps
    run.folder.set_state("training")
    with run.reporter.task(f"training {config.name}", steps) as task, run.costs.phase("training"):

        def tell(learner: DoubleDqn, progress: Progress) -> None:
            recent = progress.returns[-50:]
            note = f"{learner.steps:,} of {steps:,} steps, reward {sum(recent) / len(recent):.4f} of late"
            task.update(min(learner.steps, steps), note)

        progress = train(learner, place.play, folder=run.path, every=config.trainer.checkpoint_every, tell=tell)
        learnt = place.learnt(learner, progress.returns, run.path)
    run.folder.set_state("trained")
    return learnt
