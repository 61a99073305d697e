"""htsim's connection matrices (`.cm`): flows, and triggers by which the end of some begins others.

Read as by uet-htsim @40ccb05 and csg-htsim @841d9e7 (`connection_matrix.cpp`).
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.lines import Line, lines_of
from lcca.evaluation.fabric.formats.messages import Event, Messages, Ready
from lcca.inputs.errors import ConfigError, InputError, Place, Problem, about, require
from lcca.remy_plus.fabric.flows import FabricFlows, Moment

HEADER = ("Nodes", "Connections", "Triggers", "Failures")
KEYS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio", "msg", "addon")
KINDS = ("oneshot", "multishot", "barrier")
FIRED: Mapping[str, Moment] = {"send_done_trigger": "acknowledged", "recv_done_trigger": "received"}
UNITS_NS = {"us": 1e3, "ps": 1e-3}
ENDLESS = 10**12
LARGEST = 2**31 - 1
"""Of a size there: 32 bits with a sign."""


@dataclass
class _Matrix:
    """A file's connections and triggers, in its order."""

    header: dict[str, Line] = field(default_factory=dict)
    flows: list[tuple[Line, dict[str, int | float]]] = field(default_factory=list)
    triggers: dict[int, tuple[Line, str, int]] = field(default_factory=dict)
    fires: dict[int, list[Event]] = field(default_factory=lambda: defaultdict(list))


def read_connection_matrix(path: str | os.PathLike[str], start: Literal["us", "ps"] = "us") -> Converted:
    """Read a connection matrix.

    Args:
        path: the file.
        start: what it counts times in: µs for htsim_uec and Swift, ps for csg-htsim's other transports.

    Raises:
        InputError: naming file, line and word of what cannot be.
    """
    matrix = _Matrix()
    for line in lines_of(path):
        _read(line, matrix)
    nodes = _counted(matrix, os.fspath(path))
    messages, targets = Messages(), defaultdict[int, list[Line]](list)
    for line, values in matrix.flows:
        src, dst = int(values["src"]), int(values["dst"])
        for host in (src, dst):
            if host >= nodes:
                raise line.wrong(line.words[0], f"host {host} is not below Nodes {nodes}; raise Nodes")
        if "trigger" in values:
            targets[number := int(values["trigger"])].append(line)
            ready = Ready(0.0, dict.fromkeys(matrix.fires.get(number, ()), 0.0))
        else:
            ready = Ready(values["start"] * UNITS_NS[start])
        messages.add(src, dst, int(values["size"]) or ENDLESS, ready)
    _require_fires(matrix, targets)
    with about(path):
        flows, _ = messages.flows(_ids(matrix))
    return Converted(
        Path(path).name, "htsim's connection matrix", flows, nodes, "uet-htsim", assumed=tuple(_assumed(matrix, start))
    )


def _read(line: Line, matrix: _Matrix) -> None:
    first = line.words[0]
    if "->" in first:
        number, values = len(matrix.flows), _connection(line)
        for key, moment in FIRED.items():
            if key in values:
                matrix.fires[int(values[key])].append((number, moment))
        matrix.flows.append((line, values))
    elif first == "trigger":
        _trigger(line, matrix)
    elif first == "failure":
        raise line.wrong(first, "links that fail are events of a scenario here; take these lines and Failures out")
    elif first not in HEADER:
        raise line.unknown(first, (*HEADER, "trigger", "SRC->DST"))
    elif matrix.flows or matrix.triggers:
        raise line.wrong(first, "must stand before the first connection")
    else:
        line.whole(1, first)
        matrix.header[first] = line


def _connection(line: Line) -> dict[str, int | float]:
    src, _, dst = line.words[0].partition("->")
    ends = Line(line.path, line.number, (src, dst))
    values: dict[str, int | float] = {key: ends.whole(at, line.words[0]) for at, key in enumerate(("src", "dst"))}
    if src == dst:
        raise line.wrong(line.words[0], "is a flow of a host to itself; name another host")
    at = 1
    while at < len(line.words):
        key = line.words[at]
        if key not in KEYS:
            raise line.unknown(key, KEYS)
        if key in values:
            raise line.wrong(key, "stands there twice; leave one out")
        if key in ("msg", "addon"):
            raise line.wrong(key, "messages on connections that live on are flows of their own here; leave it out")
        least = 1 if key == "id" or key.endswith("trigger") else 0
        values[key] = line.real(at + 1, key) if key == "start" else line.whole(at + 1, key, least)
        at += 2
    if "size" not in values:
        raise line.wrong("size", "is missing; write size and the bytes of the flow")
    if ("start" in values) == ("trigger" in values):
        raise line.wrong("start", "needs one of start and trigger")
    return values


