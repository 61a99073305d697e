"""A search as an Optuna study: who proposes, who tries, and what is found. Needs Optuna.

The study's storage holds the whole state. The process that leads proposes candidates, a batch at a time; it and any
number of helpers try them. A candidate is claimed by a lock on a file, which the operating system lets go when its
holder dies, however it dies. What is proposed depends on the seed and the results of the batches before alone, and a
result on the candidate alone: so neither helpers nor kills change anything.
"""

from __future__ import annotations

import fcntl
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import optuna
from optuna.exceptions import StorageInternalError
from optuna.samplers import BaseSampler, RandomSampler
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy.exc import SQLAlchemyError

from lcca.evaluation.trials.layout import CLAIMS, OPTUNA
from lcca.inputs.errors import InputError
from lcca.inputs.json_values import finite
from lcca.trainers.tune.config import TuneConfig
from lcca.trainers.tune.race import Objective, Runner, mean_score, race
from lcca.trainers.tune.samplers import ListedSearch, distributions, loose_distributions, proposal, sampler_of, seed_of
from lcca.trainers.tune.space import Params, Space, key

POLL_SECONDS = 0.2
"""Between two looks for work that others may have left."""

BUSY = 2
"""Trials for each job that a process takes at a time."""

START = -1
"""Stands for the policy's own parameters where a candidate's number is asked for."""


@contextmanager
def storage_errors() -> Iterator[None]:
    """Turn what the study's database cannot do, such as write to a full disk, into an `InputError`."""
    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise InputError(f"the study's database cannot be used: {_reason(error)}; resume when it can") from error


@dataclass(frozen=True)
class Candidate:
    """A candidate and its result.

    Attributes:
        number: in the study; `START` for the policy's own parameters.
        batch: in which it was proposed; −1 for those.
        params: by name.
        state: "complete", "stopped" (settled worse than the best so far), "infeasible" or "unfinished".
        score_bits: over all networks of the search; for a stopped one by its differences from the best so far.
        networks: how many it has met.
        failed: trials that failed.
        same_as: number of an earlier candidate with the same parameters, whose result it has; None for none.
        note: why it cannot be.
    """

    number: int
    batch: int
    params: Params
    state: str
    score_bits: float
    networks: int
    failed: int
    same_as: int | None
    note: str


