"""What a figure shows as a table, to be written beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd


def data_table(rows: Iterable[Any]) -> pd.DataFrame:
    """Return records as a table.

    Records in them become columns of their own, tuples numbered columns; a record with arrays, such as a curve, becomes
    a row for each of their elements.

    Args:
        rows: instances of dataclasses, or mappings.
    """
    flat = [_flat(row) for row in rows]
    parts = [pd.DataFrame(row if _long(row) else [row]) for row in flat]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _long(row: Mapping[str, Any]) -> bool:
    return any(isinstance(value, np.ndarray) for value in row.values())


def _flat(row: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in _items(row):
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type)):
            found |= _flat(value, f"{name}_")
        elif isinstance(value, list | tuple):
            found |= {f"{name}_{number}": each for number, each in enumerate(value, 1)}
        else:
            found[name] = value
    return found


def _items(row: Any) -> Iterable[tuple[str, Any]]:
    return row.items() if isinstance(row, Mapping) else ((each.name, getattr(row, each.name)) for each in fields(row))
