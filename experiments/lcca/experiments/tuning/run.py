"""Tuning a congestion control for a network space: the search, and what its result is worth on fresh networks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.comparison.ranking import mean_interval
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.settling.stretches import stretches
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block, Decision, run_blocks
from lcca.evaluation.trials.running import common_scores
from lcca.evaluation.trials.source import NetworkTrials, TrialSource
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.campaign.trials import TestConfig
from lcca.experiments.runs.context import Run, opened
from lcca.experiments.runs.folder import RunFolder, is_locked
from lcca.experiments.runs.manifest import COMPLETE
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_pairs
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.experiments.tuning.config import TuningConfig
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.inputs.json_values import finite
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import Simulator
from lcca.signal_sets.load import resolve
from lcca.trainers.tune.race import Objective

if TYPE_CHECKING:
    from lcca.trainers.tune.study import Candidate, Tuning

WAIT_SECONDS = 0.2
"""Between two looks at whether there is work for a helper."""

DEFAULT, TUNED = "default", "tuned"
"""The two policies of the test: with its own parameters, and with the best ones found."""

Fresh: TypeAlias = Run[TuningConfig, TrialSource[Policy]]
"""A tuning, with what its test's trials come from."""


def require_installed(config: TuningConfig) -> None:
    """Check that what a tuning needs is installed.

    Raises:
        MissingPackage: something is not.
    """
    require_libraries(config.tuner.libraries, "tunings", "tune")


def tune(
    config: TuningConfig, path: Path, *, jobs: int, resume: bool, storage: str | None = None, quiet: bool = False
) -> dict[str, Any]:
    """Search, compare on fresh networks, write the summary and return it; go on where a run was stopped, if `resume`.

    Args:
        config: of the tuning.
        path: of the run's folder.
        jobs: of the simulator; never changes a result.
        resume: whether a run may be there already.
        storage: URL of the study's database; None for SQLite in the folder.
        quiet: whether to leave progress out.

    Raises:
        InputError: Optuna or ns-3 is not installed, or the folder is not free.
    """
    require_installed(config)
    searched, fresh = (source_of(config, word, jobs) for word in ("tune", "test"))
    with opened(config, path, resume=resume, quiet=quiet) as begun:
        if begun.folder.complete:
            return begun.folder.read_json(layout.SUMMARY)
        return _tune(begun.on(fresh), searched, jobs, storage)


def join(config: TuningConfig, path: Path, *, jobs: int, storage: str | None = None) -> None:
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
    reporter = Reporter()
    with reporter.task(f"helping with {config.name}", config.tuner.trials) as task:
        _tuning(config, path, source_of(config, "tune", jobs), jobs, storage, task.update).help(lambda: is_locked(path))


def source_of(config: TuningConfig, word: str, jobs: int) -> TrialSource[Policy]:
    """Return where trials come from; those of another word are others.

    Raises:
        InputError: ns-3 is not installed, or the policy cannot run there.
    """
    seed, utility = derive(config.seed, word), config.utility.build()
    if config.fabric is not None:
        return FabricTrials(FabricSpace(fabric=config.fabric), seed, fabric_utility(config.utility.name), jobs)
    assert config.networks is not None
    duration = config.networks.duration
    simulator: Simulator = Ns3(duration, jobs=jobs) if config.simulator == "ns3" else Engine(duration, jobs=jobs)
    simulator.compile(resolve(config.tuner.policy, "ns3" if config.simulator == "ns3" else "engine").policy)
    return NetworkTrials(simulator, config.networks, seed, [seed], utility)


def _tuning(
    config: TuningConfig, path: Path, source: TrialSource[Policy], jobs: int, storage: str | None, tell: Any
) -> Tuning:
    from lcca.trainers.tune.study import Tuning

    objective = Objective(source, config.tuner.networks, config.tuner.race)
    name = f"{config.name}-{config.hash}"
    return Tuning(config.tuner, objective, derive(config.seed, "sampler"), path, jobs, storage, name, tell)


