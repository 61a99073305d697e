"""ACC: learn how switches should mark, and hold that against static marking and chance on paired trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.experiments.experiment import Costs, Experiment, Pair
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.forecast import ENOUGH_CPU_S, Cost, cpu_s
from lcca.experiments.studies.learner import Learner
from lcca.experiments.summaries import Json, compared, head, measured
from lcca.experiments.verbs.options import WrittenAlone
from lcca.studies.acc.config import ACC, FabricAcc
from lcca.studies.acc.on_fabric import OnFabric, contender, learn, require_installed
from lcca.workers.pool import Pool, Threads


def training(verb: WrittenAlone) -> Described[FabricAcc]:
    """Train ACC on a fabric, here, and hold it against others until all comparisons are settled."""
    config = config_of(verb.config, FabricAcc, verb.overrides)
    require_installed()

    def begin(workers: Pool) -> Callable[[Run[FabricAcc, None]], Json]:
        return partial(_tested, place=OnFabric(config, workers))

    return Described(config, verb, begin, partial(costs, config), OnFabric(config, Threads(1)).require_flows)


acc = function("acc", WrittenAlone, training)


def costs(config: FabricAcc, jobs: int = 1) -> Costs:
    """Return what a training costs and its tests cost at most, from a few episodes and a trial of each contender.

    Args:
        config: of the training and its test.
        jobs: trials of the test that run at a time.

    Raises:
        InputError: PyTorch or Gymnasium is not installed.
    """
    ends = {"training": training_cost(config)}
    place = OnFabric(config, Threads(jobs))
    place.require_flows()
    contenders = place.stand_ins(place.learner())
    for name, trials in place.tests.items():
        most, before = config.stop.end(trials), cpu_s()
        trials.rows(contenders, Block(0, 0, 1))
        assert most is not None
        ends[f"test on {name}, at most"] = Cost(most, trials.unit, most * (cpu_s() - before), jobs, "test.pairs")
    return Costs(ends)


def training_cost(config: FabricAcc) -> Cost:
    """Return what a training costs, from episodes of about five seconds that it learns in nearly from the start.

    Raises:
        InputError: PyTorch or Gymnasium is not installed.
    """
    require_installed()
    from lcca.studies.acc.learner.training import one_thread

    dqn = config.trainer.dqn
    soon = {"dqn": dqn.model_copy(update={"warm_up": dqn.batch})}
    early = config.model_copy(update={"trainer": config.trainer.model_copy(update=soon)})
    place = OnFabric(early, Threads(1))
    place.require_flows(tests=False)
    learner, episode = place.learner(), 0
    with one_thread():
        before, until = cpu_s(), time.monotonic() + ENOUGH_CPU_S
        while episode == 0 or (learner.steps < dqn.steps and time.monotonic() < until):
            place.play(learner, episode)
            episode += 1
        pace = (cpu_s() - before) / max(learner.steps, 1)
    return Cost(dqn.steps, "steps", pace * dqn.steps, 1, "trainer.dqn.steps")


def _tested(run: Run[Any, None], place: OnFabric) -> Json:
    """Train, then run blocks of trials until ACC is settled against every other, or the pairs are used up."""
    config, learnt = run.config, learn(run, place)
    run.folder.set_state("testing")
    contenders = place.contenders(learnt)
    policies, comparisons = list[Json](), list[Json]()
    for name, trials in place.tests.items():
        pairs = [Pair(rival, ACC, trials.utility, config.rule, trials.block) for rival in config.rivals]
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


LEARNER = Learner(FabricAcc, lambda config: str(config.transport), require_installed, training_cost, contender)
"""Contenders of `lcca study`."""
