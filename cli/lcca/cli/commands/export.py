"""`lcca export`: a policy.json becomes a .dna file for Remy's and R+'s tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import add_json, print_json
from lcca.inputs.errors import InputError, about
from lcca.remy_plus.files import dna, policyfile
from lcca.remy_plus.policies.rules import RuleTable

EXAMPLES = """\
  lcca export results/quickstart/*/policies/e2e.default.s1.json e2e.dna"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("policy", type=Path)
    parser.add_argument("dna", type=Path, help="the .dna file to write; never overwritten")
    parser.add_argument(
        "--smoothed", action="store_true", help="store raw queue and link signals on R+'s axes of smoothed ones"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.dna.exists():
        raise InputError(f"{options.dna}: there already; remove it or choose another name")
    table = policyfile.load(options.policy).policy
    if not isinstance(table, RuleTable):
        raise InputError(f"{options.policy}: only rule tables have a .dna form")
    with about(options.policy):
        dna.write(options.dna, table, options.smoothed)
    if options.json:
        print_json({"dna": str(options.dna), "rules": len(table)})
    else:
        print(f"wrote {options.dna}: {len(table)} rules")
    return 0
