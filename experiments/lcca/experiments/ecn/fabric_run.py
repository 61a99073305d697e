"""Training ACC on a fabric, and holding it against static marking on fresh flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.trials import require_scored
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.ecn.fabric_config import ACC, CHANCE, EXPLORING, FabricAcc
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.paired import Paired
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.inputs.extras import require_libraries
from lcca.inputs.files import write_with_digest
from lcca.inputs.json_values import finite_values
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.tuners.acc import AccModel, read_acc_model
from lcca.remy_plus.tuners.registry import tuning
from lcca.signal_sets.load import resolve

CURVE_PARTS = 10

MEASURES = (
    "score_bits",
    "slowdown_mean",
    "slowdown_p99",
    "goodput_gbps",
    "queue_mean_bytes",
    "queue_p99_bytes",
    "ecn_marks",
    "pfc_pauses",
    "drops",
)
"""Columns of trials whose means are told."""

TrainingRun = Run[FabricAcc, None]


def require_installed(config: FabricAcc) -> None:
    """Check that what a training needs is installed.

    Raises:
        MissingPackage: something is not.
    """
    require_libraries(config.trainer.libraries, "trainings of ACC")


def train_fabric_acc(config: FabricAcc, path: Path, *, resume: bool, quiet: bool = False) -> Path:
    """Train, and return the file of the model, as ``dcqcn@acc:FILE`` takes it; go on where a run was stopped.

    Args:
        config: of the run; what it says of the test is not done.
        path: of its folder.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: PyTorch or Gymnasium is not installed, or the folder is not free.
    """
    require_installed(config)
    if not (path / layout.MANIFEST).exists():
        _require_flows(config)
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if not run.folder.complete:
            _trained(run)
        return path / layout.MODEL


def run_fabric_acc(config: FabricAcc, path: Path, *, jobs: int, resume: bool, quiet: bool = False) -> dict[str, Any]:
    """Train, test, and return the summary that is written; go on where a run was stopped, if `resume`.

    Args:
        config: of the run.
        path: of its folder.
        jobs: threads of the tests; never changes a result.
        resume: whether a run may be there already.
        quiet: whether to leave progress out.

    Raises:
        InputError: as `train_fabric_acc`.
    """
    require_installed(config)
    if not (path / layout.MANIFEST).exists():
        _require_flows(config)
        for each in config.tested:
            require_scored(each, fabric_utility(config.utility.name), _first(each, _test_seed(config, each)))
    with opened(config, path, resume=resume, quiet=quiet) as run:
        if run.folder.complete:
            return run.folder.read_json(layout.SUMMARY)
        model = _trained(run)
        run.folder.set_state("testing")
        policies = _policies(config, model)
        tests = {each.name: _test(run, each, policies, jobs) for each in config.tested}
        summary = _summary(config, model, tests)
        run.folder.write_json(layout.SUMMARY, summary)
        run.folder.set_state(COMPLETE)
        return summary


def _trained(run: TrainingRun) -> AccModel:
    """Return the model of a run, which is trained if it is not there."""
    file = run.path / layout.MODEL
    if not file.exists():
        run.folder.set_state("training")
        with run.costs.phase("training"):
            write_with_digest(file, _train(run).dumps())
        run.folder.set_state("trained")
    return read_acc_model(file)


def _require_flows(config: FabricAcc) -> None:
    """Check that ports have something to learn from; without any flow a training would not end."""
    for each in config.space.scenarios:
        require_scored(each, fabric_utility("slowdown"), _first(each, derive(config.seed, "episodes")))


def _first(scenario: FabricScenario, seed: int) -> list[int]:
    """Return the seeds of a block of trials on a scenario alone."""
    space = FabricSpace(fabric=scenario)
    return [each.seed for each in space.draw(seed, space.block)]


def _test_seed(config: FabricAcc, scenario: FabricScenario) -> int:
    return derive(config.seed, "test", scenario.name)


def _train(run: TrainingRun) -> AccModel:
    from lcca.gym_envs.ecn.fabric_env import FabricEcnEnv
    from lcca.remy_plus.tuners.acc_ports import NUMBERS
    from lcca.trainers.ecn.double_dqn import DoubleDqn
    from lcca.trainers.ecn.ports import model_of, new_learner, play_ports
    from lcca.trainers.ecn.training import Progress, train

    config, made, steps = run.config, run.config.trainer, run.config.trainer.dqn.steps
    seed = derive(config.seed, "episodes")
    learner = new_learner(made, NUMBERS * made.history, derive(config.seed, "learner"))
    envs = {
        each.name: FabricEcnEnv(
            each,
            engine_of(config.policy, each.settings()),
            None,
            made.interval_us,
            made.delay_us,
            made.history,
            made.templates,
            made.throughput,
        )
        for each in config.space.scenarios
    }

    def play(envs: Mapping[str, FabricEcnEnv], learner: DoubleDqn, episode: int) -> float:
        (trial,) = config.space.draw(seed, 1, episode)
        return play_ports(envs[trial.scenario.name], learner, trial.seed)

    with run.reporter.task(f"training {config.name}", steps) as task:

        def tell(learner: DoubleDqn, progress: Progress) -> None:
            recent = progress.returns[-50:]
            note = f"{learner.steps:,} of {steps:,} steps, reward {sum(recent) / len(recent):.4f} of late"
            task.update(min(learner.steps, steps), note)

        progress = train(
            envs,
            learner,
            lambda episode: episode,
            folder=run.path,
            checkpoint_every=made.checkpoint_every,
            tell=tell,
            play=play,
        )
    return model_of(learner, made, _provenance(config, learner.steps, progress.returns))


def _provenance(config: FabricAcc, steps: int, returns: Sequence[float]) -> dict[str, Any]:
    part = max(len(returns) // CURVE_PARTS, 1)
    parts = [returns[at : at + part] for at in range(0, len(returns), part)]
    return {
        "campaign": config.name,
        "config_hash": config.hash,
        "seed": config.seed,
        "version": version(),
        "scenarios": [each.name for each in config.space.scenarios],
        "transport": config.transport,
        "steps": steps,
        "episodes": len(returns),
        "curve": [sum(each) / len(each) for each in parts],
    }


def _policies(config: FabricAcc, model: AccModel) -> dict[str, Policy]:
    """Return all that meet the same flows, ACC first."""
    shares = {ACC: 0.0, CHANCE: 1.0, EXPLORING: config.test.explore}
    learnt = {name: replace(config.policy, tuner=tuning("acc", model, explore=each)) for name, each in shares.items()}
    own: dict[str, Policy] = {ACC: learnt[ACC]}
    return own | {name: learnt[name] if name in learnt else resolve(name, "fabric").policy for name in config.rivals}


def _test(run: TrainingRun, scenario: FabricScenario, policies: Mapping[str, Policy], jobs: int) -> dict[str, Any]:
    """Run blocks of trials until ACC is settled against every other, or the pairs are used up."""
    config, seed = run.config, _test_seed(run.config, scenario)
    source = FabricTrials(FabricSpace(fabric=scenario), seed, fabric_utility(config.utility.name), jobs)

    def anew(block: Block) -> pd.DataFrame:
        return source.rows(policies, block)

    def compare(rows: pd.DataFrame) -> list[Comparison]:
        return _compared(config, rows, source.block)

    test = Paired(config.rule, config.test.pairs, config.test.block)
    rows, found = test.run(run, scenario.name, source, anew, compare)
    return {
        "controllers": {name: _measured(rows[rows["policy"] == name]) for name in policies},
        "acc_minus": {each.A: each.to_json() for each in found},
    }


def _compared(config: FabricAcc, rows: pd.DataFrame, block: int) -> list[Comparison]:
    scores = rows.pivot(index="network", columns="policy", values="score_bits")
    rule, utility = config.rule, fabric_utility(config.utility.name)
    return [
        compare_policies(
            name, ACC, scores[name].to_numpy(), scores[ACC].to_numpy(), utility=utility, rule=rule, block=block
        )
        for name in config.rivals
    ]


def _measured(rows: pd.DataFrame) -> dict[str, Any]:
    means: Mapping[str, Any] = {name: float(rows[name].mean()) for name in MEASURES}
    return {"trials": len(rows)} | finite_values(means)


def _summary(config: FabricAcc, model: AccModel, tests: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": 1,
        "kind": "acc",
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "seed": config.seed,
        "simulator": "fabric",
        "scenario": config.space.name,
        "transport": config.transport,
        "steps": model.provenance["steps"],
        "curve": model.provenance["curve"],
        "model_sha256": sha256(model.dumps()).hexdigest(),
        "alpha": config.settle.alpha,
        "tests": dict(tests),
    }