def _trigger(line: Line, matrix: _Matrix) -> None:
    number = count = 0
    kind, at = "", 1
    while at < len(line.words):
        key = line.words[at]
        if key in ("id", "count"):
            value, at = line.whole(at + 1, key, 1), at + 1
            number, count = (value, count) if key == "id" else (number, value)
        elif key in KINDS and not kind:
            kind = key
        else:
            raise line.unknown(key, ("id", "count", *KINDS))
        at += 1
    if not number or not kind or (kind == "barrier" and not count):
        raise line.wrong("trigger", "needs id K and one of oneshot, multishot and barrier count N")
    if number in matrix.triggers:
        raise line.wrong("id", f"trigger {number} stands in line {matrix.triggers[number][0].number} already")
    matrix.triggers[number] = (line, kind, count if kind == "barrier" else 1)


def _counted(matrix: _Matrix, path: str) -> int:
    """Return the number of nodes; the others must be what they count, or htsim reads no further."""
    for name, count in (("Connections", len(matrix.flows)), ("Triggers", len(matrix.triggers)), ("Failures", 0)):
        line = matrix.header.get(name)
        if (line.whole(1, name) if line else 0) != count:
            place = Place(path, line.number if line else None)
            raise ConfigError(Problem(place, (name,), f"must be {count}, as many as the file has"))
    if "Nodes" not in matrix.header:
        raise ConfigError(Problem(Place(path), ("Nodes",), "is missing; write Nodes and the number of hosts first"))
    require(bool(matrix.flows), f"{path}: has no connections; write one a line, as in 0->1 id 1 start 0 size 1000000")
    return matrix.header["Nodes"].whole(1, "Nodes", 2)


def _require_fires(matrix: _Matrix, targets: Mapping[int, list[Line]]) -> None:
    """Check that each trigger that flows wait for begins all of them, at one moment that is known beforehand."""
    for number, waiting in targets.items():
        if number not in matrix.triggers:
            raise waiting[0].wrong("trigger", f"trigger {number} is not in the file; add: trigger id {number} oneshot")
        line, kind, count = matrix.triggers[number]
        fired = len(matrix.fires.get(number, ()))
        if fired < count:
            text = f"never fires: {fired} flows fire trigger {number}, and {count} must; "
            raise line.wrong("trigger", text + "give a flow send_done_trigger, or lower count")
        if fired > count:
            text = f"{fired} flows fire trigger {number}, which the first {count} of them settle; "
            raise line.wrong("trigger", text + f"for all of them write: barrier count {fired}")
        if kind == "multishot" and len(waiting) > 1:
            text = f"begins one flow, and {len(waiting)} wait for it; for all of them write: oneshot"
            raise line.wrong("multishot", text)


def _ids(matrix: _Matrix) -> list[int]:
    own = [int(values.get("id", 0)) for _, values in matrix.flows]
    used, free = set[int](), iter(range(1, 2 * len(own) + 1))
    for (line, _), each in zip(matrix.flows, own, strict=True):
        if each in used:
            raise line.wrong("id", f"{each} is another flow's already; give each its own")
        used |= {each} - {0}
    return [each or next(new for new in free if new not in used) for each in own]


def _assumed(matrix: _Matrix, start: str) -> Iterator[str]:
    values = [each for _, each in matrix.flows]
    if any(each.get("start") for each in values):
        yield f"start is in {start}: htsim_uec and Swift count µs, csg-htsim's NDP, EQDS, RoCE and HPCC ps (start=ps)"
    waiting = Counter(each["trigger"] for each in values if "trigger" in each)
    if max(waiting.values(), default=0) > 1:
        yield "flows that one trigger begins start in the order of the file; htsim starts them in the reverse order"
    ends = {
        number: {values[each]["src" if over == "acknowledged" else "dst"] for each, over in events}
        for number, events in matrix.fires.items()
    }
    if any(ends[int(each["trigger"])] != {each["src"]} for each in values if "trigger" in each):
        text = "a flow that waits for the end of others at another host begins when its host can know, after the delay "
        yield text + "of a link; in htsim at once"
    if any("recv_done_trigger" in each for each in values):
        text = "recv_done_trigger fires as the last byte is received; uet-htsim's UEC, NDP and EQDS never fire it"
        yield text + ", so that there such chains stop"
    if any(each["size"] == 0 for each in values):
        yield f"size 0 is a flow without end: it has {ENDLESS:g} bytes, so that a trial needs duration_us"
    if any("prio" in each for each in values):
        yield "prio is left out: htsim's UEC does not use it"
    if not all("id" in each for each in values):
        yield "flows without id are numbered from 1 on; in htsim the id decides the way of a flow"


