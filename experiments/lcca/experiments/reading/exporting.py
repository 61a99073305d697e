"""The tables of a run as files for other programs: CSV, Parquet, and LaTeX."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from lcca.evaluation.fabric.formats.hpcc import completion_times
from lcca.evaluation.trials.loaded_run import TABLES, LoadedRun
from lcca.experiments.reading import latex
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically


def export_tables(run: LoadedRun, folder: Path, form: str) -> list[Path]:
    """Write the tables that a run has into a folder, which is made; return the files.

    Args:
        run: whose tables.
        folder: where they go, named after the tables; files of these names are replaced.
        form: a key of `FORMS`; "latex" with what a paper shows, see `lcca.experiments.reading.latex`; or "fct" with the
            completion times of an evaluation on a fabric as HPCC's simulator writes them.

    Raises:
        InputError: the run has no table yet, or a file cannot be written.
    """
    if form == "latex":
        texts = {f"{name}.tex": text.encode() for name, text in latex.tables(run).items()}
    elif form == "fct":
        if "fct_ns" not in run.flows:
            raise InputError(f"{run.path}: --form fct: has no flows of a fabric; take a run of lcca evaluate on one")
        texts = {name: text.encode() for name, text in completion_times(run.flows).items()}
    else:
        tables = {name: table for name in TABLES if len(table := getattr(run, name))}
        texts = {f"{name}.{form}": FORMS[form](table) for name, table in tables.items()}
    if not texts:
        raise InputError(f"{run.path}: nothing to export yet; the run is {run.manifest['state']}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    for name, text in texts.items():
        write_atomically(folder / name, text)
    return [folder / name for name in texts]


def csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV; floats read back exactly."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    return buffer.getvalue()


FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {"csv": csv, "parquet": _parquet}
"""How a table is written as a file with this ending."""
