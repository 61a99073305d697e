"""The file that a training goes on from: its state as JSON values behind a digest, with the name of its task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcca.inputs.errors import InputError
from lcca.inputs.files import read_checked, write_checked

FORMAT = 2


def write_checkpoint(path: Path, identity: str, state: Mapping[str, Any]) -> None:
    """Write a state of the task with this identity, whole or not at all; equal states give equal bytes."""
    content = {"format": FORMAT, "identity": identity, "state": state}
    write_checked(path, (json.dumps(content, sort_keys=True) + "\n").encode())


def read_checkpoint(path: Path, identity: str) -> dict[str, Any]:
    """Return a state that `write_checkpoint` wrote for this task.

    Raises:
        InputError: the file cannot be read, is damaged, or belongs to another task or version.
    """
    content = json.loads(read_checked(path, "remove it to train anew"))
    if (content["format"], content["identity"]) != (FORMAT, identity):
        raise InputError(f"{path}: a checkpoint of another training; remove it or choose another --out")
    state: dict[str, Any] = content["state"]
    return state
