"""All trainings under another condition than the campaign's test, each training seed on networks of its own.

What a signal set or a header is worth there is a statement about training with it, whose unit is a training seed, as in
the campaign's own test (`lcca.evaluation.comparison.sets`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from lcca.evaluation.trials.blocks import Block, InBlocks
from lcca.experiments.runs.blocks import of_trainings

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.runs.context import Run
    from lcca.experiments.runs.progress import Task
    from lcca.experiments.sweep.groups import Group
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.policies.policy import Policy


def trials_on_own_networks(
    run: Run[CampaignConfig, Engine],
    group: Group,
    part: tuple[str, ...],
    space: InBlocks,
    networks: int,
    policies_of: Callable[[int], dict[str, Policy]],
    run_seed: Callable[[dict[str, Policy], Block], pd.DataFrame],
    title: str,
) -> pd.DataFrame:
    """Return the trials of all training seeds; the blocks that a killed run has kept are not run again.

    Args:
        run: of the campaign.
        group: the policies of one utility.
        part: the phase of the selected policies, and the words that tell its parts apart, but for the training seed.
        space: that networks are drawn from: each training seed begins with a whole block, since networks of one block
            are not independent.
        networks: of a training seed.
        policies_of: returns what runs with a training seed, by its ids.
        run_seed: runs policies on the networks of a block.
        title: of the progress.
    """
    name, *words = part
    phase, apart = run.phase(of_trainings(name)), space.block * -(-networks // space.block)
    parts, seeds = [], group.training_seeds
    each = max(len(policies_of(seed)) for seed in seeds)
    with run.reporter.task(title, len(seeds) * networks, each, "networks") as task:
        for before, seed in enumerate(seeds):
            trials, block = partial(run_seed, policies_of(seed)), Block(0, seed * apart, networks)
            size = space.block * -(-run.config.test.block // space.block)
            tell = telling(task, before * networks, seed)
            parts.append(phase.pieces(*words, seed, block=block, size=size, run=trials, tell=tell))
            tell(networks)
    return pd.concat(parts, ignore_index=True)


def telling(task: Task, before: int, seed: int) -> Callable[[int], None]:
    """Return what tells a task how many networks of a training seed are done, so many having been done before it."""
    return lambda done: task.update(before + done, f"training seed {seed}: {done} networks")
