"""The trials of a run on disk: append-only parquet parts, each written whole or not at all, with its digest."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from lcca.evaluation.trials.layout import part_file, part_names
from lcca.inputs.errors import InputError
from lcca.inputs.files import make_folder, read_with_digest, write_with_digest

_NAME = "lcca part"
"""Key of a table's metadata that holds the part's name: one that was put in another's place is noticed."""


class TrialStore:
    """Parts of the trials table, by the names that `layout.part_name` gives. A part is never written again.

    Args:
        folder: of the parts.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, part: str) -> bool:
        """Tell whether a part is there."""
        return part_file(self.folder, part).exists()

    def add(self, part: str, rows: pd.DataFrame) -> None:
        """Write a part; the disk never holds half of one."""
        make_folder(self.folder)
        buffer = io.BytesIO()
        named = rows.copy(deep=False)
        named.attrs = {_NAME: part}
        named.to_parquet(buffer, index=False)
        write_with_digest(part_file(self.folder, part), buffer.getvalue())

    def read(self, part: str) -> pd.DataFrame:
        """Return one part.

        Raises:
            InputError: the file is damaged, or another part's.
        """
        file = part_file(self.folder, part)
        advice = "delete it and resume to run its trials again"
        rows = pd.read_parquet(io.BytesIO(read_with_digest(file, advice)))
        if rows.attrs.get(_NAME) != part:
            raise InputError(f"{file}: damaged (it holds another part, {rows.attrs.get(_NAME)}); {advice}")
        rows.attrs = {}
        return rows

    def all(self, phase: str = "", *words: str) -> pd.DataFrame:
        """Return the parts of a phase that have these first words, in the order of their names; may be empty."""
        names = part_names(self.folder, phase, *words)
        return pd.concat([self.read(n) for n in names], ignore_index=True) if names else pd.DataFrame()
