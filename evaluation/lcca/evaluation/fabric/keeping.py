"""Trials on a fabric as rows of a table, and back: all that a trial holds, so that nothing has to be run again."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.trials.layout import RECORD
from lcca.evaluation.trials.ratio import Ratio


def rows_of(trials: Iterable[FabricTrial], utility: Ratio) -> pd.DataFrame:
    """Return a row per trial: score, metrics and the record."""
    rows = pd.DataFrame([each.row(utility) | {RECORD: _packed(each.record)} for each in trials])
    return rows.assign(network=rows["seed"], status="ok", error="", utility=utility.name)


def trials_of(rows: pd.DataFrame, scenario: FabricScenario, watched: Sequence[int] = ()) -> list[FabricTrial]:
    """Return the trials of rows on a scenario, whose flows follow from it and the seed.

    Flows are watched in those of the first seed.
    """
    first = int(rows["seed"].iloc[0])
    flows = {seed: scenario.flows(seed) for seed in map(int, rows["seed"].unique())}
    hosts, warmup = scenario.fabric.hosts, 1000 * scenario.warmup_us
    return [
        FabricTrial(
            policy, int(seed), hosts, flows[int(seed)], _unpacked(packed), watched if seed == first else (), warmup
        )
        for policy, seed, packed in zip(rows["policy"], rows["seed"], rows[RECORD], strict=True)
    ]


def _packed(record: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **{name: np.asarray(each) for name, each in record.items()})
    return file.getvalue()


def _unpacked(packed: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        return {name: found[name] if found[name].ndim else found[name].item() for name in found.files}
