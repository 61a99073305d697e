"""`lcca export`: a run's tables for other programs, or in MLflow; a control law as C."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import add_json, print_json, print_visible
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries

if TYPE_CHECKING:
    from lcca.evaluation.trials.loaded_run import LoadedRun

EXAMPLES = """\
  lcca export results/quickstart/0123456789ab --csv tables
  lcca export results/quickstart/0123456789ab --latex paper/tables --parquet data
  lcca export results/quickstart/0123456789ab sqlite:///mlflow.db
  lcca export configs/policies/law-e2e.json law.c"""

NAMES = {"csv": "CSV", "parquet": "Parquet", "latex": "LaTeX (tables of a paper, and numbers.tex)"}
"""The forms of `lcca.experiments.reading.exporting.FORMS`, as help calls them."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("what", type=Path, metavar="RUN|POLICY", help="a run's folder, or a policy.json")
    store = "of a run: the tracking store of MLflow that logs it, as in http://127.0.0.1:5000"
    of_law = "of a policy: the .c file of a law to write"
    parser.add_argument("to", nargs="?", metavar="FILE|STORE", help=f"{of_law}; {store}")
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
    if (options.to is not None and ":" not in options.to) or not (asked or options.to):
        words = "say where its tables go, as in --csv tables, or name a store of MLflow, as in sqlite:///mlflow.db"
        raise InputError(f"{options.what}: a folder; {words}")
    from lcca.experiments.reading.exporting import export_tables
    from lcca.experiments.reading.fabric_runs import load_run

    found = load_run(options.what)
    logged = {"mlflow": _tracked(found, options.to)} if options.to else {}
    files = [file for form, folder in asked.items() for file in export_tables(found, folder, form)]
    if options.json:
        print_json({"files": [str(file) for file in files]} | logged)
    else:
        done = [f"logged to {options.to}: run {each}" for each in logged.values()]
        print_visible("\n".join([*(f"wrote {file}" for file in files), *done]))
    return 0


def _tracked(found: LoadedRun, store: str) -> str:
    require_libraries({"mlflow": "mlflow-skinny"}, "tracking stores of MLflow", "mlflow")
    from lcca.experiments.reading.tracking import track

    return track(found, store)


def _policy(options: argparse.Namespace) -> int:
    from lcca.inputs.files import write_atomically
    from lcca.remy_plus.files import lawc, policyfile
    from lcca.remy_plus.policies.fabric_law import FabricLaw
    from lcca.remy_plus.policies.law import Law

    if options.to is None:
        raise InputError(f"{options.what}: name the file to write, as in lcca export law.json law.c")
    file = Path(options.to)
    if file.exists():
        raise InputError(f"{file}: there already; remove it or choose another name")
    policy = policyfile.load(options.what).policy
    if not isinstance(policy, Law | FabricLaw):
        raise InputError(f"{options.what}: only laws have a form in C")
    write_atomically(file, lawc.c_source(policy).encode())
    if options.json:
        print_json({"c": str(file), "terms": len(policy.terms)})
    else:
        print_visible(f"wrote {file}: {len(policy.terms)} terms")
    return 0
