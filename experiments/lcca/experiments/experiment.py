"""An experiment: contenders meet on the numbered trials of a place until questions about them are answered.

Every command and campaign that compares, ranks, estimates or measures runs its trials here: block by block, kept where
there is a run folder, with progress and a forecast, until its `Stop` says that it is enough.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.trials.blocks import (
    Block,
    Decision,
    InBlocks,
    Keep,
    blocks_between,
    equal_blocks,
    in_memory,
    run_blocks,
    stretches,
)
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import mean_scores
from lcca.evaluation.trials.source import TrialSource
from lcca.experiments.runs.forecast import Cost, cpu_s_per_weight
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import More, more_pairs

RunTrials = Callable[[Mapping[str, Any], Block], pd.DataFrame]
"""Runs contenders on a block of a place's trials, and returns their rows."""

Reduce = Callable[[Block, pd.DataFrame], Any]
"""Returns what questions need of the rows of a block: all else is forgotten, or in the run's folder."""


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of an experiment so far.

    Attributes:
        parts: the rows of each block, in order, or what they are reduced to.
        done: how many trials of each contender that is.
        earlier: as of `Stop`.
    """

    parts: Sequence[Any]
    done: int
    earlier: Sequence[int] = ()

    @cached_property
    def rows(self) -> pd.DataFrame:
        """All rows."""
        found: pd.DataFrame = pd.concat(self.parts, ignore_index=True)
        return found


@dataclass(frozen=True)
class Answer:
    """What the trials so far say to a question.

    Attributes:
        content: a comparison, a ranking, estimates: what the question is about.
        settled: whether its verdicts are reached.
        enough: whether it is known as accurately as a run is to know it.
        comparisons: that it rests on, for forecasts.
        words: how far it is, for progress; made of the comparisons if empty.
        more: trials that are still to come, where comparisons do not say that.
    """

    content: Any
    settled: bool
    enough: bool
    comparisons: tuple[Comparison, ...] = ()
    words: str = ""
    more: More | None = None

    @classmethod
    def of(cls, comparison: Comparison) -> Answer:
        """Return the answer that is one comparison."""
        return cls(comparison, comparison.ended, comparison.enough, (comparison,))

    @classmethod
    def of_all(cls, comparisons: Sequence[Comparison], words: str = "") -> Answer:
        """Return the answer that is several comparisons; without any nothing is ever settled."""
        settled = bool(comparisons) and all(each.ended for each in comparisons)
        enough = bool(comparisons) and all(each.enough for each in comparisons)
        return cls(list(comparisons), settled, enough, tuple(comparisons), words)


class Question(Protocol):
    """What an experiment is to find out."""

    def __call__(self, trials: Trials) -> Answer:
        """Return what the trials so far say; asked after every block."""


@dataclass(frozen=True)
class Pair:
    """Is contender `B` better than `A`? A `Question`.

    Attributes:
        A: the baseline.
        B: the candidate.
        utility: of the scores.
        rule: settles it.
        block: trials in a block of the place.
        column: of the trials that has the scores.
    """

    A: str
    B: str
    utility: Any
    rule: Rule
    block: int
    column: str = "score_bits"

    def __call__(self, trials: Trials) -> Answer:
        """Return the comparison on the trials so far."""
        rows = trials.rows[trials.rows["policy"].isin((self.A, self.B))]
        scores = mean_scores(rows.assign(score_bits=rows[self.column]))
        a, b = scores[self.A], scores[self.B]
        unfinished = unfinished_of(rows, self.utility, self.column)
        settled_by = {"utility": self.utility, "rule": self.rule, "block": self.block, "unfinished": unfinished}
        return Answer.of(compare_policies(self.A, self.B, a, b, **settled_by))


@dataclass(frozen=True)
class Stop:
    """When an experiment ends.

    Attributes:
        most: trials of each contender at which it ends in any case, with a rule rounded up to whole blocks; None for
            no end but that of its questions.
        at_least: trials that are run in any case.
        when: all questions are settled, or their answers are accurate too, or never before `most`.
        step: trials that are run and kept between two looks; None for four blocks of the place.
        rule: steps end where it looks; None for equal steps.
        budget_s: seconds after which no further block begins.
        earlier: rising numbers of trials at which it was to end before it was given more; steps end there too.
        ends: numbers of trials at which it looks, in place of steps.
    """

    most: int | None
    at_least: int = 0
    when: Literal["settled", "accurate", "never"] = "accurate"
    step: int | None = None
    rule: Rule | None = None
    budget_s: float | None = None
    earlier: Sequence[int] = ()
    ends: Sequence[int] = ()

    def end(self, place: InBlocks) -> int | None:
        """Return the number of trials at which it ends in any case; None where there is none."""
        return self.most if self.rule is None or self.most is None else place.whole(self.most)

    def plan(self, place: InBlocks) -> Iterator[Block]:
        """Return the blocks of trials between two looks."""
        if self.ends:
            return blocks_between(self.ends)
        size = self.step or 4 * place.block
        end = self.end(place)
        if self.rule is None or end is None:
            return equal_blocks(size, end)
        kept = [place.whole(count) for count in self.earlier]
        return stretches(self.rule, place.block, place.block * -(-size // place.block), end, kept)

    def reached(self, answers: Sequence[Answer], done: int) -> bool:
        """Tell whether the answers are what it waits for."""
        if self.when == "never" or not answers or done < self.at_least:
            return False
        return all(each.settled if self.when == "settled" else each.enough for each in answers)


@dataclass(frozen=True, eq=False)
class Found:
    """What an experiment has found.

    Attributes:
        rows: of all trials; none where they are reduced.
        answers: to its questions, in their order.
        trials: of each contender.
        reached: whether it ended as its questions were answered.
        out_of_time: whether its budget of time ended it.
    """

    rows: pd.DataFrame
    answers: Sequence[Answer]
    trials: int
    reached: bool
    out_of_time: bool

    @property
    def contents(self) -> list[Any]:
        """What the answers say."""
        return [each.content for each in self.answers]


@dataclass(frozen=True, eq=False)
class Experiment:
    """Contenders on a place, and what is to be found out.

    Attributes:
        place: numbers the trials; the same for all contenders.
        contenders: by their names.
        questions: each is answered after every block; without any all trials are run.
        stop: when it ends.
        title: of its progress.
        run_trials: in place of the place's own `rows`.
        reduce: rows of a block to what questions need of them; all rows if left out.
        each: trials of a unit of the place, for progress; the contenders unless given.
    """

    place: TrialSource[Any]
    contenders: Mapping[str, Any]
    questions: Sequence[Question]
    stop: Stop
    title: str
    run_trials: RunTrials | None = None
    reduce: Reduce | None = None
    each: int | None = None

    def run(self, keep: Keep[pd.DataFrame] = in_memory, reporter: Reporter | None = None) -> Found:
        """Run its trials block by block until it ends.

        Args:
            keep: where blocks are kept; those that are there are read.
            reporter: of progress; none if left out.
        """
        run_trials, stop = self.run_trials or self.place.rows, self.stop
        until = math.inf if stop.budget_s is None else time.monotonic() + stop.budget_s
        most, unit = stop.end(self.place), self.place.unit

        def run_block(block: Block) -> Any:
            rows = keep(block, lambda block: run_trials(self.contenders, block))
            return rows if self.reduce is None else self.reduce(block, rows)

        def decide(parts: Sequence[Any], done: int) -> Decision[list[Answer]]:
            so_far = Trials(parts, done, stop.earlier)
            answers = [question(so_far) for question in self.questions]
            return Decision(answers, stop.reached(answers, done) or time.monotonic() >= until)

        each = len(self.contenders) if self.each is None else self.each
        with (reporter or Reporter(quiet=True)).task(self.title, most, each, unit) as task:

            def show(done: int, answers: list[Answer]) -> None:
                task.update(done, _words(answers, done, most, unit), _more(answers, done, stop, most, unit))

            parts, answers = run_blocks(stop.plan(self.place), run_block, decide, tell=show)
        done = sum(block.size for block, _ in zip(stop.plan(self.place), parts, strict=False))
        reached = stop.reached(answers, done)
        rows = pd.concat(parts, ignore_index=True) if self.reduce is None else pd.DataFrame()
        return Found(rows, answers, done, reached, not reached and most is not None and done < most)

    def costs(self, jobs: int, first_look: int | None = None, by: str = "") -> Costs:
        """Run a few trials, and return what all of them cost by what these have cost.

        Args:
            jobs: threads.
            first_look: blocks before anything is said; None where there are no looks.
            by: what sets how many trials there are at most.
        """
        run_trials, most = self.run_trials or self.place.rows, self.stop.end(self.place)
        if most is None:
            raise ValueError("an experiment without an end has no cost")
        counts = {"in all": most}
        if first_look is not None:
            counts = {"first look": first_look * self.place.block, "at most": most}
        weights = self.place.weights(max(counts.values()))
        pace, tried = cpu_s_per_weight(lambda block: run_trials(self.contenders, block), weights)
        unit = self.place.unit
        ends = {w: Cost(n, unit, pace * sum(weights[:n]), jobs, by if n == most else "") for w, n in counts.items()}
        return Costs(ends, tried)


@dataclass(frozen=True)
class Costs:
    """What an experiment costs.

    Attributes:
        ends: by words for where it may end.
        tried: trials that this rests on.
        paces: CPU seconds per Gb of each contender, where the place knows that.
    """

    ends: Mapping[str, Cost]
    tried: int = 0
    paces: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return them as JSON values."""
        known = {"cpu_s_per_gigabit": dict(self.paces)} if self.paces else {"tried": self.tried}
        return known | {"costs": [{"end": words} | each.to_json() for words, each in self.ends.items()]}


