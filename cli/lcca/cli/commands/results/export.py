"""`lcca export`: a run's tables for other programs, or a rule table as a .dna file for Remy's and R+'s tools."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import add_json, print_json, print_visible
from lcca.experiments.reading.exporting import FORMS, export_tables
from lcca.experiments.reading.fabric_runs import load_run
from lcca.inputs.errors import InputError, about
from lcca.remy_plus.files import dna, policyfile
from lcca.remy_plus.policies.rules import RuleTable

EXAMPLES = """\
  lcca export results/quickstart/0123456789ab --csv tables
  lcca export results/quickstart/0123456789ab --latex paper/tables --parquet data
  lcca export results/quickstart/*/policies/e2e.default.s1.json e2e.dna"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("what", type=Path, metavar="RUN|POLICY", help="a run's folder, or a rule table's policy.json")
    parser.add_argument("dna", type=Path, nargs="?", help="of a policy: the .dna file to write; never overwritten")
    for form in FORMS:
        parser.add_argument(
            f"--{form}", type=Path, metavar="FOLDER", help=f"of a run: write its tables as {NAMES[form]} into a folder"
        )
    parser.add_argument(
        "--smoothed", action="store_true", help="store raw queue and link signals on R+'s axes of smoothed ones"
    )
    add_json(parser)
    parser.set_defaults(run=run)


NAMES = {"csv": "CSV", "parquet": "Parquet", "latex": "LaTeX (policies, verdicts and costs; booktabs)"}


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    asked = {form: folder for form in FORMS if (folder := getattr(options, form)) is not None}
    if options.what.is_dir():
        return _tables(options, asked)
    if asked:
        raise InputError(f"{options.what}: --{next(iter(asked))} needs a run's folder")
    return _dna(options)


def _tables(options: argparse.Namespace, asked: dict[str, Path]) -> int:
    if not asked or options.dna is not None:
        raise InputError(f"{options.what}: a folder; say where its tables go, as in --csv tables")
    found = load_run(options.what)
    files = [file for form, folder in asked.items() for file in export_tables(found, folder, form)]
    if options.json:
        print_json({"files": [str(file) for file in files]})
    else:
        print_visible("\n".join(f"wrote {file}" for file in files))
    return 0


def _dna(options: argparse.Namespace) -> int:
    if options.dna is None:
        raise InputError(f"{options.what}: name the .dna file to write, as in lcca export policy.json policy.dna")
    if options.dna.exists():
        raise InputError(f"{options.dna}: there already; remove it or choose another name")
    table = policyfile.load(options.what).policy
    if not isinstance(table, RuleTable):
        raise InputError(f"{options.what}: only rule tables have a .dna form")
    with about(options.what):
        dna.write(options.dna, table, options.smoothed)
    if options.json:
        print_json({"dna": str(options.dna), "rules": len(table)})
    else:
        print_visible(f"wrote {options.dna}: {len(table)} rules")
    return 0
