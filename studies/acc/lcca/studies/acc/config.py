"""ACC from a file: on which fabrics it is trained and how, and what it is held against."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, Scenarios
from lcca.evaluation.fabric.trials import require_rounds
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import AnyRule, SettlingRule
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.utilities import UtilityModel, fabric_utility
from lcca.experiments.experiment import Stop
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import Kind
from lcca.inputs.model import Model
from lcca.inputs.names import FileOrName
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve
from lcca.studies.acc.learner.config import FabricAccConfig

MODEL = "model.json"
"""In the folder of a run: what was learnt."""

FABRIC_ACC = Kind("acc", (layout.CONFIG, layout.SUMMARY, MODEL), "lcca.studies.acc.recipe")
ACC, EXPLORING, CHANCE = "acc", "acc-exploring", "chance"
"""Names of what was learnt, the same with some random choices, and random choices alone."""


class FabricAccTest(Model):
    """Paired trials on fresh flows: all meet the same.

    Attributes:
        pairs: most trials of each on each scenario.
        block: trials that are run and kept at a time.
        against: what ACC is held against beside the transport alone and chance, as `lcca compare` takes it on a fabric.
        explore: share of random choices of ACC as it is deployed in the papers; 0 leaves that out.
    """

    __test__ = False

    pairs: Annotated[int, Field(ge=24)] = 128
    block: Annotated[int, Field(ge=1, le=1_000_000)] = 8
    against: tuple[FileOrName, ...] = ()
    explore: Annotated[float, Field(ge=0, lt=1)] = 0.05

    @field_validator("against")
    @classmethod
    def _run_on_fabrics(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for i, name in enumerate(names):
            resolve(name, "fabric")
            if name in (*names[:i], ACC, EXPLORING, CHANCE):
                raise ValueError(f"{name!r} stands here twice, or is a name of ACC's")
        return names


class FabricAcc(RunConfig):
    """A training of ACC on a fabric and its test.

    Attributes:
        fabric: a scenario, or several that episodes go through in turn.
        held_out: scenarios on which it is tested and not trained.
        transport: what hosts run, perhaps with parameters.
        utility: of fabrics, by which it is compared; agents learn by a reward of their own.
        trainer: what agents see and how they learn.
        test: what they are held against.
        settle: when a comparison is settled; α is shared among all.
    """

    run_kind = FABRIC_ACC
    from_file = True

    fabric: Scenarios
    held_out: tuple[FabricScenario, ...] = ()
    transport: str = "dcqcn"
    utility: UtilityModel = UtilityModel.model_validate("slowdown")
    trainer: FabricAccConfig = FabricAccConfig()
    test: FabricAccTest = FabricAccTest()
    settle: AnyRule = SettlingRule()

    @field_validator("transport")
    @classmethod
    def _marked_by_acc(cls, name: str) -> str:
        found = resolve(name, "fabric").policy
        if not isinstance(found, Transport) or found.marker or found.tuner or found.kind.ideal:
            raise ValueError(f"must be a transport without a marker or a tuner, such as dcqcn, got {name[:60]!r}")
        return name

    @model_validator(mode="after")
    def _fits(self) -> FabricAcc:
        FabricSpace(fabric=self.tested)
        require_rounds(self.tested, fabric_utility(self.utility.name))
        for each in self.tested:
            each.require_fits(engine_of(self.policy, each.settings()), self.transport)
        if self.transport in self.test.against:
            raise ValueError(f"test.against: {self.transport} is there anyway")
        return self

    @property
    def policy(self) -> Transport:
        """The transport."""
        found: Any = resolve(self.transport, "fabric").policy
        assert isinstance(found, Transport)
        return found

    @property
    def space(self) -> FabricSpace:
        """Where it is trained."""
        return FabricSpace(fabric=self.fabric)

    @property
    def tested(self) -> tuple[FabricScenario, ...]:
        """Where it is tested."""
        return (*self.space.scenarios, *self.held_out)

    @property
    def rivals(self) -> tuple[str, ...]:
        """The names of all that ACC is held against on each scenario."""
        exploring = (EXPLORING,) if self.test.explore else ()
        return (self.transport, CHANCE, *exploring, *self.test.against)

    @property
    def rule(self) -> Rule:
        """The settling rule of each comparison, with its part of α."""
        space, comparisons = FabricSpace(fabric=self.tested[0]), len(self.tested) * len(self.rivals)
        return self.settle.shared_among(comparisons).ending_at(space.whole(self.test.pairs) // space.block)

    @property
    def stop(self) -> Stop:
        """When the trials on a scenario end."""
        return Stop(self.test.pairs, when="settled", step=self.test.block, rule=self.rule)
