"""Where in a space a policy loses most: networks that a sampler proposes, then fresh trials of the worst. Needs Optuna.

Candidates are numbered. They belong to four chains, which know nothing of each other: each begins with networks that
are spread over the space and goes on as a tree-structured Parzen estimator proposes. What is proposed follows from the
seed and the trials of the batches before alone, so that a run that was stopped goes on to the same networks.

The largest of many noisy losses looks larger than it is. So the worst networks meet seeds that no candidate met, and
what is said of them rests on these trials alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from optuna.distributions import IntDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.base import UNFINISHED_PERCENT
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import Metric
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Answer, Stop, Trials
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import require
from lcca.inputs.json_values import interval
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.trainers.tune.samplers import proposal, seed_of, tpe

CHAINS = 4
BATCH = 4 * CHAINS
"""Candidates that are proposed at a time: the results of a batch are seen by the next one."""

APART = 0.2
"""Networks that are nearer are one: the root of the mean square of their distances, the space being 1 wide each way."""

ALPHA = 0.05
"""Chance that any of the intervals of a search misses."""


@dataclass(frozen=True)
class Loss:
    """By how much a policy is worse than the best of its references.

    Attributes:
        policy: name of the policy.
        against: names of the references.
        metric: that tells better from worse.
    """

    policy: str
    against: tuple[str, ...]
    metric: Metric

    def by_trial(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the loss against each reference, a row per network and seed; NaN where a trial of either failed."""
        values = rows.assign(value=rows[self.metric.name].where(rows["status"] == "ok"))
        wide = values.pivot(index=["network", "seed"], columns="policy", values="value")
        sign = -1 if self.metric.better == "less" else 1
        return sign * wide[[*self.against]].sub(wide[self.policy], axis=0)

    def by_network(self, rows: pd.DataFrame) -> pd.Series[float]:
        """Return the mean loss per network against the reference that is best there; NaN where nothing was scored."""
        return self.by_trial(rows).groupby(level="network").mean().max(axis=1)


