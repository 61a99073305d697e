"""A run folder as tables, for users: `load_run`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.fabric.keeping import RECORD
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.tables import ADVICE, check_files, network_table, read_costs, read_manifest
from lcca.experiments.reading.result_tables import (
    comparisons_of,
    learning,
    looks,
    policies,
    result_of,
    shares,
    verdicts,
)
from lcca.experiments.runs.blocks import of_trainings
from lcca.experiments.runs.policy_names import named_columns
from lcca.inputs.errors import InputError
from lcca.inputs.files import read_with_digest
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

CONDITIONED = {
    layout.GENERALISATION: 1,
    of_trainings(layout.GENERALISATION): 1,
    layout.NS3_VALIDATION: 1,
    of_trainings(layout.NS3_VALIDATION): 1,
    layout.SCENARIO: 0,
}
"""Phases that go through several conditions, and which word of their parts names it: generalisation tests by their
names, topologies in ns-3, scenarios."""

TABLES = ("trials", "networks", "flows", "policies", "verdicts", "looks", "shares", "learning", "costs")
"""Of a `LoadedRun`."""


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A run folder as tables. What a run of its kind does not have, or has not yet, is an empty table.

    Attributes:
        path: the folder.
        manifest: kind of run (its command, such as "sweep" or "rank"), version, commit, seed, machine and state.
        config: the configuration with everything filled in.
        result: content of summary.json, or of estimate.json or durations.json.
        trials: a row per trial of every phase, with what `docs/reference/formats.md` lists: `phase`, `condition` (of a
            generalisation test, the topology in ns-3, or the scenario of a study, else empty), what was run (of a sweep
            also `candidate`, `training_seed`, `checkpoint` and `rules`, which the name of its policy stands for), what
            was measured, and the parameters of the network that it was run on.
        flows: a row per flow of an estimation.
        networks: a row per `phase`, `condition` and `network`: numbers of networks mean others in other phases.
        policies: of a sweep a row per policy: `id`, `candidate`, `utility`, `training_seed`, `selected`, its means over
            the test, and what its training took (`training_trials`, `training_packets`); of a ranking each policy with
            its ranks; of an evaluation a row per network, on a fabric per policy; of `agree` and of an estimation a row
            per metric; of a tuning `default` and `tuned`; of ACC a row per test and controller; of a study a row per
            scenario and contender.
        verdicts: a row per comparison of `B` with `A`, with its `phase` and `condition`, and what both are:
            `candidate` and `baseline`.
        looks: a row per look at a comparison of the test, or at an estimate.
        shares: of a sweep with `per_network` a row per pair of candidates, metric and utility: on what percentage of
            networks `B` is significantly better or worse than `A`, and the difference of the two with its interval.
        learning: learning curves of a sweep's policies, or of ACC; what a tuning tried.
        costs: CPU and wall seconds, trials and packets by phase.
    """

    path: Path
    manifest: Json
    config: Json
    result: Json
    trials: pd.DataFrame
    flows: pd.DataFrame
    networks: pd.DataFrame
    policies: pd.DataFrame
    verdicts: pd.DataFrame
    looks: pd.DataFrame
    shares: pd.DataFrame
    learning: pd.DataFrame
    costs: pd.DataFrame


def load_run(path: str | os.PathLike[str]) -> LoadedRun:
    """Return the tables of a run of any command that keeps one, finished or not.

    Raises:
        InputError: there is no run in this folder, a file of it is missing, or one is damaged.
    """
    folder = Path(path)
    manifest = run_manifest(folder)
    check_files(folder, manifest)
    result = result_of(folder)
    kind, learnt = manifest["kind"], learning(folder, result)
    compared = comparisons_of(folder, kind, result)
    trials, flows = _trials(folder, kind)
    return LoadedRun(
        path=folder,
        manifest=manifest,
        config=read_run_config(folder),
        result=result,
        trials=trials,
        flows=flows,
        networks=network_table(trials, "phase", "condition"),
        policies=policies(kind, result, learnt),
        verdicts=verdicts(compared),
        looks=looks(compared, result),
        shares=shares(result),
        learning=learnt,
        costs=pd.DataFrame((read_costs(folder) or {}).get("phases", [])),
    )


def run_manifest(folder: Path) -> Json:
    """Return the manifest of the run in a folder.

    Raises:
        InputError: there is none, or it is damaged.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        grid = (
            "; it is a grid, whose points are runs: name one of its folders" if (folder / layout.GRID).exists() else ""
        )
        raise InputError(f"{folder}: no run here{grid or '; name a run folder, as in results/quickstart/<run-id>'}")
    return manifest


def read_run_config(folder: Path) -> Json:
    """Return the configuration of a run with everything filled in, empty where a run has none yet.

    Raises:
        InputError: it is damaged.
    """
    config = folder / layout.CONFIG
    return parse(read_with_digest(config, ADVICE).decode(), str(config))[0] if config.exists() else {}


def _trials(folder: Path, kind: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of all parts: trials, and flows."""
    store = TrialStore(folder / layout.TRIALS)
    found: dict[bool, list[pd.DataFrame]] = {True: [], False: []}
    for name in layout.part_names(store.folder):
        phase, *words = layout.part_words(name)
        rows = store.read(name).drop(columns=["phase", RECORD], errors="ignore")
        rows.insert(0, "phase", phase)
        rows.insert(1, "condition", words[CONDITIONED[phase]] if phase in CONDITIONED else "")
        found["score_bits" in rows or "status" in rows].append(rows)
    trials, flows = (pd.concat(found[kind], ignore_index=True) if found[kind] else pd.DataFrame() for kind in found)
    return _named(trials) if kind == "sweep" and len(trials) else trials, flows


def _named(trials: pd.DataFrame) -> pd.DataFrame:
    """Return a campaign's trials with what the names of their policies stand for, beside these."""
    after = list(trials).index("policy") + 1
    names = named_columns(trials["policy"], trials["utility"])
    return pd.concat([trials.iloc[:, :after], names, trials.iloc[:, after:]], axis=1)
