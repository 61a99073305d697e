"""Traces of a fabric's flows in CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np

from lcca.inputs.errors import ConfigError, Place, Problem, shown
from lcca.remy_plus.fabric.flows import LARGEST_FLOW, FabricFlows, Path, fit_problems
from lcca.remy_plus.fabric.tables import RowProblem, number, read_table, whole
from lcca.remy_plus.fabric.topology import FabricTopology

_REQUIRED = {
    "id": whole(0, LARGEST_FLOW),
    "src": whole(0),
    "dst": whole(0),
    "size_bytes": whole(1, LARGEST_FLOW),
    "start_ns": number(">= 0 ns and finite", lambda value: value >= 0),
}
_PATHS = ("path", "ack_path")


def read_flows(path: str | os.PathLike[str], topology: FabricTopology) -> FabricFlows:
    """Read a trace: a CSV file with the columns id, src, dst, size_bytes, start_ns and perhaps path and ack_path.

    A path names switches in order, as in `16-20-17`; where it is empty, ECMP chooses. Flows may stand in any order.

    Raises:
        InputError: naming file, line and column of every flow that cannot be on this fabric.
    """
    table = read_table(path, _REQUIRED, dict.fromkeys(_PATHS, _path))
    if not table.lines:
        raise ConfigError(Problem(Place(table.path), (), f"has no flows; write one a line: {','.join(_REQUIRED)}"))
    order = sorted(range(len(table.lines)), key=table.columns["start_ns"].__getitem__)
    table = table.rows(order)
    columns = table.columns
    table.require(_repeated(columns["id"]))
    pairs = enumerate(zip(columns["src"], columns["dst"], strict=True))
    table.require((row, "dst", "is the sender; name another host") for row, (src, dst) in pairs if src == dst)
    arrays = {name: np.array(columns[name]) for name in _REQUIRED}
    flows = FabricFlows(**arrays, path=columns.get("path", ()), ack_path=columns.get("ack_path", ()))
    table.require(fit_problems(flows, topology))
    return flows


def _path(text: str) -> Path:
    try:
        return tuple(int(part) for part in text.split("-")) if text else ()
    except ValueError:
        raise ValueError(f"must be switches such as 16-20-17, found {shown(text)}") from None


def _repeated(ids: Sequence[int]) -> Iterator[RowProblem]:
    seen: set[int] = set()
    for row, id in enumerate(ids):
        if id in seen:
            yield row, "id", f"{id} stands for another flow already"
        seen.add(id)