def _words(answers: Sequence[Answer], done: int, most: int | None, unit: str) -> str:
    if words := "; ".join(each.words for each in answers if each.words):
        return words
    found = [comparison for each in answers for comparison in each.comparisons]
    if not found:
        return f"{done} of {most} {unit}"
    if len(found) == 1:
        return f"{done} {unit}: {found[0].void or found[0].verdict.name}"
    settled = sum(each.adjusted.settled for each in found)
    return f"{done} {unit}: {settled} of {len(found)} comparisons settled"


def _more(answers: Sequence[Answer], done: int, stop: Stop, most: int | None, unit: str) -> More | None:
    known = [each.more for each in answers if each.more is not None]
    if known:
        return More(max(each.low for each in known), max(each.high for each in known), known[0].unit)
    if most is None:
        return None
    found = [comparison for each in answers for comparison in each.comparisons]
    if not found or stop.when == "never":
        return More(most - done, most - done, unit)
    return more_pairs(found, done, stop.at_least, most, stop.when == "settled")


@dataclass(frozen=True)
class Numbered:
    """A place whose trials a function runs: a `TrialSource`.

    Attributes:
        rows: runs contenders on a block of them.
        unit: what is numbered, in the plural.
        utility: scores a trial; None where nothing is scored.
    """

    rows: RunTrials
    unit: str = "trials"
    utility: Any = None
    block: int = 1
    origin: Mapping[str, str] = field(default_factory=dict)

    def whole(self, count: int) -> int:
        """Return the number itself: blocks are single trials."""
        return count

    def weights(self, count: int) -> Sequence[float]:
        """Return 1 for every trial."""
        return [1.0] * count
