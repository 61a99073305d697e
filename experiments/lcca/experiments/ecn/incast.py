"""ACC at one switch in ns-3: an incast whose queue one agent marks, as in section VI-C.3 of PRED's paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.blocks import Block
from lcca.experiments.ecn.config import ACC, BEST_STATIC, CHANCE, EXPLORING, IncastAcc
from lcca.experiments.experiment import Experiment, Numbered, Stop
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import Json
from lcca.gym_envs.ecn.settings import GRID, GRID_SHAPE, MarkSetting, static
from lcca.gym_envs.ns3.simulator import installed
from lcca.gym_envs.processes.pool import Pool, Threads
from lcca.inputs.errors import require

if TYPE_CHECKING:
    from lcca.gym_envs.ecn.env import Ns3EcnEnv
    from lcca.trainers.ecn.double_dqn import DoubleDqn

TRAINING, FRESH = "training trace", "fresh traces"
"""The two conditions of the test."""

SETTINGS_KEPT = 12
"""Settings of the grid that are tried and kept at a time."""

Choose: TypeAlias = Callable[[NDArray[np.float32]], MarkSetting]
"""From (6 × history,) the state of `lcca/Ns3Ecn-v0` to the setting of the next interval."""

Controller: TypeAlias = Callable[[int], Choose]
"""Sets the marking in a trial; from the seed of anything random in it."""


def always(setting: MarkSetting) -> Controller:
    """Return what sets the same marking for ever."""
    return lambda seed: lambda seen: setting


def learnt_by(learner: DoubleDqn | None, explore: float = 0.0) -> Controller:
    """Return what takes the best action of a learner, or a share of random settings; without a learner those alone.

    PRED's paper leaves exploration on when ACC is deployed, and finds the queue unstable for it (section VI-C.3).
    """

    def begin(seed: int) -> Choose:
        draws = np.random.default_rng(seed)

        def choose(seen: NDArray[np.float32]) -> MarkSetting:
            if learner is None or draws.random() < explore:
                return GRID[int(draws.integers(len(GRID)))]
            return GRID[learner.best(seen)]

        return choose

    return begin


def run_trial(env: Ns3EcnEnv, controller: Controller, trace: int, seed: int) -> Json:
    """Return what a trial has measured: its score is the mean utility over intervals.

    Args:
        env: whose action space does not matter: controllers give settings.
        controller: sets the marking.
        trace: seed of the flows.
        seed: of the marks, and of anything random in the controller.
    """
    seen, _ = env.reset(options={"trace": trace, "trial_seed": seed})
    choose, utilities, over = controller(seed), list[float](), False
    while not over:
        seen, utility, _, over, _ = env.mark(choose(seen))
        utilities.append(utility)
    return {"trace": trace, "seed": seed, "score": float(np.mean(utilities)), **env.record().measures()}


@dataclass(frozen=True)
class Share:
    """What trials are scored by: PRED's utility, a share; as `lcca.evaluation.trials.utility.Utility` in comparisons.

    Attributes:
        least: difference that matters, whatever it is in per cent.
    """

    least: float
    name: str = "pred"
    unit: str = "utility"

    def percent(self, difference: float) -> float:
        """Return a difference in hundredths."""
        return 100 * difference

    def margin(self, percent: float) -> float:
        """Return the difference that matters."""
        return self.least


class InNs3:
    """Where ACC learns and is tested: an incast in ns-3. It has the methods of `OnFabric`.

    Attributes:
        scored: column of the trials by which ACC is compared.
    """

    scored = "score"

    def __init__(self, config: IncastAcc, workers: Pool) -> None:
        require(not workers.away, "--executor ray: ACC in ns-3 is simulated here, --jobs at a time")
        self.config = config
        self.jobs = workers.count
        self._envs: list[Ns3EcnEnv] = []
        self._idle: list[Ns3EcnEnv] = []
        self._curve: list[float] = []
        self._best: MarkSetting | None = None

    def require_flows(self, tests: bool = True) -> None:
        """Check that ns-3 is installed; an incast always has flows.

        Raises:
            InputError: it is not.
        """
        installed()

    def _with_env(self, use: Callable[[Ns3EcnEnv], Any]) -> Any:
        """Return what is done with an environment that nobody else uses; each has a process of its own."""
        from lcca.gym_envs.ecn.env import Ns3EcnEnv

        config, made = self.config, self.config.trainer
        try:
            env = self._idle.pop()
        except IndexError:
            env = Ns3EcnEnv(config.incast, made.traces, made.interval_us, made.history, config.utility)
            self._envs.append(env)
        try:
            return use(env)
        finally:
            self._idle.append(env)

    def learner(self) -> DoubleDqn:
        """Return a learner that has not learnt yet."""
        from lcca.gym_envs.ecn.env import WIDTH
        from lcca.trainers.ecn.double_dqn import new_learner

        return new_learner(self.config.trainer, WIDTH, GRID_SHAPE, derive(self.config.seed, "learner"))

    def play(self, learner: DoubleDqn, episode: int) -> float:
        """Play an episode on one of the training's traces; return its mean reward."""
        from lcca.trainers.ecn.training import play_alone

        seed = derive(self.config.seed, "episode", episode)
        return float(self._with_env(lambda env: play_alone(env, learner, seed)))

    def kept(self, folder: Path) -> None:
        """Return None: what was learnt is in the checkpoint, from which trainings go on anyway."""

    def learnt(self, learner: DoubleDqn, returns: Sequence[float], folder: Path) -> DoubleDqn:
        """Return the learner itself."""
        from lcca.trainers.ecn.training import curve_of

        self._curve = curve_of(returns)
        return learner

    def contenders(self, learner: DoubleDqn, run: Run[Any, None]) -> Mapping[str, Controller]:
        """Return all that meet the same trials, ACC first."""
        if self.config.test.grid_seeds:
            self._best = self._best_static(run)
        return self._contenders(learner, self._best)

    def stand_ins(self, learner: DoubleDqn) -> Mapping[str, Controller]:
        """Return what costs as much as the contenders, with a learner that has hardly learnt."""
        return self._contenders(learner, GRID[0] if self.config.test.grid_seeds else None)

    def _contenders(self, learner: DoubleDqn, best: MarkSetting | None) -> Mapping[str, Controller]:
        wanted = self.config.test
        found = {ACC: learnt_by(learner), EXPLORING: learnt_by(learner, wanted.explore)}
        found |= {CHANCE: learnt_by(None)} | {name: always(static(name)) for name in wanted.static}
        return found if best is None else {**found, BEST_STATIC: always(best)}

    def _best_static(self, run: Run[Any, None]) -> MarkSetting:
        """Return the grid's setting with the best mean utility on the training traces, on seeds that no test has."""
        seeds = [derive(self.config.seed, "grid", i) for i in range(self.config.test.grid_seeds)]
        asked = [(trace, seed) for trace in self.config.trainer.traces for seed in seeds]

        def rows(_: Mapping[str, Any], block: Block) -> pd.DataFrame:
            some = {str(number): always(GRID[number]) for number in range(block.first, block.end)}
            return self._rows(some, dict(enumerate(asked)))

        stop = Stop(len(GRID), when="never", step=SETTINGS_KEPT)
        search = Experiment(Numbered(rows, "settings"), {}, (), stop, "looking for the best static setting")
        found = search.run(run.phase("grid").blocks(), run.reporter).rows
        means = [sum(each) / len(each) for each in found["score"].to_numpy().reshape(len(GRID), -1).tolist()]
        return GRID[means.index(max(means))]

    @property
    def tests(self) -> Mapping[str, Numbered]:
        """Fresh trials by condition: the training's traces with other draws of marks, and fresh traces."""
        config, traces = self.config, self.config.trainer.traces
        fresh = derive(config.seed, "fresh traces")
        trace_of: dict[str, Callable[[int], int]] = {TRAINING: lambda number: traces[number % len(traces)]}
        if config.test.fresh:
            trace_of[FRESH] = lambda number: fresh + number

        def rows(name: str, controllers: Mapping[str, Controller], block: Block) -> pd.DataFrame:
            numbers = range(block.first, block.end)
            return self._rows(controllers, {i: (trace_of[name](i), derive(config.seed, name, i)) for i in numbers})

        share = Share(config.test.margin)
        return {name: Numbered(partial(rows, name), "pairs", share) for name in trace_of}

    def _rows(self, controllers: Mapping[str, Controller], trials: Mapping[int, tuple[int, int]]) -> pd.DataFrame:
        """Return a row per controller and trial, each of which has a trace and a seed."""
        asked = [(name, number) for name in controllers for number in trials]

        def call(name: str, number: int) -> Json:
            row: Json = self._with_env(lambda env: run_trial(env, controllers[name], *trials[number]))
            return {"policy": name, "network": number, **row}

        rows = Threads(self.jobs).calls([partial(call, *each) for each in asked])
        return pd.DataFrame(rows).assign(simulator=f"ns-{installed()}", status="ok", error="")

    def origin(self, learner: DoubleDqn) -> Json:
        """Return what the summary says of the place, the training and the best static setting, if it was looked for."""
        return {
            "simulator": f"ns-{installed()}",
            "load": self.config.incast.load,
            "steps": learner.steps,
            "curve": self._curve,
            "best_static": None if self._best is None else asdict(self._best),
        }

    def close(self) -> None:
        """End ns-3's processes."""
        for env in self._envs:
            env.close()
