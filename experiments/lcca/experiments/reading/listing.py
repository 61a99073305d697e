"""The runs below a folder, a line each, without reading their trials."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcca.evaluation.comparison.net_benefit import no_choice_yet
from lcca.evaluation.comparison.ranking import TOO_FEW_TO_RANK
from lcca.evaluation.report.words.headline import answer
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.tables import read_costs, read_manifest
from lcca.experiments.reading.policy_rows import estimates_of
from lcca.experiments.reading.result_tables import comparisons_of, result_of
from lcca.experiments.runs.folder import is_locked
from lcca.experiments.runs.kinds import AGREE, ESTIMATE, RANK, SWEEP
from lcca.inputs.errors import InputError

Json = dict[str, Any]


@dataclass(frozen=True)
class RunLine:
    """A run in a list.

    Attributes:
        folder: of the run.
        kind: the command's name; empty where the manifest is damaged.
        name: of its configuration.
        state: of its manifest; "running" where a process works on it, "damaged" where a file cannot be read.
        changed: when its manifest was last written, in seconds since 1970.
        cpu_s: CPU time so far.
        wall_s: time so far.
        trials: so far.
        headline: what it has found, or what is wrong with it.
    """

    folder: Path
    kind: str
    name: str
    state: str
    changed: float
    cpu_s: float
    wall_s: float
    trials: int
    headline: str


def runs_in(folder: Path) -> list[RunLine]:
    """Return the runs in a folder and below it, the last changed first; not those that belong to another run.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; run folders go to results/ unless --out says otherwise")
    return sorted(map(_line, _folders(folder)), key=lambda line: (-line.changed, line.folder))


def _folders(folder: Path) -> Iterator[Path]:
    for path, inside, files in os.walk(folder):
        if layout.MANIFEST in files:
            inside.clear()
            yield Path(path)


def _line(folder: Path) -> RunLine:
    changed = (folder / layout.MANIFEST).stat().st_mtime
    try:
        manifest = read_manifest(folder) or {}
        phases = (read_costs(folder) or {}).get("phases", [])
        cost = {key: sum(phase[key] for phase in phases) for key in ("cpu_s", "wall_s", "trials")}
        state = "running" if is_locked(folder) else manifest["state"]
        kind, found = manifest["kind"], headline(folder, manifest["kind"])
        return RunLine(folder, kind, manifest["name"], state, changed, headline=found, **cost)
    except InputError as error:
        return RunLine(folder, "", "", "damaged", changed, 0.0, 0.0, 0, str(error))


def headline(folder: Path, kind: str) -> str:
    """Return what a run has found, in one line; empty where that is nothing yet.

    Raises:
        InputError: a result of it is damaged.
    """
    result = result_of(folder)
    if kind == SWEEP.name and result:
        if choices := result.get("net_benefit", {}).get("choices"):
            notes = {each["utility"]: no_choice_yet(each.get("pairs", ())) for each in choices}
            said = {each["utility"]: f"{each['take']} recommended" for each in choices}
            return "; ".join(f"{name}: {f'open, {note}' if note else said[name]}" for name, note in notes.items())
        names = {each["id"]: each["signal_set"] for each in result["policies"]}
        return answer(result["comparisons"], names).title
    if kind == RANK.name and result:
        if any(each["looks"] == 0 for each in result.get("comparisons", ())):
            return f"open: {TOO_FEW_TO_RANK}"
        first = [each["policy"] for each in result["standings"] if each["best_rank"] == 1]
        return f"best: {first[0]}" if len(first) == 1 else f"may be best: {', '.join(first)}"
    if kind == ESTIMATE.name:
        return "; ".join(map(_estimate, estimates_of(result)))
    if kind == AGREE.name and result:
        scores = [each["verdict"] for each in result["agreement"] if each["metric"] == "score_bits"]
        return f"{sum(each.startswith('agree') for each in scores)} of {len(scores)} mean scores agree"
    verdicts = [(each["B"], each["verdict"]) for each in comparisons_of(folder, kind, result) if "verdict" in each]
    if len(verdicts) == 1:
        return ": ".join(verdicts[0])
    counts = Counter(verdict for _, verdict in verdicts)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def _estimate(found: Json) -> str:
    name = found["metric"] + (f" p{100 * found['quantile']:g}" if found.get("quantile") else "")
    ends = ("unbounded" if found[end] is None else f"{found[end]:.4g}" for end in ("low", "high"))
    return f"{name} {found['estimate']:.4g} [{', '.join(ends)}]"
