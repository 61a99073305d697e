"""`lcca export`: a policy.json becomes a .dna file for Remy's and R+'s tools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lcca.cli.options.common import add_json, command, print_json
from lcca.experiments.campaign.config import require
from lcca.remy_plus.files import dna, policyfile
from lcca.remy_plus.policies.rules import RuleTable

EXAMPLES = """\
  lcca export results/quickstart/*/policies/e2e.default.s1.json e2e.dna"""

RAW = ("int_signals='raw'", "lcca import --int-signals raw")
"""What a note says to Python, and what it says to the command line."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = command(commands, "export", "Turn a rule table's policy.json into a .dna file.", EXAMPLES)
    parser.add_argument("policy", type=Path)
    parser.add_argument("dna", type=Path, help="the .dna file to write; never overwritten")
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    require(not options.dna.exists(), f"{options.dna}: there already; remove it or choose another name")
    table = policyfile.load(options.policy).policy
    require(isinstance(table, RuleTable), f"{options.policy}: only rule tables have a .dna form")
    assert isinstance(table, RuleTable)
    notes = list(dna.write(options.dna, table))
    if options.json:
        print_json({"dna": str(options.dna), "rules": len(table), "notes": notes})
        return 0
    print(f"wrote {options.dna}: {len(table)} rules")
    for note in notes:
        print(f"note: {note.replace(*RAW)}")
    return 0
