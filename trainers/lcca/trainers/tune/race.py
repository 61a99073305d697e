"""Trying candidates on networks that all of them meet, and stopping those that are settled worse than the best so far.

Every candidate is compared with the incumbent: the best of the batches before, on the same (network, seed) pairs.
Candidates of one batch know nothing of each other, so it does not matter who tries which, or when.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lcca.evaluation.settling.sequence import Moments, half_width
from lcca.evaluation.trials.blocks import Block, Decision, blocks_between, run_blocks
from lcca.evaluation.trials.source import TrialSource
from lcca.remy_plus.policies.policy import Policy
from lcca.trainers.tune.config import Race

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Objective:
    """What all candidates of a search are tried on.

    Attributes:
        source: of the trials, in the order in which they are met.
        networks: how many of its networks (on a fabric, seeds) all candidates meet.
        race: stops a candidate; None for never.
    """

    source: TrialSource[Policy]
    networks: int
    race: Race | None = None

    @property
    def floor(self) -> float:
        """Score of a trial that failed, in bits: as if every sender had starved."""
        return self.source.utility.worst

    def blocks(self) -> list[int]:
        """Return the numbers of networks after which candidates are looked at, the last one all."""
        if self.race is None:
            return [self.networks]
        return [*range(self.race.first_look, self.networks, self.race.every), self.networks]

    def run(self, policies: Sequence[Policy], begin: int, end: int) -> tuple[Floats, NDArray[np.int64]]:
        """Run policies on some of the networks.

        Returns:
            (policies, end − begin) scores in bits, NaN where no sender was on for long enough to count; and how many
            trials of each policy failed, which score `floor`.
        """
        named = {str(i): policy for i, policy in enumerate(policies)}
        rows = self.source.rows(named, Block(0, begin, end - begin))
        failed = (rows["status"] != "ok").to_numpy().reshape(len(policies), -1)
        scores = rows["score_bits"].to_numpy(dtype=np.float64).reshape(len(policies), -1)
        return np.where(failed, self.floor, scores), failed.sum(axis=1)


@dataclass
class Runner:
    """A candidate on its way.

    Attributes:
        number: in the study.
        policy: what it is.
        scores: in bits, on the networks so far; NaN where no sender counted.
        failed: trials that failed.
        stopped: whether it was settled worse than the incumbent.
    """

    number: int
    policy: Policy
    scores: list[float] = field(default_factory=list)
    failed: int = 0
    stopped: bool = False


def mean_score(scores: Sequence[float], incumbent: Sequence[float] | None = None) -> float:
    """Return a candidate's score over all networks, in bits.

    A candidate that was stopped has met fewer networks than the incumbent, perhaps easy ones: its score is that of the
    incumbent on all networks, plus the mean difference on those that both have met. NaN if nothing was scored.
    """
    own = np.asarray(scores, dtype=np.float64)
    if incumbent is None or len(own) == len(incumbent):
        return float(np.mean(own[np.isfinite(own)])) if np.isfinite(own).any() else math.nan
    whole = np.asarray(incumbent, dtype=np.float64)
    difference = own - whole[: len(own)]
    return mean_score(incumbent) + mean_score(difference.tolist())


def is_worse(differences: Sequence[float], networks: int, alpha: float) -> bool:
    """Tell whether the t-mixture confidence sequence for the mean difference lies below 0.

    It may be asked after every network. The mixture is tuned beforehand, for a quarter of all networks: half of a
    race's looks would come too late for it otherwise (`lcca.evaluation.settling.sequence`).

    Args:
        differences: from the incumbent, in bits; those that are NaN are left out.
        networks: of the objective, all of them.
        alpha: error rate over all looks.
    """
    moments = Moments()
    moments.extend(d for d in differences if math.isfinite(d))
    log_term = -2 * math.log(alpha)
    g = (log_term + math.log(max(log_term, 1.0)) + 1) / max(networks / 4, 1)
    return moments.spread > 0 and moments.mean + half_width(moments.n, moments.spread, g, alpha) < 0


def race(
    objective: Objective,
    runners: Sequence[Runner],
    incumbent: Sequence[float],
    after_block: Callable[[Runner], None] = lambda runner: None,
) -> None:
    """Run candidates on the objective's networks, from where each of them is, until it is done or stopped.

    Args:
        objective: the networks and the rule.
        runners: candidates; what they have met already is not run again.
        incumbent: scores of the best so far, one per network.
        after_block: called with each candidate that has met more networks.
    """
    for runner in runners:
        runner.stopped = _is_beaten(objective, runner.scores, incumbent)  # one that was killed right after a block

    def run(block: Block) -> None:
        group = [r for r in runners if not r.stopped and len(r.scores) == block.first]
        if not group:
            return
        scores, failed = objective.run([r.policy for r in group], block.first, block.end)
        for runner, own, lost in zip(group, scores, failed, strict=True):
            runner.scores += own.tolist()
            runner.failed += int(lost)
            runner.stopped = _is_beaten(objective, runner.scores, incumbent)
            after_block(runner)

    def decide(parts: Sequence[None], done: int) -> Decision[None]:
        return Decision(None, all(r.stopped or len(r.scores) == objective.networks for r in runners))

    run_blocks(blocks_between(objective.blocks()), run, decide)


def _is_beaten(objective: Objective, scores: Sequence[float], incumbent: Sequence[float]) -> bool:
    if objective.race is None or len(scores) not in objective.blocks()[:-1]:
        return False
    differences = [own - other for own, other in zip(scores, incumbent, strict=False)]
    return is_worse(differences, objective.networks, objective.race.alpha)
