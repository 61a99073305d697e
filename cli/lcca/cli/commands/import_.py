"""`lcca import`: a .dna file of Remy or R+ becomes a policy.json."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from lcca.cli.options.common import print_answer
from lcca.inputs.errors import InputError
from lcca.inputs.numbers import real_or_nan

EXAMPLES = """\
  lcca import RemyCC-2014-100x.dna policy.json --pacing absolute
  lcca import trained.dna policy.json"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("dna", type=Path)
    parser.add_argument("policy", type=Path, help="the policy.json to write; never overwritten")
    parser.add_argument(
        "--pacing", choices=("absolute", "relative"), help="µs (Remy) or a multiple of the receive EWMA (R+)"
    )
    parser.add_argument(
        "--int-signals",
        choices=("smoothed", "raw"),
        default="smoothed",
        help="which queue and link signals the axes are (default: smoothed, as in R+)",
    )
    parser.add_argument(
        "--link-interval", type=_interval_us, metavar="US", help="over which the link signal is collected (default: 10)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from lcca.remy_plus.files import policyfile

    if options.policy.exists():
        raise InputError(f"{options.policy}: there already; remove it or choose another name")
    file = policyfile.load(options.dna, options.pacing, options.int_signals)
    asked = {} if options.link_interval is None else {"link_interval_us": options.link_interval}
    policyfile.write(options.policy, replace(file, provenance={**file.provenance, **asked}))
    notes = list(file.provenance.get("notes", ()))
    found = {"policy": str(options.policy), "signals": list(file.signals), "notes": notes}
    return print_answer(options, found, [f"wrote {options.policy}", *(f"note: {note}" for note in notes)])


def _interval_us(text: str) -> float:
    """Parse an interval."""
    value = real_or_nan(text)
    if not 0.001 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"{text[:60]}: must be µs, from 0.001 to 1e9")
    return value