@dataclass
class Tuning:
    """A search for the best parameters.

    Attributes:
        config: what is searched, and how.
        objective: what candidates are tried on.
        seed: all proposals follow from it.
        folder: of the run; holds the claims, and the study unless `storage` says otherwise.
        jobs: of the simulator: a process takes as many candidates at a time as keep them busy.
        storage: URL of a database, for processes on several machines; None for SQLite in the folder.
        name: of the study in its storage.
        tell: is called with words on how far the search is, and the number of candidates finished.
    """

    config: TuneConfig
    objective: Objective
    seed: int
    folder: Path
    jobs: int = 1
    storage: str | None = None
    name: str = "tune"
    tell: Callable[[int, str], None] = lambda done, words: None
    space: Space = field(init=False)
    database: RDBStorage = field(init=False)
    study: Study = field(init=False)
    _listed: ListedSearch | None = field(init=False, default=None)
    _done: int = field(init=False, default=0)
    _ids: dict[int, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Open the study, or make it."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space = self.config.build_space()
        self.database, self.study = open_study(self.folder, self.storage, self.name)

    @storage_errors()
    def lead(self) -> Candidate:
        """Search until the sampler or the number of candidates ends it; return the best one.

        Goes on where a search that was stopped in this folder had come to.
        """
        if not math.isfinite(mean_score(self._start)):
            raise InputError("tuner.networks: no sender or flow was scored in any trial; make trials longer")
        batch = max((_batch(t) for t in self._trials()), default=0)
        while self._fill(batch):
            while any(not t.state.is_finished() for t in self._trials()):
                if not self._try_some():
                    time.sleep(POLL_SECONDS)  # others try what is left
            batch += 1
        self.study.set_user_attr("finished", True)
        return self.best()

    @storage_errors()
    def help(self, leader_lives: Callable[[], bool]) -> None:
        """Try what the leader proposes until the search has ended, or the leader is gone."""
        while not self.study.user_attrs.get("finished") and leader_lives():
            if self.study.user_attrs.get("start") is None or not self._try_some():
                time.sleep(POLL_SECONDS)

    @storage_errors()
    def candidates(self) -> list[Candidate]:
        """Return the policy's own parameters and all candidates, in the order of their proposal."""
        score, met = mean_score(self._start), len(self._start)
        own = Candidate(START, -1, self.space.start, "complete", score, met, 0, None, "")
        return [own, *(self._candidate(trial) for trial in self._trials())]

    def best(self) -> Candidate:
        """Return the best candidate; the policy's own parameters, or the first proposed, among equals."""
        complete = [c for c in self.candidates() if c.state == "complete" and not math.isnan(c.score_bits)]
        if not complete:
            raise InputError("no candidate was scored: no sender was on for long enough in any trial")
        return max(complete, key=lambda c: c.score_bits)

    # Proposing.

    def _fill(self, batch: int) -> bool:
        """Propose a batch, or what a process that was killed left out of it; tell whether it has any candidates."""
        trials = self._trials()
        before = sum(_batch(t) < batch for t in trials)
        room = self.config.batch if self.config.trials is None else self.config.trials - before
        for _ in range(len(trials) - before, min(self.config.batch, room)):
            if not self._add_one(batch):
                break
        return len(self._trials()) > before

    def _add_one(self, batch: int) -> bool:
        """Propose one more candidate of a batch; tell whether there was any. All of it is written at once."""
        trials = self._trials()
        proposed = self._ask(trials, batch)
        if proposed is None:
            return False
        twin = self._twin(self.space.point(proposed.params), trials)
        self.study.add_trial(
            create_trial(
                state=TrialState.WAITING,
                params=proposed.params,
                distributions=proposed.distributions,
                system_attrs=proposed.system_attrs,
                user_attrs={"batch": batch} | ({} if twin is None else {"same_as": twin}),
            )
        )
        return True

    def _ask(self, trials: Sequence[FrozenTrial], batch: int) -> FrozenTrial | None:
        """Return what the sampler proposes; None if it has nothing to propose.

        It sees the results of the batches before, and what is proposed already in this one, finished or not.
        """
        seen = [_running(t) if _batch(t) == batch else t for t in trials]
        sampler = self._sampler(len(trials))
        if self._listed is None:
            return proposal(sampler, seen, distributions(self.space))
        return proposal(sampler, seen, loose_distributions(self.space)) if self._listed.untried(seen) else None

    def _sampler(self, number: int) -> BaseSampler:
        """Return the sampler of a candidate: one that lists candidates is kept, others have a seed for each."""
        if self._listed is not None:
            return self._listed
        sampler = sampler_of(self.config, self.space, seed_of(self.seed, number), mean_score(self._start))
        self._listed = sampler if isinstance(sampler, ListedSearch) else None
        return sampler

    def _twin(self, params: Params, trials: Sequence[FrozenTrial]) -> int | None:
        """Return the number of the first candidate with these parameters."""
        if key(params) == key(self.space.start):
            return START
        return next((t.number for t in trials if key(self.space.point(t.params)) == key(params)), None)

    # Trying.

    def _try_some(self) -> bool:
        """Claim some candidates and try them; tell whether there were any."""
        most = max(1, math.ceil(BUSY * self.jobs / self.objective.blocks()[0]))
        with ExitStack() as claims:
            mine: list[FrozenTrial] = []
            for trial in self._open():
                if len(mine) < most and claims.enter_context(self._claim(trial)):
                    mine.append(trial)
            if mine:
                self._try(mine)
        return bool(mine)

    def _open(self) -> list[FrozenTrial]:
        """Return the candidates that can be tried: not those whose twin is being tried."""
        trials = self._trials()
        unfinished = {t.number for t in trials if not t.state.is_finished()}
        self._done = len(trials) - len(unfinished)
        return [t for t in trials if t.number in unfinished and t.user_attrs.get("same_as") not in unfinished]

    @contextmanager
    def _claim(self, trial: FrozenTrial) -> Iterator[bool]:
        """Hold a candidate against other processes; false if another holds it or has finished it."""
        folder = self.folder / CLAIMS
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{trial.number}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield not self.database.get_trial(self._id(trial.number)).state.is_finished()

    def _try(self, trials: Sequence[FrozenTrial]) -> None:
        """Try candidates that this process holds, all of the same batch, and tell the study."""
        for trial in trials:
            if trial.state == TrialState.WAITING:
                self.database.set_trial_state_values(self._id(trial.number), TrialState.RUNNING)
        incumbent = self._incumbent(_batch(trials[0]))
        runners = [
            Runner(t.number, self.space.build(t.params), _scores(t), int(t.user_attrs.get("failed", 0)))
            for t in trials
            if not self._answer_at_once(t)
        ]
        race(self.objective, runners, incumbent, lambda runner: self._keep(runner, incumbent))
        for runner in runners:
            self._finish(runner.number, mean_score(runner.scores, incumbent), runner.stopped)

    def _answer_at_once(self, trial: FrozenTrial) -> bool:
        """Finish a candidate that needs no trials: one that cannot be, or has a twin that is finished."""
        try:
            self.space.build(trial.params)
        except InputError as error:
            self._note(trial.number, "infeasible", str(error))
            self._finish(trial.number, self.objective.floor, True)
            return True
        twin = trial.user_attrs.get("same_as")
        if twin is None:
            return False
        scores, value, stopped = self._start, mean_score(self._start), False
        if twin != START:
            found = self._trials()[twin]
            scores, value, stopped = _scores(found), found.value or 0.0, found.state == TrialState.PRUNED
        self._note(trial.number, "scores", [*map(finite, scores)])
        self._finish(trial.number, value, stopped)
        return True

    def _keep(self, runner: Runner, incumbent: Sequence[float]) -> None:
        """Write down how far a candidate is."""
        if runner.failed:
            self._note(runner.number, "failed", runner.failed)
        self._note(runner.number, "scores", [*map(finite, runner.scores)])
        met = f"{len(runner.scores)} {self.objective.source.unit}"
        self.tell(self._done, f"candidate {runner.number} on {met}; best so far {mean_score(incumbent):.3f} bits")

    def _finish(self, number: int, value: float, stopped: bool) -> None:
        value = value if math.isfinite(value) else self.objective.floor
        at, state = self._id(number), TrialState.PRUNED if stopped else TrialState.COMPLETE
        self.database.set_trial_intermediate_value(at, self.objective.networks, value)
        self.database.set_trial_state_values(at, state, [value])
        self._done += 1
        self.tell(self._done, f"candidate {number}: {value:.3f} bits{', stopped early' if stopped else ''}")

    def _incumbent(self, batch: int) -> list[float]:
        """Return the scores of the best candidate of the batches before, by network."""
        best, scores = mean_score(self._start), self._start
        for trial in self._trials():
            if _batch(trial) < batch and trial.state == TrialState.COMPLETE:
                own = _scores(trial)
                if mean_score(own) > best:
                    best, scores = mean_score(own), own
        return scores

    @cached_property
    def _start(self) -> list[float]:
        """The scores of the policy's own parameters, which are tried first, on all networks."""
        known = self.study.user_attrs.get("start")
        if known is None:
            self.tell(0, "the policy's own parameters")
            scores, _ = self.objective.run([self.space.policy], 0, self.objective.networks)
            known = [*map(finite, scores[0].tolist())]
            self.study.set_user_attr("start", known)
        return _from_json(known)

    # The study.

    def _trials(self) -> list[FrozenTrial]:
        return self.study.get_trials(deepcopy=False)

    def _id(self, number: int) -> int:
        if number not in self._ids:
            study = self.database.get_study_id_from_name(self.study.study_name)
            self._ids[number] = self.database.get_trial_id_from_study_id_trial_number(study, number)
        return self._ids[number]

    def _note(self, number: int, name: str, value: object) -> None:
        self.database.set_trial_user_attr(self._id(number), name, value)

    def _candidate(self, trial: FrozenTrial) -> Candidate:
        attrs = trial.user_attrs
        states = {TrialState.COMPLETE: "complete", TrialState.PRUNED: "stopped"}
        state = "infeasible" if "infeasible" in attrs else states.get(trial.state, "unfinished")
        return Candidate(
            number=trial.number,
            batch=_batch(trial),
            params=self.space.point(trial.params),
            state=state,
            score_bits=math.nan if trial.value is None or state == "infeasible" else trial.value,
            networks=len(attrs.get("scores", [])),
            failed=int(attrs.get("failed", 0)),
            same_as=attrs.get("same_as"),
            note=attrs.get("infeasible", ""),
        )


def open_study(folder: Path, storage: str | None, name: str) -> tuple[RDBStorage, Study]:
    """Open the study of a run, or make it.

    Args:
        folder: of the run.
        storage: URL of a database as SQLAlchemy writes it; None for `study.sqlite3` in the folder.
        name: of the study there.

    Raises:
        InputError: the database cannot be used.
    """
    url = storage or f"sqlite:///{(folder / OPTUNA).resolve()}"
    wait = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    try:
        database = RDBStorage(url, engine_kwargs=wait)
        study = optuna.create_study(
            storage=database,
            sampler=RandomSampler(seed=0),  # proposes nothing: a copy of the study is asked
            study_name=name,
            direction="maximize",
            load_if_exists=True,
        )
    except Exception as error:  # of SQLAlchemy, of a driver or of its absence
        raise InputError(f"--storage {url}: cannot be used: {_reason(error)}") from error
    return database, study


def _reason(error: BaseException) -> str:
    """Return what a driver said, without the statement that failed."""
    cause = getattr(error.__cause__ or error, "orig", None) or error
    return str(cause).strip().splitlines()[0]


def _batch(trial: FrozenTrial) -> int:
    return int(trial.user_attrs["batch"])


def _running(trial: FrozenTrial) -> FrozenTrial:
    """Return an unfinished trial as one that runs, so that a sampler takes it for what is being tried."""
    return create_trial(
        state=TrialState.RUNNING,
        params=trial.params,
        distributions=trial.distributions,
        system_attrs=trial.system_attrs,
    )


def _scores(trial: FrozenTrial) -> list[float]:
    return _from_json(trial.user_attrs.get("scores", []))


def _from_json(scores: Sequence[float | None]) -> list[float]:
    return [math.nan if score is None else score for score in scores]
