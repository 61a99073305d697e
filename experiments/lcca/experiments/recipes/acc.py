"""ACC: learn how switches should mark, and hold that against static marking and chance on paired trials."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any

from lcca.evaluation.trials import layout
from lcca.experiments.ecn.config import ACC, Acc, FabricAcc, IncastAcc
from lcca.experiments.ecn.fabric import OnFabric
from lcca.experiments.ecn.incast import InNs3
from lcca.experiments.ecn.training import learn, require_installed
from lcca.experiments.experiment import Experiment, Pair
from lcca.experiments.recipes.kept import File, config_of, kept
from lcca.experiments.recipes.prepared import Result
from lcca.experiments.runs.context import Run
from lcca.experiments.summaries import Json, compared, head, measured
from lcca.inputs.validation import read_with_files


def acc(
    config: Acc | File,
    *,
    out: File | None = None,
    resume: bool = False,
    quiet: bool = True,
    jobs: int = 1,
) -> Result:
    """Train ACC, on a fabric or at a switch in ns-3, and hold it against others until all comparisons are settled.

    Args:
        config: of the training and its test, or its file.
        out: the run's folder; the usual one, by name and configuration, unless given.
        resume: whether to go on with the run that is there.
        quiet: whether to leave progress out.
        jobs: trials of the test that run at a time; never changes a result.

    Raises:
        InputError: PyTorch, Gymnasium or ns-3 is not installed, or the folder is not free.
    """
    if not isinstance(config, Acc):
        config = config_of(config, form_of(config))
    require_installed()
    place = OnFabric(config, jobs) if isinstance(config, FabricAcc) else InNs3(config, jobs)
    with closing(place):
        work = partial(_tested, place=place)
        return kept(config, out, work, resume=resume, quiet=quiet, check=place.require_flows)


def form_of(file: File, overrides: list[str] | None = None) -> type[FabricAcc] | type[IncastAcc]:
    """Return the form of a configuration: on a fabric where it names one, else at a switch in ns-3."""
    return FabricAcc if "fabric" in read_with_files(file, FabricAcc, overrides or ()).data else IncastAcc


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