def _tune(run: Fresh, searched: TrialSource[Policy], jobs: int, storage: str | None) -> dict[str, Any]:
    config, folder = run.config, run.folder
    folder.set_state("tuning")
    with run.reporter.task(f"tuning {config.tuner.policy}", config.tuner.trials) as task, run.costs.phase("tuning"):
        tuning = _tuning(config, run.path, searched, jobs, storage, task.update)
        best = tuning.lead()
    candidates = tuning.candidates()
    file = PolicyFile(tuning.space.build(best.params), provenance=_provenance(config, best))
    policyfile.write_with_its_digest(run.path / layout.POLICY, file)
    folder.write_table(layout.CANDIDATES, _table(candidates))
    folder.set_state("testing")
    policies = {DEFAULT: tuning.space.policy} | ({} if best.number < 0 else {TUNED: file.policy})
    rows, comparison = _test(run, policies)
    summary = _summary(config, run.engine, candidates, best, rows, comparison)
    folder.write_json(layout.SUMMARY, summary)
    folder.set_state(COMPLETE)
    return summary


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


def _test(run: Fresh, policies: dict[str, Policy]) -> tuple[pd.DataFrame, Comparison | None]:
    """Run both policies on fresh networks until it is settled which is better, keeping each block."""
    config, source, wanted = run.config, run.engine, run.config.test

    def anew(block: Block) -> pd.DataFrame:
        return source.rows(policies, block)

    def decide(parts: Sequence[pd.DataFrame], done: int) -> Decision[Comparison | None]:
        found = _compare(config, pd.concat(parts, ignore_index=True)) if TUNED in policies else None
        return Decision(found, done >= wanted.at_least and (found is None or found.enough))

    with run.reporter.task(f"testing on fresh {source.unit}", wanted.pairs) as task:

        def tell(done: int, found: Comparison | None) -> None:
            task.update(done, *_standing(found, done, wanted, source.unit))

        plan = stretches(config.rule, source.block, wanted.block, wanted.pairs)
        keep = run.phase(layout.TEST).blocks(config.utility.name)
        parts, comparison = run_blocks(plan, anew, decide, keep=keep, tell=tell)
    return pd.concat(parts, ignore_index=True), comparison


def _standing(comparison: Comparison | None, done: int, wanted: TestConfig, unit: str) -> tuple[Any, ...]:
    if comparison is None:
        return (f"{done} {unit}",)
    return f"{done} pairs: {comparison.verdict.name}", more_pairs([comparison], done, wanted.at_least, wanted.pairs)


def _compare(config: TuningConfig, rows: pd.DataFrame) -> Comparison:
    return compare_policies(
        DEFAULT,
        TUNED,
        *(common_scores(rows)[name] for name in (DEFAULT, TUNED)),
        utility=config.utility.build(),
        rule=config.rule,
        block=config.blocks.block,
    )


def _summary(
    config: TuningConfig,
    source: TrialSource[Policy],
    candidates: list[Candidate],
    best: Candidate,
    rows: pd.DataFrame,
    comparison: Comparison | None,
) -> dict[str, Any]:
    states = pd.Series([c.state for c in candidates if c.number >= 0], dtype=str).value_counts()
    return {
        "format": 1,
        "kind": "tune",
        "campaign": config.name,
        "config_hash": config.hash,
        "version": version(),
        "seed": config.seed,
        **source.origin,
        "unit": source.unit,
        "utility": config.utility.name,
        "policy": config.tuner.policy,
        "sampler": config.tuner.sampler.kind,
        "candidates": {state: int(n) for state, n in sorted(states.items())},
        "network_trials": sum(c.networks for c in candidates if c.same_as is None),
        DEFAULT: _one(config, candidates[0], rows, DEFAULT),
        TUNED: _one(config, best, rows, TUNED if comparison else DEFAULT) | {"candidate": best.number},
        "comparison": comparison.to_json() if comparison else None,
    }


def _one(config: TuningConfig, candidate: Candidate, rows: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return what one of the two scored: on the search's networks, where the best looks too good, and on fresh ones."""
    scores = common_scores(rows)[name]
    mean, low, high = mean_interval(scores, config.rule.alpha, config.test.pairs, config.blocks.block)
    own = rows[rows["policy"] == name]
    return {
        "parameters": dict(candidate.params),
        "search_score_bits": candidate.score_bits,
        "score_bits": finite(mean),
        "low": finite(low),
        "high": finite(high),
        "networks": len(own),
        "failed": int((own["status"] != "ok").sum()),
    }
