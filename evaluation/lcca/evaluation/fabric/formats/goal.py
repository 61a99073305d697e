"""GOAL in text: sends, receptions and computations of ranks, and which wait for which.

Read as by `txt2bin.re` of LogGOPSim @76451de and ATLAHS @8837294. A message goes to the reception with its source and
tag, in the order of the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.lines import Line, lines_of
from lcca.evaluation.fabric.formats.messages import Messages
from lcca.evaluation.fabric.formats.operations import Operation, Pairs, assumed, begin_all
from lcca.inputs.errors import about

OPTIONS = ("tag", "cpu", "nic")
VERBS = ("send", "recv", "calc")
WAITS = ("requires", "irequires")


@dataclass
class _Rank:
    """A rank's block.

    Attributes:
        line: where it begins.
        operations: in their order, and the line of each.
        lines: of each operation.
        labels: places of operations that have one.
    """

    line: Line
    operations: list[Operation] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def read_goal(path: str | os.PathLike[str]) -> Converted:
    """Read a schedule.

    Raises:
        InputError: naming file, line and word of what cannot be.
    """
    lines = _without_comments(lines_of(path, "//"))
    first = lines[0]
    if first.words[0] != "num_ranks":
        raise first.wrong(first.words[0], "must be num_ranks and their number; binary GOAL is not read, but its text")
    count, pairs = first.whole(1, "num_ranks", 2), Pairs()
    ranks = _ranks(lines[1:], count, pairs)
    messages, no_bytes = Messages(), list[int]()
    pairs.match(messages, no_bytes)
    for each in ranks.values():
        if (place := begin_all(each.operations, messages)) >= 0:
            raise each.lines[place].wrong(
                "requires", "this operation waits for itself, by way of others; break the circle"
            )
    if not len(messages.src):
        raise first.wrong("num_ranks", "no rank sends anything; is it the right file?")
    with about(path):
        flows, nearly = messages.flows()
    said = assumed([each.operations for each in ranks.values()], no_bytes, nearly)
    said.append("the times L, o, g, G and O of LogGOPS are those of the fabric and its hosts here")
    return Converted(Path(path).name, "GOAL", flows, count, assumed=tuple(said))


def _without_comments(lines: Sequence[Line]) -> list[Line]:
    """Return lines without what stands between `/*` and `*/`, and with braces and labels as words."""
    found, inside = list[Line](), False
    for line in lines:
        text, kept = " ".join(line.words), ""
        while text:
            part, mark, text = text.partition("*/" if inside else "/*")
            kept += "" if inside else part + " "
            inside = inside != bool(mark)
        words = re.sub(r"([{}])", r" \1 ", kept).replace(":", ": ").replace(" : ", ": ").split()
        found += [Line(line.path, line.number, words)] if words else []
    if inside or not found:
        raise lines[-1].wrong("/*", "is never closed; write */")
    return found


def _ranks(lines: Sequence[Line], count: int, pairs: Pairs) -> dict[int, _Rank]:
    ranks, current, number = dict[int, _Rank](), None, -1
    for line in lines:
        if line.words[0] == "rank" and current is None:
            number = line.whole(1, "rank", 0, count - 1)
            if line.words[2:] not in (["{"], ["{", "}"]):
                raise line.wrong("rank", f"must be: rank {number} {{")
            if number in ranks:
                raise line.wrong("rank", f"{number} stands in line {ranks[number].line.number} already")
            ranks[number] = _Rank(line)
            current = None if line.words[-1] == "}" else ranks[number]
        elif current is None:
            raise line.unknown(line.words[0], ("rank",))
        elif line.words == ["}"]:
            current = None
        else:
            _statement(line, number, count, current, pairs)
    if current is not None:
        raise current.line.wrong("rank", f"{number} has no end; write }} after its last statement")
    return ranks


def _statement(line: Line, rank: int, count: int, own: _Rank, pairs: Pairs) -> None:
    words = line.words
    if len(words) == 3 and words[1] in WAITS:
        one, other = (_labelled(line, word, own) for word in (words[0], words[2]))
        (own.operations[one].before if words[1] == "requires" else own.operations[one].begun).append(other)
        return
    if words[0].endswith(":"):
        label = words[0][:-1]
        if label in own.labels:
            raise line.wrong(label, f"stands in line {own.lines[own.labels[label]].number} already; take another label")
        own.labels[label] = len(own.operations)
        line = Line(line.path, line.number, words[1:])
    own.lines.append(line)
    own.operations.append(operation := Operation())
    verb = line.word(0, "statement")
    if verb == "calc":
        operation.ns = float(line.whole(1, "calc", 0, 10**15))
        _options(line, 2, ("cpu",))
    elif verb in VERBS:
        _message(line, verb, rank, count, operation, pairs)
    else:
        raise line.unknown(verb, (*VERBS, *WAITS))


def _labelled(line: Line, label: str, own: _Rank) -> int:
    if label not in own.labels:
        raise line.wrong(label, "is no label above; give a statement of this rank this label")
    return own.labels[label]


def _message(line: Line, verb: str, rank: int, count: int, operation: Operation, pairs: Pairs) -> None:
    size = line.word(1, verb)
    if not re.fullmatch(r"\d{1,16}b", size):
        raise line.wrong(verb, f"must be bytes such as 8b, found {size!r}")
    to = "to" if verb == "send" else "from"
    if line.word(2, verb) != to:
        raise line.unknown(line.words[2], (to,))
    if line.word(3, to) == "-1":
        raise line.wrong("from", "-1 is whoever sends first, which the fabric decides; name the rank")
    peer, tag = line.whole(3, to, 0, count - 1), _options(line, 4, OPTIONS)
    if peer == rank:
        raise line.wrong(to, "is this rank itself; name another one, or write calc")
    operation.acknowledged = verb == "send"
    if verb == "send":
        pairs.sent[rank, peer, tag].append((line, operation, int(size[:-1])))
    else:
        pairs.received[peer, rank, tag].append((line, operation))


def _options(line: Line, at: int, known: Sequence[str]) -> int:
    """Return the tag among what follows."""
    values = {"tag": 0}
    while at < len(line.words):
        if (key := line.words[at]) not in known:
            raise line.unknown(key, known)
        values[key] = line.whole(at + 1, key, 0, 2**63)
        at += 2
    return values["tag"]
