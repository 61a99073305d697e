"""Text files of HPCC's ns-3 simulator and of those made from it: topologies, flows, sizes of flows, completion times.

Read as by `third.cc` of High-Precision-Congestion-Control @9f4be2a and ns3-datacenter @6ddb4a4, by
`network-load-balance.cc` of conweave-ns3 @236a801 (flows without a port), and by SimAI @cef83f9d (topologies whose
first line has servers and NVSwitches).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lcca.evaluation.fabric.formats.converted import Converted
from lcca.evaluation.fabric.formats.lines import Line, lines_of
from lcca.evaluation.fabric.formats.messages import Messages, Ready
from lcca.evaluation.fabric.formats.tiers import topology_of
from lcca.inputs.errors import about
from lcca.remy_plus.fabric.topology import Link
from lcca.remy_plus.workload import FlowSizes

if TYPE_CHECKING:
    import pandas as pd

PRESET = "hpcc-ns3"
PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
NS = {"": 1e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "ps": 1e-3}
_RATE = re.compile(r"([0-9.eE+-]+?)(?:([kKMG]?i?)([bB])(?:ps|/s))?")
_TIME = re.compile(r"\+?([0-9.eE+-]+?)(s|ms|us|ns|ps)?")
LARGEST = 1e12
"""Bytes that no size in a table reaches."""

USUAL_START_NS = 2 * 10**9
"""When the first flows of HPCC's generators start."""


def read_hpcc(path: str | os.PathLike[str]) -> Converted:
    """Read a file of flows, of a topology or of sizes: which it is, the number of words in its first line says.

    Raises:
        InputError: naming file, line and word of what cannot be.
    """
    lines = lines_of(path)
    readers = {1: _flows, 2: _sizes, 3: _topology, 6: _topology}
    if (count := len(lines[0].words)) not in readers:
        text = f"has {count} words: HPCC's flows begin with their number, topologies with nodes, switches and links, "
        text += "sizes with bytes and per cent, SimAI's workloads with a policy"
        raise lines[0].wrong("", f"{text}; is it the right file?")
    return readers[count](Path(path), lines)


def _flows(path: Path, lines: Sequence[Line]) -> Converted:
    count, rows = lines[0].whole(0, "number of flows", 1), lines[1:]
    found = list(_while_numbers(rows, count))
    assumed = []
    if len(found) < count:
        if len(rows) > len(found):
            raise rows[len(found)].wrong("", "is no flow; write: src dst priority port bytes start, or mend line 1")
        assumed.append(f"line 1 counts {count} flows and there are {len(found)}: all are taken")
    elif more := len(list(_while_numbers(rows[count:]))):
        text = f"line 1 counts {count} flows, and the {more} after them are left out, as HPCC does"
        assumed.append(f"{text}; for all write {count + more} there")
    if not found:
        raise lines[0].wrong("", "no flow follows; write: src dst priority port bytes start")
    width = len(found[0].words)
    if width not in (5, 6):
        raise found[0].wrong("", f"has {width} columns; write: src dst priority port bytes start, or leave out port")
    for line in found:
        if len(line.words) != width:
            raise line.wrong("", f"has {len(line.words)} columns and line {found[0].number} {width}; write as many")
    starts = [_start_ns(line, width) for line in found]
    off = USUAL_START_NS if min(starts) >= USUAL_START_NS else 0
    messages, classes, hosts = Messages(), list[int](), 0
    for line, start in zip(found, starts, strict=True):
        src, dst = line.whole(0, "src"), line.whole(1, "dst")
        if src == dst:
            raise line.wrong("dst", f"{dst} is the sender; name another host")
        messages.add(src, dst, line.whole(width - 2, "bytes", 1, 2**53), Ready(float(start - off)))
        classes.append(line.whole(2, "priority", 0, 7))
        hosts = max(hosts, src + 1, dst + 1)
    several = sorted(set(classes)) if len(set(classes)) > 1 else []
    priority = [several.index(each) for each in classes] if several else []
    flows, _ = messages.flows(priority=priority)
    assumed += _assumed_of_flows(starts, off, several, classes[0], width)
    return Converted(path.name, "HPCC's flows", flows, hosts, PRESET, assumed=tuple(assumed))


