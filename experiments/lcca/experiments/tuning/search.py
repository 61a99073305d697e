"""The search of a tuning: candidates, and the policy file of the best one. `lcca tune` tests what it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.executors import executor as workers_of
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.source import NetworkTrials, TrialSource
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.folder import RunFolder, is_locked
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve
from lcca.trainers.tune.race import Objective
from lcca.workers.pool import Pool

if TYPE_CHECKING:
    from lcca.trainers.tune.study import Candidate, Tuning

WAIT_SECONDS = 0.2
"""Between two looks at whether there is work for a helper."""

DEFAULT, TUNED = "default", "tuned"
"""The policy with its own parameters, and with the best ones found."""


@dataclass(frozen=True)
class Search:
    """What a search has found.

    Attributes:
        candidates: the policy's own parameters, and all that were tried.
        best: of them.
        start: the policy with its own parameters.
        policy: the policy with the best ones.
    """

    candidates: list[Candidate]
    best: Candidate
    start: Policy
    policy: Policy

    @property
    def trials(self) -> int:
        """How many trials the candidates met."""
        return sum(each.networks for each in self.candidates if each.same_as is None)

    @property
    def is_better(self) -> bool:
        """Whether any candidate scored more than the policy's own parameters."""
        return self.best.number >= 0


def require_installed(config: TuningConfig) -> None:
    """Check that what a tuning needs is installed.

    Raises:
        MissingPackage: something is not.
    """
    require_libraries(config.tuner.libraries, "tunings", "tune")


def source_of(config: TuningConfig, word: str, workers: Pool) -> TrialSource[Policy]:
    """Return where trials come from; those of another word are others.

    Raises:
        InputError: ns-3 is not installed, or the policy cannot run there.
    """
    how = Execution.on(workers, config.simulator)
    source = config.place.trials(derive(config.seed, word), config.utility.build(), how)
    if isinstance(source, NetworkTrials):
        source.simulator.compile(resolve(config.tuner.policy, config.simulator).policy)
    return source


def search_in(config: TuningConfig, path: Path, *, workers: Pool, quiet: bool = False) -> Search:
    """Search in a folder and test nothing, going on where a run was stopped; `lcca tune` may test it there later.

    Raises:
        InputError: Optuna or ns-3 is not installed, or the folder holds a run of something else.
    """
    require_installed(config)
    source = source_of(config, "tune", workers)
    with opened(config, path, resume=True, quiet=quiet) as run:
        workers.tell = run.reporter.say
        return search(run, source, workers.count)


def search(run: Run[TuningConfig, Any], source: TrialSource[Policy], jobs: int, storage: str | None = None) -> Search:
    """Search, and write the best policy and a table of candidates into the run's folder.

    Args:
        run: keeps the study.
        source: of the trials that candidates are tried on.
        jobs: how many trials run at once; never changes a result.
        storage: URL of the study's database; None for SQLite in the folder.
    """
    config, folder = run.config, run.folder
    folder.set_state("tuning")
    title = f"tuning {config.tuner.policy}"
    with run.reporter.task(title, config.tuner.trials) as task, run.costs.phase("tuning") as cost:
        tuning = _tuning(config, run.path, source, jobs, storage, task.update)
        best = tuning.lead()
        found = Search(tuning.candidates(), best, tuning.space.policy, tuning.space.build(best.params))
        cost.trials = found.trials
    file = PolicyFile(found.policy, provenance=_provenance(config, best))
    policyfile.write(run.path / layout.POLICY, file, digest=True)
    folder.write_table(layout.CANDIDATES, _table(found.candidates))
    folder.set_state("tuned")
    return found


def join(config: TuningConfig, path: Path, *, jobs: int, executor: str = "local", storage: str | None = None) -> None:
    """Help the run that another process leads, until its search has ended or that process is gone.

    Raises:
        InputError: there is no run of this configuration, or nobody leads it.
    """
    require_installed(config)
    RunFolder(path, config).check_same()
    if not is_locked(path):
        raise InputError(f"{path}: no process leads this run; start it without --join")
    while is_locked(path) and not (path / layout.CLAIMS).exists():
        time.sleep(WAIT_SECONDS)  # the leader makes the study, and there is nothing to claim before
    reporter, title = Reporter(), f"helping with {config.name}"
    with workers_of(executor, jobs) as workers, reporter.task(title, config.tuner.trials) as task:
        workers.tell, source = reporter.say, source_of(config, "tune", workers)
        _tuning(config, path, source, jobs, storage, task.update).help(lambda: is_locked(path))


def _tuning(
    config: TuningConfig,
    path: Path,
    source: TrialSource[Policy],
    jobs: int,
    storage: str | None,
    tell: Callable[[int, str], None],
) -> Tuning:
    from lcca.trainers.tune.study import Tuning

    objective = Objective(source, config.tuner.networks, config.tuner.race)
    name = f"{config.name}-{config.hash}"
    return Tuning(config.tuner, objective, derive(config.seed, "sampler"), path, jobs, storage, name, tell)


def _provenance(config: TuningConfig, best: Candidate) -> dict[str, Any]:
    return {
        "config_hash": config.hash,
        "seed": config.seed,
        "version": version(),
        "tuned_from": config.tuner.policy,
        "study": f"{config.name}-{config.hash}",
        "sampler": config.tuner.sampler.kind,
        "candidate": best.number if best.number >= 0 else DEFAULT,
    }


def _table(candidates: list[Candidate]) -> pd.DataFrame:
    """Return the table of candidates: a row each, a column per parameter."""
    rows = []
    for each in candidates:
        row = asdict(each)
        row["same_as"] = -2 if each.same_as is None else each.same_as
        params = row.pop("params")
        rows.append(row | {f"parameter_{name}": value for name, value in params.items()})
    return pd.DataFrame(rows)
