"""Traces of a fabric's flows in CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from lcca.inputs.errors import ConfigError, Place, Problem, shown
from lcca.inputs.numbers import integer
from lcca.inputs.tables import RowProblem, number, read_table, whole
from lcca.remy_plus.fabric.flows import LARGEST_FLOW, FabricFlows, Path, few_classes, fit_problems
from lcca.remy_plus.fabric.topology import FabricTopology

_REQUIRED = {
    "id": whole(0, LARGEST_FLOW),
    "src": whole(0),
    "dst": whole(0),
    "size_bytes": whole(1, LARGEST_FLOW, "; a flow without end has more than the trial can send, such as 1e12"),
    "start_ns": number(">= 0 ns and finite", lambda value: value >= 0),
}


def read_flows(path: str | os.PathLike[str], topology: FabricTopology, classes: int | None = None) -> FabricFlows:
    """Read a trace: a CSV file with columns id, src, dst, size_bytes, start_ns and perhaps path, ack_path and priority.

    A path names switches in order, as in `16-20-17`; where it is empty, ECMP chooses. A priority is a class of traffic,
    of which switches serve 0 first. Flows may stand in any order.

    Args:
        path: the file.
        topology: the fabric.
        classes: that its switches have; any if left out.

    Raises:
        InputError: naming file, line and column of every flow that cannot be on this fabric.
    """
    table = read_table(path, _REQUIRED, {"path": _path, "ack_path": _path, "priority": whole(0)})
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
    arrays = {name: np.array(columns[name]) for name in (*_REQUIRED, "priority") if name in columns}
    flows = FabricFlows(**arrays, path=columns.get("path", ()), ack_path=columns.get("ack_path", ()))
    table.require(fit_problems(flows, topology))
    return flows


def _path(text: str) -> Path:
    try:
        return tuple(integer(part) for part in text.split("-")) if text else ()
    except ValueError:
        raise ValueError(f"must be switches such as 16-20-17, found {shown(text)}") from None


def _repeated(ids: Sequence[int]) -> Iterator[RowProblem]:
    seen: set[int] = set()
    for row, id in enumerate(ids):
        if id in seen:
            yield row, "id", f"{id} stands for another flow already"
        seen.add(id)
