"""Traces of a fabric's flows in CSV files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import ConfigError, Place, Problem, shown
from lcca.inputs.numbers import integer
from lcca.inputs.tables import RowProblem, Table, number, read_table, whole
from lcca.remy_plus.fabric.flows import (
    LARGEST_FLOW,
    MOST_OFF_NS,
    FabricFlows,
    FlowSet,
    Moment,
    Path,
    circle_problems,
    few_classes,
    fit_problems,
    late_problems,
)
from lcca.remy_plus.fabric.topology import FabricTopology

_REQUIRED = {
    "id": whole(0, LARGEST_FLOW),
    "src": whole(0),
    "dst": whole(0),
    "size_bytes": whole(1, LARGEST_FLOW, "; a flow without end has more than the trial can send, such as 1e12"),
    "start_ns": number(">= 0 ns and finite", lambda value: value >= 0),
}
_OPTIONAL = {
    "path": lambda text: _path(text),
    "ack_path": lambda text: _path(text),
    "priority": whole(0),
    "after": lambda text: _ranges(text),
    "delay_ns": number(f"from 0 to {MOST_OFF_NS:g} ns", lambda value: 0 <= value <= MOST_OFF_NS),
    "job": whole(0),
    "step": whole(0),
}


def read_flows(
    path: str | os.PathLike[str],
    topology: FabricTopology,
    classes: int | None = None,
    over: Moment = "received",
    end_ns: float = math.inf,
) -> FabricFlows:
    """Read a trace: a CSV file with columns id, src, dst, size_bytes, start_ns and perhaps those of `_OPTIONAL`.

    A path names switches in order, as in `16-20-17`; where it is empty, ECMP chooses. A priority is a class of traffic,
    of which switches serve 0 first. `after` names flows that must be over before this one starts, as in `3 17 20..35`;
    it starts `delay_ns` after the last of them, and not before start_ns. `3:begun` waits for the start of a flow,
    `:received` and `:acknowledged` for what `over` may be of all. `job` and `step` say what it belongs to. Flows may
    stand in any order.

    Args:
        path: the file.
        topology: the fabric.
        classes: that its switches have; any if left out.
        over: when a flow is over for those that wait for it.
        end_ns: before it flows start, but for those that none of them waits for.

    Raises:
        InputError: naming file, line and column of every flow that cannot be on this fabric.
    """
    table = read_table(path, _REQUIRED, _OPTIONAL)
    if not table.lines:
        raise ConfigError(Problem(Place(table.path), (), f"has no flows; write one a line: {','.join(_REQUIRED)}"))
    order = sorted(range(len(table.lines)), key=table.columns["start_ns"].__getitem__)
    table = table.rows(order)
    columns = table.columns
    table.require(_repeated(columns["id"]))
    pairs = enumerate(zip(columns["src"], columns["dst"], strict=True))
    table.require((row, "dst", "is the sender; name another host") for row, (src, dst) in pairs if src == dst)
    if classes is not None:
        wrong = ((row, each) for row, each in enumerate(columns.get("priority", ())) if each >= classes)
        table.require((row, "priority", few_classes(each, classes)) for row, each in wrong)
    given = (*_REQUIRED, "priority", "job", "step")
    arrays: dict[str, Any] = {name: np.array(columns[name]) for name in given if name in columns}
    flows = FabricFlows(**arrays, path=columns.get("path", ()), ack_path=columns.get("ack_path", ()))
    table.require(fit_problems(flows, topology))
    if "after" not in columns:
        if "delay_ns" in columns:
            table.require([(0, "delay_ns", "is how long flows wait after others: needs a column after")])
        return flows
    after, sets = _waiting(table, over)
    table.require(circle_problems(after, sets))
    flows = replace(flows, after=after, sets=sets, off_ns=np.array(columns.get("delay_ns", np.zeros(len(flows)))))
    table.require(late_problems(flows, end_ns))
    return flows


def _path(text: str) -> Path:
    try:
        return tuple(integer(part) for part in text.split("-")) if text else ()
    except ValueError:
        raise ValueError(f"must be switches such as 16-20-17, found {shown(text)}") from None


_Range = tuple[int, int, str]
"""The first and the last of some ids, and a moment; empty for that of all."""

_MOMENTS: dict[str, Moment] = {"begun": "begun", "received": "received", "acknowledged": "acknowledged"}


def _ranges(text: str) -> tuple[_Range, ...]:
    found: list[_Range] = []
    for part in text.split():
        ids, colon, moment = part.partition(":")
        try:
            ends = [integer(end) for end in ids.split("..")]
        except ValueError:
            ends = []
        if len(ends) not in (1, 2) or ends[-1] < ends[0] or (colon and moment not in _MOMENTS):
            raise ValueError(f"must be ids such as 3 17 20..35, perhaps 3:begun, found {shown(text)}")
        found.append((ends[0], ends[-1], moment))
    return tuple(found)


def _waiting(table: Table, over: Moment) -> tuple[NDArray[np.int32], list[FlowSet]]:
    """Return which set each flow waits for, and the sets: equal ones are one."""
    at = {id: row for row, id in enumerate(table.columns["id"])}
    numbers: dict[tuple[_Range, ...], int] = {(): -1}
    sets: list[FlowSet] = []
    problems = list[RowProblem]()
    for row, ranges in enumerate(table.columns["after"]):
        if ranges in numbers:
            continue
        numbers[ranges] = len(sets)
        # perhaps far more ids than the file has
        ids = ((id, moment) for first, last, moment in ranges for id in range(first, last + 1))
        waited: dict[int, Moment] = {}
        for id, moment in ids:
            if id not in at:
                problems.append((row, "after", f"flow {id} is not in this file"))
                break
            if waited.setdefault(at[id], own := _MOMENTS.get(moment, over)) != own:
                problems.append((row, "after", f"flow {id} stands there twice, for two moments; leave one out"))
                break
        else:
            rows = sorted(waited)
            moments = [waited[each] for each in rows]
            sets.append(FlowSet(np.array(rows, dtype=np.int64), moments if len(set(moments)) > 1 else moments[0]))
    table.require(problems)
    return np.array([numbers[ranges] for ranges in table.columns["after"]], dtype=np.int32), sets


def _repeated(ids: Sequence[int]) -> Iterator[RowProblem]:
    seen: set[int] = set()
    for row, id in enumerate(ids):
        if id in seen:
            yield row, "id", f"{id} stands for another flow already"
        seen.add(id)
