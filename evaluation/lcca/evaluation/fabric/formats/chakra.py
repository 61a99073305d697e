"""MLCommons Chakra's execution traces: computations, messages and collectives of ranks, a file `PREFIX.RANK.et` each.

Read as by `Workload.cc` of astra-sim @518bd51. Collectives become messages by the schedules of training jobs.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.execution_trace import (
    COLLECTIVE,
    METADATA,
    RECEIVE,
    SEND,
    Node,
    read_nodes,
)
from lcca.evaluation.fabric.formats.messages import Messages
from lcca.evaluation.fabric.formats.operations import Operation, Pairs, add_collective, assumed, begin_all
from lcca.evaluation.fabric.workload.collectives import schedules
from lcca.evaluation.fabric.workload.collectives.schedule import Schedule
from lcca.inputs.errors import InputError, about, require
from lcca.inputs.files import read_limited

ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 2, 6, 7, 9
KNOWN = {ALL_REDUCE: "all-reduce", ALL_GATHER: "all-gather", ALL_TO_ALL: "all-to-all", REDUCE_SCATTER: "reduce-scatter"}
ALGORITHMS = ("ring", "halving-doubling", "double-tree")
Group: TypeAlias = tuple[str, tuple[int, ...]]
"""Its name, and its ranks."""

_NAME = re.compile(r"(?P<prefix>.+)\.(?P<rank>\d+)\.et")


def family(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files of all ranks of a trace, of which one is named.

    Raises:
        InputError: the name has no rank, or a rank has no file.
    """
    named = _NAME.fullmatch(Path(path).name)
    if named is None:
        raise InputError(f"{os.fspath(path)}: must be named PREFIX.RANK.et, a file for each rank; name one of them")
    others = ((_NAME.fullmatch(each.name), each) for each in Path(path).parent.glob("*.et"))
    found = {int(own["rank"]): each for own, each in others if own and own["prefix"] == named["prefix"]}
    require(bool(found), f"{os.fspath(path)}: cannot be read: no such file")
    for rank in range(max(found) + 1):
        require(rank in found, f"{os.fspath(path)}: rank {rank} has no file beside it; put all ranks into one folder")
    return [found[rank] for rank in range(len(found))]


def read_chakra(path: str | os.PathLike[str], groups: str = "", algorithm: str = "ring") -> Converted:
    """Read a trace.

    Args:
        path: the file of one rank; those of the others are beside it.
        groups: JSON file with the ranks of each process group, `{"id": [ranks]}`.
        algorithm: of all-reduces.

    Raises:
        InputError: naming file, node and attribute of what cannot be.
    """
    files = family(path)
    require(len(files) > 1, f"{os.fspath(path)}: is the only rank; put the files of the others beside it")
    named = _groups(groups, len(files)) if groups else {}
    messages, pairs, no_bytes = Messages(), Pairs(), list[int]()
    ranks = [list(read_nodes(file)) for file in files]
    operations = [[Operation() for _ in own] for own in ranks]
    calls = defaultdict[Group, list[list[tuple[Node, Operation]]]](list)
    for rank, own in enumerate(ranks):
        at = {each.number: place for place, each in enumerate(own)}
        for each, operation in zip(own, operations[rank], strict=True):
            for other in each.before:
                if other not in at:
                    raise each.wrong("data_deps", f"node {other} is not in this file; write whole traces")
            operation.before = [at[other] for other in each.before]
            _take(each, operation, rank, len(files), pairs)
            if each.type == COLLECTIVE:
                group = _group(each, rank, len(files), named)
                calls[group] = calls[group] or [[] for _ in group[1]]
                calls[group][group[1].index(rank)].append((each, operation))
    pairs.match(messages, no_bytes)
    for (_, members), by_rank in calls.items():
        _expand(members, by_rank, messages, algorithm)
    for own, each_rank in zip(ranks, operations, strict=True):
        if (place := begin_all(each_rank, messages)) >= 0:
            raise own[place].wrong("data_deps", "waits for itself, by way of others; break the circle")
    require(bool(messages.src), f"{os.fspath(path)}: no rank sends anything; is it the right trace?")
    with about(path):
        flows, nearly = messages.flows()
    said = assumed(operations, no_bytes, nearly) + list(_assumed(ranks, algorithm))
    name = f"{Path(path).name} and those beside it"
    return Converted(name, "Chakra's traces", flows, len(files), assumed=tuple(said))


def _take(each: Node, operation: Operation, rank: int, count: int, pairs: Pairs) -> None:
    """Take what a node does by itself, and its message if it has one."""
    if each.type in (SEND, RECEIVE):
        usual = (rank, None) if each.type == SEND else (None, rank)
        src, dst = (each.count(f"comm_{end}", 0, own) for end, own in zip(("src", "dst"), usual, strict=True))
        if max(src, dst) >= count or src == dst or rank != (src if each.type == SEND else dst):
            key = "comm_dst" if each.type == SEND else "comm_src"
            raise each.wrong(key, f"{src} to {dst} cannot be at rank {rank} of {count}; name another rank's number")
        tag = each.count("comm_tag", 0, 0)
        operation.acknowledged = each.type == SEND
        if each.type == SEND:
            pairs.sent[src, dst, tag].append((each, operation, each.count("comm_size")))
        else:
            pairs.received[src, dst, tag].append((each, operation))
    elif each.type != COLLECTIVE and each.type != METADATA:
        operation.ns = each.micros * 1000.0


