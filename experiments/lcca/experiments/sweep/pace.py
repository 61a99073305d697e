"""How long a trial of a campaign takes, measured before anything is learnt.

Most trials of a training run under tables with many rules: a trial under one of 16 rules takes 2.3 times as long as
under one rule (the look-ups alone are a quarter of that; rules that differ make a processor's predictions fail). So the
pace is that of tables as large as the trainer's, their boxes cut where signals are, as a search cuts them, and their
actions at random.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lcca.evaluation.fabric.space import FabricSpace
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.learning.training import engine_of
from lcca.remy_plus.policies.rules import RuleTable, one_rule
from lcca.trainers.base import Task
from lcca.trainers.rplus.actions import with_actions
from lcca.trainers.rplus.splits import Split, split
from lcca.trainers.rplus.trials import TrainingTrials, training_trials

if TYPE_CHECKING:
    from lcca.experiments.campaign.candidates import Candidate
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import GeneralisationConfig

PROBES, ON_FABRIC = 24, 4
"""Networks that the pace is measured on; trials on a fabric are longer."""

LOOK_UPS = 4
"""Networks that show where signals are."""

PROBE = (2.0, 0.9, 0.25)
"""Action of one rule: links are busy, as they are in most of a search's trials."""

LOW, HIGH = (1.0, 0.8, 0.1), (5.0, 1.0, 0.6)
"""Range of the actions of several rules. Where a window may shrink to nothing, all look-ups may fall into one rule."""


def trial_cpu_s(config: CampaignConfig) -> float:
    """Return the CPU seconds of a trial, mean over a campaign's candidates; runs a few trials."""
    return _cpu_s(config, config.candidates)


def condition_cpu_s(config: CampaignConfig, condition: GeneralisationConfig) -> float:
    """Return the CPU seconds of a trial under a condition, of the first candidate; runs a few trials.

    A trial with several bottlenecks takes up to thirty times as long as one on the dumbbell.
    """
    elsewhere = config.model_copy(update={"networks": condition.space(config.networks)})
    return _cpu_s(elsewhere, config.candidates[:1])


def _cpu_s(config: CampaignConfig, candidates: Sequence[Candidate]) -> float:
    count = ON_FABRIC if isinstance(config.networks, FabricSpace) else PROBES
    engine, probes = engine_of(config, 1), []
    for candidate in candidates:
        trials = training_trials(_task(config, candidate), engine)
        drawn = trials.draw(count, 0)
        table = probe_table(candidate.signals.signals, config.trainer.rules, trials)
        probes.append((drawn, trials.compiled(table)))
    began, everyone = time.process_time(), np.arange(count)
    for drawn, policy in probes:
        drawn.scores([policy], [everyone])
    return (time.process_time() - began) / count / len(probes)


def probe_table(signals: Sequence[str], rules: int, trials: TrainingTrials, look_ups: int = LOOK_UPS) -> RuleTable:
    """Return a table for these signals, of so many rules if its look-ups can be parted so often."""
    table, drawn = one_rule(tuple(signals)).with_action(0, *PROBE), trials.draw(look_ups, 0)
    rng, axes, in_vain = np.random.default_rng(0), len(table.signals), 0
    for axis in (step % axes for step in range(rules * axes)):
        if len(table) >= rules or in_vain == axes:
            break
        seen = drawn.look_ups(trials.compiled(table), table)
        cuts = seen.cuts()[:, axis]
        used = [int(rule) for rule in np.argsort(-seen.use, kind="stable") if not np.isnan(cuts[rule])]
        in_vain = 0 if used else in_vain + 1
        table = split(table, [Split(rule, axis, cuts[rule]) for rule in used[: rules - len(table)]])
        actions = rng.uniform(LOW, HIGH, (len(table), 3))
        table = with_actions(table, np.column_stack([np.rint(actions[:, 0]), actions[:, 1:]]))
    return table


def _task(config: CampaignConfig, candidate: Candidate) -> Task:
    return Task(
        identity="forecast",
        signals=candidate.signals.signals,
        space=config.networks,
        utility=config.utilities[0].build(),
        seed=derive(config.seed, "forecast"),
        header=candidate.stamping(charged=False),
    )
