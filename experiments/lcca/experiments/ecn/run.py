"""ACC from a file: train Double DQN on an incast in ns-3, and hold it against static marking on paired trials."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from lcca.evaluation.settling.base import Settling
from lcca.evaluation.settling.rules import PairedRule
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.blocks import Block, Decision, equal_blocks, run_blocks
from lcca.evaluation.trials.layout import SUMMARY
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.kinds import ACC as KIND
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.gym_envs.ecn.incast import Incast
from lcca.gym_envs.ecn.settings import GRID, MarkSetting, static
from lcca.gym_envs.ecn.switch import PredUtility
from lcca.gym_envs.ns3.simulator import installed
from lcca.inputs.extras import require_libraries
from lcca.inputs.json_values import finite
from lcca.inputs.model import Model
from lcca.trainers.ecn.config import AccConfig

if TYPE_CHECKING:
    from lcca.gym_envs.ecn.env import Ns3EcnEnv
    from lcca.trainers.ecn.controllers import Controller
    from lcca.trainers.ecn.double_dqn import DoubleDqn
    from lcca.trainers.ecn.trials import Outcome

ACC, EXPLORING, CHANCE, BEST_STATIC = "acc", "acc-exploring", "chance", "best-static"
"""Names of what is not static by name: what was learnt, the same with exploration on, no choice at all, and the best
static setting of the grid."""

TRAINING, FRESH = "training trace", "fresh traces"
"""The two tests."""


class AccTest(Model):
    """Paired trials: all controllers meet the same flows and the same draws.

    Attributes:
        pairs: most trials of each controller on each test.
        at_least: trials before anything may stop.
        block: trials between looks at whether all is settled.
        margin: difference in utility that does not matter.
        static: names of static settings to hold ACC against.
        grid_seeds: trials of each of the grid's settings on the training trace, to find the best static one; 0 leaves
            it out.
        explore: share of random settings of ACC with exploration left on.
        fresh: whether to test on fresh traces too.
    """

    __test__ = False

    pairs: Annotated[int, Field(ge=20)] = 100
    at_least: Annotated[int, Field(ge=20)] = 40
    block: Annotated[int, Field(ge=1, le=1_000_000)] = 20
    margin: Annotated[float, Field(gt=0)] = 0.002
    static: Annotated[tuple[str, ...], Field(min_length=1)] = (
        "red-0.2", "red-0.65", "red-1.65", "red-2", "dcqcn", "hpcc", "step-70", "step-20",
    )  # fmt: skip
    grid_seeds: Annotated[int, Field(ge=0)] = 2
    explore: Annotated[float, Field(ge=0, le=1)] = 0.05
    fresh: bool = True

    @field_validator("static")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            static(name)
        return names


class AccCampaign(RunConfig):
    """A training of ACC and its test.

    Attributes:
        incast: the traffic.
        utility: PRED's: the reward, and what is compared.
        trainer: what the agent sees and how it learns.
        test: what it is held against.
        settle: when a comparison is settled; `test.margin` is its margin, and its units are pairs: all of them are of
            one scenario, so that there is nothing to stratify.
    """

    run_kind = KIND

    incast: Incast = Incast()
    utility: PredUtility = PredUtility()
    trainer: AccConfig = AccConfig()
    test: AccTest = AccTest()
    settle: PairedRule = SettlingRule(first_look=20, every=10)


def run_acc(config: AccCampaign, path: Path, *, jobs: int, resume: bool, quiet: bool = False) -> dict[str, Any]:
    """Train, test, and return the summary that is written; go on where a run was stopped, if `resume`.

    Args:
        config: of the run.
        path: of its folder.
        jobs: processes of ns-3 in the tests; never changes a result.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: PyTorch or ns-3 is not installed, or the folder is not free.
    """
    require_libraries(config.trainer.libraries, "trainings of ACC")
    installed()
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if run.folder.complete:
            return run.folder.read_json(SUMMARY)
        return _run(run, jobs)


def new_env(config: AccCampaign) -> Ns3EcnEnv:
    """Return the environment of a run."""
    from lcca.gym_envs.ecn.env import Ns3EcnEnv

    made = config.trainer
    return Ns3EcnEnv(config.incast, made.traces, made.interval_us, made.history, config.utility)


def new_learner(config: AccCampaign) -> DoubleDqn:
    """Return a learner that has not learnt yet."""
    from lcca.gym_envs.ecn.env import GRID_SHAPE, WIDTH
    from lcca.trainers.ecn.double_dqn import DoubleDqn

    made = config.trainer
    actions = GRID_SHAPE if made.heads == "parts" else len(GRID)
    return DoubleDqn(made.dqn, WIDTH * made.history, actions, derive(config.seed, "learner"))


def _run(run: Run[AccCampaign, None], jobs: int) -> dict[str, Any]:
    config, reporter = run.config, run.reporter
    run.folder.set_state("training")
    learner = new_learner(config)
    with run.costs.phase("training"):
        curve = _train(run.folder, learner, reporter)
    run.folder.set_state("testing")
    with Trials(config, jobs) as trials, run.costs.phase("test"):
        controllers, found = _controllers(config, learner, trials, reporter)
        traces = config.trainer.traces
        tests = {TRAINING: _test(config, TRAINING, controllers, lambda i: traces[i % len(traces)], trials, reporter)}
        if config.test.fresh:
            fresh = derive(config.seed, "fresh traces")
            tests[FRESH] = _test(config, FRESH, controllers, lambda i: fresh + i, trials, reporter)
    summary = {
        "format": 1,
        "kind": "acc",
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "seed": config.seed,
        "simulator": f"ns-{installed()}",
        "steps": learner.steps,
        "load": config.incast.load,
        "curve": curve,
        "best_static": None if found is None else asdict(found),
        "tests": tests,
    }
    run.folder.write_json(SUMMARY, summary)
    run.folder.set_state(COMPLETE)
    return summary


def _train(folder: RunFolder[AccCampaign], learner: DoubleDqn, reporter: Reporter) -> list[float]:
    """Return the learning curve: mean utility over tenths of the training."""
    from lcca.trainers.ecn.training import Progress, train

    config, steps = folder.config, folder.config.trainer.dqn.steps
    env = new_env(config)
    try:
        with reporter.task(f"training {config.name}", steps) as task:

            def tell(learner: DoubleDqn, progress: Progress) -> None:
                recent = progress.returns[-50:]
                note = f"{learner.steps:,} of {steps:,} steps, utility {sum(recent) / len(recent):.4f} of late"
                task.update(learner.steps, note)

            progress = train(
                env,
                learner,
                lambda episode: derive(config.seed, "episode", episode),
                folder=folder.path,
                checkpoint_every=config.trainer.checkpoint_every,
                tell=tell,
            )
    finally:
        env.close()
    tenth = max(len(progress.returns) // 10, 1)
    parts = [progress.returns[at : at + tenth] for at in range(0, len(progress.returns), tenth)]
    return [sum(part) / len(part) for part in parts]


class Trials:
    """Runs trials on threads, each with an ns-3 process of its own; results come in the order asked for."""

    def __init__(self, config: AccCampaign, jobs: int) -> None:
        self._config = config
        self._pool = ThreadPoolExecutor(jobs)
        self._own = threading.local()
        self._envs: list[Ns3EcnEnv] = []

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for env in self._envs:
            env.close()

    def run(self, wanted: Iterable[tuple[Controller, int, int]]) -> list[Outcome]:
        """Run one trial for each (controller, trace, seed)."""
        return list(self._pool.map(self._one, wanted))

    def _one(self, wanted: tuple[Controller, int, int]) -> Outcome:
        from lcca.trainers.ecn.trials import run_trial

        if not hasattr(self._own, "env"):
            self._own.env = new_env(self._config)
            self._envs.append(self._own.env)
        return run_trial(self._own.env, *wanted)


def _controllers(
    config: AccCampaign, learner: DoubleDqn, trials: Trials, reporter: Reporter
) -> tuple[dict[str, Controller], MarkSetting | None]:
    """Return all that is compared, ACC first, and the best static setting of the grid."""
    from lcca.trainers.ecn.controllers import CHANCE as AT_RANDOM
    from lcca.trainers.ecn.controllers import Learnt, Static

    found: dict[str, Controller] = {ACC: Learnt(learner), EXPLORING: Learnt(learner, config.test.explore)}
    found |= {CHANCE: AT_RANDOM} | {name: Static(static(name)) for name in config.test.static}
    best = _best_static(config, trials, reporter) if config.test.grid_seeds else None
    return found | ({BEST_STATIC: Static(best)} if best else {}), best


def _best_static(config: AccCampaign, trials: Trials, reporter: Reporter) -> MarkSetting:
    """Return the grid's setting with the best mean utility on the training traces, on seeds that no test has."""
    from lcca.trainers.ecn.controllers import Static

    own = [derive(config.seed, "grid", i) for i in range(config.test.grid_seeds)]
    seeds = [(trace, seed) for trace in config.trainer.traces for seed in own]
    means: list[float] = []
    with reporter.task("looking for the best static setting", len(GRID)) as task:
        for setting in GRID:
            outcomes = trials.run((Static(setting), trace, seed) for trace, seed in seeds)
            means.append(sum(o.utility for o in outcomes) / len(outcomes))
            task.update(len(means), f"{len(means)} of {len(GRID)} settings")
    return GRID[means.index(max(means))]