def _while_numbers(lines: Sequence[Line], count: int | None = None) -> Iterator[Line]:
    """Yield at most so many lines, until one that does not begin with a number: what follows is a description."""
    for line in lines[:count]:
        if not re.fullmatch(r"[0-9.+-].*", line.words[0]) or len(line.words) == 1:
            return
        yield line


def _start_ns(line: Line, width: int) -> Decimal:
    line.real(width - 1, "start")
    return Decimal(line.words[width - 1]) * 10**9


def _assumed_of_flows(
    starts: Sequence[Decimal], off: int, several: Sequence[int], only: int, width: int
) -> Iterator[str]:
    if off:
        yield "starts are 2 s earlier, which HPCC's generators add"
    if any(later < earlier for earlier, later in pairwise(starts)):
        yield "flows are sorted by their starts; HPCC starts one that is late at once"
    if several:
        yield f"priorities {', '.join(map(str, several))} are classes 0 to {len(several) - 1}, of which 0 goes first"
    else:
        yield f"the priority of all flows, {only}, is left out"
    if width == 6:
        yield "ports are left out: which way a flow takes is drawn anew"


def _topology(path: Path, lines: Sequence[Line]) -> Converted:
    head, simai = lines[0], len(lines[0].words) == 6
    nodes = head.whole(0, "nodes", 3)
    own, links = (head.whole(2, "NVSwitches") if simai else 0, head.whole(4 if simai else 2, "links", 1))
    switches = own + head.whole(3 if simai else 1, "switches", 0 if own else 1)
    if len(lines) < 2 or len(lines[1].words) != switches:
        raise (lines[1] if len(lines) > 1 else head).wrong("switches", f"line 2 must have the {switches} switches' ids")
    ids = [lines[1].whole(at, "switches", 0, nodes - 1) for at in range(switches)]
    if len(set(ids)) < switches:
        raise lines[1].wrong("switches", "one stands there twice; name each once")
    hosts = [node for node in range(nodes) if node not in set(ids)]
    numbers = {node: place for place, node in enumerate([*hosts, *ids])}
    found, rows = dict[tuple[int, int], Link](), lines[2:]
    if len(rows) < links:
        raise head.wrong("links", f"{links} links are counted, and {len(rows)} follow; write {len(rows)}, or add some")
    parallel = 0
    for line in rows[:links]:
        a, b, gbps, delay_ns = link = _link(line, numbers)
        before = found.setdefault((min(a, b), max(a, b)), link)
        if before is not link:
            if before[3] != delay_ns:
                raise line.wrong("", "is a second link between these nodes, of another delay; leave one out")
            parallel, found[min(a, b), max(a, b)] = parallel + 1, (a, b, before[2] + gbps, delay_ns)
    with about(path):
        topology = topology_of(len(hosts), switches, list(found.values()))
    assumed = [f"{parallel} links beside others are one with them, at their rate together"] if parallel else []
    if (more := len([each for each in rows[links:] if len(each.words) == 5 and each.words[0].isdigit()])) > 0:
        assumed.append(f"line 1 counts {links} links, and the {more} after them are left out, as HPCC does")
    renumbered = {} if all(node == place for node, place in numbers.items()) else numbers
    if renumbered:
        assumed.append("hosts have the first numbers, in their order, and switches those after them")
    if simai:
        assumed.append("NVSwitches are switches of the fabric: GPUs of a server reach each other over them")
    form = f"{'SimAI' if simai else 'HPCC'}'s topology"
    return Converted(path.name, form, topology, len(hosts), PRESET, renumbered, tuple(assumed))


