"""`lcca show`: print a policy, signals, signal sets, headers, utilities, transports, markers, tuners, a space or a run.

Each kind of thing imports what it needs when it is asked for, so that `lcca show signals` answers at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lcca.cli.options.common import print_answer, print_json
from lcca.inputs.errors import require
from lcca.inputs.options import argument, frozen, option

if TYPE_CHECKING:
    from lcca.evaluation.scenarios.networks import NetworkSpace
    from lcca.remy_plus.switches.knobs import Knob
    from lcca.signal_sets.registry import Signal

EXAMPLES = """\
  lcca show policy results/quickstart/*/policies/e2e.default.s1.json
  lcca show policy RemyCC-2014-100x.dna
  lcca show signal-sets
  lcca show signal-set link+queue
  lcca show signal queue
  lcca show headers
  lcca show header csig-compact-abw --json
  lcca show utilities
  lcca show transports
  lcca show markers
  lcca show tuners
  lcca show networks configs/networks/default.yaml
  lcca show run results/quickstart/*/"""


def _policy(options: argparse.Namespace) -> int:
    """A policy file or a named baseline, rule by rule."""
    from lcca.remy_plus.files import policyfile
    from lcca.remy_plus.files.text import describe

    file = policyfile.load(options.name)
    content = json.loads(policyfile.dumps(file)) if options.json else None  # a class in Python has none
    return print_answer(options, content, describe(file))


def _signals(options: argparse.Namespace) -> int:
    """All signals."""
    from lcca.signal_sets.registry import SIGNALS

    words = (f"{name:24} {s.source:12} {s.unit or '-':11} {s.doc.splitlines()[0]}" for name, s in SIGNALS.items())
    return print_answer(options, [_signal_content(found) for found in SIGNALS.values()], words)


def _signal(options: argparse.Namespace) -> int:
    """One signal."""
    from lcca.signal_sets.registry import signal

    found = _signal_content(signal(options.name))
    return print_answer(options, found, (f"{key}: {value}" for key, value in found.items()))


def _signal_content(s: Signal) -> dict[str, Any]:
    return {
        "name": s.name,
        "source": s.source,
        "smoothing": s.smoothing,
        "unit": s.unit,
        "range": list(s.range),
        "header_bits": s.header_bits,
        "doc": s.doc,
    }


def _signal_sets(options: argparse.Namespace) -> int:
    """All packaged signal sets."""
    from lcca.signal_sets.signal_set import packaged_sets

    found = packaged_sets()
    words = (f"{name:22} {', '.join(each.signals)}" for name, each in found.items())
    return print_answer(options, [each.model_dump(mode="json") for each in found.values()], words)


def _signal_set(options: argparse.Namespace) -> int:
    """One signal set, packaged or a YAML file."""
    from lcca.signal_sets.signal_set import signal_set

    found = signal_set(options.name)
    rows = (f"  {m.name:24} {m.source:12} {m.unit or '-':11} {m.doc.splitlines()[0]}" for m in found.members)
    words = [f"{found.name}: {found.title}\n{found.doc}".rstrip(), *rows]
    return print_answer(options, found.model_dump(mode="json") | {"header_bits": found.header_bits}, words)


def _headers(options: argparse.Namespace) -> int:
    """All headers of the catalogue."""
    from lcca.signal_sets.headers import text
    from lcca.signal_sets.headers.header import packaged_headers

    found = packaged_headers().values()
    return print_answer(options, [text.content(each) for each in found], map(text.summary, found))


def _header(options: argparse.Namespace) -> int:
    """One header, of the catalogue or a YAML file: its bytes and bits."""
    from lcca.signal_sets.headers import text
    from lcca.signal_sets.headers.header import header

    found = header(options.name)
    return print_answer(options, text.content(found), text.describe(found))


def _utilities(options: argparse.Namespace) -> int:
    """All utilities."""
    from lcca.evaluation.report.words.headline import score_explained
    from lcca.evaluation.trials.utilities import UTILITIES

    explained = {name: score_explained({name: each}) for name, each in UTILITIES.items()}
    words = (f"{name:20} {each.removeprefix('Score in bits: ')}" for name, each in explained.items())
    return print_answer(options, [{"name": name} | each.content() for name, each in UTILITIES.items()], words)


def _transports(options: argparse.Namespace) -> int:
    """All transports of fabrics and their parameters at hosts of 100 Gb/s."""
    from dataclasses import asdict

    from lcca.remy_plus.switches.transports import TRANSPORTS

    def own(name: str) -> dict[str, Any]:
        marker = TRANSPORTS[name].marker
        return {"settings": dict(TRANSPORTS[name].settings), "marker": marker and asdict(marker)}

    return _with_knobs(options, TRANSPORTS, own)


def _markers(options: argparse.Namespace) -> int:
    """All markers of fabrics' switches (ECN) and their parameters at ports of 100 Gb/s."""
    from lcca.remy_plus.switches.markers import MARKERS

    return _with_knobs(options, MARKERS, lambda name: {})


def _tuners(options: argparse.Namespace) -> int:
    """All tuners of a fabric's switches and hosts and their parameters."""
    from lcca.remy_plus.tuners.registry import TUNERS

    return _with_knobs(options, TUNERS, lambda name: {})


