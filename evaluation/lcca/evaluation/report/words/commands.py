"""The commands that make a run again, and those that would settle what it leaves open."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.evaluation.report.words.statements import NOT_SETTLED
from lcca.evaluation.trials import layout

Json = dict[str, Any]

OPEN = "What is open"
"""So begins the purpose of commands that settle the rest."""

MOST_TRAINING_SEEDS = 1000
"""That a campaign may have."""


@dataclass(frozen=True)
class Command:
    """What a command is for, and its lines."""

    purpose: str
    lines: tuple[str, ...]


def commands(summary: Json, manifest: Json) -> tuple[Command, ...]:
    """Return what reproduces a run, and what would settle its open comparisons.

    They are to be typed where `results/` lies, and name a run by its usual folder.

    Args:
        summary: the run's.
        manifest: the run's, or nothing.
    """
    folder = f"results/{summary['campaign']}/{summary['config_hash']}"
    config = f"{folder}/{layout.CONFIG}"
    quoted, kind, commit = shlex.quote(folder), manifest.get("kind", "sweep"), manifest.get("commit") or ""
    page = f"lcca report {quoted}"
    again = () if "options" in manifest.get("config", ()) else (_again(kind, config, commit),)  # no file describes it
    if not any("trained" in each for each in summary.get("policies", ())):
        return (*again, Command("Write this page again", (page,)))
    verdicts = Command(
        "Compute the verdicts and write this page again from the stored trials", (f"lcca verdict {quoted}", page)
    )
    return (*again, verdicts, *_settling(summary, config))


def _again(kind: str, config: str, commit: str) -> Command:
    same = "with the same numbers" + (" but for what was not committed then" if commit.endswith("+") else "")
    checkout = (f"git checkout {commit.rstrip('+')[:10]}",) if commit else ()
    return Command(f"Run it again, {same}", (*checkout, f"lcca {kind} {shlex.quote(config)} --out again"))


def _settling(summary: Json, config: str) -> tuple[Command, ...]:
    seeds, pairs = open_seeds(summary), open_pairs(summary)
    changed = []
    if seeds:
        changed += ["--set", f"training_seeds={{first: {FIRST_SEEDS}, most: {seeds}}}"]
    if pairs:
        changed += ["--set", f"test.pairs={pairs}"]
    if not changed:
        return ()
    line = shlex.join(["lcca", "sweep", config, *changed])
    asked = [f"{seeds:,} training seeds" if seeds else "", f"{pairs:,} pairs" if pairs else ""]
    ahead = " and ".join(filter(None, asked))
    purpose = (
        f"{OPEN} is settled with at most {ahead}, according to the forecasts; the first line prints what that costs. "
        "Finished trainings are taken from results/training-cache"
    )
    return (Command(purpose, (f"{line} --plan", line)),)


def open_seeds(summary: Json) -> int:
    """Return the training seeds that settle all signal sets and headers, by their forecasts; 0 if none is open."""
    rows = (summary.get("net_benefit") or {}).get("rows", [])
    sets = (each for each in summary["comparisons"] if each["level"] == "set" and each["verdict"] == NOT_SETTLED)
    found = [each for each in sets if each["B"] not in {row["header"] for row in rows}]
    found += [row["net_set"] for row in rows if row["decision"] == "open"]
    most = max((FIRST_SEEDS, *(_likely(each) for each in found)))
    return min(most, MOST_TRAINING_SEEDS) if found else 0


def open_pairs(summary: Json) -> int:
    """Return the pairs that settle all selected policies, by their forecasts; 0 if none is open."""
    found = [each for each in summary["comparisons"] if each["level"] == "policy" and each["verdict"] == NOT_SETTLED]
    return max((_likely(each) for each in found), default=0)


def _likely(comparison: Json) -> int:
    """Return how many units a comparison takes at most by its forecast; twice what it has where there is none."""
    likely: Sequence[int] | None = comparison["likely_n"]
    return int(likely[1] if likely else 2 * comparison["n"])