def _link(line: Line, numbers: Mapping[int, int]) -> Link:
    if len(line.words) != 5:
        raise line.wrong("", f"has {len(line.words)} columns; write a link: a b rate delay error_rate")
    a, b = (numbers[line.whole(at, key, 0, len(numbers) - 1)] for at, key in enumerate(("a", "b")))
    if a == b:
        raise line.wrong("b", "is the same node; name the other end")
    rate, delay = _RATE.fullmatch(line.words[2]), _TIME.fullmatch(line.words[3])
    if rate is None or (rate[2] or "") not in PREFIXES:
        raise line.wrong("rate", f"must be one of ns-3, such as 100Gbps or 1e11, found {line.words[2]!r}")
    if delay is None:
        raise line.wrong("delay", f"must be one of ns-3, such as 1us or 0.001ms, found {line.words[3]!r}")
    numbers_of = Line(line.path, line.number, (rate[1], delay[1]))
    bits = numbers_of.real(0, "rate") * PREFIXES[rate[2] or ""] * (8 if rate[3] == "B" else 1)
    delay_ns = numbers_of.real(1, "delay") * NS[delay[2] or ""]
    if not bits or not delay_ns:
        raise line.wrong("delay" if bits else "rate", "must be above 0")
    if line.real(4, "error_rate"):
        raise line.wrong("error_rate", "must be 0: links lose nothing here")
    return a, b, bits / 1e9, round(delay_ns, 6)


def _sizes(path: Path, lines: Sequence[Line]) -> Converted:
    bytes_, shares = list[float](), list[float]()
    whole = lines[-1].real(1, "per cent")
    for line in lines:
        if len(line.words) != 2:
            raise line.wrong("", f"has {len(line.words)} columns; write bytes and the per cent of flows up to them")
        bytes_.append(line.real(0, "bytes"))
        shares.append(line.real(1, "per cent"))
        if len(shares) > 1 and (bytes_[-1] < bytes_[-2] or shares[-1] < shares[-2]):
            raise line.wrong("", "is below the line before it; neither bytes nor per cents may fall")
    if shares[0]:
        raise lines[0].wrong("per cent", f"must begin at 0, not at {shares[0]:g}; put a line with 0 before it")
    if whole not in (1, 100):
        raise lines[-1].wrong("per cent", f"must end at 100, or at 1, not at {whole:g}")
    if not 0 < bytes_[-1] < LARGEST:
        raise lines[-1].wrong("bytes", f"must end above 0 and below {LARGEST:g}, not at {bytes_[-1]:g}")
    sizes = FlowSizes(path.stem, tuple(bytes_), tuple(each / whole for each in shares))
    return Converted(path.name, "HPCC's sizes of flows", sizes, preset=PRESET)


# --- writing


def completion_times(flows: pd.DataFrame) -> dict[str, str]:
    """Return HPCC's file of completion times for each policy and trial of a run, by its name.

    A line has sender and receiver as addresses in hexadecimal digits, their ports, bytes, start, completion time and
    ideal one in ns, in the order in which flows end; those that did not end are left out.
    """
    texts = {}
    for (policy, seed), own in flows.groupby(["policy", "seed"], sort=False):
        done = own[np.isfinite(own["fct_ns"])]
        done = done.iloc[np.argsort(done["start_ns"] + done["fct_ns"], kind="stable")]
        used: Counter[tuple[int, int]] = Counter()
        lines = []
        for row in done.itertuples(index=False):
            src, dst = int(row.src), int(row.dst)
            ns = " ".join(f"{round(each)}" for each in (row.size_bytes, row.start_ns, row.fct_ns, row.ideal_ns))
            lines.append(f"{_address(src):08x} {_address(dst):08x} {10000 + used[src, dst]} 100 {ns}\n")
            used[src, dst] += 1
        texts[f"fct-{re.sub(r'[^A-Za-z0-9._=-]', '_', str(policy))}-{seed}.txt"] = "".join(lines)
    return texts


def _address(node: int) -> int:
    return 0x0B000001 + (node // 256 << 16) + (node % 256 << 8)
