"""A run folder as tables, for users: `load_run`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.stored import read_json, read_table
from lcca.evaluation.trials.tables import ADVICE, check_files, network_table, read_costs, read_manifest
from lcca.inputs.checked import read_with_digest
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]

CONDITIONED = {layout.GENERALISATION: 1, layout.NS3_VALIDATION: 1, layout.SCENARIO: 0}
"""Phases that go through several conditions, and which word of their parts names it: generalisation tests by their
names, topologies in ns-3, scenarios."""


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A run folder as tables. What a run of its kind does not have, or has not yet, is an empty table.

    Attributes:
        path: the folder.
        manifest: kind of run ("sweep", "estimate", "tune", "acc" or "study"), version, commit, seed, machine and state.
        config: the configuration with everything filled in.
        result: content of summary.json, or of estimate.json.
        trials: a row per trial of every phase, with what `docs/reference/formats.md` lists: `phase`, `condition` (of a
            generalisation test, the topology in ns-3, or the scenario of a study, else empty), what was run, what was
            measured, and the parameters of the network that it was run on.
        flows: a row per flow of an estimation.
        networks: a row per `phase`, `condition` and `network`: numbers of networks mean others in other phases.
        policies: of a sweep a row per policy: `id`, `candidate`, `utility`, `training_seed`, `selected`, and its means
            over the test; of a tuning `default` and `tuned`; of ACC a row per test and
            controller; of a study a row per scenario and contender.
        verdicts: a row per comparison, with its `phase` and `condition`; of a sweep's test with every look (`history`).
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
    learning: pd.DataFrame
    costs: pd.DataFrame


def load_run(path: str | os.PathLike[str]) -> LoadedRun:
    """Return the tables of a run of `lcca sweep`, `estimate`, `tune`, `acc` or `study`, finished or not.

    Raises:
        InputError: there is no run in this folder, a file of it is missing, or one is damaged.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"{folder}: no run here; name a run's folder, as in results/quickstart/<run-id>")
    check_files(folder, manifest)
    result = _json(folder / layout.SUMMARY) or _json(folder / layout.ESTIMATE)
    config = folder / layout.CONFIG
    trials, flows = _trials(folder)
    return LoadedRun(
        path=folder,
        manifest=manifest,
        config=parse(read_with_digest(config, ADVICE).decode(), str(config))[0] if config.exists() else {},
        result=result,
        trials=trials,
        flows=flows,
        networks=network_table(trials, "phase", "condition"),
        policies=pd.DataFrame(_policies(result)),
        verdicts=pd.DataFrame(_verdicts(folder, result)),
        learning=_learning(folder, result),
        costs=pd.DataFrame((read_costs(folder) or {}).get("phases", [])),
    )


def _json(file: Path) -> Json:
    return read_json(file, ADVICE) if file.exists() else {}


def _trials(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of all parts: trials, and flows."""
    store = TrialStore(folder / layout.TRIALS)
    found: dict[bool, list[pd.DataFrame]] = {True: [], False: []}
    for name in layout.part_names(store.folder):
        phase, *words = layout.part_words(name)
        rows = store.read(name).drop(columns="phase", errors="ignore")
        rows.insert(0, "phase", phase)
        rows.insert(1, "condition", words[CONDITIONED[phase]] if phase in CONDITIONED else "")
        found["status" in rows].append(rows)
    trials, flows = (pd.concat(found[kind], ignore_index=True) if found[kind] else pd.DataFrame() for kind in found)
    return trials, flows


def _policies(result: Json) -> list[Json]:
    if "policies" in result:
        return [_policy(row) for row in result["policies"]]
    if result.get("kind") == "tune":
        return [{"id": name, **result[name]} for name in ("default", "tuned")]
    if result.get("kind") == layout.STUDY:
        met = ((one["name"], row) for one in result["scenarios"] for row in one["measured"])
        return [{"id": row["contender"], "condition": name, **_flat(row["measures"])} for name, row in met]
    tests = result.get("tests", {})
    return [
        {"id": name, "condition": test, **row}
        for test, found in tests.items()
        for name, row in found["controllers"].items()
    ]


def _flat(measures: Json) -> Json:
    """Return the means of measures, and the ends of their intervals as `<measure>_low` and `<measure>_high`."""
    means = {name: found["mean"] for name, found in measures.items()}
    return means | {f"{name}_{end}": found[end] for name, found in measures.items() for end in ("low", "high")}


def _policy(row: Json) -> Json:
    """Return a policy of a sweep's summary, flat and in this package's words."""
    flat = {key: value for key, value in row.items() if key not in ("signal_set", "test")}
    return flat | {"candidate": row["signal_set"], **row["trained"]}


def _verdicts(folder: Path, result: Json) -> list[Json]:
    if result.get("kind") == "acc":
        return [
            {"phase": layout.TEST, "condition": test, "A": name, "B": "acc", **row}
            for test, found in result["tests"].items()
            for name, row in found["acc_minus"].items()
        ]
    if result.get("kind") == layout.STUDY:
        return [{"phase": layout.SCENARIO, "condition": each["scenario"], **each} for each in result["comparisons"]]
    tested = _json(folder / layout.VERDICTS).get("comparisons") or [result.get("comparison")]
    rows = [(layout.TEST, "", each) for each in tested if each]
    for phase, key, condition in (
        (layout.GENERALISATION, "generalisation", "condition"),
        (layout.NS3_VALIDATION, "ns3", "topology"),
    ):
        rows += [(phase, record[condition], each) for record in result.get(key, ()) for each in record["comparisons"]]
    return [{"phase": phase, "condition": condition, **each} for phase, condition, each in rows]


def _learning(folder: Path, result: Json) -> pd.DataFrame:
    if "curve" in result:
        return pd.DataFrame({"part": range(len(result["curve"])), "utility": result["curve"]})
    file = next((folder / name for name in (layout.LEARNING, layout.CANDIDATES) if (folder / name).exists()), None)
    return pd.DataFrame() if file is None else read_table(file, ADVICE)
