"""Files of our own that know when they were damaged: a line with the SHA-256 of the rest comes first.

Tables that other programs read cannot have such a line: their digest lies beside them, written before they are, so that
a file that is there always has its digest.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from lcca.inputs.errors import InputError
from lcca.inputs.files import read_limited, write_atomically

_MARK = b"lcca sha256 "
_LARGEST = 4 << 30  # bytes
DIGEST = ".sha256"
"""What the name of a digest beside a file ends in."""


def write_checked(path: str | os.PathLike[str], payload: bytes) -> None:
    """Write a payload behind its digest, whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    write_atomically(path, _MARK + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)


def read_checked(path: str | os.PathLike[str], advice: str) -> bytes:
    """Return the payload of a file that `write_checked` wrote.

    Args:
        path: the file.
        advice: what the user can do about a damaged file; ends the message.

    Raises:
        InputError: it cannot be read, or is not what was written.
    """
    line, _, payload = read_limited(path, _LARGEST).partition(b"\n")
    if line != _MARK + hashlib.sha256(payload).hexdigest().encode():
        raise InputError(f"{os.fspath(path)}: damaged (its content does not match its digest); {advice}")
    return payload


def write_with_digest(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file that is never changed again, and its digest beside it; both whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    write_atomically(digest_file(path), hashlib.sha256(content).hexdigest().encode() + b"\n")
    write_atomically(path, content)


def read_with_digest(path: str | os.PathLike[str], advice: str) -> bytes:
    """Return the content of a file that `write_with_digest` wrote.

    Raises:
        InputError: it or its digest cannot be read, or is not what was written; ends with the advice.
    """
    content, found = read_limited(path, _LARGEST), read_limited(digest_file(path), 100)
    if found.strip() != hashlib.sha256(content).hexdigest().encode():
        raise InputError(f"{os.fspath(path)}: damaged (its content does not match its digest); {advice}")
    return content


def digest_file(path: str | os.PathLike[str]) -> Path:
    """Return the file that holds another file's digest."""
    target = Path(path)
    return target.with_name(target.name + DIGEST)