def _test(
    config: AccCampaign,
    name: str,
    controllers: Mapping[str, Controller],
    trace: Any,
    trials: Trials,
    reporter: Reporter,
) -> dict[str, Any]:
    """Run blocks of paired trials until ACC is settled against every other, or the pairs are used up."""
    wanted = config.test

    def run(block: Block) -> list[Outcome]:
        pairs = range(block.first, block.end)
        return trials.run([(c, trace(i), derive(config.seed, name, i)) for i in pairs for c in controllers.values()])

    def outcomes(parts: Sequence[list[Outcome]]) -> dict[str, list[Outcome]]:
        found = [outcome for part in parts for outcome in part]
        return {each: found[at :: len(controllers)] for at, each in enumerate(controllers)}

    def decide(parts: Sequence[list[Outcome]], done: int) -> Decision[dict[str, Settling]]:
        standings = _standings(config, outcomes(parts))
        return Decision(standings, done >= wanted.at_least and not _open(standings))

    with reporter.task(f"testing on the {name}", wanted.pairs) as task:

        def tell(done: int, standings: dict[str, Settling]) -> None:
            task.update(done, f"{done} pairs, {_open(standings)} of {len(standings)} open")

        parts, standings = run_blocks(equal_blocks(wanted.block, wanted.pairs), run, decide, tell=tell)
    return _told(outcomes(parts), standings)


def _open(standings: Mapping[str, Settling]) -> int:
    return sum(not standing.state.verdict.settled for standing in standings.values())


def _standings(config: AccCampaign, outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Settling]:
    """Return how ACC stands against each other controller; the error rate is shared among them."""
    others = [name for name in outcomes if name != ACC]
    rule = config.settle.shared_among(len(others))
    standings: dict[str, Settling] = {name: rule.start(config.test.margin) for name in others}
    for name, standing in standings.items():
        pairs = zip(outcomes[name], outcomes[ACC], strict=True)
        standing.feed(mine.utility - theirs.utility for theirs, mine in pairs)
    return standings


def _told(outcomes: Mapping[str, Sequence[Outcome]], standings: Mapping[str, Settling]) -> dict[str, Any]:
    from lcca.trainers.ecn.trials import pooled

    looks = {name: standing.state for name, standing in standings.items()}
    return {
        "controllers": {name: pooled(found) for name, found in outcomes.items()},
        "acc_minus": {
            name: {
                "mean": finite(look.mean),
                "low": finite(look.low),
                "high": finite(look.high),
                "pairs": look.n,
                "acc_is": look.verdict.name,
            }
            for name, look in looks.items()
        },
    }
