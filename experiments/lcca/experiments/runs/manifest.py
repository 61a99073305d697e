"""The manifest of a run: what it is, which code began it and how far it is."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.loaded_run import LoadedRun, read_manifest, run_manifest
from lcca.evaluation.trials.stored import read_json
from lcca.experiments.runs.code_version import SHOWING, code_version
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import Kind
from lcca.experiments.runs.version import CHANGED, commit, version
from lcca.inputs.digests.files import libraries_of
from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

BEGUN, COMPLETE = "begun", "complete"
"""States of a run: its first, and the one with nothing left to do."""

FILES = "files."
"""What keys of digests begin with."""

MOST_NAMED, MOST_LETTERS = 8, 60
"""Keys that are named of all that have changed, and letters of each value."""


def new_manifest(config: RunConfig) -> dict[str, Any]:
    """Return the manifest of a run that begins."""
    return {
        "format": 1,
        "kind": config.run_kind.name,
        "name": config.name,
        "config_hash": config.hash,
        "config": config.content,
        "version": version(),
        "commit": commit(),
        "code": code_of(config),
        "libraries": libraries_of(config),
        "seed": config.seed,
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
        "state": BEGUN,
    }


def grown(path: Path, manifest: dict[str, Any], config: RunConfig) -> dict[str, Any]:
    """Return the manifest of a run that goes on with more trials than it was to have, and how many these were."""
    before = [*manifest.get("grown_from", ()), changes(path, config, manifest)[config.count][0]]
    kept = {key: value for key, value in manifest.items() if key != "files"}
    return kept | {"config": config.content, "config_hash": config.hash, "state": BEGUN, "grown_from": before}


def check_same(path: Path, config: RunConfig, manifest: dict[str, Any]) -> list[str]:
    """Check that the run in a folder is a configuration's, and of this code.

    Returns:
        What the user should know where that cannot be told.

    Raises:
        InputError: it is another kind's, configuration's or version's, or of code that decides otherwise.
    """
    kind = config.run_kind
    if manifest["kind"] != kind.name:
        raise InputError(f"{path}: a run of lcca {manifest['kind']}; choose another --out")
    if manifest.get("config_hash") != config.hash and not config.grows(changed := changes(path, config, manifest)):
        raise InputError(
            f"{path}: a run of another configuration: {listed(changed, config.content)}; {config.advice(changed)}"
        )
    return _check_code(path, config, manifest)


def changes(path: Path, config: RunConfig, manifest: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what the run in a folder and a configuration have different, by dotted key; None where one lacks it.

    Runs of earlier versions told their keys alone, in config.yaml; of them it is not known which files have changed.
    """
    if (before := manifest.get("config")) is None:
        file = path / layout.CONFIG
        before = parse(file.read_text(encoding="utf-8"), str(file))[0] if file.is_file() else {}
    theirs, ours = (dict(leaves(content, "")) for content in (before, config.content))
    known = ours if "config" in manifest else dict(leaves(config.model_dump(mode="json"), ""))
    keys = dict.fromkeys((*theirs, *known))
    return {key: (theirs.get(key), ours.get(key)) for key in keys if theirs.get(key) != ours.get(key)}


def leaves(content: Any, key: str) -> list[tuple[str, Any]]:
    """Return the values of a configuration by their dotted keys; lists of plain values are values."""
    if isinstance(content, Mapping) and content:
        return [leaf for name, value in content.items() for leaf in leaves(value, f"{key}.{name}" if key else name)]
    if isinstance(content, list) and any(isinstance(each, Mapping | list) for each in content):
        return [leaf for i, value in enumerate(content) for leaf in leaves(value, f"{key}[{_named(value, i)}]")]
    return [(key, content)]


def _named(value: Any, number: int) -> str:
    return str((isinstance(value, Mapping) and value.get("name")) or number)


def listed(changed: Mapping[str, tuple[Any, Any]], content: Any) -> str:
    """Return keys with their values before and now, and the files that have other contents."""
    words = [
        f"{_file(content, key.removeprefix(FILES))} has another content"
        if key.startswith(FILES)
        else f"{key}: {_short(a)} → {_short(b)}"
        for key, (a, b) in changed.items()
    ]
    more = f", and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more or "files that it names have changed"


def _file(content: Any, key: str) -> str:
    """Return the name of the file that a key names, the key where it cannot be found by its parts."""
    try:
        for part in key.split("."):
            content = content[int(part)] if isinstance(content, list) else content[part]
    except (KeyError, IndexError, TypeError, ValueError):
        return key
    return str(content)


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def code_of(config: RunConfig) -> str:
    """Return a hash of the code that decides the results of a run."""
    return code_version((config.run_kind.recipe,), SHOWING)


def _check_code(path: Path, config: RunConfig, manifest: dict[str, Any]) -> list[str]:
    """Refuse another commit whose code decides results otherwise; of changes that are not committed, warn."""
    if manifest.get("version") != version():
        raise InputError(
            f"{path}: begun by version {manifest.get('version')}, this is {version()}: "
            "results could differ; finish it with that version or choose another --out"
        )
    before, now = manifest.get("libraries"), libraries_of(config)
    others = (
        {name: each for name, each in before.items() if now.get(name, each) != each} if isinstance(before, dict) else {}
    )
    if others:
        words = ", ".join(f"{name}=={each}, this is {now[name]}" for name, each in others.items())
        text = f"begun with {words}: results could differ; install that again, or choose another --out"
        raise InputError(f"{path}: {text}")
    theirs, ours = str(manifest.get("commit") or ""), commit()
    known = "code" in manifest  # earlier versions did not note it
    if known and manifest["code"] == code_of(config):
        return []
    if not theirs or not ours or (theirs == ours and CHANGED not in ours):
        words = "code that decides results, the compiled engine or a library has changed since it began"
        return [f"{path}: {words}"] if known else []
    if theirs.rstrip(CHANGED) != ours.rstrip(CHANGED):
        raise InputError(
            f"{path}: begun at commit {_short_commit(theirs)}, this is {_short_commit(ours)}: "
            f"{'code that decides results has changed' if known else 'results could differ'}; "
            f"finish it there (git checkout {_short_commit(theirs).rstrip(CHANGED)}) or choose another --out"
        )
    changed = "begun with" if theirs.endswith(CHANGED) else "this has"
    return [
        f"{path}: {changed} uncommitted changes at commit {_short_commit(theirs).rstrip(CHANGED)}: "
        + ("code that decides results has changed" if known else "whether the code is still the same cannot be told")
    ]


def _short_commit(commit: str) -> str:
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
        InputError: there is no run in this folder, or the file is damaged.
    """
    run_manifest(path)
    if (path / layout.SUMMARY).is_file() or not (path / layout.SO_FAR).is_file():
        return None
    return read_json(path / layout.SO_FAR, "resume the run, which writes it again")


def read_summary(path: Path) -> dict[str, Any]:
    """Return the result of a finished run.

    Raises:
        InputError: there is no run in this folder, it is not finished, or the result is damaged or of format 1.
    """
    run = LoadedRun(path)
    manifest, result = run.manifest, run.result
    if not result:
        by_file = "options" not in manifest.get("config", ())
        command = f"lcca {manifest['kind']} CONFIG" if by_file else "the command that began it"
        raise InputError(f"{path}: still {manifest['state']}; finish it with {command}")
    return result
