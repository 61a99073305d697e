"""All campaigns of a grid, one after another, and what they say together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lcca.evaluation.trials.layout import GRID
from lcca.experiments.campaign.grid import Grid, Point
from lcca.experiments.sweep.run import sweep
from lcca.inputs.files import write_atomically


def sweep_grid(
    grid: Grid,
    path: Path,
    *,
    jobs: int,
    resume: bool,
    place: str = "local",
    cache: Path | None = None,
    trainings: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Run every point of a grid into a folder of its own below `path`; points that are complete are left alone.

    Returns:
        The content of grid.json.

    Args:
        grid: the campaigns.
        path: the folder.
        jobs: as in `sweep`, like the others.
        resume: go on with what is there.
        place: where trials run.
        cache: a folder of finished trainings.
        trainings: how many policies learn at once.
        say: told which point begins.

    Raises:
        InputError: a folder cannot be used.
    """
    from lcca.evaluation.report.grid import render_grid  # what draws takes long to load; see `run.render`

    rows = []
    for number, point in enumerate(grid.points, 1):
        say(f"point {number} of {len(grid.points)}: {point.name}")
        found = sweep(
            point.config, path / point.name, jobs=jobs, resume=resume, place=place, cache=cache, trainings=trainings
        )
        rows.append(_row(point, found))
    content = {"format": 1, "grid": grid.name, "hash": grid.hash, "points": rows}
    write_atomically(path / GRID, (json.dumps(content, sort_keys=True, indent=1) + "\n").encode())
    render_grid(path)
    return content


def _row(point: Point, summary: dict[str, Any]) -> dict[str, Any]:
    kept = ("comparisons", "net_benefit", "policies", "generalisation", "ns3", "per_network")
    return {"name": point.name, "config_hash": point.config.hash} | {k: summary[k] for k in kept if k in summary}
