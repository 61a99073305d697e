"""JSON and tables of a run folder: equal content gives equal bytes, and damage is noticed when they are read."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd

from lcca.inputs.errors import InputError
from lcca.inputs.files import make_folder, read_limited, read_with_digest, write_atomically, write_with_digest

Json = dict[str, Any]

_DIGEST = "sha256"
_LARGEST_JSON = 1 << 28  # bytes


def write_json(path: Path, content: Json) -> None:
    """Write an object that is the same whenever it is written, with its digest beside it.

    Raises:
        InputError: it cannot be written.
    """
    make_folder(path.parent)
    write_with_digest(path, _text(content))


def read_json(path: Path, advice: str) -> Json:
    """Return the object that `write_json` wrote.

    Raises:
        InputError: it cannot be read or is damaged; ends with the advice.
    """
    return _object(path, read_with_digest(path, advice, _LARGEST_JSON), advice)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as parquet, with its digest beside it.

    Raises:
        InputError: it cannot be written.
    """
    buffer = io.BytesIO()
    table.to_parquet(buffer, index=False)
    make_folder(path.parent)
    write_with_digest(path, buffer.getvalue())


def read_table(path: Path, advice: str) -> pd.DataFrame:
    """Return the table that `write_table` wrote.

    Raises:
        InputError: it cannot be read or is damaged; ends with the advice.
    """
    try:
        return pd.read_parquet(io.BytesIO(read_with_digest(path, advice)))
    except InputError:
        raise
    except Exception as error:  # pandas and pyarrow have many kinds
        raise InputError(f"{path}: damaged ({error}); {advice}") from None


def write_state(path: Path, content: Json) -> None:
    """Write an object that changes while a run goes on: its digest is a key of it, so that both change at once.

    Raises:
        InputError: it cannot be written.
    """
    make_folder(path.parent)
    write_atomically(path, _text(content | {_DIGEST: _digest(content)}))


def read_state(path: Path, advice: str) -> Json:
    """Return the object that `write_state` wrote.

    Raises:
        InputError: it cannot be read or is damaged; ends with the advice.
    """
    found = _object(path, read_limited(path, links=False), advice)
    digest = found.pop(_DIGEST, None)
    if digest != _digest(found):
        raise InputError(f"{path}: damaged (its content does not match its digest); {advice}")
    return found


def _object(path: str | os.PathLike[str], data: bytes, advice: str) -> Json:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{os.fspath(path)}: damaged ({error}); {advice}") from None
    if not isinstance(found, dict):
        raise InputError(f"{os.fspath(path)}: damaged (not an object); {advice}")
    return found


def _text(content: Json) -> bytes:
    return (json.dumps(content, sort_keys=True, indent=1, allow_nan=False) + "\n").encode()


def _digest(content: Json) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
