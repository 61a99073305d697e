"""How commands run a verb, or say what it costs: on a place, or what a file describes, each point of its grid."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lcca.cli.options.common import print_json, print_visible

if TYPE_CHECKING:
    from lcca.experiments.experiment import Costs
    from lcca.experiments.recipes.prepared import Prepared, Result
    from lcca.experiments.runs.config import RunConfig
    from lcca.experiments.runs.grid import Grid
    from lcca.experiments.verbs.options import Kept

C = TypeVar("C", bound="RunConfig")


def run_or_plan(prepared: Prepared, verb: Kept, options: argparse.Namespace) -> Result | None:
    """Run an experiment, or print what it costs and return None; what was assumed of files goes to standard error."""
    for note in prepared.meeting.notes:
        print_visible(note, file=sys.stderr)
    if options.plan:
        costs = planned(options, prepared.costs(verb.jobs))
        if options.json:
            print_json(costs)
        return None
    options.kept = verb.out is not None or prepared.always_kept
    result = prepared.run(verb.out, resume=options.kept, quiet=False)
    if result.folder is not None and not options.json:
        print_visible(f"everything is in {result.folder}")
    return result


def run_each(
    verb: Any,
    options: argparse.Namespace,
    of: type[C] | Grid[C],
    prepare: Callable[[Any], Any],
    show: Callable[[C, Path, dict[str, Any]], None],
) -> int:
    """Run what a file describes, or each point of its grid, or say what that costs; return exit status 0.

    Args:
        verb: the verb, a `WrittenAlone`.
        options: of the command line.
        of: the configurations, or what the file describes.
        prepare: returns a verb with a configuration of its own, ready to run.
        show: prints what a folder has of a configuration.
    """
    from lcca.experiments.runs.grid import read_grid

    grid = read_grid(verb.config, of, verb.overrides) if isinstance(of, type) else of
    found = []
    for config, folder in grid.runs(verb.out):
        if not grid.single and not options.json:
            print_visible(f"\n{config.name}")
        prepared = prepare(replace(verb, config=config))
        if options.plan:
            found.append(planned(options, prepared.costs(verb.jobs)))
            continue
        found.append(prepared.run(folder, resume=True, quiet=False).content)
        if not options.json:
            show(config, folder, found[-1])
    if options.json:
        points = [{"name": name, **each} for name, each in zip(grid.points, found, strict=True)]
        print_json(found[0] if grid.single else {"grid": grid.name, "hash": grid.hash, "points": points})
    return 0


def planned(options: argparse.Namespace, costs: Costs) -> dict[str, Any]:
    """Return costs as JSON values; print them, a line each, unless JSON is asked for."""
    from lcca.experiments.runs.remaining import words_for_time

    if options.json:
        return costs.to_json()
    for name, pace in costs.paces.items():
        print_visible(f"{name}: {pace:.2f} CPU s per Gb")
    if costs.tried:
        print(f"tried: {costs.tried} {next(iter(costs.ends.values())).unit}")
    for words, each in costs.ends.items():
        cpu, taken = (words_for_time(found, found) for found in (each.cpu_s, each.cpu_s / each.jobs))
        by = f" (by {each.by})" if each.by else ""
        print_visible(f"{words}: {each.count} {each.unit}, {cpu} of CPU, {taken} on {each.jobs} cores{by}")
    return costs.to_json()


def report_failures(errors: list[str]) -> int:
    """Say on standard error why trials failed, each reason once; return the exit status, 1 if any did."""
    for error, count in Counter(filter(None, errors)).items():
        print_visible(f"lcca: {count} trials failed: {error}", file=sys.stderr)
    return 1 if any(errors) else 0
