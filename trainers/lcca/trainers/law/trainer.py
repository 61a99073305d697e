"""The trainer `law`: a law's numbers by a natural evolution strategy, generation by generation.

Every step draws networks of its own, named by the step, so a training can stop between two steps and go on later with
the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.law import FEATURES, OUTPUTS, SHARE, Law
from lcca.trainers.base import Keeper, LearningRow, Task, WarmStart
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint
from lcca.trainers.law.config import (
    AT_RATE,
    AT_SHARE,
    GRANTED,
    PLAIN,
    RICH,
    STEEP,
    TOWARDS,
    UNUSED,
    LawConfig,
    Search,
    StageConfig,
)
from lcca.trainers.rplus.evolution import Evolution, usual_population
from lcca.trainers.rplus.trials import Effort, StepTrials, training_trials

Floats = NDArray[np.float64]

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
        stage: which comes next or goes on.
        began: trials before it.
        step: steps taken; it names the networks of the next one.
        evolution: the stage's search; None before its first generation.
        learning: one row per step.
    """

    terms: dict[str, float]
    features: dict[str, list[float]] = field(default_factory=dict)
    kept: list[tuple[dict[str, float], dict[str, list[float]]]] = field(default_factory=list)
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
        config: LawConfig,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = lambda round_, policy: None,
        shared: Path | None = None,
    ) -> None:
        self.task, self.config, self.engine = task, config, engine
        self.checkpoint, self.keep = checkpoint, keep
        self.inputs, self.rate = config.inputs_of(task.signals), config.rate_of(task.signals)
        searched = [stage.features for stage in config.stages]
        self.alike = searched.index("all") if "all" in searched else len(searched)  # stages
        self.shared = shared if self.alike and not task.warm_start else None
        self.state = self._begin()

    def _begin(self) -> LawState:
        if self.checkpoint is not None and self.checkpoint.exists():
            return LawState.load(self.checkpoint, self.task.identity)
        if self.task.warm_start is not None:
            return self._warm(self.task.warm_start)
        if self.shared is not None and self.shared.exists():
            state = LawState.load(self.shared, SHARED)
            for number, kept in enumerate(state.kept):
                self.keep(number, self._law(*kept))
            return state
        return LawState(UNUSED | {name: search.start for name, search in PLAIN.items()})

    def _warm(self, start: WarmStart) -> LawState:
        """Return the state after the stages that sets share, at a law whose signals are some of the task's."""
        law = start.policy
        if not isinstance(law, Law):
            raise InputError(f"warm start: a search of laws goes on from a law, not from {type(law).__name__}")
        if missing := [name for name in law.inputs if name not in self.inputs]:
            raise InputError(f"warm start: the law looks at {', '.join(missing)}, which this set lacks")
        features = {name: list(row) for name, row in law.named_features.items()}
        stage = min(self.alike, len(self.config.stages) - 1)
        return LawState(law.named_terms, features, stage=stage, step=start.step)

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
    def policy(self) -> Law:
        """The law so far."""
        return self._law(self.state.terms, self.state.features)

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
            if state.stage == self.alike and self.shared is not None:
                state.save(self.shared, SHARED)
        if self.checkpoint is not None:
            state.save(self.checkpoint, self.task.identity)

    def _generations(self, effort: Effort) -> float:
        """Take generations of this stage for a step, or to the stage's end; return their candidates' mean score."""
        state, config, scores = self.state, self.config, list[float]()
        stage = config.stages[state.stage]
        trials = StepTrials(training_trials(self.task, self.engine), state.step, effort)
        if state.evolution is None and self.rate and state.stage == self.alike:
            self._begin_at_rate(trials)
        numbers = Numbers.of(config, stage, self.inputs, self.rate, state.terms)
        if state.evolution is None:
            state.terms = numbers.started(state.terms)
            state.evolution = Evolution.at(numbers.point(state.terms, state.features), numbers.widths)
        population = config.population or usual_population(len(numbers.widths))
        cost = population * config.networks
        while effort.trials < STEP_TRIALS:
            scores.append(self._generation(state.evolution, numbers, trials, population, 1 + len(scores)))
            taken = state.trials + effort.trials - state.began
            if taken >= (1 - config.averaged) * stage.trials:
                state.evolution.count()
            if taken + cost > stage.trials:
                state.terms, state.features = numbers.at(state.evolution.average, state.terms, state.features)
                state.evolution, state.stage = None, state.stage + 1
                return float(np.mean(scores))
        state.terms, state.features = numbers.at(state.evolution.point, state.terms, state.features)
        return float(np.mean(scores))

    def _begin_at_rate(self, trials: StepTrials) -> None:
        """Go on from a law that sends at the granted rate, if that is better than where the stage before ended."""
        sample = trials.draw(self.config.check_networks)
        granted = self.state.terms | (AT_SHARE if self.rate == SHARE else AT_RATE)
        laws = [trials.compiled(law) for law in (self.policy, self._law(granted, {}))]
        before, after = sample.scores(laws, [np.arange(len(sample))] * 2)
        if after.mean() > before.mean():
            self.state.terms, self.state.features = granted, {}

    def _generation(
        self, evolution: Evolution, numbers: Numbers, trials: StepTrials, population: int, number: int
    ) -> float:
        """Move towards the better candidates; return their mean score."""
        networks, state = self.config.networks, self.state
        random = np.random.default_rng([self.config.seed, self.task.seed, state.step, number])
        half = random.standard_normal((population // 2, len(evolution.point)))
        directions = np.concatenate([half, -half])
        laws = [
            self._law(*numbers.at(point, state.terms, state.features)) for point in evolution.candidates(directions)
        ]
        skipped = trials.space.whole(self.config.check_networks) + number * trials.space.whole(networks)
        sample = trials.draw(networks, skipped)
        each = sample.scores([trials.compiled(law) for law in laws], [np.arange(networks)] * population)
        scores = np.array([found.mean() for found in each])
        evolution.move(directions, scores)
        return float(scores.mean())

    def _law(self, terms: dict[str, float], features: dict[str, list[float]]) -> Law:
        bounds: dict[str, Any] = {"bound": self.config.bound, "refresh": self.config.refresh}
        return Law.of(terms, features, inputs=self.inputs if features else (), rate=self.rate, **bounds)


@dataclass(frozen=True)
class Numbers:
    """Which n numbers of a law a stage searches: terms by name, then coefficients.

    Attributes:
        terms: by name, with where they begin.
        coefficients: (feature, place in `OUTPUTS`) of each.
        widths: (n,) standard deviations of the first perturbations.
    """

    terms: dict[str, Search]
    coefficients: tuple[tuple[str, int], ...]
    widths: Floats

    @classmethod
    def of(
        cls,
        config: LawConfig,
        stage: StageConfig,
        inputs: tuple[str, ...],
        rate: str | None,
        now: Mapping[str, float],
    ) -> Numbers:
        """Return those of a stage, for a law of these inputs, granted rate and terms."""
        granted = now["pull"] == AT_RATE["pull"] and now["pace_target"] == AT_RATE["pace_target"]
        by_window = PLAIN | RICH | (TOWARDS if rate else {})
        terms = PLAIN if stage.terms == "plain" else GRANTED if granted else by_window
        gap_alone = STEEP if config.hops == "several" else ()
        searched = {"none": (), "own": tuple(FEATURES), "all": (*FEATURES, *inputs)}
        coefficients = tuple(
            (name, at)
            for name in searched[stage.features]
            for at, output in enumerate(OUTPUTS)
            if output == "gap" or not (granted or name in gap_alone)
        )
        widths = [stage.width * search.width for search in terms.values()]
        return cls(terms, coefficients, np.array(widths + [stage.feature_width] * len(coefficients)))

    def started(self, terms: dict[str, float]) -> dict[str, float]:
        """Return terms with those that no stage before has searched where they begin."""
        new = {name: search.start for name, search in self.terms.items() if terms[name] == UNUSED[name]}
        return terms | {name: value for name, value in new.items() if name in RICH}

    def point(self, terms: dict[str, float], features: dict[str, list[float]]) -> Floats:
        """Return where a law lies, (n,)."""
        rows = [features[name][at] if name in features else 0.0 for name, at in self.coefficients]
        return np.array([terms[name] for name in self.terms] + rows)

    def at(
        self, point: Floats, terms: dict[str, float], features: dict[str, list[float]]
    ) -> tuple[dict[str, float], dict[str, list[float]]]:
        """Return terms and features of the law that lies there; those that are not searched stay."""
        values = point.tolist()
        rows = {name: list(features.get(name, [0.0] * len(OUTPUTS))) for name, _ in self.coefficients}
        for (name, at), value in zip(self.coefficients, values[len(self.terms) :], strict=True):
            rows[name][at] = value
        return terms | dict(zip(self.terms, values, strict=False)), features | rows
