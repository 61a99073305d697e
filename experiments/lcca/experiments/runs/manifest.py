"""The manifest of a run: what it is, which code began it and how far it is."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.stored import read_json
from lcca.evaluation.trials.tables import read_manifest
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import SWEEP, Kind
from lcca.experiments.runs.version import CHANGED, commit, version
from lcca.inputs.errors import InputError

BEGUN, COMPLETE = "begun", "complete"
"""States of a run: its first, and the one with nothing left to do."""


def new_manifest(config: RunConfig) -> dict[str, Any]:
    """Return the manifest of a run that begins."""
    return {
        "format": 1,
        "kind": config.run_kind.name,
        "name": config.name,
        "config_hash": config.hash,
        "version": version(),
        "commit": commit(),
        "seed": config.seed,
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
        "state": BEGUN,
    }


def check_same(path: Path, config: RunConfig, manifest: dict[str, Any]) -> list[str]:
    """Check that the run in a folder is a configuration's, and of this code.

    Returns:
        What the user should know where that cannot be told.

    Raises:
        InputError: it is another kind's, configuration's, version's or commit's.
    """
    kind = config.run_kind
    if manifest["kind"] != kind.name:
        raise InputError(f"{path}: a run of lcca {manifest['kind']}; choose another --out")
    if (theirs := manifest["config_hash"]) != config.hash:
        raise InputError(
            f"{path}: a run of another configuration ({theirs}, not {config.hash}), or of other files "
            "that it names; choose another --out"
        )
    return _check_code(path, manifest)


def _check_code(path: Path, manifest: dict[str, Any]) -> list[str]:
    """Refuse other code; where it cannot be told whether it is, leave a warning."""
    if manifest["version"] != version():
        raise InputError(
            f"{path}: begun by version {manifest['version']}, this is {version()}: "
            "results could differ; finish it with that version or choose another --out"
        )
    theirs, ours = manifest["commit"], commit()
    if not theirs or not ours:
        return []
    if theirs.rstrip(CHANGED) != ours.rstrip(CHANGED):
        raise InputError(
            f"{path}: begun at commit {_short(theirs)}, this is {_short(ours)}: results could differ; "
            f"finish it there (git checkout {_short(theirs).rstrip(CHANGED)}) or choose another --out"
        )
    if CHANGED in theirs + ours:
        changed = "begun with" if theirs.endswith(CHANGED) else "this has"
        return [
            f"{path}: {changed} uncommitted changes at commit {_short(theirs).rstrip(CHANGED)}: "
            "whether the code is still the same cannot be told"
        ]
    return []


def _short(commit: str) -> str:
    return commit[:10] + CHANGED * commit.endswith(CHANGED)


def read_kind(path: Path, kind: Kind) -> dict[str, Any]:
    """Return the manifest of a run of one kind.

    Raises:
        InputError: there is no run in this folder, or it is another kind's.
    """
    manifest = read_manifest(path)
    if manifest is None:
        raise InputError(f"{path}: no run here; name a run's folder, as in results/quickstart/<run-id>")
    if manifest["kind"] != kind.name:
        raise InputError(f"{path}: a run of lcca {manifest['kind']}, not of lcca {kind.name}")
    return manifest


def read_so_far(path: Path) -> dict[str, Any] | None:
    """Return what an unfinished campaign has found over its training seeds so far; None where that is nothing yet.

    Raises:
        InputError: there is no run in this folder, or it is another kind's, or the file is damaged.
    """
    read_kind(path, SWEEP)
    if (path / layout.SUMMARY).is_file() or not (path / layout.SO_FAR).is_file():
        return None
    return read_json(path / layout.SO_FAR, "resume the run, which writes it again")


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary of a finished campaign.

    Raises:
        InputError: there is no run in this folder, it is not finished or another kind's, or the summary is damaged
            or too old.
    """
    manifest = read_kind(path, SWEEP)
    if not (path / layout.SUMMARY).is_file():
        raise InputError(f"{path}: still {manifest['state']}; finish it with lcca sweep CONFIG --resume")
    summary = read_json(path / layout.SUMMARY, "delete it and resume")
    if any("size" not in each for each in summary["comparisons"]):
        there = f" (git checkout {_short(manifest['commit']).rstrip(CHANGED)})" if manifest["commit"] else ""
        raise InputError(
            f"{path / layout.SUMMARY}: written before comparisons had a size; report it with the code that "
            f"wrote it{there} or run the campaign anew"
        )
    return summary
