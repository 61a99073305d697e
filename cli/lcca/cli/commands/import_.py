"""`lcca import`: files of other simulators become flows, links and a scenario; a .dna file of Remy or R+ a policy."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from pathlib import Path
from typing import Literal

from lcca.cli.options.common import print_answer
from lcca.inputs.errors import InputError, require
from lcca.inputs.numbers import real_or_nan
from lcca.inputs.options import argument, frozen, option

EXAMPLES = """\
  lcca import allreduce.cm leafspine.topo imported
  lcca import topology.txt flow.txt imported
  lcca import trace.0.et leafspine.topo groups=groups.json imported
  lcca import RemyCC-2014-100x.dna policy.json --pacing absolute
  lcca import trained.dna policy.json"""

OF_DNA = {"pacing": None, "int_signals": "smoothed", "link_interval": None}
"""Options of .dna files, with their defaults."""


def _interval_us(text: str) -> float:
    """Parse an interval."""
    value = real_or_nan(text)
    if not 0.001 <= value <= 1e9:
        raise InputError(f"{text[:60]}: must be µs, from 0.001 to 1e9")
    return value


@frozen
class Import:
    what: Sequence[str] = argument(
        "a .dna file; or files that go together, of htsim (.cm, .topo), HPCC (.txt: topology, flows, sizes), SimAI "
        "(.txt: topology, workload), GOAL (.goal) or Chakra (.et, of one rank), perhaps with KEY=VALUE: start=ps is "
        "the unit of starts in a .cm file (default: us); of Chakra are groups=FILE.json and algorithm=ring, "
        "halving-doubling or double-tree",
        name="FILE",
    )
    to: Path = argument("the policy.json, or the folder of flows.csv, links.csv and scenario.yaml", name="TO")
    _: KW_ONLY
    pacing: Literal["absolute", "relative"] | None = option("µs (Remy) or a multiple of the receive EWMA (R+)")
    int_signals: Literal["smoothed", "raw"] = option(
        "which queue and link signals the axes are (default: smoothed, as in R+)", "smoothed"
    )
    link_interval: float | None = option(
        "over which the link signal is collected (default: 10)", metavar="US", read=_interval_us
    )


def run(verb: Import, options: argparse.Namespace) -> int:
    paths = [each for each in verb.what if "=" not in each or Path(each).exists()]
    if verb.to.suffix == ".json":
        require(len(verb.what) == 1, f"{verb.to}: one .dna file becomes a policy; other files take a folder")
        return _policy(verb, options)
    for name, usual in OF_DNA.items():
        require(getattr(verb, name) == usual, f"--{name.replace('_', '-')}: is of .dna files; leave it out")
    return _scenario(verb, options, paths)


def _scenario(verb: Import, options: argparse.Namespace, paths: list[str]) -> int:
    from lcca.evaluation.fabric.formats.reading import read_all
    from lcca.evaluation.fabric.formats.written import write

    require(bool(paths), "name a file of another program, then the folder to write")
    settings = dict(each.partition("=")[::2] for each in verb.what if each not in paths)
    files, assumed = write(read_all(paths, settings), verb.to)
    lines = [*(f"wrote {file}" for file in files), *(f"assumed: {text}" for text in assumed)]
    return print_answer(options, {"files": [str(file) for file in files], "assumed": assumed}, lines)


def _policy(verb: Import, options: argparse.Namespace) -> int:
    from lcca.remy_plus.files import policyfile

    if verb.to.exists():
        raise InputError(f"{verb.to}: there already; remove it or choose another name")
    file = policyfile.load(verb.what[0], verb.pacing, verb.int_signals)
    asked = {} if verb.link_interval is None else {"link_interval_us": verb.link_interval}
    policyfile.write(verb.to, replace(file, provenance={**file.provenance, **asked}))
    notes = list(file.provenance.get("notes", ()))
    found = {"policy": str(verb.to), "signals": list(file.signals), "notes": notes}
    return print_answer(options, found, [f"wrote {verb.to}", *(f"note: {note}" for note in notes)])
