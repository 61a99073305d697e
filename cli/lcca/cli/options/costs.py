"""What a command costs, from a few of its trials: `--plan`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from lcca.cli.options.common import print_json
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.trials.blocks import Block, InBlocks
from lcca.experiments.runs.forecast import Cost, cpu_s_per_weight
from lcca.experiments.runs.remaining import words_for_time


def looks_of(most: int, space: InBlocks) -> dict[str, int]:
    """Return how many trials there are at the first look of a rule, and at most."""
    return {"first look": Rule.model_fields["first_look"].default * space.block, "at most": space.whole(most)}


def tell_costs(
    options: argparse.Namespace,
    run: Callable[[Block], object],
    weights: Sequence[float],
    counts: Mapping[str, int],
    unit: str,
) -> int:
    """Run a few trials, and print what so many cost by what these have cost.

    Args:
        options: of the command.
        run: runs a stretch of trials, of all policies.
        weights: what trials cost in proportion to each other: as many as the largest count, or more.
        counts: of trials, by words for them.
        unit: what is counted, in the plural.
    """
    pace, tried = cpu_s_per_weight(run, weights)
    costs = {words: Cost(count, unit, pace * sum(weights[:count]), options.jobs) for words, count in counts.items()}
    if options.json:
        print_json({"tried": tried, "costs": [each.to_json() for each in costs.values()]})
        return 0
    print(f"tried: {tried} {unit}")
    print_costs(costs)
    return 0


def print_costs(costs: Mapping[str, Cost]) -> None:
    """Print costs, a line each."""
    for words, each in costs.items():
        cpu, taken = (words_for_time(found, found) for found in (each.cpu_s, each.cpu_s / each.jobs))
        print(f"{words}: {each.count} {each.unit}, {cpu} of CPU, {taken} on {each.jobs} cores")