def _group(each: Node, rank: int, count: int, named: Mapping[str, tuple[int, ...]]) -> Group:
    name = str(each.attributes.get("pg_name", ""))
    dimensions = each.attributes.get("involved_dim", [])
    if not name and not (isinstance(dimensions, list) and all(dimensions)):
        raise each.wrong("involved_dim", "is of some dimensions only; write pg_name, and say groups=FILE.json")
    if not name:
        return name, tuple(range(count))
    if name not in named:
        text = f"group {name!r} is in no file of groups; say groups=FILE.json with " + '{"id": [ranks]}'
        raise each.wrong("pg_name", text)
    if rank not in named[name]:
        raise each.wrong("pg_name", f"rank {rank} is not in group {name!r}; mend the file of groups")
    return name, named[name]


def _groups(path: str, count: int) -> dict[str, tuple[int, ...]]:
    try:
        content = json.loads(read_limited(path))
    except ValueError as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    require(isinstance(content, dict), f'{path}: must be {{"id": [ranks]}}')
    for name, ranks in content.items():
        fits = isinstance(ranks, list) and len(ranks) > 1 and len(set(map(str, ranks))) == len(ranks)
        fits = fits and all(type(each) is int and 0 <= each < count for each in ranks)
        require(fits, f"{path}: {name}: must be a list of two or more ranks from 0 to {count - 1}, each once")
    return {name: tuple(ranks) for name, ranks in content.items()}


def _expand(
    group: tuple[int, ...], by_rank: Sequence[Sequence[tuple[Node, Operation]]], messages: Messages, algorithm: str
) -> None:
    """Add the messages of the collectives of a group: the first of each rank is one, and so on."""
    count = max(map(len, by_rank))
    for rank, own in zip(group, by_rank, strict=True):
        if len(own) < count:
            other = next(each for each in by_rank if len(each) == count)[len(own)][0]
            raise other.wrong("", f"is a collective that rank {rank} of its group does not have; write whole traces")
    for step, calls in enumerate(zip(*by_rank, strict=True)):
        nodes, operations = zip(*calls, strict=True)
        alike = [_kind_and_size(each) for each in nodes]
        for each, found in zip(nodes, alike, strict=True):
            if found != alike[0]:
                text = f"or of another size than node {nodes[0].number} of rank {group[0]}; write whole traces"
                raise each.wrong("comm_size", f"is another collective, {text}")
        schedule = _schedule(nodes[0], *alike[0], len(group), algorithm)
        add_collective(group, operations, schedule, messages, step)


def _kind_and_size(each: Node) -> tuple[int, int]:
    kind = each.count("comm_type")
    return kind, 1 if kind == BARRIER else each.count("comm_size", 1)


def _schedule(each: Node, kind: int, size: int, ranks: int, algorithm: str) -> Schedule:
    if kind == ALL_REDUCE and algorithm == "halving-doubling":
        if ranks & (ranks - 1):
            raise each.wrong("comm_type", f"halving-doubling needs a power of two of ranks, not {ranks}; say ring")
        return schedules.halving_doubling(ranks, size)
    if kind == ALL_REDUCE:
        ring = algorithm == "ring"
        return schedules.ring(ranks, size, 2 * (ranks - 1)) if ring else schedules.double_tree(ranks, size)
    if kind in (ALL_GATHER, REDUCE_SCATTER):
        return schedules.ring(ranks, size * (ranks if kind == ALL_GATHER else 1), ranks - 1)
    if kind in (ALL_TO_ALL, BARRIER):
        return schedules.all_to_all(ranks, np.full((ranks, ranks), max(size // ranks, 1)))
    text = (
        f"{kind} is none of {', '.join(f'{number} ({name})' for number, name in KNOWN.items())} and {BARRIER} (barrier)"
    )
    raise each.wrong("comm_type", f"{text}; write it as sends and receptions")


def _assumed(ranks: Sequence[Sequence[Node]], algorithm: str) -> Iterator[str]:
    nodes = [each for own in ranks for each in own]
    kinds = {each.attributes.get("comm_type") for each in nodes if each.type == COLLECTIVE}
    if ALL_REDUCE in kinds:
        yield f"all-reduces are of algorithm={algorithm}; a rank ends a collective once it has received all of it"
    if kinds & {ALL_GATHER, REDUCE_SCATTER}:
        yield "all-gathers and reduce-scatters are rings; comm_size is what a rank has before"
    if ALL_TO_ALL in kinds:
        yield "all-to-alls send comm_size / ranks to each rank, the next ones first"
    if BARRIER in kinds:
        yield "barriers are one byte from each rank to each"
    if idle := sum(not each.micros and bool(each.attributes.get("num_ops")) for each in nodes):
        yield f"{idle} computations have num_ops and no duration_micros: they take no time"
