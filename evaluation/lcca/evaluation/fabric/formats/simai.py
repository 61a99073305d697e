"""SimAI's workloads in text: layers of a model, with a computation and a collective for each of three passes.

Read as by `Workload.cc` of SimAI @cef83f9d; the groups of ranks are those of its `MockNcclGroup.cc`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.lines import Line, lines_of
from lcca.evaluation.fabric.formats.messages import Messages
from lcca.evaluation.fabric.formats.operations import Operation, add_collective, begin_all
from lcca.evaluation.fabric.workload.collectives import schedules
from lcca.evaluation.fabric.workload.collectives.schedule import Schedule
from lcca.inputs.errors import about
from lcca.inputs.files import read_limited

POLICIES = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
TP, EP, GPUS = SIZES = ("model_parallel_NPU_group", "ep", "all_gpus")
PIPELINE = ("pp", "vpp", "ga", "pp_comm")
LISTS = ("checkpoints", "checkpoint_initiates")
PASSES = ("forward", "input gradient", "weight gradient")
KINDS = ("ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL")
NAMES = ("NONE", *(kind + suffix for kind in KINDS for suffix in ("", "_EP", "_DP_EP")))
WIDTH = 12
MOST_MESSAGES = 1_000_000

Groups: TypeAlias = Mapping[str, Sequence[Sequence[int]]]
"""The ranks of each group, by the kind of group."""


class _Phase(NamedTuple):
    """A layer's computation in a pass, and the collective after it."""

    ns: int
    kind: str
    group: str
    size: int
    blocking: bool


