"""`lcca export`: a run's tables for other programs, or in MLflow; a scenario's flows for htsim; a control law as C."""

from __future__ import annotations

import argparse
from dataclasses import KW_ONLY
from pathlib import Path
from typing import TYPE_CHECKING

from lcca.cli.options.common import print_answer
from lcca.inputs.errors import InputError, about
from lcca.inputs.extras import require_libraries
from lcca.inputs.options import argument, frozen, option

if TYPE_CHECKING:
    from lcca.evaluation.trials.loaded_run import LoadedRun

EXAMPLES = """\
  lcca export results/quickstart/0123456789ab tables
  lcca export results/quickstart/0123456789ab paper/tables --form latex
  lcca export results/quickstart/0123456789ab sqlite:///mlflow.db
  lcca export configs/fabric/incast.yaml incast.cm
  lcca export configs/policies/law-e2e.json law.c
  lcca export configs/policies/law-e2e.json law.bpf.c --form bpf"""

OF_TABLES = ("csv", "parquet", "latex", "fct")
"""Those of `lcca.experiments.reading.exporting.export_tables`."""

OF_LAWS = ("c", "bpf")


@frozen
class Export:
    what: Path = argument("a run's folder, a fabric scenario, or a policy.json", name="RUN|SCENARIO|POLICY")
    to: str = argument(
        "of a run: the folder of its tables, or the tracking store of MLflow that logs it, as in "
        "http://127.0.0.1:5000; of a scenario: the .cm file of the flows of its first trial, for htsim; of a policy: "
        "the .c file of a law to write",
        name="FOLDER|STORE|FILE",
    )
    _: KW_ONLY
    form: str | None = option(
        "of a run's tables (default: csv); latex: tables of a paper, and numbers.tex; fct: completion times on a "
        "fabric as HPCC's simulator writes them; of a law (default: c): bpf, a congestion control for Linux's kernel",
        choices=(*OF_TABLES, *OF_LAWS),
    )


def run(verb: Export, options: argparse.Namespace) -> int:
    of_run = verb.what.is_dir()
    store = of_run and ":/" in verb.to
    scenario = not of_run and verb.what.suffix in (".yaml", ".yml")
    forms = OF_TABLES if of_run and not store else () if of_run or scenario else OF_LAWS
    if verb.form is not None and verb.form not in forms:
        words = f"--form is {' or '.join(forms)} here" if forms else "has one form: leave --form out"
        raise InputError(f"{verb.what}: {words}; tables are of a run's folder, c and bpf of a law")
    if not of_run:
        return _flows(verb, options) if scenario else _policy(verb, options)
    return _logged(verb, options) if store else _tables(verb, options)


def _tables(verb: Export, options: argparse.Namespace) -> int:
    if Path(verb.to).suffix[1:].isalpha() and not Path(verb.to).is_dir():
        words = "tables are several files; name a folder, as in tables, or a store of MLflow, as in sqlite:///mlflow.db"
        raise InputError(f"{verb.to}: {words}")
    from lcca.experiments.reading.exporting import export_tables
    from lcca.experiments.reading.fabric_runs import load_run

    files = export_tables(load_run(verb.what), Path(verb.to), verb.form or "csv")
    return print_answer(options, {"files": [str(file) for file in files]}, (f"wrote {file}" for file in files))


def _logged(verb: Export, options: argparse.Namespace) -> int:
    from lcca.experiments.reading.fabric_runs import load_run

    logged = _tracked(load_run(verb.what), verb.to)
    return print_answer(options, {"mlflow": logged}, f"logged to {verb.to}: run {logged}")


def _tracked(found: LoadedRun, store: str) -> str:
    require_libraries({"mlflow": "mlflow-skinny"}, "tracking stores of MLflow", "mlflow")
    from lcca.experiments.reading.tracking import track

    return track(found, store)


def _new_file(name: str) -> Path:
    if (file := Path(name)).exists():
        raise InputError(f"{file}: there already; remove it or choose another name")
    return file


def _flows(verb: Export, options: argparse.Namespace) -> int:
    from lcca.evaluation.fabric.formats.connection_matrix import connection_matrix
    from lcca.evaluation.fabric.scenario import read_scenario
    from lcca.evaluation.scenarios.seeds import seed_of
    from lcca.inputs.files import write_atomically

    file, scenario = _new_file(verb.to), read_scenario(verb.what)
    with about(verb.what):
        text, changed = connection_matrix(scenario.flows(seed_of(1, 0)), scenario.fabric.hosts, verb.what.name)
    write_atomically(file, text.encode())
    found = {"flows": str(file), "changed": changed}
    return print_answer(options, found, [f"wrote {file}", *(f"changed: {each}" for each in changed)])


def _policy(verb: Export, options: argparse.Namespace) -> int:
    from lcca.gym_envs.linux.kernel.source import kernel_source
    from lcca.inputs.files import write_atomically
    from lcca.remy_plus.files import lawc, policyfile
    from lcca.remy_plus.policies.fabric_law import FabricLaw
    from lcca.remy_plus.policies.law import Law

    file = _new_file(verb.to)
    policy = policyfile.load(verb.what).policy
    if not isinstance(policy, Law | FabricLaw):
        raise InputError(f"{verb.what}: only laws of windows have a form in C")
    in_kernel = verb.form == "bpf"
    if in_kernel and not isinstance(policy, Law):
        raise InputError(f"{verb.what}: a law of a fabric has no form in BPF")
    text = kernel_source(policy) if in_kernel and isinstance(policy, Law) else lawc.c_source(policy)
    write_atomically(file, text.encode())
    return print_answer(options, {"c": str(file), "terms": (n := len(policy.terms))}, f"wrote {file}: {n} terms")
