"""`lcca export`: a run's tables for other programs, or in MLflow; a control law as C."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import print_answer
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries

if TYPE_CHECKING:
    from lcca.evaluation.trials.loaded_run import LoadedRun

EXAMPLES = """\
  lcca export results/quickstart/0123456789ab tables
  lcca export results/quickstart/0123456789ab paper/tables --form latex
  lcca export results/quickstart/0123456789ab sqlite:///mlflow.db
  lcca export configs/policies/law-e2e.json law.c"""

FORMS = ("csv", "parquet", "latex")
"""Those of `lcca.experiments.reading.exporting.export_tables`."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("what", type=Path, metavar="RUN|POLICY", help="a run's folder, or a policy.json")
    parser.add_argument(
        "to",
        metavar="FOLDER|STORE|FILE",
        help="of a run: the folder of its tables, or the tracking store of MLflow that logs it, as in "
        "http://127.0.0.1:5000; of a policy: the .c file of a law to write",
    )
    parser.add_argument(
        "--form", choices=FORMS, help="of a run's tables (default: csv); latex: tables of a paper, and numbers.tex"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    of_run = options.what.is_dir()
    store = of_run and ":/" in options.to
    if options.form is not None and (store or not of_run):
        raise InputError(f"{options.what}: --form is of tables; it needs a run's folder, and a folder to write to")
    return _policy(options) if not of_run else _logged(options) if store else _tables(options)


def _tables(options: argparse.Namespace) -> int:
    if Path(options.to).suffix[1:].isalpha() and not Path(options.to).is_dir():
        words = "tables are several files; name a folder, as in tables, or a store of MLflow, as in sqlite:///mlflow.db"
        raise InputError(f"{options.to}: {words}")
    from lcca.experiments.reading.exporting import export_tables
    from lcca.experiments.reading.fabric_runs import load_run

    files = export_tables(load_run(options.what), Path(options.to), options.form or "csv")
    return print_answer(options, {"files": [str(file) for file in files]}, (f"wrote {file}" for file in files))


def _logged(options: argparse.Namespace) -> int:
    from lcca.experiments.reading.fabric_runs import load_run

    logged = _tracked(load_run(options.what), options.to)
    return print_answer(options, {"mlflow": logged}, f"logged to {options.to}: run {logged}")


def _tracked(found: LoadedRun, store: str) -> str:
    require_libraries({"mlflow": "mlflow-skinny"}, "tracking stores of MLflow", "mlflow")
    from lcca.experiments.reading.tracking import track

    return track(found, store)


def _policy(options: argparse.Namespace) -> int:
    from lcca.inputs.files import write_atomically
    from lcca.remy_plus.files import lawc, policyfile
    from lcca.remy_plus.policies.fabric_law import FabricLaw
    from lcca.remy_plus.policies.law import Law

    file = Path(options.to)
    if file.exists():
        raise InputError(f"{file}: there already; remove it or choose another name")
    policy = policyfile.load(options.what).policy
    if not isinstance(policy, Law | FabricLaw):
        raise InputError(f"{options.what}: only laws have a form in C")
    write_atomically(file, lawc.c_source(policy).encode())
    return print_answer(options, {"c": str(file), "terms": (n := len(policy.terms))}, f"wrote {file}: {n} terms")
