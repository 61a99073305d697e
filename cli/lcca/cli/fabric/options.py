"""Options of commands that run transports on a fabric, and what they name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lcca.cli.options.policies import policy_to_run
from lcca.evaluation.fabric.scenario import FabricScenario, read_scenario
from lcca.evaluation.trials.ratio import Ratio
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.errors import InputError, about
from lcca.remy_plus.fabric.fluid import FABRIC
from lcca.remy_plus.fabric.policies import engine_of, load_for_fabric
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.fabric.transports import TRANSPORTS
from lcca.remy_plus.policies.policy import Policy

FABRIC_HELP = (
    f"with --fabric transports: {', '.join(TRANSPORTS)}, with parameters as in dcqcn:increase_us=55,fast_recovery=5 "
    "and perhaps a marker or a tuner as in dctcp@pred, dctcp@red:pmax=0.1 or dcqcn@expert, "
    "or files of learnt policies"
)


def add_set(parser: argparse.ArgumentParser) -> None:
    """Add what changes a scenario."""
    parser.add_argument(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key of the fabric scenario, as in workload.load=0.7; may be repeated",
    )


def parquet_file(text: str) -> Path:
    """Parse the name of a parquet file that can be written when the trials are done."""
    path = Path(text)
    if path.suffix != ".parquet":
        raise argparse.ArgumentTypeError(f"{path}: name a file that ends in .parquet")
    if not path.parent.is_dir() or path.is_dir():
        raise argparse.ArgumentTypeError(f"{path}: no such folder, or a folder itself")
    return path


def flow_numbers(text: str) -> list[int]:
    """Parse the numbers of some flows."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 18 for part in parts):
        raise argparse.ArgumentTypeError(f"{text[:60]}: must be numbers of flows such as 3,17")
    return list(dict.fromkeys(map(int, parts)))


def positive_us(text: str) -> float:
    """Parse an interval."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"{text[:60]}: must be µs, from 0.001 to 1e9")
    return value


def refuse(options: argparse.Namespace) -> None:
    """Check that nothing is asked for that a fabric has not."""
    asked = {
        "--simulator ns3": options.simulator == "ns3",
        "--ns3": bool(options.ns3),
        "--topology": options.topology is not None,
        "--bound": options.bound,
        "--duration (use --set duration_us=…)": options.duration is not None,
    }
    if wrong := [name for name, given in asked.items() if given]:
        raise InputError(f"{wrong[0]}: not with --fabric")


def simulator_of(options: argparse.Namespace) -> str:
    """Return the simulator of the fabric that the options name."""
    return FABRIC if options.simulator == "engine" else str(options.simulator)


def scenario_of(options: argparse.Namespace) -> FabricScenario:
    """Return the scenario that the options name, with their changes."""
    return read_scenario(options.fabric, options.overrides)


def utility_of(options: argparse.Namespace) -> Ratio:
    """Return the utility that the options name: `slowdown` if none.

    Raises:
        InputError: one that scores networks alone.
    """
    with about("--utility"):
        return fabric_utility(options.utility or "slowdown")


def policies_of(options: argparse.Namespace, names: Sequence[str]) -> dict[str, Policy]:
    """Return the transports and learnt policies of these names.

    Raises:
        InputError: a name is given twice, is neither a transport nor a file of a policy, or runs in ns-3 only.
    """
    if len(set(names)) < len(names):
        raise InputError("a transport is named twice; give each once")
    files = {name: load_for_fabric(name, options.pacing, options.int_signals) for name in names}
    found = {name: policy_to_run(options, file) for name, file in files.items()}
    for policy in found.values():
        engine_of(policy, FabricSettings())  # or say so before any trial
    return found
