"""A study's configuration: contenders, scenarios that they meet, and questions about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from pydantic import Field, ValidationInfo, field_validator, model_validator

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import require_rounds, require_runs
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.rules import AnyRule
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import STUDY
from lcca.experiments.studies.learner import Learner
from lcca.experiments.studies.questions import Name, Planned, Question
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.names import FileOrName
from lcca.inputs.studies import added, attribute
from lcca.remy_plus.fabric.engine import engine_of
from lcca.signal_sets.load import resolve

LEARNERS: Mapping[str, Learner] = {name: attribute(study, at) for name, (study, at) in added("learners").items()}
"""By name."""

if TYPE_CHECKING:
    AnyTraining: TypeAlias = RunConfig
else:
    AnyTraining = Union[tuple(each.config for each in LEARNERS.values())] if LEARNERS else NoneType  # noqa: UP007


def learner_of(training: RunConfig) -> Learner:
    """Return what does a training."""
    return next(each for each in LEARNERS.values() if isinstance(training, each.config))


class Contender(Model):
    """What a study compares: a policy, or what a tuning or a training finds before the study begins.

    Attributes:
        policy: as `lcca compare` takes it on a fabric: a transport, perhaps with marker and tuner, or a policy's file.
        tune: in its place a tuning, or a file with it, whose best parameters are taken.
        train: in its place a training, or a file with it, of what a study adds: of ACC, whose model sets the markers.
    """

    text_key = "policy"

    policy: FileOrName = ""
    tune: TuningConfig | None = None
    train: AnyTraining | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        return {"policy": value} if isinstance(value, str) else value

    @field_validator("policy")
    @classmethod
    def _runs_on_fabrics(cls, value: str) -> str:
        if value:
            resolve(value, "fabric")
        return value

    @model_validator(mode="after")
    def _one_of_them(self) -> Contender:
        if [bool(self.policy), self.tune is not None, self.train is not None].count(True) != 1:
            raise ValueError("give one of policy, a name, tune, a tuning, and train, a training of ACC")
        if self.tune is not None and self.tune.fabric is None:
            raise ValueError("tune: give `fabric`; a study does not run on network spaces")
        return self

    @property
    def start(self) -> str:
        """The policy, or that from which the tuning or the training starts."""
        if self.train is not None:
            return learner_of(self.train).start(self.train)
        return self.policy if self.tune is None else self.tune.tuner.policy


class StudyConfig(RunConfig):
    """A study: contenders meet the same flows on scenarios, and questions about them are answered by verdicts.

    Attributes:
        source: of the questions, such as a paper.
        contenders: by the names that questions use.
        scenarios: fabric scenarios, or files with them; their names differ.
        questions: each has a comparison for every baseline, scenario and utility; α is shared among all of the study.
        pairs: most trials of each contender on each scenario.
        block: trials that are run and kept at a time.
        stop: a scenario ends when its comparisons are settled, or when their differences are known accurately too.
        settle: when a comparison is settled; by default by group-sequential looks, which spend α within `pairs`.
    """

    run_kind = STUDY

    source: str = ""
    contenders: dict[Name, Contender] = Field(min_length=2)
    scenarios: tuple[FabricScenario, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = Field(min_length=1)
    pairs: int = Field(default=256, ge=24)
    block: int = Field(default=8, ge=1)
    stop: Literal["settled", "accurate"] = "settled"
    settle: AnyRule = GroupSequentialRule()

    @field_validator("questions", "scenarios")
    @classmethod
    def _names_differ(cls, value: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        names = [each.name for each in value]
        if twice := next((name for i, name in enumerate(names) if name in names[:i]), None):
            raise ValueError(f"two {info.field_name} are called {twice!r}; give each a name of its own")
        return value

    @model_validator(mode="after")
    def _fits(self) -> StudyConfig:
        unknown = [problem_at(("questions", *keys), text) for keys, text in self._unknown()]
        raise_problems("study", unknown)
        raise_problems("study", [problem_at(keys, text) for keys, text in (*self._unasked(), *self._unscored())])
        for scenario in self.scenarios:
            for name in self.on(scenario.name):
                self._require_runs(scenario, name)
        return self

    def _unknown(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield where questions name what there is not."""
        scenarios = {each.name for each in self.scenarios}
        for i, question in enumerate(self.questions):
            named: dict[tuple[str | int, ...], str] = {("contender",): question.contender}
            named |= {("against", k): name for k, name in enumerate(question.against)}
            named |= {("scenarios", k): name for k, name in enumerate(question.scenarios)}
            for keys, name in named.items():
                known = scenarios if keys[0] == "scenarios" else set(self.contenders)
                if name not in known:
                    yield (i, *keys), f"there is no {name!r}{did_you_mean(name, known)}"

    def _unasked(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what no question names: it would be tuned or run for nothing."""
        named = {name for each in self.questions for name in (each.contender, *each.against)}
        for name in self.contenders:
            if name not in named:
                yield ("contenders", name), "no question names it; leave it out"
        asked = {each.scenario for each in self.planned}
        for i, scenario in enumerate(self.scenarios):
            if scenario.name not in asked:
                yield ("scenarios", i), f"no question is about {scenario.name}; leave it out"

    def _unscored(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield questions by rounds on scenarios that have none."""
        for i, question in enumerate(self.questions):
            on = {each.scenario for each in self.planned if each.question is question}
            for k, name in enumerate(question.utilities):
                try:
                    require_rounds((each for each in self.scenarios if each.name in on), fabric_utility(name))
                except InputError as error:
                    yield ("questions", i, "utilities", k), str(error)

    def _require_runs(self, scenario: FabricScenario, name: str) -> None:
        policy = resolve(self.contenders[name].start, "fabric").policy
        try:
            for utility in {each.utility: None for each in self.planned_on(scenario.name)}:
                engine = engine_of(policy, scenario.settings())
                require_runs(scenario, name, engine, fabric_utility(utility))
        except InputError as error:
            raise_problems("study", [problem_at(("contenders", name), str(error))])

    @property
    def planned(self) -> tuple[Planned, ...]:
        """All comparisons, question by question."""
        everywhere = tuple(each.name for each in self.scenarios)
        return tuple(
            Planned(question, scenario, baseline, utility)
            for question in self.questions
            for scenario in question.scenarios or everywhere
            for utility in question.utilities
            for baseline in question.against
        )

    def planned_on(self, scenario: str) -> list[Planned]:
        """Return the comparisons on a scenario."""
        return [each for each in self.planned if each.scenario == scenario]

    def on(self, scenario: str) -> tuple[str, ...]:
        """Return the contenders that meet on a scenario, in the order of the configuration."""
        named = {name for each in self.planned_on(scenario) for name in (each.question.contender, each.baseline)}
        return tuple(name for name in self.contenders if name in named)

    def space(self, scenario: str) -> FabricSpace:
        """Return the space of one scenario."""
        return FabricSpace(fabric=next(each for each in self.scenarios if each.name == scenario))

    @property
    def rule(self) -> Rule:
        """The settling rule of each comparison, with its part of α."""
        space = FabricSpace(fabric=self.scenarios[0])
        return self.settle.shared_among(len(self.planned)).ending_at(space.whole(self.pairs) // space.block)