def is_workload(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a workload: it begins with a policy, in capitals.

    Raises:
        InputError: it cannot be read.
    """
    return re.match(rb"(\xef\xbb\xbf)?\s*[A-Z_]{4,}\s", read_limited(path)) is not None


def read_simai(path: str | os.PathLike[str]) -> Converted:
    """Read a workload.

    Raises:
        InputError: naming file, line and word of what cannot be.
    """
    lines = lines_of(path)
    head, rows = _head(lines[0]), lines[2:]
    if len(lines) < 2 or len(lines[1].words) > 1:
        raise lines[min(1, len(lines) - 1)].wrong("", "line 2 must be the number of layers; write it, then a line each")
    count = lines[1].whole(0, "number of layers", 1)
    if len(rows) < count:
        raise lines[1].wrong("number of layers", f"{count} are counted, and {len(rows)} follow; write {len(rows)}")
    layers = [_layer(line) for line in rows[:count]]
    phases = [forward for forward, *_ in layers] + [back for layer in reversed(layers) for back in layer[1:]]
    groups, ranks = _groups(*_sizes(lines[0], head)), head[GPUS]
    steps = sum(_steps(each, groups) for each in phases)
    if not 0 < steps * ranks <= MOST_MESSAGES:
        text = f"send {steps * ranks:,} messages, and from 1 to {MOST_MESSAGES:,} can be read"
        raise lines[1].wrong("layers", f"{text}; take other ones, or write a workload of kind job")
    messages, idle = _messages(phases, groups, ranks)
    with about(path):
        flows, _ = messages.flows()
    said = [*_assumed(head, phases, idle)]
    if more := len(rows) - count:
        said.append(f"line 2 counts {count} layers, and {more} lines after them are left out, as SimAI does")
    return Converted(Path(path).name, "SimAI's workload", flows, ranks, "hpcc-ns3", assumed=tuple(said))


def _head(line: Line) -> dict[str, int]:
    """Return the numbers of the first line, of `LISTS` how many layers they name."""
    if line.words[0] not in POLICIES:
        raise line.unknown(line.words[0], POLICIES)
    found, at, known = dict[str, int](), 1, (*SIZES, *PIPELINE, *LISTS)
    while at < len(line.words):
        key = line.words[at].removesuffix(":")
        if key not in known or line.words[at] == key != "pp_comm":
            raise line.unknown(line.words[at], [f"{each}:" for each in known])
        if key in found:
            raise line.wrong(key, "stands there twice; leave one out")
        if key == "pp_comm":
            found[key] = int(line.real(at + 1, key))  # some write 8388608.0
        else:
            found[key] = line.whole(at + 1, key, 0 if key in LISTS else 1, MOST_MESSAGES)
        named = range(at + 2, at + 2 + (found[key] if key in LISTS else 0))
        for layer in named[: len(line.words)]:
            line.whole(layer, key)
        at = named.stop
    return found


def _sizes(line: Line, found: Mapping[str, int]) -> list[int]:
    """Return those of `SIZES`, which go together."""
    for key in SIZES:
        if key not in found:
            raise line.wrong(key, f"is missing; write {key}: and a number")
    for key, whole, words in ((TP, found[GPUS], GPUS), (EP, found[GPUS] // found[TP], f"{GPUS} / {TP}")):
        if whole % found[key]:
            raise line.wrong(key, f"must divide {words}, {whole}, got {found[key]}")
    return [found[key] for key in SIZES]


def _layer(line: Line) -> list[_Phase]:
    if len(line.words) != WIDTH:
        columns = "name dependency, then ns COLLECTIVE bytes of each of three passes, then ns of the update"
        raise line.wrong("", f"has {len(line.words)} columns; write {WIDTH}: {columns}")
    line.whole(1, "dependency", -1)
    line.whole(WIDTH - 1, "update", 0, 2**53)
    found = []
    for number, name in enumerate(PASSES):
        at = 2 + 3 * number
        ns, size = line.whole(at, f"{name} ns", 0, 10**15), line.whole(at + 2, f"{name} bytes", 0, 2**53)
        if (word := line.words[at + 1]) not in NAMES:
            raise line.unknown(word, NAMES)
        kind, _, group = word.partition("_")
        usual = "DP" if number == 2 else "TP"
        found.append(_Phase(ns, kind, group or usual, 0 if kind == "NONE" else size, number < 2))
    return found


def _groups(tp: int, ep: int, ranks: int) -> Groups:
    """Return the groups of ranks: next to each other, the rails of these, and `ep` next ones of each rail."""
    rails = [range(rail, ranks, tp) for rail in range(tp)]
    experts = [rail[first : first + ep] for rail in rails for first in range(0, len(rail), ep)]
    same = [rail[first::ep] for rail in rails for first in range(ep)]
    return {"TP": [range(at, at + tp) for at in range(0, ranks, tp)], "DP": rails, "EP": experts, "DP_EP": same}


def _steps(phase: _Phase, groups: Groups) -> int:
    """Return how many messages a rank sends in a phase."""
    others = len(groups[phase.group][0]) - 1 if phase.size else 0
    return others * (2 if phase.kind == "ALLREDUCE" else 1)


def _schedule(kind: str, ranks: int, size: int) -> Schedule:
    if kind == "ALLTOALL":
        return schedules.all_to_all(ranks, np.full((ranks, ranks), max(size // ranks, 1)))
    return schedules.ring(ranks, size, (ranks - 1) * (2 if kind == "ALLREDUCE" else 1))


def _messages(phases: Sequence[_Phase], groups: Groups, ranks: int) -> tuple[Messages, int]:
    """Return the messages of all phases, one after the other, and how many ns ranks compute after the last ones."""
    messages, operations = Messages(), [[Operation()] for _ in range(ranks)]
    awaited, ns, step = 0, 0, 0
    for phase in phases:
        ns += phase.ns
        if not _steps(phase, groups):
            continue
        computed = len(operations[0])
        for own in operations:
            own += [Operation([awaited], ns=float(ns)), Operation([computed])]
        schedule = _schedule(phase.kind, len(groups[phase.group][0]), phase.size)
        for members in groups[phase.group]:
            add_collective(members, [operations[rank][-1] for rank in members], schedule, messages, step)
        awaited, ns, step = computed + phase.blocking, 0, step + 1
    for own in operations:
        begin_all(own, messages)
    return messages, ns


def _assumed(head: Mapping[str, int], phases: Sequence[_Phase], idle: int) -> Iterator[str]:
    yield "GPU r is host r; one pass: all layers forward, then back; a rank ends a collective as it has received all"
    yield "collectives are rings over ranks in their order, with one channel, but for all-to-alls, next ranks first"
    if any(each.size and not each.blocking for each in phases):
        yield "collectives of weight gradients go on beside what follows, all at once"
    yield "times of updates and dependencies are left out: they come before a next pass"
    if head.get("pp", 1) > 1:
        yield "pp, vpp, ga and pp_comm are left out: with ns-3, SimAI has no stages either, and groups among all GPUs"
    if any(head.get(key) for key in LISTS):
        yield "checkpoints are left out: SimAI computes nothing again for them, either"
    if idle:
        yield f"computations after the last messages, of {idle:,} ns, are left out"
