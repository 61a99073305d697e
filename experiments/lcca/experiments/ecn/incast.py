"""ACC at one switch in ns-3: an incast whose queue one agent marks, as in section VI-C.3 of PRED's paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.keeping import packed, unpacked
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import RECORD
from lcca.experiments.ecn.config import ACC, BEST_STATIC, CHANCE, EXPLORING, IncastAcc
from lcca.experiments.ecn.place import AccPlace, Learnt, curve_of
from lcca.experiments.experiment import Experiment, Numbered, Stop
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import CONFIDENCE, Json
from lcca.gym_envs.ecn.settings import GRID, GRID_SHAPE, MarkSetting, static
from lcca.gym_envs.ecn.switch import SwitchRecord, queue_percentile
from lcca.gym_envs.ns3.simulator import installed
from lcca.gym_envs.processes.pool import Threads
from lcca.inputs.json_values import interval

if TYPE_CHECKING:
    from lcca.gym_envs.ecn.env import Ns3EcnEnv
    from lcca.trainers.ecn.double_dqn import DoubleDqn

TRAINING, FRESH = "training trace", "fresh traces"
"""The two conditions of the test."""

SETTINGS_KEPT = 12
"""Settings of the grid that are tried and kept at a time."""

Choose: TypeAlias = Callable[[NDArray[np.float32]], MarkSetting]
"""From (6 × history,) the state of `lcca/Ns3Ecn-v0` to the setting of the next interval."""


@dataclass(frozen=True)
class Controller:
    """Sets how a switch marks, interval by interval.

    PRED's paper leaves exploration on when ACC is deployed, and finds the queue unstable for it (section VI-C.3).

    Attributes:
        setting: the same one for ever; None where there is a choice.
        learner: whose best action is taken; None for random settings alone.
        explore: share of random settings beside those of the learner.
    """

    setting: MarkSetting | None = None
    learner: DoubleDqn | None = None
    explore: float = 0.0

    def begin(self, seed: int) -> Choose:
        """Return what chooses in one trial, with a stream of random settings of its own."""
        draws = np.random.default_rng(seed)

        def choose(seen: NDArray[np.float32]) -> MarkSetting:
            if self.setting is not None:
                return self.setting
            if self.learner is None or draws.random() < self.explore:
                return GRID[int(draws.integers(len(GRID)))]
            return GRID[self.learner.best(seen)]

        return choose


def run_trial(env: Ns3EcnEnv, controller: Controller, trace: int, seed: int) -> Json:
    """Return a row of a trial under a controller: its score, the mean utility over intervals, and its record.

    Args:
        env: whose action space does not matter: controllers give settings.
        controller: sets the marking.
        trace: seed of the flows.
        seed: of the marks, and of anything random in the controller.
    """
    seen, _ = env.reset(options={"trace": trace, "trial_seed": seed})
    choose, utilities, over = controller.begin(seed), list[float](), False
    while not over:
        seen, utility, _, over, _ = env.mark(choose(seen))
        utilities.append(utility)
    return {"seed": seed, "trace": trace, "score": float(np.mean(utilities)), RECORD: packed(asdict(env.record()))}


@dataclass(frozen=True)
class Share:
    """What trials are scored by: PRED's utility, a share from 0 to 1; see `lcca.evaluation.trials.utility.Utility`.

    Attributes:
        least: difference that matters.
    """

    least: float
    name: str = "pred"
    unit: str = "utility"

    def percent(self, difference: float) -> float:
        """Return a difference in hundredths."""
        return 100 * difference

    def margin(self, percent: float) -> float:
        """Return the difference that matters, which a configuration says itself."""
        return self.least


@dataclass(frozen=True)
class IncastTrials:
    """Numbered trials of an incast, a `TrialSource`: all controllers meet the same flows and the same draws of marks.

    Attributes:
        run: a controller on a trace with a seed.
        trace: of a trial, by its number.
        seed: of a trial, by its number.
        utility: scores a trial.
        jobs: trials that run at a time.
    """

    run: Callable[[Controller, int, int], Json]
    trace: Callable[[int], int]
    seed: Callable[[int], int]
    utility: Any
    jobs: int
    unit: str = "pairs"
    block: int = 1

    @property
    def origin(self) -> Mapping[str, str]:
        """The simulator."""
        return {"simulator": f"ns-{installed()}"}

    def whole(self, count: int) -> int:
        """Return the number itself: blocks are single trials."""
        return count

    def weights(self, count: int) -> Sequence[float]:
        """Return 1 for every trial."""
        return [1.0] * count

    def rows(self, contenders: Mapping[str, Controller], block: Block) -> pd.DataFrame:
        """Run every controller on a stretch of trials: a row each, with its trace, its score and its record."""
        numbers = range(block.first, block.end)
        asked = [(name, number) for name in contenders for number in numbers]
        calls = [partial(self.run, contenders[name], self.trace(number), self.seed(number)) for name, number in asked]
        found = Threads(self.jobs).calls(calls)
        rows = [{"policy": name, "network": number, **row} for (name, number), row in zip(asked, found, strict=True)]
        return pd.DataFrame(rows).assign(status="ok", error="", **self.origin)


class InNs3(AccPlace):
    """An incast in ns-3; see `AccPlace`. What is learnt is in the checkpoint."""

    scored = "score"

    def __init__(self, config: IncastAcc, jobs: int = 1) -> None:
        installed()
        self.config = config
        self.jobs = jobs
        self._idle: list[Ns3EcnEnv] = []
        self._all: list[Ns3EcnEnv] = []
        self._best: MarkSetting | None = None

    def _env(self) -> Ns3EcnEnv:
        """Return an environment, each with a process of its own, that nobody uses."""
        from lcca.gym_envs.ecn.env import Ns3EcnEnv

        try:
            return self._idle.pop()
        except IndexError:
            config, made = self.config, self.config.trainer
            env = Ns3EcnEnv(config.incast, made.traces, made.interval_us, made.history, config.utility)
            self._all.append(env)
            return env

    def _run(self, controller: Controller, trace: int, seed: int) -> Json:
        env = self._env()
        try:
            return run_trial(env, controller, trace, seed)
        finally:
            self._idle.append(env)

    def require_flows(self, tests: bool = True) -> None:
        """Check nothing: an incast always has flows."""

    def learner(self) -> DoubleDqn:
        """Return a learner that has not learnt yet."""
        from lcca.gym_envs.ecn.env import WIDTH
        from lcca.trainers.ecn.double_dqn import new_learner

        return new_learner(self.config.trainer, WIDTH, GRID_SHAPE, derive(self.config.seed, "learner"))

    def play(self, learner: DoubleDqn, episode: int) -> float:
        """Play an episode on one of the training's traces."""
        from lcca.trainers.ecn.training import play_alone

        env = self._env()
        try:
            return play_alone(env, learner, derive(self.config.seed, "episode", episode))
        finally:
            self._idle.append(env)

    def learnt(self, learner: DoubleDqn, returns: Sequence[float], folder: Path) -> Learnt:
        """Return the learner itself."""
        return Learnt(learner, learner.steps, curve_of(returns))

    def contenders(self, learnt: Learnt, run: Run[Any, None]) -> Mapping[str, Controller]:
        """Return all that meet the same trials: ACC, with exploration left on too, chance, and static settings."""
        wanted = self.config.test
        found = {ACC: Controller(learner=learnt.model)}
        found[EXPLORING] = Controller(learner=learnt.model, explore=wanted.explore)
        found |= {CHANCE: Controller()} | {name: Controller(static(name)) for name in wanted.static}
        if wanted.grid_seeds:
            self._best = self._best_static(run)
            found[BEST_STATIC] = Controller(self._best)
        return found

    def _best_static(self, run: Run[Any, None]) -> MarkSetting:
        """Return the grid's setting with the best mean utility on the training traces, on seeds that no test has."""
        seeds = [derive(self.config.seed, "grid", i) for i in range(self.config.test.grid_seeds)]
        asked = [(trace, seed) for trace in self.config.trainer.traces for seed in seeds]
        every = IncastTrials(
            self._run, lambda i: asked[i % len(asked)][0], lambda i: asked[i % len(asked)][1], None, self.jobs
        )
        settings = {f"{each.min_k:g}-{each.max_k:g}-{each.max_p:g}": Controller(each) for each in GRID}
        names = list(settings)

        def rows(block: Block) -> pd.DataFrame:
            some = {name: settings[name] for name in names[block.first : block.end]}
            return every.rows(some, Block(0, 0, len(asked)))

        title, stop = "looking for the best static setting", Stop(len(GRID), when="never", step=SETTINGS_KEPT)
        trial = Experiment(Numbered(rows, "settings"), {}, (), stop, title)
        found = trial.run(run.phase("grid").blocks(), run.reporter).rows
        scores = found["score"].to_numpy().reshape(len(GRID), -1).tolist()
        means = [sum(each) / len(each) for each in scores]
        return GRID[means.index(max(means))]

    @property
    def tests(self) -> Mapping[str, IncastTrials]:
        """The training's traces with other draws of marks, and fresh traces."""
        config, traces = self.config, self.config.trainer.traces
        fresh = derive(config.seed, "fresh traces")
        by_number: dict[str, Callable[[int], int]] = {TRAINING: lambda i: traces[i % len(traces)]}
        if config.test.fresh:
            by_number[FRESH] = lambda i: fresh + i
        utility = Share(config.test.margin)
        return {
            name: IncastTrials(self._run, trace, partial(derive, config.seed, name), utility, self.jobs)
            for name, trace in by_number.items()
        }

    def measured(self, rows: pd.DataFrame, names: Iterable[str], condition: str) -> list[Json]:
        """Return mean scores, and figures pooled over flows and over time."""
        return [pooled(rows[rows["policy"] == name]) | {"id": name, "condition": condition} for name in names]

    def origin(self, learnt: Learnt) -> Json:
        """Return the version of ns-3, the load, and the best static setting if it was looked for."""
        best = None if self._best is None else asdict(self._best)
        return {"simulator": f"ns-{installed()}", "load": self.config.incast.load, "best_static": best}

    def close(self) -> None:
        """End ns-3's processes."""
        for env in self._all:
            env.close()


