"""Options of the commands that run policies on a place, as arguments of `lcca.experiments.recipes`."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcca.cli.options.common import natural, positive, print_json, print_visible
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.files import packaged_files
from lcca.inputs.numbers import real
from lcca.inputs.studies import PACKAGE, added
from lcca.remy_plus.fabric.settings import FLUID
from lcca.remy_plus.policies.explicit import SIMPLE
from lcca.remy_plus.policies.families import HAND_DESIGNED
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.switches.transports import TRANSPORTS
from lcca.remy_plus.topology import KINDS
from lcca.workers import EXECUTORS

if TYPE_CHECKING:
    from lcca.experiments.experiment import Costs
    from lcca.experiments.recipes.prepared import Prepared, Result

POLICY_HELP = "a file or a name; policies are listed at the end"
POLICIES = {
    "everywhere": f"policy.json, a .dna file, or a class in Python as in {PythonControl.example}",
    "hand-designed": ", ".join(each.example for each in SIMPLE.values()),
    "in ns-3 alone": f"{', '.join(HAND_DESIGNED)}, with parameters as in vegas:alpha=2 and markers as in dctcp@red; "
    "or a class of ns-3 as in ns3::TcpBic:Beta=0.7",
    "transports of a fabric": f"{', '.join(TRANSPORTS)}, with parameters as in dcqcn:increase_us=55,fast_recovery=5 "
    "and perhaps a marker or a tuner as in dctcp@pred, dctcp@red:pmax=0.1 or dcqcn@expert",
    "several at once": "in quoted braces, as in '{dctcp,dcqcn}@{red,step}'",
}
"""What a policy can be, by its kind."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def add_place(parser: argparse.ArgumentParser, *more_simulators: str) -> None:
    """Add where policies meet, and how their trials are run; list at the end of the help what policies can be."""
    width = min(shutil.get_terminal_size().columns - 2, 100)
    lines = textwrap.TextWrapper(width, "  ", " " * 4, break_long_words=False, break_on_hyphens=False)
    listed = (lines.fill(f"{kind}: {those}") for kind, those in POLICIES.items())
    parser.epilog = "\n".join((f"{parser.epilog}\n\npolicies:", *listed))
    parser.add_argument(
        "--on",
        required=True,
        metavar="PLACE",
        help=", ".join(("YAML file of a network space", "a list of networks", "a fabric scenario", *_added_places())),
    )
    add_overrides(
        parser,
        f"of the place's file, as in duration=2000, workload.load=0.7, or topology=NAME: {', '.join(KINDS)}, "
        "as in line:hosts_per_router=4; of a list of networks in each",
    )
    parser.add_argument(
        "--utility", help="what trials are scored by, one of `lcca show utilities` (default: the place's)"
    )
    parser.add_argument(
        "--seed", type=natural, default=1, help="of all that is random; others give other trials (default: 1)"
    )
    names = (f"{FLUID}, an approximation of a fabric", *more_simulators)
    parser.add_argument(
        "--simulator",
        metavar="NAME",
        help=f"engine (default), ns3 (default of studies' places), {', '.join(names)}; ns3 with options as in "
        f"ns3:header_bytes=0: {', '.join(each.name for each in fields(Ns3Options)[:-1])}, and attributes of the queue",
    )
    add_execution(parser)


def _added_places() -> list[str]:
    """Return the kinds of place that studies add, with the names of those that need no file."""
    those = {what: packaged_files(f"{PACKAGE}.{study}", each.folder) for what, (study, each) in added("places").items()}
    return [f"a {what} or the name of one: {', '.join(names)}" for what, names in those.items()]


def add_overrides(parser: argparse.ArgumentParser, of: str) -> None:
    """Add --set, which overrides keys `of` something."""
    text = f"override a key {of}; may be repeated"
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help=text)


def add_execution(parser: argparse.ArgumentParser) -> None:
    """Add where trials run, and on how many threads."""
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--jobs", type=positive, default=cores, help="threads (default: all cores); never changes a result"
    )
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="local",
        help="where trials run: here (default), in worker processes, or on a Ray cluster; never changes a result",
    )


