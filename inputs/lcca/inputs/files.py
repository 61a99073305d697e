"""Reading small files with a limit and writing them so that a reader never sees half of one."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from lcca.inputs.errors import InputError

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes; no policy comes near it."""


def read_limited(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> bytes:
    """Return the bytes of ``path``.

    Raises:
        InputError: the file cannot be read or has more than ``limit`` bytes.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {_reason(error)}") from error
    if len(data) > limit:
        raise InputError(f"{os.fspath(path)}: larger than {limit // 1024:,} KiB; is it the right file?")
    return data


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` beside ``path``, flush it to the disk and rename it; what was there stays until then.

    Raises:
        InputError: the folder is missing, the disk is full, or another reason of the operating system.
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except (OSError, ValueError) as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{target}: cannot be written: {_reason(error)}") from error


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