def pooled(trials: pd.DataFrame) -> Json:
    """Return what is reported of trials: their mean score, and figures pooled over flows and over time.

    Completion times are those of small flows (below 100 KB) that ended. Queues are in packets that wait.
    """
    records = [SwitchRecord(**unpacked(each)) for each in trials[RECORD]]
    fct, slowdown = (np.concatenate([getattr(r, name)[r.small] for r in records]) for name in ("fct_us", "slowdown"))
    large = np.concatenate([r.fct_us[~r.small] for r in records])
    queue = _summed([r.queue_us for r in records])
    return {
        "trials": len(trials),
        "score": interval(*t_interval(trials["score"], 1 - CONFIDENCE)),
        "small_fct_p50_us": _quantile(fct, 0.5),
        "small_fct_p99_us": _quantile(fct, 0.99),
        "small_slowdown_p50": _quantile(slowdown, 0.5),
        "small_slowdown_p99": _quantile(slowdown, 0.99),
        "large_fct_p99_us": _quantile(large, 0.99),
        "queue_mean": float((queue * np.arange(len(queue))).sum() / queue.sum()),
        "queue_p50": queue_percentile(queue, 0.5),
        "queue_p95": queue_percentile(queue, 0.95),
        "queue_p99": queue_percentile(queue, 0.99),
        "unfinished": int(np.isnan(fct).sum() + np.isnan(large).sum()),
        "marked": sum(r.marked for r in records),
        "dropped": sum(r.dropped for r in records),
    }


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    ended = values[~np.isnan(values)]
    return float(np.quantile(ended, share)) if len(ended) else None


def _summed(histograms: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    total = np.zeros(max(map(len, histograms)))
    for histogram in histograms:
        total[: len(histogram)] += histogram
    return total
