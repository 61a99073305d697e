"""Options that name a policy, and the model that it wants to be run in."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from lcca.cli.options.common import natural
from lcca.evaluation.trials.executors.local import Processes
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyfile import PolicyFile
from lcca.remy_plus.policies.families import CLASSICAL
from lcca.remy_plus.policies.policy import SIMPLE, Policy
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.topology import KINDS, Topology
from lcca.signal_sets.headers.policy_headers import runnable

TOPOLOGY_HELP = (
    f"in place of that of the networks: {', '.join(KINDS)}; with options as in line:hosts_per_router=4 or "
    "reverse-path:reverse_senders=3,one_way"
)
POLICY_HELP = (
    f"policy.json, a .dna file, a class in Python as in {PythonControl.example}, or a baseline: "
    f"{', '.join(each.example for each in SIMPLE.values())}; "
    f"in ns-3 alone also {', '.join(CLASSICAL)}, with parameters as in vegas:alpha=2 and "
    "markers as in dctcp@red, or a class of ns-3 as in ns3::TcpBic:Beta=0.7"
)


def add_policy_options(parser: argparse.ArgumentParser) -> None:
    """Add what tells how a policy file is read and which model it runs in."""
    parser.add_argument(
        "--pacing",
        choices=("absolute", "relative"),
        help="what pacing means in a .dna file: µs (Remy) or a multiple of the receive EWMA (R+); default: by its look",
    )
    parser.add_argument(
        "--int-signals",
        choices=("smoothed", "raw"),
        default="smoothed",
        help="which queue and link signals the axes of a .dna file are (default: smoothed, as in R+)",
    )
    parser.add_argument(
        "--link-interval", type=float, default=10.0, help="µs over which the link signal is collected (default: 10)"
    )
    parser.add_argument(
        "--link-window",
        choices=("covered", "rplus"),
        help="divide the link's count by the time covered, or by the whole interval as R+ does "
        "(default: rplus for what comes from a .dna file, else covered)",
    )
    parser.add_argument(
        "--free-header",
        action="store_true",
        help="do not charge the bytes of the headers that policy files name (default: charged, as on a wire)",
    )
    parser.add_argument("--utility", default="default", help=", ".join(UTILITIES))


def add_trial_options(parser: argparse.ArgumentParser, duration: float | None) -> None:
    """Add seeds' base and duration."""
    parser.add_argument("--duration", type=float, default=duration, help="µs of a trial")
    parser.add_argument("--seed", type=natural, default=1, help="first seed (default: 1)")


def add_topology(parser: argparse.ArgumentParser) -> None:
    """Add the topology that replaces that of the networks."""
    parser.add_argument("--topology", type=topology, help=TOPOLOGY_HELP)


def topology(text: str) -> Topology:
    """Parse the name of a topology."""
    try:
        return Topology.of(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def load_policy(options: argparse.Namespace, name: str) -> PolicyFile:
    """Load the policy that an argument names; what a .dna file leaves open and was assumed goes to standard error."""
    file = policyfile.load(name, options.pacing, options.int_signals)
    for note in () if Path(name).suffix == ".json" else file.provenance.get("notes", ()):
        print(f"{name}: {note}", file=sys.stderr)
    return file


def policy_to_run(options: argparse.Namespace, file: PolicyFile) -> Policy:
    """Return what simulators run for a file: its policy, with the header that the file names."""
    return runnable(file, charged=not options.free_header)


def engine_for(options: argparse.Namespace, files: list[PolicyFile], duration: float) -> Engine:
    """Return the engine with the model that the options or the policies ask for; classes in Python run in processes."""
    if not 0 < duration < math.inf:
        raise InputError(f"--duration: must be a number of µs > 0, got {duration:g}")
    window = options.link_window or ("rplus" if any("imported_from" in f.provenance for f in files) else "covered")
    if not 0 < options.link_interval < math.inf:
        raise InputError(f"--link-interval: must be a number of µs > 0, got {options.link_interval:g}")
    model = Model(options.link_interval, window == "rplus")
    if options.jobs > 1 and any(isinstance(file.policy, PythonControl) for file in files):
        return Engine(duration, model, options.jobs, Processes(options.jobs))
    return Engine(duration, model, options.jobs)


def check_duration(duration: float, rtt: float, link_rate: float, hops: int = 1) -> None:
    """Raise `InputError` if no packet could arrive within the duration."""
    needed = rtt + hops / link_rate
    if duration <= needed:
        raise InputError(
            f"--duration: {duration:g} µs is too short: a packet takes rtt + {hops}/link_rate = {needed:g} µs"
        )