# --- writing


def connection_matrix(flows: FabricFlows, hosts: int, source: str) -> tuple[str, list[str]]:
    """Return flows as a connection matrix, and what of them is rounded.

    Raises:
        InputError: a flow that htsim's files have no words for; names it.
    """
    first = 1 - min(int(flows.id.min()), 1)
    _require_words(flows)
    triggers, fired, counts = _triggers(flows)
    lines = [f"# of {source}, by lcca", f"Nodes {hosts}", f"Connections {len(flows)}"]
    lines += [f"Triggers {len(counts)}"] if counts else []
    start_us = np.rint(flows.start_ns / 1000)
    for row in np.argsort(flows.id, kind="stable").tolist():
        words = [f"{flows.src[row]}->{flows.dst[row]} id {flows.id[row] + first}"]
        waits = flows.after[row] >= 0
        words += [f"trigger {triggers[int(flows.after[row])]}" if waits else f"start {start_us[row]:.0f}"]
        words += [f"size {flows.size_bytes[row]}"]
        words += [f"{key} {number}" for key, number in fired.get(row, ())]
        lines.append(" ".join(words))
    for number, count in sorted(counts.items()):
        lines.append(f"trigger id {number} " + (f"barrier count {count}" if count > 1 else "oneshot"))
    return "\n".join(lines) + "\n", list(_changed(flows, start_us, first))


def _require_words(flows: FabricFlows) -> None:
    checks = (
        (flows.size_bytes > LARGEST, f"htsim's sizes are at most {LARGEST:,} bytes; split the flow"),
        ((flows.after >= 0) & (flows.off_ns > 0), "htsim's flows cannot wait for a time after others; leave it out"),
    )
    for bad, text in checks:
        if bad.any():
            raise InputError(f"flow {flows.id[int(np.argmax(bad))]}: {text}")


def _triggers(flows: FabricFlows) -> tuple[dict[int, int], dict[int, list[tuple[str, int]]], dict[int, int]]:
    """Return the triggers of sets, what flows fire, and how many fire each."""
    keys = {moment: key for key, moment in FIRED.items()} | {"ended": "send_done_trigger"}
    order = np.argsort(flows.id, kind="stable")
    sets = [number for number in dict.fromkeys(flows.after[order].tolist()) if number >= 0]
    numbers = {each: place for place, each in enumerate(sets, 1)}
    fired: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for each, number in numbers.items():
        for row, moment in zip(flows.sets[each].flows.tolist(), flows.sets[each].moments(), strict=True):
            require(moment in keys, f"flow {flows.id[row]}: others wait for its start; in htsim only for its end")
            if any(key == keys[moment] for key, _ in fired[row]):
                raise InputError(f"flow {flows.id[row]}: two sets of flows wait for it; in htsim it fires one trigger")
            fired[row].append((keys[moment], number))
    return numbers, fired, {number: len(flows.sets[each].flows) for each, number in numbers.items()}


def _changed(flows: FabricFlows, start_us: np.ndarray, first: int) -> Iterator[str]:
    waits = flows.after >= 0
    off = np.where(waits, 0, np.abs(flows.start_ns - start_us * 1000))
    if off.any():
        yield f"{np.count_nonzero(off)} starts are rounded to whole µs, by at most {off.max():g} ns"
    if (late := start_us[~waits] >= 2**24).any():
        yield f"{np.count_nonzero(late)} starts are above 2^24 µs, which htsim rounds further"
    if (waits & (flows.start_ns > 0)).any():
        yield "flows that wait for others have no earliest start there"
    if any(map(len, (flows.path, flows.ack_path))) or flows.priority.any():
        yield "paths and priorities are left out: htsim's files have none"
    if first:
        yield "ids are one higher: htsim's begin at 1"
