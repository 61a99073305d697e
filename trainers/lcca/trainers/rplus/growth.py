"""Growth: split the rules that gain most by it, polish all actions at once, compare; then the next number of rules."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import Keeper
from lcca.trainers.rplus.config import GrowConfig, RplusConfig
from lcca.trainers.rplus.coordinates import Coordinates, actions_of, with_actions
from lcca.trainers.rplus.evolution import Evolution, Floats, usual_population
from lcca.trainers.rplus.ladder import Ladder
from lcca.trainers.rplus.sample import BudgetSpent, Sample, Samples
from lcca.trainers.rplus.splits import Split, best, contrasts, gains, half_differences, parts, split
from lcca.trainers.rplus.state import SearchState

FEWEST_NETWORKS = 4
"""Of a generation that the budget cuts short: with fewer it would be left out."""

STEP_TRIALS = 1000
"""A step takes generations until they have so many trials: checkpoints and learning rows cost time too."""

FIRST_PACING = 0.9
"""Of a first rule that is to be split, in receive EWMAs: gaps just short of binding. One rule is as good with any
shorter gap, so that a search lets it drift away, and rules that grow from there never find gaps again: two rules of E2E
then stay at 2.8 bits in place of 3.2 (`benchmarks/README.md`, Polish)."""

AVERAGED = 0.5
"""Share of a polish, its last part, whose points are averaged."""


@dataclass
class Growth:
    """The steps of a growth; each changes the state.

    Attributes:
        config: of the training.
        state: where it stands.
        samples: draws the networks of this step.
        keep: takes the policies of a round.
        rivals: tables to go on from where they are better: each is compared once, as soon as it is no larger.
        first: the rule that every start begins with; see `Ladder`.
    """

    config: RplusConfig
    state: SearchState
    samples: Samples
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

    def begin(self, larger: bool = False) -> None:
        """Go on to the next number of rules, or end the training; see `Ladder.go_on`."""
        state = self.state
        state.stage = "split" if self._ladder.go_on(larger) else "done"
        if state.stage == "split" and state.wanted <= len(state.table):
            self._begin_polish()

    @property
    def _ladder(self) -> Ladder:
        return Ladder(self.config, self.state, self.first)

    # --- splitting

    def _split(self) -> float:
        """Split the rules that gain most, as many as there is room for; return the mean score of what was tried."""
        grow, state = self.config.grow, self.state
        assert grow is not None
        try:
            tried = [self._tried(grow, places) for places in self._places(grow)]
        except BudgetSpent:
            tried = []
        found = best([each for _, gained in tried for each in gained], state.wanted - len(state.table))
        state.table = split(state.table, found)
        if not found or len(state.table) >= state.wanted:
            self._begin_polish()
        return float(np.mean([score for score, _ in tried])) if tried else 0.0

    def _places(self, grow: GrowConfig) -> list[list[Split]]:
        """Return, for each signal that parts any rule, where it would cut those that are used."""
        table, sample = self.state.table, self.samples.draw(grow.look_ups)
        found = sample.look_ups(self.samples.compiled(table), table)
        cuts = np.where(found.use[:, None] >= grow.least_use, found.cuts(), np.nan)
        rows = [
            [Split(int(r), axis, cut[r]) for r in np.flatnonzero(~np.isnan(cut))] for axis, cut in enumerate(cuts.T)
        ]
        return [each for each in rows if each]

    def _tried(self, grow: GrowConfig, places: list[Split]) -> tuple[float, list[tuple[float, Split]]]:
        """Move the parts of all split rules apart at random; return the mean score, and the gain of each split."""
        table, low = split(self.state.table, places), parts(places)
        shape = (grow.pairs, len(places), len(self.config.optimise))
        directions = self._random(places[0].axis).standard_normal(shape)
        moved = contrasts(places, directions, len(table))
        halves, used, score = self._mirrored(table, self._point(table), moved, self._apart(grow))
        found = gains(halves, used[:, low] | used[:, low + 1], directions)
        return score, list(zip(found.tolist(), places, strict=True))

    def _apart(self, grow: GrowConfig) -> Sample:
        """Draw networks that are not those of the look-ups; the same for all signals."""
        return self.samples.draw(grow.pairs, self.samples.trials.whole(grow.look_ups))

    # --- polishing

    def _begin_polish(self) -> None:
        held = self._holds_pacing()
        if held:
            self.state.table = replace(self.state.table, pacing=np.full(1, FIRST_PACING))
        self.state.evolution, self.state.began = self._wide(held), self._trials
        self.state.stage = "polish" if self._has_room() else "compare"

    def _holds_pacing(self) -> bool:
        """Return whether a first rule that is to be split keeps its pacing; see `FIRST_PACING`."""
        table, grow = self.state.table, self.config.grow
        first = grow is not None and len(table) == self.state.wanted == 1 < grow.rules[-1]
        return first and table.pacing_kind == "relative" and {"pacing"} < set(self.config.optimise)

    def _wide(self, pacing_held: bool) -> Evolution:
        wide = [
            0.0 if pacing_held and each == "pacing" else self.config.polishing.sigma for each in self.config.optimise
        ]
        return Evolution.at(self._point(self.state.table), np.array(wide))

    def _polish(self) -> float:
        """Take some generations; return the mean score of their perturbed tables."""
        scores: list[float] = []
        while self.state.stage == "polish" and self.samples.effort.trials < STEP_TRIALS:
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
        if self._progress() >= 1 - AVERAGED:
            evolution.count()
        state.table = self._at(evolution.point)
        if not self._has_room():
            state.stage = "compare"
        return float(scores.mean())

    def _candidate_scores(self, points: Floats, networks: int, number: int) -> Floats:
        """Return (candidates,) mean scores on networks of this generation that all candidates meet."""
        sample = self.samples.draw(networks, number * self.samples.trials.whole(self.config.polishing.networks))
        actions = self._coordinates.actions(points, actions_of(self.state.table))
        policies = self.samples.compiled(self.state.table).population(actions)
        return np.array([each.mean() for each in sample.scores(policies, [np.arange(networks)] * len(points))])

    @property
    def _population(self) -> int:
        return self.config.polishing.population or usual_population(self._evolution.point.size)

    def _mirrored(
        self, table: RuleTable, point: Floats, directions: Floats, sample: Sample
    ) -> tuple[Floats, NDArray[np.bool_], float]:
        """Score a table moved there and back along each direction, each on a network of its own.

        Returns:
            (pairs,) half differences, (pairs, rules) whether a rule was looked up there or back, and the mean score.
        """
        moved = self.config.polishing.sigma * directions
        actions = self._coordinates.actions(np.concatenate([point + moved, point - moved]), actions_of(table))
        pairs = np.arange(len(directions))
        policies = self.samples.compiled(table).population(actions)
        scores, rule_hits = sample.each_once(policies, np.tile(pairs, 2))
        above, below = np.split(scores, 2)
        return half_differences(above, below), np.logical_or(*np.split(rule_hits > 0, 2)), float(scores.mean())

    # --- comparing

    def _compare(self) -> float:
        """Keep the last point and the mean of the last half, the better one last; a better rival takes its place.

        Starts before the last keep nothing: where they end, they are rivals of the last.
        """
        state, average = self.state, self._at(self._evolution.average)
        tables = [state.table, average, *self._fitting()]
        scores = self._scores(tables)
        order = sorted(range(len(tables)), key=lambda at: (scores[at], -at))
        state.table, state.compared = tables[order[-1]], state.wanted
        if not self._ladder.starts_to_come:
            self.keep(state.round, tables[order[-2]])
            self.keep(state.round + 1, state.table)
            state.round += 2
        return scores[order[-1]]

    def _scores(self, tables: list[RuleTable]) -> list[float]:
        """Return the mean scores of tables on fresh networks, as many as may be run; 0 where none may."""
        wanted = self.config.polishing.check_networks * len(tables)
        sample = self.samples.draw(self.samples.effort.affordable(wanted) // len(tables))
        if not len(sample):
            return [0.0] * len(tables)
        everyone = np.arange(len(sample))
        found = sample.scores([self.samples.compiled(table) for table in tables], [everyone] * len(tables))
        return [float(each.mean()) for each in found]

    def _fitting(self) -> list[RuleTable]:
        """Return the rivals that have no more rules than are wanted here, and more than were wanted before.

        One with another pacing is left out: to go on from it would be to give up the pacing of the task for good.
        """
        most, pacing = max(self.state.wanted, len(self.state.table)), self.state.table.pacing_kind
        rivals = [] if self._ladder.starts_to_come else [*self.rivals, *self.state.starts]
        return [each for each in rivals if self.state.compared < len(each) <= most and each.pacing_kind == pacing]

    # --- where the actions lie

    @property
    def _coordinates(self) -> Coordinates:
        return Coordinates(self.state.table.pacing_kind, self.config.optimise)

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
    def _trials(self) -> int:
        return self.state.trials + self.samples.effort.trials

    def _room(self) -> int:
        """Return how many trials may still be run in this polish, with what the comparison needs set aside."""
        compared = self.config.polishing.check_networks * (2 + len(self._fitting()))
        return self.state.ends - compared - self._trials

    def _has_room(self) -> bool:
        return self._room() >= self._population * min(FEWEST_NETWORKS, self.config.polishing.networks)

    def _progress(self) -> float:
        """Return which share of the polish is done."""
        done = self._trials - self.state.began
        return done / max(1, done + self._room())

    def _random(self, stream: int) -> np.random.Generator:
        """Return the random numbers of one purpose of this step: perturbations have nothing in common with networks."""
        return np.random.default_rng([self.config.polishing.seed, self.samples.seed, self.samples.step, stream])
