"""The trials of a run on disk: append-only parquet parts, each written whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically


class TrialStore:
    """Parts of the trials table, by name. A part that is there is never written again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, part: str) -> bool:
        """Tell whether a part is there."""
        return self._file(part).exists()

    def add(self, part: str, rows: pd.DataFrame) -> None:
        """Write a part; the disk never holds half of one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        rows.to_parquet(buffer, index=False, write_page_checksum=True)
        write_atomically(self._file(part), buffer.getvalue())

    def read(self, part: str) -> pd.DataFrame:
        """Return one part.

        Raises:
            InputError: the file is damaged.
        """
        file = self._file(part)
        try:
            return pd.read_parquet(file, page_checksum_verification=True)
        except (OSError, ValueError, LookupError, TypeError, RuntimeError) as error:  # pyarrow's are of these kinds
            raise InputError(f"{file}: damaged ({error}); delete it and resume to run its trials again") from None

    def all(self, prefix: str = "") -> pd.DataFrame:
        """Return the parts whose names start with `prefix`, in the order of their names; empty if there are none."""
        names = sorted(f.stem.removeprefix("part-") for f in self.folder.glob(f"part-{prefix}*.parquet"))
        return pd.concat([self.read(n) for n in names], ignore_index=True) if names else pd.DataFrame()

    def _file(self, part: str) -> Path:
        return self.folder / f"part-{part}.parquet"