class _Kind(Protocol):
    @property
    def source(self) -> str: ...

    @property
    def knobs(self) -> Mapping[str, Knob]: ...


def _with_knobs(options: argparse.Namespace, kinds: Mapping[str, _Kind], own: Callable[[str], dict[str, Any]]) -> int:
    """Print kinds of things with their sources and parameters; as JSON also what else belongs to each."""
    from dataclasses import asdict

    if options.json:
        parameters = {name: {key: asdict(knob) for key, knob in kind.knobs.items()} for name, kind in kinds.items()}
        rows = {name: {"source": kind.source, "parameters": parameters[name]} for name, kind in kinds.items()}
        print_json([{"name": name} | row | own(name) for name, row in rows.items()])
        return 0
    for name, kind in kinds.items():
        print(f"{name}: {kind.source}")
        for key, knob in kind.knobs.items():
            print(f"  {key:18} {knob.default:8g} {knob.unit + (' ∝ rate' if knob.by_rate else ''):24} {knob.meaning}")
    return 0


def _networks(options: argparse.Namespace) -> int:
    """A network space, with the number of its networks, or several."""
    from lcca.evaluation.scenarios.networks import NetworkSpace
    from lcca.evaluation.scenarios.spaces import NetworkSpaces
    from lcca.experiments.places import space_of

    found = space_of(options.name)
    require(isinstance(found, NetworkSpace | NetworkSpaces), f"{options.name}: this is no network space")
    if options.json:
        size = {"size": found.size} if isinstance(found, NetworkSpace) else {}
        print_json(found.model_dump(mode="json") | size)
        return 0
    for part in found.parts if isinstance(found, NetworkSpaces) else ():
        listed = "" if isinstance(part.source, NetworkSpace) else f": a list of {len(part.source):,} networks"
        print(f"{part.title}, weight {part.weight}{listed}")
        if isinstance(part.source, NetworkSpace):
            _print_space(part.source)
    if isinstance(found, NetworkSpace):
        _print_space(found)
    return 0


def _print_space(space: NetworkSpace) -> None:
    from lcca.evaluation.scenarios.networks import PARAMETERS

    content = space.model_dump(mode="json")
    size = space.packet_bytes
    units = {name: "µs" for name in ("rtt", "mean_on", "mean_off", "jitter")} | {
        "link_rate": "packets/µs",
        "buffer": "packets",
    }
    if space.switched == "bytes":
        units["mean_on"] = "packets"
    for name in (each for each in PARAMETERS if each in content):
        print(f"{name:10} {_levels(content[name])} {units.get(name, '')}".rstrip() + _in_bytes(name, content, size))
    print(f"{'switched':10} {space.switched}\n{'duration':10} {space.duration:g} µs")
    print(f"{'topology':10} {space.topology}\n{space.size:,} networks; in brackets for packets of {size:,} bytes")


def _in_bytes(name: str, content: dict[str, Any], packet_bytes: int) -> str:
    """Return what a link's rate is in Gb/s, and a buffer in kB; nothing for the others."""
    factors = {"link_rate": (packet_bytes * 8e-3, "Gb/s"), "buffer": (packet_bytes * 1e-3, "kB")}
    value = content[name]
    if name not in factors or isinstance(value, str):
        return ""
    factor, unit = factors[name]
    scaled = (
        {k: v if k == "levels" else v * factor for k, v in value.items()} if isinstance(value, dict) else value * factor
    )
    return f" ({_levels(scaled)} {unit})"


def _levels(content: Any) -> str:
    if not isinstance(content, dict):
        return f"{content:g}" if isinstance(content, float) else str(content)
    spaced = f"by {content['step']:g}" if "step" in content else f"in {content['levels']:,} levels by factors"
    return f"{content['min']:g} to {content['max']:g} {spaced}"


def _run(options: argparse.Namespace) -> int:
    """A run's policies and verdicts."""
    from lcca.cli.printing.tables import print_result
    from lcca.experiments.runs.manifest import read_summary

    summary = read_summary(Path(options.name))
    if options.json:
        print_json(summary)
    else:
        print_result(summary, every_table=True)
    return 0


WHAT: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "policy": _policy,
    "signals": _signals,
    "signal": _signal,
    "signal-sets": _signal_sets,
    "signal-set": _signal_set,
    "headers": _headers,
    "header": _header,
    "utilities": _utilities,
    "transports": _transports,
    "markers": _markers,
    "tuners": _tuners,
    "networks": _networks,
    "run": _run,
}
"""What is shown."""


@frozen
class Show:
    what: str = argument(
        "; ".join(f"{name}: {(function.__doc__ or '').rstrip('.')}" for name, function in WHAT.items()),
        metavar="WHAT",
        choices=tuple(WHAT),
    )
    name: str | None = option("which one: a name, a file, or a run's folder")


def run(verb: Show, options: argparse.Namespace) -> int:
    one = verb.what in ("policy", "signal", "signal-set", "header", "networks", "run")
    require(one == (verb.name is not None), f"show {verb.what}: {'name which one' if one else 'takes no name'}")
    return WHAT[verb.what](options)
