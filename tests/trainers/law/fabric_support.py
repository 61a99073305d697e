"""Tasks on a fabric, and how good what is learnt for them is."""

from __future__ import annotations

import numpy as np

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.trials.utilities import fabric_utility, utility
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.headers.header import header as named_header
from lcca.signal_sets.headers.simulated import header_signals, stamping
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task


def task(space: FabricSpace, header: str = "") -> Task:
    """E2E's task, perhaps with a header of the catalogue."""
    signals, stamped = signal_set("e2e").signals, None
    if header:
        described = named_header(header)
        signals, stamped = (*signals, *header_signals(described)), stamping(described)
    return Task(header or "e2e", signals, space, utility("slowdown"), 3, header=stamped)


def score(space: FabricSpace, policy: Policy) -> float:
    """The mean score of 30 trials that nothing was trained on, bits."""
    scenario = space.scenarios[0]
    trials = run_fabric_trials(scenario, {"it": engine_of(policy, scenario.settings())}, range(900, 930))
    return float(np.nanmean([each.score(fabric_utility("slowdown")) for each in trials]))