def add_settling(parser: argparse.ArgumentParser, over: str) -> None:
    """Add the rule, its margin and error rate `over` something, and when to stop."""
    parser.add_argument(
        "--stop",
        choices=("accurate", "settled"),
        default="accurate",
        help="stop when the half-width of every interval is at most an eighth of the margin (default), or as soon as "
        "all is settled, before rare events may have been met",
    )
    parser.add_argument(
        "--margin-percent", type=real, default=3.0, help="throughput-equivalent %% that does not matter (default: 3)"
    )
    parser.add_argument(
        "--rule",
        default="",
        metavar="NAME",
        help="group-sequential: fixed maximum (default of rank); t-mixture: any-time valid (default of compare and of "
        f"studies' places); with options as in t-mixture:alpha=0.01,step=32 or alpha=0.01: alpha, error rate {over} "
        "(default: 0.05), and step, trials between two looks in whole blocks (default: four blocks, in ns-3 one)",
    )


def add_bound(parser: argparse.ArgumentParser, alone: str = "") -> None:
    """Add what asks for ideals beside scores, or alone."""
    parser.add_argument(
        "--bound",
        action="store_true",
        help=f"say what is possible on these networks, and where policies lose bits to it{alone}",
    )


def add_folder(parser: argparse.ArgumentParser, when: str = "none, nothing is kept") -> None:
    """Add where a run is kept, and what it costs; `when` says when one is kept unasked."""
    parser.add_argument(
        "--out", type=Path, help=f"folder that keeps every trial; the same command goes on from there (default: {when})"
    )
    add_plan(parser)
    parser.set_defaults(kept=False)


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add what says the cost in place of a run."""
    parser.add_argument("--plan", action="store_true", help="say what it costs, from a few trials, and run no more")


def place_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what options say of the place, as arguments of a recipe."""
    names = ("overrides", "utility", "seed", "seeds", "simulator", "jobs", "executor", "trial_cache")
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def settling_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return what options say of the rule, as arguments of a recipe.

    Raises:
        InputError: the text of the rule has not the form of one.
    """
    name, colon, text = options.rule.partition(":")
    if "=" in name:
        name, text = "", name + colon + text
    found: dict[str, Any] = {"margin_percent": options.margin_percent, "stop": options.stop, "rule": name or None}
    for _, key, value in assignments(text):
        require(key in RULE, f"--rule: no option {key[:60]!r}{did_you_mean(key, RULE)}; it has {', '.join(RULE)}")
        try:
            found[key] = RULE[key](value or "")
        except (argparse.ArgumentTypeError, ValueError) as error:
            raise InputError(f"--rule: {key}: {error}") from None
    return found


RULE: dict[str, Callable[[str], float]] = {"alpha": real, "step": positive}
"""Options of a rule, and how they are read."""


def run_or_plan(options: argparse.Namespace, prepared: Prepared) -> Result | None:
    """Run an experiment, or print what it costs and return None; what was assumed of files goes to standard error."""
    for note in prepared.meeting.notes:
        print_visible(note, file=sys.stderr)
    if options.plan:
        costs = planned(options, prepared.costs(options.jobs))
        if options.json:
            print_json(costs)
        return None
    options.kept = options.out is not None or prepared.always_kept
    result = prepared.run(options.out, resume=options.kept, quiet=False)
    if result.folder is not None and not options.json:
        print_visible(f"everything is in {result.folder}")
    return result


def planned(options: argparse.Namespace, costs: Costs) -> dict[str, Any]:
    """Return costs as JSON values; print them, a line each, unless JSON is asked for."""
    from lcca.experiments.runs.remaining import words_for_time

    if options.json:
        return costs.to_json()
    for name, pace in costs.paces.items():
        print_visible(f"{name}: {pace:.2f} CPU s per Gb")
    if costs.tried:
        print(f"tried: {costs.tried} {next(iter(costs.ends.values())).unit}")
    for words, each in costs.ends.items():
        cpu, taken = (words_for_time(found, found) for found in (each.cpu_s, each.cpu_s / each.jobs))
        by = f" (by {each.by})" if each.by else ""
        print_visible(f"{words}: {each.count} {each.unit}, {cpu} of CPU, {taken} on {each.jobs} cores{by}")
    return costs.to_json()


def report_failures(errors: list[str]) -> int:
    """Say on standard error why trials failed, each reason once; return the exit status, 1 if any did."""
    for error, count in Counter(filter(None, errors)).items():
        print_visible(f"lcca: {count} trials failed: {error}", file=sys.stderr)
    return 1 if any(errors) else 0


def seconds(text: str) -> float:
    """Parse a time such as 90s, 30m or 2h."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text, re.ASCII)
    if not found or not float(found[1]):
        raise argparse.ArgumentTypeError(f"{text[:40]}: must be a time such as 90s, 30m or 2h")
    return float(found[1]) * _UNITS[found[2]]
