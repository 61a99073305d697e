"""`lcca export`: a run's tables for other programs, or a control law as C."""

from __future__ import annotations

import argparse
from pathlib import Path

from lcca.cli.options.common import add_json, print_json, print_visible
from lcca.inputs.errors import InputError

EXAMPLES = """\
  lcca export results/quickstart/0123456789ab --csv tables
  lcca export results/quickstart/0123456789ab --latex paper/tables --parquet data
  lcca export configs/policies/law-e2e.json law.c"""

NAMES = {"csv": "CSV", "parquet": "Parquet", "latex": "LaTeX (tables of a paper, and numbers.tex)"}
"""The forms of `lcca.experiments.reading.exporting.FORMS`, as help calls them."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("what", type=Path, metavar="RUN|POLICY", help="a run's folder, or a policy.json")
    parser.add_argument("file", type=Path, nargs="?", help="of a policy: the .c file of a law to write")
    for form in NAMES:
        parser.add_argument(
            f"--{form}", type=Path, metavar="FOLDER", help=f"of a run: write its tables as {NAMES[form]} into a folder"
        )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    asked = {form: folder for form in NAMES if (folder := getattr(options, form)) is not None}
    if options.what.is_dir():
        return _tables(options, asked)
    if asked:
        raise InputError(f"{options.what}: --{next(iter(asked))} needs a run's folder")
    return _policy(options)


def _tables(options: argparse.Namespace, asked: dict[str, Path]) -> int:
    if not asked or options.file is not None:
        raise InputError(f"{options.what}: a folder; say where its tables go, as in --csv tables")
    from lcca.experiments.reading.exporting import export_tables
    from lcca.experiments.reading.fabric_runs import load_run

    found = load_run(options.what)
    files = [file for form, folder in asked.items() for file in export_tables(found, folder, form)]
    if options.json:
        print_json({"files": [str(file) for file in files]})
    else:
        print_visible("\n".join(f"wrote {file}" for file in files))
    return 0


def _policy(options: argparse.Namespace) -> int:
    from lcca.inputs.files import write_atomically
    from lcca.remy_plus.files import lawc, policyfile
    from lcca.remy_plus.policies.fabric_law import FabricLaw
    from lcca.remy_plus.policies.law import Law

    if options.file is None:
        raise InputError(f"{options.what}: name the file to write, as in lcca export law.json law.c")
    if options.file.exists():
        raise InputError(f"{options.file}: there already; remove it or choose another name")
    policy = policyfile.load(options.what).policy
    if not isinstance(policy, Law | FabricLaw):
        raise InputError(f"{options.what}: only laws have a form in C")
    write_atomically(options.file, lawc.c_source(policy).encode())
    if options.json:
        print_json({"c": str(options.file), "terms": len(policy.terms)})
    else:
        print_visible(f"wrote {options.file}: {len(policy.terms)} terms")
    return 0
