"""Flows, topologies and sizes as files of ours, and a scenario that has them."""

from __future__ import annotations

import copy
import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from lcca.evaluation.fabric.formats.converted import Converted, What
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically
from lcca.inputs.yaml_text import dump
from lcca.remy_plus.fabric.builders import DELAY_NS, GBPS
from lcca.remy_plus.fabric.flows import FabricFlows, FlowSet, Moment
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes

FILES: dict[type[What], str] = {FabricFlows: "flows.csv", FabricTopology: "links.csv", FlowSizes: "sizes.csv"}
"""By what is in them."""

PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "uet-htsim": {
        "preset": "uet-htsim",
        **{"payload_bytes": 4086, "overhead_bytes": 64, "mtu_bytes": 4200},
        "switch": {"pfc": False},
    },
    "hpcc-ns3": {"preset": "hpcc-ns3"},
}
"""Keys by which a scenario has the conventions of a simulator, as it is run unless told otherwise."""

ALONE_BYTES, LOAD, DURATION_US = 1_000_000, 0.5, 2000.0
"""Of the workload of a topology without flows, and of sizes without a load."""


def write(found: Sequence[Converted], folder: Path) -> tuple[list[Path], list[str]]:
    """Write the files of what was converted and `scenario.yaml`, which `lcca evaluate --on` runs.

    Returns:
        The files, and what had to be assumed.

    Raises:
        InputError: two of them hold the same, or the folder has such a file already.
    """
    kinds = Counter(FILES[type(each.what)] for each in found)
    for name in (*kinds, "scenario.yaml"):
        if kinds[name] > 1:
            raise InputError(f"{', '.join(each.source for each in found)}: {kinds[name]} of them make {name}; take one")
        if (folder / name).exists():
            raise InputError(f"{folder / name}: there already; remove it or choose another folder")
    content, assumed = scenario(found)
    texts = {FILES[type(each.what)]: _header([each]) + _table(each.what) for each in found}
    texts["scenario.yaml"] = _header(found) + dump(content)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in texts], [*(line for each in found for line in each.assumed), *assumed]


def scenario(found: Sequence[Converted], flows: str = "", links: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return a scenario with what was converted, as its file has it, and what was assumed beside.

    Args:
        found: what was converted.
        flows: the file of flows; `flows.csv` if left out.
        links: the file of links; `links.csv` if left out.
    """
    parts, assumed = {FILES[type(each.what)]: each for each in found}, list[str]()
    preset = next((each.preset for each in found if each.preset != "default"), "default")
    content: dict[str, Any] = {"name": Path(found[0].source).stem, **copy.deepcopy(PRESETS[preset])}
    if (topology := parts.get("links.csv")) is not None:
        own = {"links": links} if links else {"links": "links.csv", "hosts": topology.hosts}
        content["topology"] = {"kind": "file", **own}
    else:
        hosts = max(2, *(each.hosts for each in found))
        hosts = hosts if "flows.csv" in parts else 16
        content["topology"] = {"kind": "star", "hosts": hosts, "gbps": GBPS, "delay_ns": DELAY_NS}
        assumed.append(f"no topology: a star of {hosts} hosts at {GBPS:g} Gb/s, with {DELAY_NS:g} ns of each link")
    if (drawn := parts.get("flows.csv")) is not None and isinstance(drawn.what, FabricFlows):
        content["workload"] = {"kind": "trace", "flows": flows or "flows.csv", "over": usual_moment(drawn.what)}
        if (classes := int(drawn.what.priority.max()) + 1) > 1:
            content["switch"] = content.get("switch", {}) | {"priorities": classes}
    elif "sizes.csv" in parts:
        load = {"load": LOAD, "load_of": "host-links"}
        content |= {"workload": {"kind": "poisson", "sizes": "sizes.csv", **load}, "duration_us": DURATION_US}
        assumed.append(f"no flows: they come at random, at {LOAD:g} of the hosts' rate, for {DURATION_US:g} µs")
    else:
        content["workload"] = {"kind": "permutation", "bytes": ALONE_BYTES}
        assumed.append(f"no flows: every host sends {ALONE_BYTES:,} bytes to another one")
    return content, assumed


def _header(found: Iterable[Converted]) -> str:
    return f"# of {' and '.join(f'{each.source} ({each.form})' for each in found)}, by lcca import\n"


def _table(what: What) -> str:
    if isinstance(what, FabricTopology):
        rows: Iterable[Sequence[Any]] = zip(*(getattr(what, name).tolist() for name in _LINKS), strict=True)
        return _csv(_LINKS, rows)
    if isinstance(what, FlowSizes):
        return _csv(("bytes", "cumulative"), zip(what.packets, what.cumulative, strict=True))
    return flow_table(what)


_LINKS = ("a", "b", "gbps", "delay_ns")


def _csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([f"{int(x)}" if isinstance(x, float) and x.is_integer() else x for x in row] for row in rows)
    return stream.getvalue()


def usual_moment(flows: FabricFlows) -> Moment:
    """Return until when most flows are waited for, of the moments that a trace may have for all."""
    moments: Counter[Moment] = Counter(moment for each in flows.sets for moment in each.moments())
    return "acknowledged" if moments["acknowledged"] > moments["received"] else "received"


def flow_table(flows: FabricFlows) -> str:
    """Return flows as the CSV file of a trace; columns that say nothing are left out."""
    columns: dict[str, Sequence[Any]] = {
        name: getattr(flows, name).tolist() for name in ("id", "src", "dst", "size_bytes", "start_ns")
    }
    for name, says_nothing in (("priority", 0), ("job", -1), ("step", -1)):
        if (flows_have := getattr(flows, name)).max(initial=says_nothing) > says_nothing:
            columns[name] = flows_have.clip(min=0).tolist()
    if flows.waits:
        over = usual_moment(flows)
        texts = ["", *(_waited(flows, each, over) for each in flows.sets)]
        columns["after"] = [texts[number + 1] for number in flows.after.tolist()]
        columns |= {"delay_ns": flows.off_ns.tolist()} if flows.off_ns.any() else {}
    return _csv(list(columns), zip(*columns.values(), strict=True))


def _waited(flows: FabricFlows, waited: FlowSet, over: Moment) -> str:
    """Return the flows of a set as a cell has them, those with ids one after the other as a range."""
    moments = zip(flows.id[waited.flows].tolist(), waited.moments(), strict=True)
    words: list[str] = []
    for (_, moment), group in groupby(enumerate(sorted(moments)), key=lambda each: (each[1][0] - each[0], each[1][1])):
        ids = [id for _, (id, _) in group]
        words.append(f"{ids[0]}..{ids[-1]}" if len(ids) > 1 else f"{ids[0]}")
        words[-1] += "" if moment == over else f":{moment}"
    return " ".join(words)
