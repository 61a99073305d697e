"""ACC: learn how switches should mark, and hold that against static marking and chance on paired trials."""

from __future__ import annotations

import time
from contextlib import closing
from functools import partial
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.executors import executor as workers_of
from lcca.experiments.ecn.config import ACC, Acc, FabricAcc, IncastAcc
from lcca.experiments.ecn.fabric import OnFabric
from lcca.experiments.ecn.incast import InNs3
from lcca.experiments.ecn.training import learn, require_installed
from lcca.experiments.experiment import Costs, Experiment, Pair
from lcca.experiments.recipes.kept import File, config_of, kept
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.forecast import ENOUGH_CPU_S, Cost, cpu_s
from lcca.experiments.summaries import Json, compared, head, measured
from lcca.gym_envs.ecn.settings import GRID
from lcca.gym_envs.processes.pool import Pool, Threads
from lcca.inputs.validation import read_with_files


def acc(
    config: Acc | File,
    *,
    out: File | None = None,
    resume: bool = False,
    quiet: bool = True,
    jobs: int = 1,
    executor: str = "local",
) -> Result:
    """Train ACC, on a fabric or at a switch in ns-3, and hold it against others until all comparisons are settled.

    Args:
        config: of the training and its test, or its file.
        out: the run's folder; the usual one, by name and configuration, unless given.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        jobs: trials of the test that run at a time; never changes a result.
        executor: where they run; never changes a result either. The training runs here.

    Raises:
        InputError: PyTorch, Gymnasium or ns-3 is not installed, or the folder is not free.
    """
    if not isinstance(config, Acc):
        config = config_of(config, form_of(config))
    require_installed()
    with workers_of(executor, jobs) as workers, closing(place_of(config, workers)) as place:
        work = partial(_tested, place=place)
        return kept(config, out, work, resume=resume, quiet=quiet, workers=workers, check=place.require_flows)


def place_of(config: Acc, workers: Pool) -> OnFabric | InNs3:
    """Return where ACC learns and is tested; it is to be closed.

    Raises:
        InputError: the workers cannot run its trials.
    """
    return OnFabric(config, workers) if isinstance(config, FabricAcc) else InNs3(config, workers)


def form_of(file: File, overrides: list[str] | None = None) -> type[FabricAcc] | type[IncastAcc]:
    """Return the form of a configuration: on a fabric where it names one, else at a switch in ns-3."""
    return FabricAcc if "fabric" in read_with_files(file, FabricAcc, overrides or ()).data else IncastAcc


def costs(config: Acc, jobs: int = 1) -> Costs:
    """Return what a training costs and its tests cost at most, from a few episodes and a trial of each contender.

    Args:
        config: of the training and its test.
        jobs: trials of the test that run at a time.

    Raises:
        InputError: PyTorch, Gymnasium or ns-3 is not installed.
    """
    ends = {"training": training_cost(config)}
    with closing(place_of(config, Threads(1))) as place:
        place.require_flows()
        learner, names = place.learner(), list(place.tests)
    for name in names:
        with closing(place_of(config, Threads(jobs))) as place:
            trials: Any = place.tests[name]
            contenders, most, before = place.stand_ins(learner), config.stop.end(trials), cpu_s()
            trials.rows(contenders, Block(0, 0, 1))
            place.close()  # only then it is known what its processes have spent
            spent = cpu_s() - before
        assert most is not None
        ends[f"test on {name}, at most"] = Cost(most, trials.unit, most * spent, jobs)
    if isinstance(config, IncastAcc) and (seeds := config.test.grid_seeds):
        count = len(GRID) * len(config.trainer.traces) * seeds
        ends["best static setting"] = Cost(count, "trials", count * spent / len(contenders), jobs)
    return Costs(ends)


def training_cost(config: Acc) -> Cost:
    """Return what a training costs, from episodes of about five seconds that it learns in nearly from the start.

    Raises:
        InputError: PyTorch, Gymnasium or ns-3 is not installed.
    """
    require_installed()
    from lcca.trainers.ecn.training import one_thread

    dqn = config.trainer.dqn
    soon = {"dqn": dqn.model_copy(update={"warm_up": dqn.batch})}
    early = config.model_copy(update={"trainer": config.trainer.model_copy(update=soon)})
    with closing(place_of(early, Threads(1))) as place, one_thread():
        place.require_flows(tests=False)
        learner, episode = place.learner(), 0
        before, until = cpu_s(), time.monotonic() + ENOUGH_CPU_S
        while episode == 0 or (learner.steps < dqn.steps and time.monotonic() < until):
            place.play(learner, episode)
            episode += 1
        place.close()  # only then it is known what its processes have spent
        pace = (cpu_s() - before) / max(learner.steps, 1)
    return Cost(dqn.steps, "steps", pace * dqn.steps, 1)


def _tested(run: Run[Any, None], place: OnFabric | InNs3) -> Json:
    """Train, then run blocks of trials until ACC is settled against every other, or the pairs are used up."""
    config, learnt = run.config, learn(run, place)
    run.folder.set_state("testing")
    contenders = place.contenders(learnt, run)
    policies, comparisons = list[Json](), list[Json]()
    for name, trials in place.tests.items():
        pairs = [Pair(rival, ACC, trials.utility, config.rule, trials.block, place.scored) for rival in config.rivals]
        experiment = Experiment(trials, contenders, pairs, config.stop, f"testing on {name}")
        found = experiment.run(run.phase(layout.SCENARIO).blocks(name), run.reporter)
        policies += measured(found.rows, contenders, name)
        comparisons += compared(found.contents, layout.SCENARIO, name)
    return head(config) | {
        **place.origin(learnt),
        "alpha": config.settle.alpha,
        "policies": policies,
        "comparisons": comparisons,
    }
