"""A tuning's configuration: where, what is maximised, what is tuned and how, and the test on fresh trials."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from lcca.evaluation.fabric.space import FabricSpace, Scenarios
from lcca.evaluation.fabric.trials import require_all_scored, require_rounds
from lcca.evaluation.scenarios.spaces import AnySpace
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import AnyRule, SettlingRule
from lcca.evaluation.trials.place import Place
from lcca.evaluation.trials.utilities import UtilityModel, fabric_utility
from lcca.experiments.campaign.trials import TestConfig
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import TUNE
from lcca.trainers.tune.config import TransportTuneConfig, TuneConfig

ON_FABRIC = {"utility": "slowdown", "simulator": "fabric"}
"""What keys are on a fabric unless they are given."""


class TuningConfig(RunConfig):
    """A tuning: search the best parameters on some networks, compare them with the policy's own on fresh ones.

    Attributes:
        networks: the space that networks are drawn from, or `spaces` with several, or a file with either.
        fabric: in its place a fabric scenario or several, or files with them; trials are on seeds then, which take the
            scenarios in turn.
        utility: what is maximised: a name of the paper's utilities, or name and weights; on a fabric one of slowdowns.
        simulator: "ns3", which hand-designed congestion controls need, or "engine"; "fabric" on a fabric.
        tuner: what is tuned, and how.
        test: fresh networks, or seeds, that the result is reported on.
        settle: when the comparison on fresh networks is settled.
    """

    run_kind = TUNE
    from_file = True

    networks: AnySpace | None = None
    fabric: Scenarios | None = None
    utility: UtilityModel = UtilityModel.model_validate("default")
    simulator: Literal["ns3", "engine", "fabric"] = "ns3"
    tuner: TuneConfig
    test: Annotated[TestConfig, Field(validate_default=True)] = TestConfig(pairs=992, at_least=96, block=48)
    settle: AnyRule = SettlingRule()

    @model_validator(mode="before")
    @classmethod
    def _on_a_fabric(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if (value.get("networks") is None) == (value.get("fabric") is None):
            raise ValueError("give either networks (a space) or fabric (a scenario)")
        return value if value.get("fabric") is None else {**ON_FABRIC, **value}

    @field_validator("tuner", mode="before")
    @classmethod
    def _of_a_transport(cls, value: Any, info: ValidationInfo) -> Any:
        fabric = info.data.get("fabric")
        if fabric is None or not isinstance(value, dict):
            return value
        met = FabricSpace(fabric=fabric).scenarios
        gbps = min(float(np.min(each.fabric.host_gbps)) for each in met)
        lossy = any(not each.switch.pfc for each in met)
        return TransportTuneConfig.model_validate({**value, "host_gbps": gbps, "lossy": lossy})

    @field_validator("test")
    @classmethod
    def _whole_blocks(cls, value: TestConfig, info: ValidationInfo) -> TestConfig:
        found = _place(info.data.get("networks"), info.data.get("fabric"))
        return value if found is None else value.rounded(found)

    @model_validator(mode="after")
    def _fits(self) -> TuningConfig:
        if (self.simulator == "fabric") != (self.fabric is not None):
            raise ValueError(f"simulator: {self.simulator} does not run {'fabrics' if self.fabric else 'networks'}")
        if self.fabric is not None:
            met, utility = FabricSpace(fabric=self.fabric).scenarios, fabric_utility(self.utility.name)
            require_rounds(met, utility)
            require_all_scored(met, utility)
        return self

    @property
    def place(self) -> Place:
        """Where trials come from."""
        found = _place(self.networks, self.fabric)
        assert found is not None
        return found

    @property
    def rule(self) -> Rule:
        """The settling rule, which looks for the last time when the pairs are used up."""
        return self.settle.ending_at(self.test.pairs // self.place.block)


def _place(networks: AnySpace | None, fabric: Scenarios | None) -> Place | None:
    return networks if fabric is None else FabricSpace(fabric=fabric)
