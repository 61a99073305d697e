"""`lcca import`: a .dna file of Remy or R+ becomes a policy.json."""

from __future__ import annotations

import argparse
from dataclasses import KW_ONLY, replace
from pathlib import Path
from typing import Literal

from lcca.cli.options.common import print_answer
from lcca.inputs.errors import InputError
from lcca.inputs.numbers import real_or_nan
from lcca.inputs.options import argument, frozen, option

EXAMPLES = """\
  lcca import RemyCC-2014-100x.dna policy.json --pacing absolute
  lcca import trained.dna policy.json"""


def _interval_us(text: str) -> float:
    """Parse an interval."""
    value = real_or_nan(text)
    if not 0.001 <= value <= 1e9:
        raise InputError(f"{text[:60]}: must be µs, from 0.001 to 1e9")
    return value


@frozen
class Import:
    dna: Path = argument("")
    policy: Path = argument("the policy.json to write; never overwritten")
    _: KW_ONLY
    pacing: Literal["absolute", "relative"] | None = option("µs (Remy) or a multiple of the receive EWMA (R+)")
    int_signals: Literal["smoothed", "raw"] = option(
        "which queue and link signals the axes are (default: smoothed, as in R+)", "smoothed"
    )
    link_interval: float | None = option(
        "over which the link signal is collected (default: 10)", metavar="US", read=_interval_us
    )


def run(verb: Import, options: argparse.Namespace) -> int:
    from lcca.remy_plus.files import policyfile

    if verb.policy.exists():
        raise InputError(f"{verb.policy}: there already; remove it or choose another name")
    file = policyfile.load(verb.dna, verb.pacing, verb.int_signals)
    link = {} if verb.link_interval is None else {"link_interval_us": verb.link_interval}
    policyfile.write(verb.policy, replace(file, provenance={**file.provenance, **link}))
    notes = list(file.provenance.get("notes", ()))
    found = {"policy": str(verb.policy), "signals": list(file.signals), "notes": notes}
    return print_answer(options, found, [f"wrote {verb.policy}", *(f"note: {note}" for note in notes)])
