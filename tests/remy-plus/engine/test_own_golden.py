"""Traces of our own on random networks: a change of any bit of a result shows here.

Where a change is meant, write the traces anew and say in the change log that results differ:

    LCCA_UPDATE_GOLDEN=1 python -m pytest tests/remy-plus/engine/test_own_golden.py

Each file holds one trial: every row of its trace and every column of its batch.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.policy import Aimd, Policy, compile_policy
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule

FOLDER = Path(__file__).parent / "golden"
UPDATE = os.environ.get("LCCA_UPDATE_GOLDEN") == "1"


def table(signals: tuple[str, ...], cut: tuple[float, ...], pacing_kind: str) -> RuleTable:
    """A table with a rule for each side of the cut on each axis."""
    found = bisect(one_rule(signals, pacing_kind), 0, np.array(cut))
    for rule in range(len(found)):
        found = found.with_action(rule, (rule + 4) % 6 - 1, 0.8 + 0.03 * (rule % 7), 0.3 + 0.1 * (rule % 9))
    return found


@dataclass(frozen=True)
class Case:
    name: str
    network: Network
    policy: Policy
    duration: float
    model: Model


CASES = (
    Case("aimd-time", Network(11, 2.3, 21.7, 3, 6.0, 60.0, 25.0, 0.02), Aimd(), 450.0, Model()),
    Case(
        "aimd-bytes",
        Network(12, 3.1, 12.4, 5, math.inf, 18.0, 30.0, 0.05, "bytes"),
        Aimd(1.5, 0.7, 3.0),
        300.0,
        Model(),
    ),
    Case(
        "table-time",
        Network(13, 3.7, 25.9, 4, 15.0, 50.0, 20.0, 0.03),
        table(("send_ewma", "rtt_ratio", "queue", "link", "loss"), (0.7, 1.03, 1.0, 0.8, 0.05), "relative"),
        500.0,
        Model(),
    ),
    Case(
        "table-bytes",
        Network(14, 1.9, 33.3, 6, 4.0, 12.0, 40.0, 0.02, "bytes"),
        table(("receive_ewma", "rtt_difference", "queue_ewma", "link_ewma"), (0.8, 0.5, 0.4, 0.3), "absolute"),
        1000.0,
        Model(7.0, rplus_link_window=True),
    ),
)


def measure(case: Case) -> dict[str, dict[str, list[float]]]:
    policy, seed = compile_policy(case.policy), 20_240
    trace = _core.trace(
        policy,
        compile_network(case.network),
        seed,
        duration=case.duration,
        model=case.model.parts(),
        script=[],
    )
    engine = Engine(duration=case.duration, model=case.model, jobs=1)
    options = {"keep_delays": True, "keep_flows": True}
    batch = engine.run([policy], NetworkList([case.network]), [0], [0], [seed], **options)
    columns = {name: values for name, values in batch.columns.items() if isinstance(values, np.ndarray)}
    columns["rule_hits"] = batch.rule_hits[0]
    return {"trace": lists(trace), "batch": lists(columns)}


def lists(columns: dict[str, Any]) -> dict[str, list[float]]:
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def write(path: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def pair(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is measured, and what is on file."""
    measured, path = measure(request.param), FOLDER / f"{request.param.name}.json.gz"
    if UPDATE:
        write(path, measured)
    return measured, json.loads(gzip.decompress(path.read_bytes()))


@pytest.mark.parametrize("part", ["trace", "batch"])
def test_same_bits(pair: tuple[dict[str, Any], dict[str, Any]], part: str) -> None:
    measured, expected = pair[0][part], pair[1][part]
    assert set(expected) <= set(measured)  # columns may be added
    for name, values in expected.items():
        np.testing.assert_array_equal(np.array(measured[name]), np.array(values), err_msg=name)


def test_they_tell_of_what_happens(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """A trace without losses, late packets or several flows would be a poor guard."""
    trace, batch = (pair[1][part] for part in ("trace", "batch"))
    assert 150 < len(trace["now_us"]) < 600
    assert sum(batch["sender_lost"]) >= 3
    assert 0 in trace["on"]
    assert (0 in trace["current"]) != any(batch["flow_length"])  # flows of a length leave nothing behind
    assert len(batch["flow_start_us"]) >= 6
    assert max(trace["stamp_queue"]) >= 2
