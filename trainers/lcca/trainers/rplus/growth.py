"""Growth: split the rules that gain most by it, polish all actions at once, compare; then the next number of rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import Keeper
from lcca.trainers.rplus.actions import FIRST_PACING, Coordinates, Floats, actions_of, with_actions
from lcca.trainers.rplus.config import GrowConfig, RplusConfig, StartsConfig
from lcca.trainers.rplus.splits import Split, best, contrasts, gains, half_differences, parts, split
from lcca.trainers.rplus.state import SearchState
from lcca.trainers.search.evolution import Evolution, usual_population
from lcca.trainers.search.trials import BudgetSpent, Sample, StepTrials

SMALLEST = 3
"""Rules that each size counts on top of its own when the budget is shared: a first rule that is left where it began to
move costs all that grows from it (`benchmarks/README.md`, Polish)."""

FEWEST_NETWORKS = 4
"""Of a generation that the budget cuts short: with fewer it would be left out."""

STEP_TRIALS = 1000
"""A step takes generations until they have so many trials: checkpoints and learning rows cost time too."""

AVERAGED = 0.5
"""Share of a polish, its last part, whose points are averaged."""


@dataclass
class Growth:
    """The steps of a growth; each changes the state.

    Attributes:
        config: of the training.
        state: where it stands.
        trials: of this step.
        keep: takes the policies of a round.
        rivals: tables to go on from where they are better: each is compared once, as soon as it is no larger.
        first: the table that every start of `GrowConfig.starts` begins with; None where there is but one start.
    """

    config: RplusConfig
    state: SearchState
    trials: StepTrials
    keep: Keeper
    rivals: tuple[RuleTable, ...] = ()
    first: RuleTable | None = None

    def step(self) -> tuple[str, float]:
        """Take one step and return its kind and score."""
        match self.state.stage:
            case "split":
                return "split", self._split()
            case "polish":
                return "polish", self._polish()
            case _:
                return "compare", self._compare()

    # --- the numbers of rules that a growth passes through, once or from several starts

    def begin(self, larger: bool = False) -> None:
        """Go on to the next number of rules, with its share of the budget, or end the training.

        Args:
            larger: grow even if the table is as large as it was to become: to twice its rules then.
        """
        state, starts = self.state, self._starts
        if starts and self.first and self._starts_to_come and state.wanted == starts.rules:
            state.starts.append(state.table)  # this start has ended
            state.table, state.wanted, state.compared = self.first, 0, 0
        sizes = self._sizes_to_come(larger)
        if not sizes:
            state.stage = "done"
            return
        budget = self.config.budget_trials
        if starts and state.wanted < starts.rules:
            budget = (len(state.starts) + 1) * starts.trials
        state.wanted = sizes[0]
        share = (state.wanted + SMALLEST) / sum(each + SMALLEST for each in sizes)
        usual = self.config.polishing.trials_per_rule * state.wanted
        state.ends = state.trials + (usual if budget is None else round((budget - state.trials) * share))
        state.stage = "split"
        if state.wanted <= len(state.table):
            self._begin_polish()

    @property
    def _starts(self) -> StartsConfig | None:
        return self.config.grow.starts if self.config.grow and self.first else None

    @property
    def _starts_to_come(self) -> int:
        return self._starts.number - len(self.state.starts) - 1 if self._starts else 0

    def _sizes_to_come(self, larger: bool) -> list[int]:
        """Return the numbers of rules that are to come: of this start, or of all."""
        rules, grow, before, starts = len(self.state.table), self.config.grow, self.state.wanted, self._starts
        if grow is None:
            return [] if before else [rules]
        last = starts.rules if starts and before < starts.rules else grow.rules[-1]
        sizes = [each for each in grow.rules if before < each <= last and each >= rules + larger]
        return sizes or ([] if before else [rules * (1 + larger)])

    # --- splitting

    def _split(self) -> float:
        """Split the rules that gain most, as many as there is room for; return the mean score of what was tried."""
        grow, state = self.config.grow, self.state
        assert grow is not None
        try:
            tried = [self._try(grow, places) for places in self._places(grow)]
        except BudgetSpent:
            tried = []
        chosen = best([each for _, gained in tried for each in gained], state.wanted - len(state.table))
        state.table = split(state.table, chosen)
        if not chosen or len(state.table) >= state.wanted:
            self._begin_polish()
        return float(np.mean([score for score, _ in tried])) if tried else 0.0

    def _places(self, grow: GrowConfig) -> list[list[Split]]:
        """Return, for each signal that parts any rule, where it would cut those that are used."""
        table = self.state.table
        seen = self.trials.draw(grow.look_ups).look_ups(self.trials.compiled(table), table)
        cuts = np.where(seen.use[:, None] >= grow.least_use, seen.cuts(), np.nan)
        rows = [
            [Split(int(r), axis, cut[r]) for r in np.flatnonzero(~np.isnan(cut))] for axis, cut in enumerate(cuts.T)
        ]
        return [each for each in rows if each]

    def _try(self, grow: GrowConfig, places: list[Split]) -> tuple[float, list[tuple[float, Split]]]:
        """Move the parts of all split rules apart at random; return the mean score, and the gain of each split."""
        table, low = split(self.state.table, places), parts(places)
        directions = self._random(places[0].axis).standard_normal((grow.pairs, len(places), len(self.config.optimise)))
        # Networks that are not those of the look-ups; the same for all signals.
        sample = self.trials.draw(grow.pairs, self.trials.space.whole(grow.look_ups))
        halves, used, score = self._mirrored(table, contrasts(places, directions, len(table)), sample)
        gained = gains(halves, used[:, low] | used[:, low + 1], directions)
        return score, list(zip(gained.tolist(), places, strict=True))

    def _mirrored(
        self, table: RuleTable, directions: Floats, sample: Sample
    ) -> tuple[Floats, NDArray[np.bool_], float]:
        """Score a table moved there and back along each direction, each on a network of its own.

        Returns:
            (pairs,) half differences, (pairs, rules) whether a rule was looked up there or back, and the mean score.
        """
        point, moved = self._point(table), self.config.polishing.sigma * directions
        actions = self._coordinates.actions(np.concatenate([point + moved, point - moved]), actions_of(table))
        policies = self.trials.compiled(table).population(actions)
        scores, rule_hits = sample.each_once(policies, np.tile(np.arange(len(directions)), 2))
        above, below = np.split(scores, 2)
        return half_differences(above, below), np.logical_or(*np.split(rule_hits > 0, 2)), float(scores.mean())

    # --- polishing

    def _begin_polish(self) -> None:
        state, grow, fields = self.state, self.config.grow, self.config.optimise
        sigma = np.full(len(fields), self.config.polishing.sigma)
        to_be_split = grow is not None and len(state.table) == state.wanted == 1 < grow.rules[-1]
        if to_be_split and state.table.pacing_kind == "relative" and {"pacing"} < set(fields):  # see `FIRST_PACING`
            state.table = replace(state.table, pacing=np.full(1, FIRST_PACING))
            sigma[fields.index("pacing")] = 0.0
        state.evolution, state.began = Evolution.at(self._point(state.table), sigma), self._trials_so_far
        state.stage = "polish" if self._has_room() else "compare"

    def _polish(self) -> float:
        """Take some generations; return the mean score of their perturbed tables."""
        scores: list[float] = []
        while self.state.stage == "polish" and self.trials.effort.trials < STEP_TRIALS:
            scores.append(self._generation(len(scores)))
        return float(np.mean(scores))

    def _generation(self, number: int) -> float:
        """Move all actions towards the better candidates; return their mean score."""
        state, evolution = self.state, self._evolution
        networks = min(self.config.polishing.networks, self._room() // self._population)
        half = self._random(number).standard_normal((self._population // 2, *evolution.point.shape))
        directions = np.concatenate([half, -half])
        scores = self._candidate_scores(evolution.candidates(directions), networks, number)
        evolution.move(directions, scores)
        evolution.point = self._coordinates.inside(evolution.point)
        taken = self._trials_so_far - state.began
        if taken / max(1, taken + self._room()) >= 1 - AVERAGED:
            evolution.count()
        state.table = self._at(evolution.point)
        if not self._has_room():
            state.stage = "compare"
        return float(scores.mean())

    def _candidate_scores(self, points: Floats, networks: int, number: int) -> Floats:
        """Return (candidates,) mean scores on networks of this generation that all candidates meet."""
        sample = self.trials.draw(networks, number * self.trials.space.whole(self.config.polishing.networks))
        actions = self._coordinates.actions(points, actions_of(self.state.table))
        policies = self.trials.compiled(self.state.table).population(actions)
        return np.array([each.mean() for each in sample.scores(policies, [np.arange(networks)] * len(points))])

    @property
    def _population(self) -> int:
        return self.config.polishing.population or usual_population(self._evolution.point.size)

    # --- comparing

    def _compare(self) -> float:
        """Keep the last point and the mean of the last half, the better one last; a better rival takes its place.

        Starts before the last keep nothing: where they end, they are rivals of the last.
        """
        state = self.state
        tables = [state.table, self._at(self._evolution.average), *self._rivals()]
        scores = self._scores(tables)
        order = sorted(range(len(tables)), key=lambda at: (scores[at], -at))
        state.table, state.compared = tables[order[-1]], state.wanted
        if not self._starts_to_come:
            self.keep(state.round, tables[order[-2]])
            self.keep(state.round + 1, state.table)
            state.round += 2
        return scores[order[-1]]

    def _rivals(self) -> list[RuleTable]:
        """Return the rivals that have no more rules than are wanted here, and more than were wanted before.

        One with another pacing is left out: to go on from it would be to give up the pacing of the task for good.
        """
        at_most, pacing = max(self.state.wanted, len(self.state.table)), self.state.table.pacing_kind
        rivals = [] if self._starts_to_come else [*self.rivals, *self.state.starts]
        return [each for each in rivals if self.state.compared < len(each) <= at_most and each.pacing_kind == pacing]

    def _scores(self, tables: list[RuleTable]) -> list[float]:
        """Return the mean scores of tables on fresh networks, as many as may be run; 0 where none may."""
        wanted = self.config.polishing.check_networks * len(tables)
        sample = self.trials.draw(self.trials.effort.affordable(wanted) // len(tables))
        if not len(sample):
            return [0.0] * len(tables)
        policies = [self.trials.compiled(table) for table in tables]
        return [float(each.mean()) for each in sample.scores(policies, [np.arange(len(sample))] * len(tables))]

    # --- where the actions lie

    @property
    def _coordinates(self) -> Coordinates:
        return Coordinates(self.state.table.pacing_kind, self.config.optimise, self.config.windows)

    @property
    def _evolution(self) -> Evolution:
        assert self.state.evolution is not None
        return self.state.evolution

    def _point(self, table: RuleTable) -> Floats:
        return self._coordinates.point(actions_of(table))

    def _at(self, point: Floats) -> RuleTable:
        return with_actions(self.state.table, self._coordinates.actions(point, actions_of(self.state.table)))

    # --- what may still be run

    @property
    def _trials_so_far(self) -> int:
        return self.state.trials + self.trials.effort.trials

    def _room(self) -> int:
        """Return how many trials may still be run in this polish, with what the comparison needs set aside."""
        compared = self.config.polishing.check_networks * (2 + len(self._rivals()))
        return self.state.ends - compared - self._trials_so_far

    def _has_room(self) -> bool:
        return self._room() >= self._population * min(FEWEST_NETWORKS, self.config.polishing.networks)

    def _random(self, stream: int) -> np.random.Generator:
        """Return the random numbers of one purpose of this step: perturbations have nothing in common with networks."""
        seed, step = self.trials.source.task.seed, self.trials.step
        return np.random.default_rng([self.config.polishing.seed, seed, step, stream])
