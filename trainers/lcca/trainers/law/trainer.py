"""The trainer `law`: a law's numbers by a natural evolution strategy, generation by generation.

Every step draws networks of its own, named by the step, so a training can stop between two steps and go on later with
the same bits.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.law import OWN
from lcca.remy_plus.policies.policy import Policy
from lcca.trainers.base import Keeper, LearningRow, Task, WarmStart
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint
from lcca.trainers.law.config import StagedConfig
from lcca.trainers.law.forms import Features, Form, Numbers, Terms, forms_of
from lcca.trainers.search.evolution import Evolution, usual_population
from lcca.trainers.search.trials import Effort, StepTrials, training_trials

STEP_TRIALS = 1000
"""A step takes generations until they have so many trials: checkpoints and learning rows cost time too."""

SHARED = "law before signals"
"""Identity of the state that tasks share."""


@dataclass
class LawState:
    """A training between two steps.

    Attributes:
        terms: of the law so far, by name.
        features: coefficients of features by name.
        kept: what each stage has come to.
        form: which of the task's forms of laws it has.
        stage: which comes next or goes on.
        began: trials before it.
        step: steps taken; it names the networks of the next one.
        evolution: the stage's search; None before its first generation.
        learning: one row per step.
    """

    terms: Terms
    features: Features = field(default_factory=dict)
    kept: list[tuple[Terms, Features]] = field(default_factory=list)
    form: int = 0
    stage: int = 0
    began: int = 0
    step: int = 0
    trials: int = 0
    packets: int = 0
    cpu_s: float = 0.0
    evolution: Evolution | None = None
    learning: list[LearningRow] = field(default_factory=list)

    def save(self, path: Path, identity: str) -> None:
        """Write it as the checkpoint of a task."""
        evolution = None if self.evolution is None else self.evolution.content()
        rows = [asdict(row) for row in self.learning]
        write_checkpoint(path, identity, vars(self) | {"evolution": evolution, "learning": rows})

    @classmethod
    def load(cls, path: Path, identity: str) -> LawState:
        """Read it back; see `read_checkpoint`."""
        state = read_checkpoint(path, identity)
        evolution = None if state["evolution"] is None else Evolution.of(state["evolution"])
        learning = [LearningRow(**row) for row in state["learning"]]
        return cls(**state | {"evolution": evolution, "learning": learning})


class LawTrainer:
    """A search that checkpoints after every step; see `lcca.trainers.base.Trainer`.

    The stages before signals are the same whatever these are: tasks share the state after them.
    """

    def __init__(
        self,
        task: Task,
        config: StagedConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = lambda round_, policy: None,
        shared: Path | None = None,
    ) -> None:
        self.task, self.config, self.engine = task, config, engine
        self.checkpoint, self.keep = checkpoint, keep
        own = tuple(name for name in task.signals if name in OWN)
        self.plain = replace(task, header=None, signals=own)
        self.forms, self.plain_form = forms_of(task, config), forms_of(self.plain, config)[0]
        self.shared = shared if self.config.alike and not task.warm_start else None
        self.state = self._begin()

    def _begin(self) -> LawState:
        if self.checkpoint is not None and self.checkpoint.exists():
            return LawState.load(self.checkpoint, self.task.identity)
        if self.task.warm_start is not None:
            return self._warm(self.task.warm_start)
        if self.shared is not None and self.shared.exists():
            state = LawState.load(self.shared, SHARED)
            for number, kept in enumerate(state.kept):
                self.keep(number, self.forms[0].law(*kept))
            return state
        return LawState(*self.forms[0].start)

    def _warm(self, start: WarmStart) -> LawState:
        """Return the state after the stages that sets share, at a law whose signals are some of the task's."""
        terms, features = self.forms[0].numbers_of(start.policy)
        stage = min(self.config.alike, len(self.config.stages) - 1)
        return LawState(terms, features, stage=stage, step=start.step)

    @property
    def form(self) -> Form:
        """Of the law so far."""
        return self.forms[self.state.form]

    @property
    def done(self) -> bool:
        """Whether the training has ended."""
        return self.state.stage == len(self.config.stages)

    @property
    def used(self) -> int:
        """Trials so far; all of the budget at the end, of which a last generation may not have found room."""
        return self.config.budget.amount if self.done else min(self.state.trials, self.config.budget.amount - 1)

    @property
    def learning(self) -> list[LearningRow]:
        """One row per step."""
        return self.state.learning

    @property
    def policy(self) -> Policy:
        """The law so far."""
        return self.form.law(self.state.terms, self.state.features)

    def step(self) -> None:
        """Take one step and checkpoint it. Stopped anywhere inside, the step is repeated with the same bits."""
        began, effort, state = time.process_time(), Effort(), self.state
        stage = state.stage
        score = self._generations(effort)
        state.step += 1
        state.trials += effort.trials
        state.packets += effort.packets
        state.cpu_s += time.process_time() - began
        row = LearningRow(
            state.step, stage, "generations", 0, score, state.trials, state.packets, round(state.cpu_s, 3)
        )
        state.learning.append(row)
        if state.stage > stage:
            self.keep(stage, self.policy)
            state.kept.append((state.terms, state.features))
            state.began = state.trials
            if state.stage == self.config.alike and self.shared is not None:
                state.save(self.shared, SHARED)
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    def _generations(self, effort: Effort) -> float:
        """Take generations of this stage for a step, or to the stage's end; return their candidates' mean score."""
        state, config, scores = self.state, self.config, list[float]()
        stage, alike = config.stages[state.stage], state.stage < config.alike
        task = self.plain if alike else self.task
        trials = StepTrials(training_trials(task, self.engine, config.over), state.step, effort)
        if state.evolution is None and state.stage == config.alike:
            self._choose_beginning(trials)
        form = self.plain_form if alike else self.form
        if state.evolution is None:
            state.terms = form.started(state.terms, stage)
        numbers = form.numbers(state.terms, stage)
        if state.evolution is None:
            state.evolution = Evolution.at(numbers.point(state.terms, state.features), numbers.widths)
        population = config.population or usual_population(len(numbers.widths))
        cost = population * config.networks
        while not scores or effort.trials < STEP_TRIALS:
            scores.append(self._generation(form, state.evolution, numbers, trials, population, 1 + len(scores)))
            taken = state.trials + effort.trials - state.began
            if taken >= (1 - config.averaged) * stage.trials:
                state.evolution.count()
            if taken + cost > stage.trials:
                state.terms, state.features = numbers.at(state.evolution.average, state.terms, state.features)
                state.evolution, state.stage = None, state.stage + 1
                return float(np.mean(scores))
        state.terms, state.features = numbers.at(state.evolution.point, state.terms, state.features)
        return float(np.mean(scores))

    def _choose_beginning(self, trials: StepTrials) -> None:
        """Go on from another beginning of a form, if one is better than where the stage before ended."""
        others = [(at, form.other(self.state.terms)) for at, form in enumerate(self.forms)]
        beginnings = [(at, terms) for at, terms in others if terms is not None]
        if not beginnings:
            return
        sample = trials.draw(self.config.check_networks)
        laws = [self.policy, *(self.forms[at].law(terms, {}) for at, terms in beginnings)]
        scores = sample.scores([trials.compiled(law) for law in laws], [np.arange(len(sample))] * len(laws))
        before, *means = (each.mean() for each in scores)
        best = int(np.argmax(means))
        if means[best] > before:
            self.state.form, self.state.terms = beginnings[best]
            self.state.features = {}

    def _generation(
        self,
        form: Form,
        evolution: Evolution,
        numbers: Numbers,
        trials: StepTrials,
        population: int,
        number: int,
    ) -> float:
        """Move towards the better candidates; return their mean score."""
        networks, state = self.config.networks, self.state
        random = np.random.default_rng([self.config.seed, self.task.seed, state.step, number])
        half = random.standard_normal((population // 2, len(evolution.point)))
        directions = np.concatenate([half, -half])
        points = [numbers.at(point, state.terms, state.features) for point in evolution.candidates(directions)]
        laws = [trials.compiled(form.law(*point)) for point in points]
        skipped = trials.space.whole(self.config.check_networks) + number * trials.space.whole(networks)
        sample = trials.draw(networks, skipped)
        each = sample.scores(laws, [np.arange(networks)] * population)
        scores = np.array([found.mean() for found in each])
        evolution.move(directions, scores)
        return float(scores.mean())
