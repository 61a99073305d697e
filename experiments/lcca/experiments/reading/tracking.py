"""A run in the tracking store of MLflow: one run for all of it, and below it one for each policy, with its learning."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Metric, Param

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.experiments.reading.difference import MADE
from lcca.experiments.runs.manifest import COMPLETE, leaves
from lcca.inputs.errors import InputError

ARTIFACTS = (layout.CONFIG, layout.SUMMARY, layout.REPORT, layout.ANSWERS)
BATCH = 100
"""Parameters, and metrics, that a store takes at once."""

LONGEST_KEY = 250
"""Letters of a name; of longer ones the end is a digest."""

LONGEST = 500
"""Letters of a parameter's value."""


def track(run: LoadedRun, uri: str) -> str:
    """Log a run: its configuration, comparisons, costs and files, and what its policies measured and learnt.

    Args:
        run: that is logged, as a new run of the experiment named after its configuration.
        uri: of the tracking store, as in ``sqlite:///mlflow.db`` or ``http://127.0.0.1:5000``.

    Returns:
        The id of the run in the store.

    Raises:
        InputError: the store cannot be reached, or does not take it.
    """
    try:
        client = MlflowClient(tracking_uri=uri)
        name = run.manifest["name"]
        known = client.get_experiment_by_name(name)
        return _whole(client, known.experiment_id if known else client.create_experiment(name), run)
    except InputError:
        raise
    except Exception as error:  # of MLflow, of the network, or of the library of the store's database
        raise InputError(f"{uri}: MLflow: {(str(error) or type(error).__name__).splitlines()[0]}") from error


def _whole(client: MlflowClient, experiment: str, run: LoadedRun) -> str:
    tags = {f"lcca.{key}": str(run.manifest.get(key)) for key in MADE}
    top: str = client.create_run(experiment, tags=tags, run_name=run.path.resolve().name).info.run_id
    found = {f"cost/{row['name']}/{key}": row[key] for row in run.costs.to_dict("records") for key in row}
    for row in run.verdicts.to_dict("records"):
        place = "/".join(str(row[key]) for key in ("phase", "condition", "level", "utility") if row.get(key))
        found |= {
            f"{place}/{row['B']} against {row['A']}/{key}": row[key] for key in ("difference", "low", "high", "n")
        }
    learning, parts = run.learning, {}
    if "policy_base" in learning:
        parts = dict(list(learning.groupby("policy_base")))
        learning = learning.iloc[:0]
    _log(client, top, dict(leaves(run.config, "")), [*_numbers(found), *_curve(learning)])
    for file in ARTIFACTS:
        if (run.path / file).is_file():
            client.log_artifact(top, str(run.path / file))
    for row in run.policies.to_dict("records"):
        own = tags | {"mlflow.parentRunId": top}
        below: str = client.create_run(experiment, tags=own, run_name=str(row["id"])).info.run_id
        words = {str(key): value for key, value in row.items() if isinstance(value, str | bool)}
        _log(client, below, words, [*_numbers(row), *_curve(parts.get(row["id"], learning.iloc[:0]))])
        client.set_terminated(below)
    if run.manifest["state"] == COMPLETE:
        client.set_terminated(top)
    return top


def _curve(learning: pd.DataFrame) -> Iterator[Metric]:
    for i, row in enumerate(learning.to_dict("records")):
        yield from _numbers({f"learning/{key}": value for key, value in row.items()}, row.get("step", i))


def _numbers(row: Mapping[Any, Any], step: int = 0) -> Iterator[Metric]:
    for key, value in row.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield Metric(_key(key), float(value), 0, int(step))


def _log(client: MlflowClient, run: str, words: Mapping[str, Any], metrics: list[Metric]) -> None:
    params = [Param(_key(key), str(value)[:LONGEST]) for key, value in words.items()]
    for i in range(0, max(len(params), len(metrics)), BATCH):
        client.log_batch(run, metrics=metrics[i : i + BATCH], params=params[i : i + BATCH])


def _key(name: object) -> str:
    """Return a name as MLflow takes it: of its letters, no path that leads elsewhere, and not too long."""
    parts = re.sub(r"[^\w/.: -]", "_", str(name)).split("/")
    key = "/".join("_" if part in ("", ".", "..") else part for part in parts)
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    return key if len(key) <= LONGEST_KEY else f"{key[: LONGEST_KEY - 13]} {digest}"
