"""Which lcca this is."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

CHANGED = "+"
"""Ends a commit whose files were changed and not committed."""


def version() -> str:
    """Return the installed version."""
    return metadata.version("lcca")


@cache
def commit() -> str | None:
    """Return the commit of the source that runs, with a + if it was changed; None outside a checkout of it.

    An installed package may lie below another project's checkout, whose commits are of no interest.
    """
    here = Path(__file__).resolve()
    if not _git(here, "ls-files", "--error-unmatch", here.name):
        return None
    return _git(here, "describe", "--always", "--abbrev=40", f"--dirty={CHANGED}", "--exclude=*") or None


def _git(file: Path, *arguments: str) -> str:
    """Return what git says in a file's folder; nothing if it fails."""
    command = ["git", *arguments]
    try:
        found = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip()
