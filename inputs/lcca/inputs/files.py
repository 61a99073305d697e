"""Reading files that users name, guarded, and writing files so that a reader never sees half of one.

Files of our own know when they were damaged: a line with the SHA-256 of the rest comes first. Tables that other
programs read cannot have such a line: their digest lies beside them, written before they are, so that a file that is
there always has its digest.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lcca.inputs.errors import InputError, nearest
from lcca.inputs.studies import moved

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes; no policy comes near it."""

_MARK = b"lcca sha256 "
_LARGEST_CHECKED = 4 << 30  # bytes
DIGEST = ".sha256"
"""What the name of a digest beside a file ends in."""


def packaged_files(package: str, folder: str) -> dict[str, Traversable]:
    """Return the YAML files in a package's folder by their names without ending, in their order."""
    files = (file for file in (resources.files(package) / folder).iterdir() if file.name.endswith(".yaml"))
    return {file.name.removesuffix(".yaml"): file for file in sorted(files, key=lambda file: file.name)}


def open_regular(path: str | os.PathLike[str], links: bool = True) -> BinaryIO:
    """Open a regular file to read it.

    Pipes and devices are refused at once: they may have no end, or nobody who writes.

    Without `links` it may not be a link: who may write into a run's folder could have others read what is theirs.

    Raises:
        InputError: no regular file, or a link.
        OSError: it cannot be opened.
    """
    try:
        file = open(path, "rb", opener=_open_at_once if links else open_own)
    except OSError as error:
        if error.errno == errno.ELOOP and not links:
            raise InputError(f"{os.fspath(path)}: cannot be read: a link; put the file itself there") from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError(f"{os.fspath(path)}: cannot be read: a pipe or a device; write it to a file first")
    return file


def _open_at_once(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)


def open_own(name: str, flags: int) -> int:
    """Open a file of a run (an `opener`): not what a link there leads to, nor a pipe that nobody reads."""
    return os.open(name, flags | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)


def read_limited(path: str | os.PathLike[str], limit: int = LARGEST_FILE, links: bool = True) -> bytes:
    """Return the bytes of a regular file; see `open_regular`.

    Raises:
        InputError: no regular file, it cannot be read, or it has more than ``limit`` bytes.
    """
    try:
        with open_regular(path, links) as file:
            data = file.read(limit + 1)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {_reason(error)}{_other_files(path, error)}") from error
    if len(data) > limit:
        raise InputError(f"{os.fspath(path)}: larger than {limit // 1024:,} KiB; is it the right file?")
    return data


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write ``data`` beside ``path``, flush it to the disk and rename it; what was there stays until then.

    What was written before is on the disk before this is, so that a loss of power leaves no gap.

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
        _sync_folder(target.parent)
    except (OSError, ValueError) as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{target}: cannot be written: {_reason(error)}") from error


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, so that a loss of power leaves what is written into it.

    Raises:
        OSError: it cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        _sync_folder(each.parent)


def _sync_folder(folder: Path) -> None:
    """Flush to the disk which files a folder has."""
    with suppress(OSError):  # file systems that cannot; a disk that fails has said so of the file
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def check_writable(folder: Path, advice: str) -> None:
    """Check that files can be written into a folder, which may have to be made; makes nothing.

    Args:
        folder: the folder.
        advice: what the user can do otherwise; ends the message.

    Raises:
        InputError: it or what is above it is no folder, or is not writable.
    """
    try:
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists() or each.is_symlink())
    except OSError as error:  # above it is a folder that may not be looked into
        raise InputError(f"{folder}: {_reason(error)}; {advice}") from error
    if not there.is_dir():
        raise InputError(f"{there}: no folder; {advice}")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"{there}: cannot be written; {advice}")


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
    line, _, payload = read_limited(path, _LARGEST_CHECKED).partition(b"\n")
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


def read_with_digest(path: str | os.PathLike[str], advice: str, limit: int = _LARGEST_CHECKED) -> bytes:
    """Return the content of a file that `write_with_digest` wrote.

    Raises:
        InputError: it or its digest cannot be read, or is not what was written; ends with the advice.
    """
    content, found = read_limited(path, limit, links=False), read_limited(digest_file(path), 100, links=False)
    if found.strip() != hashlib.sha256(content).hexdigest().encode():
        raise InputError(f"{os.fspath(path)}: damaged (its content does not match its digest); {advice}")
    return content


def read_perhaps_with_digest(path: str | os.PathLike[str], advice: str) -> bytes:
    """Return the content of a file, checked where its digest lies beside it, as in the folder of a run.

    Raises:
        InputError: as `read_with_digest`; ``{digest}`` in the advice becomes the digest's file.
    """
    digest = digest_file(path)
    return read_with_digest(path, advice.format(digest=digest)) if digest.is_file() else read_limited(path)


def digest_file(path: str | os.PathLike[str]) -> Path:
    """Return the file that holds another file's digest."""
    target = Path(path)
    return target.with_name(target.name + DIGEST)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _other_files(path: str | os.PathLike[str], error: Exception) -> str:
    """Return the hint at a file of a similar name and the same kind, if there is one."""
    asked = Path(path)
    if isinstance(error, FileNotFoundError) and (now := moved(os.fspath(path))):
        return f"; it is {now} now"
    if not isinstance(error, FileNotFoundError) or not asked.suffix or not asked.parent.is_dir():
        return ""
    stems = sorted(file.stem for file in asked.parent.iterdir() if file.suffix == asked.suffix)
    return nearest(asked.stem, stems).replace("'?", f"{asked.suffix}'?")
