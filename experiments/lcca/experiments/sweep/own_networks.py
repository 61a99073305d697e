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
    """Return the trials of all training seeds; what a killed run has kept is not run again.

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
    parts = []
    with run.reporter.task(title, total=len(group.training_seeds)) as task:
        for done, seed in enumerate(group.training_seeds, 1):
            trials = partial(run_seed, policies_of(seed), Block(0, seed * apart, networks))
            parts.append(phase.part(*words, seed, run=trials))
            task.update(done, f"training seed {seed}")
    return pd.concat(parts, ignore_index=True)