@dataclass(eq=False)
class Search:
    """A search: the trials of an `Experiment`, and its question.

    Attributes:
        source: runs trials; its seeds are those that every candidate meets.
        space: that candidates are networks of.
        loss: that is to be large.
        candidates: how many.
        most: networks that are confirmed at most.
        fresh: trials of each of them.
        ideals: columns of `ideal_scores` by the names of references that are ideals.
        levels: of the parameters that vary.
        losses: of the candidates so far.
        places: where they lie: the level of each parameter that varies, from 0.
    """

    source: NetworkTrials
    space: NetworkSpace
    loss: Loss
    candidates: int
    most: int
    fresh: int
    ideals: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, list[float]] = field(init=False)
    losses: pd.Series[float] = field(init=False, default_factory=lambda: pd.Series(dtype=float))
    places: list[dict[str, int]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Look at what varies."""
        self.levels = self.space.levels()
        require(bool(self.levels), "nothing varies in this space: give a parameter a range, as in --set rtt.max=200")

    @property
    def stop(self) -> Stop:
        """Batches of candidates, and at last the confirmation."""
        ends = [*range(BATCH, self.candidates, BATCH), self.candidates, self.candidates + self.most]
        return Stop(ends[-1], when="never", ends=ends)

    def __call__(self, trials: Trials) -> Answer:
        """Take in what the trials so far say of the candidates; how far it is, in words."""
        rows = trials.rows[trials.rows["network"] < self.candidates]
        networks = rows[rows["policy"] == self.loss.policy].drop_duplicates("network")
        columns = ([own.index(value) for value in networks[name]] for name, own in self.levels.items())
        self.places = [dict(zip(self.levels, place, strict=True)) for place in zip(*columns, strict=True)]
        self.losses = self.loss.by_network(rows)
        words = f"{len(self.places)} candidates; largest loss {self.losses.max():.3f} {self.loss.metric.unit}"
        return Answer(None, settled=False, enough=False, words=words.rstrip())

    def rows(self, contenders: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        """Run a batch of candidates, or confirm the worst: their numbers come after those of the candidates."""
        if block.first < self.candidates:
            return self.run(contenders, self.proposed(block), self.source.seeds)
        networks = [self._network(self.candidates + i, self.places[n]) for i, n in enumerate(self.worst())]
        require(bool(networks), "no sender was scored in any trial; make trials longer")
        return self.run(contenders, networks, [derive(self.source.seed, "fresh", k) for k in range(self.fresh)])

    def run(self, contenders: Mapping[str, Policy], networks: Sequence[Network], seeds: Sequence[int]) -> pd.DataFrame:
        """Run contenders on networks, and put ideals beside them."""
        simulator, utility = self.source.simulator, self.source.utility
        rows = run_trials(simulator, contenders, networks, seeds, utility, keep_delays=self.source.keep_delays)
        if not self.ideals:
            return rows
        scores = ideal_scores(networks, seeds, utility, simulator.duration)
        beside = [
            scores[["network", "seed"]].assign(policy=name, status="ok", error="", score_bits=scores[column])
            for name, column in self.ideals.items()
        ]
        return pd.concat([rows, *beside], ignore_index=True)

    def proposed(self, block: Block) -> list[Network]:
        """Return the candidates of a batch, which follow from those before it."""
        space = {name: IntDistribution(0, len(own) - 1) for name, own in self.levels.items()}
        trials = [_trial(place, space, self.losses[n]) for n, place in enumerate(self.places)]
        begins = max(2, min(self.space.block, self.candidates // CHAINS // 4))
        for number in range(len(trials), block.end):
            chain = number % CHAINS
            own = trials[chain::CHAINS]
            if len(own) < begins:
                (first,) = self.space.draw(derive(self.source.seed, "chain", chain), 1, len(own))
                place = {name: levels.index(getattr(first, name)) for name, levels in self.levels.items()}
            else:
                sampler = tpe(seed_of(self.source.seed, number), begins, multivariate=chain % 2 == 0)
                place = proposal(sampler, own, space).params
            trials.append(_trial(place, space))
        return [self._network(n, trials[n].params) for n in range(block.first, block.end)]

    def worst(self) -> list[int]:
        """Return the numbers of the candidates with the largest losses that are apart from each other."""
        sizes = np.array([len(own) - 1 for own in self.levels.values()])
        chosen: dict[int, Any] = {}
        for number in self.losses.dropna().sort_values(ascending=False, kind="stable").index:
            at = np.array([*self.places[number].values()]) / sizes
            if all(np.mean((at - other) ** 2) >= APART**2 for other in chosen.values()):
                chosen[number] = at
        return [*chosen][: self.most]

    def confirmed(self, rows: pd.DataFrame) -> list[dict[str, Any]]:
        """Return a record per network that was confirmed, the largest loss first; simultaneous intervals.

        Against several references the largest loss is within the largest ends, as each is within its own. Nothing is
        confirmed where too much is unfinished to know scores.
        """
        losses, networks = self.loss.by_trial(rows[rows["network"] >= self.candidates]), self.worst()
        records = []
        for i, number in enumerate(networks):
            own, alpha = losses.loc[self.candidates + i], ALPHA / len(networks) / len(self.loss.against)
            means, lows, highs = np.array([t_interval(own[name], alpha) for name in self.loss.against]).T
            best = int(np.argmax(np.nan_to_num(means, nan=-np.inf)))
            bounds = unfinished_of(rows[rows["network"] == self.candidates + i], self.source.utility).values()
            known = not any(each.exceeds(UNFINISHED_PERCENT) for each in bounds)
            records.append(
                {
                    "candidate": number,
                    "network": self._network(self.candidates + i, self.places[number]),
                    "search_loss": float(self.losses[number]),
                    "loss": interval(means[best], np.fmax.reduce(lows), np.max(highs)),
                    "against": self.loss.against[best],
                    "trials": len(own.dropna()),
                    "confirmed": known and bool(np.fmax.reduce(lows) > 0),
                }
            )
        return sorted(records, key=lambda each: -(each["loss"]["mean"] or 0.0))

    def _network(self, number: int, place: Mapping[str, int]) -> Network:
        return self.space.network(number, {name: self.levels[name][at] for name, at in place.items()})


def _trial(place: Mapping[str, int], space: Mapping[str, IntDistribution], loss: float | None = None) -> FrozenTrial:
    """Return a candidate as Optuna has it: without a loss it runs, and where nothing was scored it failed."""
    state = TrialState.RUNNING if loss is None else TrialState.FAIL if np.isnan(loss) else TrialState.COMPLETE
    value = loss if state == TrialState.COMPLETE else None
    return create_trial(state=state, params=dict(place), distributions=dict(space), value=value)
