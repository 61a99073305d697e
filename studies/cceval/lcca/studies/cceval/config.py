"""An estimation's configuration: what to estimate, how well and by which method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import pandas as pd
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.scenarios.spaces import AnySpace
from lcca.evaluation.trials.layout import CONFIG, SUMMARY
from lcca.evaluation.trials.metrics import FLOWS
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import Kind
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.model import Model, problem_at, raise_problems
from lcca.inputs.names import FileOrName
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.settings import FLUID
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve
from lcca.studies.cceval.estimators.control import MOST_PER_TRIAL
from lcca.studies.cceval.estimators.estimate import EstimateConfig, TailTarget
from lcca.studies.cceval.importance import ImportanceOptions
from lcca.studies.cceval.places import (
    QUEUE_ABOVE,
    Measured,
    OnFabric,
    OnLink,
    OnNetworks,
    OpenLink,
    SplittingBlock,
    is_ideal,
    require_stand_in,
)
from lcca.studies.cceval.splitting import splitting_problem

ESTIMATE = Kind("estimate", (CONFIG, SUMMARY), "lcca.studies.cceval.recipe")

EstimateMethod = Literal["model-free", "model-based", "splitting"]
FabricSimulator = Literal["fabric", "fluid"]


FLUID_COST = 0.05
"""CPU time of a trial over that of a whole fabric's, about (`studies/cceval/benchmark_fluid.py`). Given, so that the
number of cheap trials does not depend on a clock."""


class FlowRange(Model):
    """Flows by size.

    Attributes:
        from_bytes: smallest size of the flows that count.
        below_bytes: the flows that count are smaller; all sizes if left out.
    """

    from_bytes: float = Field(default=0, ge=0)
    below_bytes: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _is_one(self) -> FlowRange:
        if self.below_bytes is not None and self.from_bytes >= self.below_bytes:
            raise ValueError(f"from_bytes ({self.from_bytes:g}) must be less than below_bytes ({self.below_bytes:g})")
        return self

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of these flows."""
        size = rows["size_bytes"]
        return rows[(size >= self.from_bytes) & (size < (math.inf if self.below_bytes is None else self.below_bytes))]

    def __str__(self) -> str:
        """Return it in words."""
        below = f"below {self.below_bytes:,g} bytes" if self.below_bytes is not None else ""
        return " ".join(filter(None, (f"from {self.from_bytes:,g}" if self.from_bytes else "", below))) or "all sizes"


class ControlBlock(Model):
    """Control variates from an approximate simulator; see `studies/cceval/estimates.md`.

    Attributes:
        simulator: of the cheap trials.
        per_trial: cheap trials with other flows for each expensive one; as many as `best_per_trial` of the first
            look says if left out.
        cost: CPU time of a cheap trial over that of an expensive one, which that goes by; `FLUID_COST` if left out.
    """

    simulator: Literal["fluid"]
    per_trial: float | None = Field(default=None, gt=0, le=MOST_PER_TRIAL)
    cost: float = Field(default=FLUID_COST, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, value: Any) -> Any:
        return {"simulator": value} if isinstance(value, str) else value


class MetricRow(Model):
    """One of several metrics that are estimated from the same trials; what it leaves out is said once for all.

    Attributes:
        metric: as of one alone.
        quantile: as of one alone.
        flows: which count, by size.
        target: as of one alone.
        accuracy_percent: as of one alone.
        accuracy: as of one alone.
    """

    metric: str = Field(min_length=1)
    quantile: float | None = Field(default=None, gt=0, lt=1)
    flows: FlowRange | None = None
    target: TailTarget | None = None
    accuracy_percent: float | None = Field(default=None, gt=0)
    accuracy: float | None = Field(default=None, gt=0)


class EstimateBlock(EstimateConfig):
    """What to estimate, how well and by which method.

    Attributes:
        method: "model-free" adds plain trials until the accuracy is reached (CCEval §4.2). "model-based" does it with
            importance sampling (§4.3), for a pooled quantile of flows, and falls back to model-free where a test
            refuses; `ceiling` is its budget in plain trials. "splitting" estimates queue_above by multilevel splitting.
        above_bytes: of the metric queue_above, the share of trials in which a queue of a switch's port exceeds it.
        splitting: options of splitting.
        importance: options of the model-based method.
        flows: which flows of a fabric count, by size; all if left out.
        metrics: several, in place of metric, quantile and flows: all from the same trials, which end when the last of
            them is accurate enough.
        block: trials that are run and kept at a time.
        control: cheap trials that make the interval narrower, on a fabric: of a mean over trials, or over quantiles of
            their own.
    """

    from_file = True

    metric: str = ""
    metrics: tuple[MetricRow, ...] = ()
    block: int = Field(default=10, ge=1)
    method: EstimateMethod = "model-free"
    flows: FlowRange | None = None
    importance: ImportanceOptions | None = Field(default=None, validate_default=True)
    above_bytes: float | None = Field(default=None, gt=0)
    splitting: SplittingBlock | None = None
    control: ControlBlock | None = None

    @field_validator("control")
    @classmethod
    def _can_be_controlled(cls, found: ControlBlock | None, info: ValidationInfo) -> ControlBlock | None:
        given = info.data
        if found is None:
            return None
        if given.get("method") == "model-based":
            raise ValueError("is for method: model-free")
        if given.get("metrics"):
            raise ValueError("is for one metric: give each an estimation of its own")
        if given.get("quantile") is not None and given.get("target") == "pooled":
            raise ValueError("is for means over trials, which a pooled quantile is not; use target: mean-of-trials")
        return found

    @field_validator("method")
    @classmethod
    def _can_be_sampled(cls, method: EstimateMethod, info: ValidationInfo) -> EstimateMethod:
        if method == "splitting" and info.data.get("metric") != QUEUE_ABOVE:
            raise ValueError(f"splitting estimates {QUEUE_ABOVE}: how likely a queue is to exceed above_bytes")
        if method != "model-based":
            return method
        wrong = []
        if "quantile" in info.data and info.data["quantile"] is None:
            wrong.append("a quantile")
        if info.data.get("target", "pooled") != "pooled":
            wrong.append("target: pooled")
        if "ceiling" in info.data and info.data["ceiling"] is None:
            wrong.append("a ceiling, which is its budget in plain trials")
        if wrong:
            raise ValueError(f"model-based needs {' and '.join(wrong)}")
        return method

    @field_validator("importance")
    @classmethod
    def _fits_the_method(cls, found: ImportanceOptions | None, info: ValidationInfo) -> ImportanceOptions | None:
        method, ceiling = info.data.get("method"), info.data.get("ceiling")
        if method != "model-based" and found is not None:
            raise ValueError("is for method: model-based")
        if method != "model-based":
            return found
        found = found or ImportanceOptions()
        if ceiling is not None and ceiling <= found.overhead:
            raise ValueError(
                f"search and pilot take {found.overhead} trials (epochs × cycles + pilot), and ceiling is {ceiling}: "
                "raise it, or lower these"
            )
        return found

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> EstimateBlock:
        if (self.metric == QUEUE_ABOVE) != (self.above_bytes is not None):
            raise ValueError(f"metric {QUEUE_ABOVE} and above_bytes need each other")
        if self.splitting is not None and self.method != "splitting":
            raise ValueError("splitting: is for method: splitting")
        return self

    @model_validator(mode="after")
    def _one_or_several(self) -> EstimateBlock:
        own = [name for name in ("metric", "quantile", "flows") if getattr(self, name)]
        if not self.metric and not self.metrics:
            raise ValueError("give metric, or several in metrics")
        if self.metrics and own:
            raise ValueError(f"{', '.join(own)} and metrics exclude each other: name it in rows of metrics")
        if self.metrics and self.method == "model-based":
            raise ValueError("metrics: model-based estimates one quantile; use model-free")
        for i, row in enumerate(self.metrics):
            try:
                self._of(row)
            except ValidationError as error:
                told = error.errors()[0]["msg"].removeprefix("Value error, ")
                raise_problems("estimate", [problem_at(("metrics", i), told)])
        return self

    @property
    def each(self) -> tuple[EstimateBlock, ...]:
        """What is estimated: this, or one for each row of `metrics`."""
        return tuple(map(self._of, self.metrics)) or (self,)

    @property
    def words_for_it(self) -> str:
        """What is estimated, in a few words, such as ``fct_us p99 below 10,000 bytes``."""
        if self.above_bytes is not None:
            return f"share of trials with a queue above {self.above_bytes:,g} bytes"
        of_trials = "mean of trials' " if self.quantile and self.target == "mean-of-trials" else ""
        found = of_trials + (f"{self.metric} p{100 * self.quantile:g}" if self.quantile else f"{self.metric} mean")
        return found if self.flows is None else f"{found} {self.flows}"

    @property
    def words(self) -> str:
        """How the estimate is made, in a few words."""
        return "multilevel splitting: mean over trials, Student's t" if self.method == "splitting" else super().words

    def _of(self, row: MetricRow) -> EstimateBlock:
        return EstimateBlock.model_validate(self.model_dump(exclude={"metrics"}) | row.model_dump(exclude_none=True))


class EstimationConfig(RunConfig):
    """What to estimate: a metric of a policy on one network with open flows, over a space of networks, or on a fabric.

    A trial is the network or the fabric with a seed of its own, or a fresh network of the space. Metrics of flows
    (fct_us, slowdown) need `network` or `fabric`; the others are columns of the trials table, or of a fabric's trials.

    Attributes:
        policy: as `lcca evaluate` takes it: a name, perhaps with parameters, or a file.
        network: one link with open flows.
        networks: in its place a space that each trial draws a network from, or a file with it.
        fabric: in its place a fabric scenario, or a file with it.
        simulator: of a fabric: packets, or max-min fair rates in their place (`docs/background/fabric.md`).
        duration: µs of a trial, of networks; a fabric scenario has its own.
        utility: by which trials are scored; on a fabric `slowdown` if left out.
        estimate: what, and how well.
    """

    run_kind = ESTIMATE
    units: ClassVar[Mapping[str, str]] = {"duration": "us"}

    policy: FileOrName
    network: OpenLink | None = None
    networks: AnySpace | None = None
    fabric: FabricScenario | None = None
    simulator: FabricSimulator = "fabric"
    duration: Annotated[float, Field(gt=0)] = 10_000.0
    utility: FileOrName = "default"
    estimate: EstimateBlock

    @model_validator(mode="before")
    @classmethod
    def _scored_by_slowdown(cls, value: Any) -> Any:
        """Fill in the utility of a fabric, which scores the completion of flows."""
        on_fabric = isinstance(value, dict) and value.get("fabric") is not None
        return {"utility": "slowdown", **value} if on_fabric else value

    @field_validator("simulator")
    @classmethod
    def _can_stand_in(cls, value: FabricSimulator, info: ValidationInfo) -> FabricSimulator:
        fabric, policy = info.data.get("fabric"), info.data.get("policy")
        if value == "fabric" or policy is None:
            return value
        if fabric is None:
            raise ValueError(f"{value} stands in for a fabric; networks are simulated as they are")
        require_stand_in(policy, fabric)
        return value

    @field_validator("estimate", mode="before")
    @classmethod
    def _has_one_link(cls, value: Any, info: ValidationInfo) -> Any:
        by_model = isinstance(value, dict) and value.get("method") == "model-based"
        others = [key for key in ("networks", "fabric") if info.data.get(key) is not None]
        if by_model and others:
            raise ValueError(
                f"method: model-based needs network.traffic (one link with open flows), not {others[0]}: it weighs the "
                "arrivals and sizes of one link's flows; use model-free"
            )
        return value

    @model_validator(mode="after")
    def _fits(self) -> EstimationConfig:
        if [self.network, self.networks, self.fabric].count(None) != 2:
            raise ValueError(
                "give one of network (one link with open flows), networks (a space) and fabric (a scenario)"
            )
        try:
            place = self.place
        except InputError as error:
            raise_problems("estimation", [problem_at(("policy",), str(error))])
        for i, asked in enumerate(self.estimate.each):
            if found := _not_measured(asked, place):
                row = ("metrics", i) if self.estimate.metrics else ()
                raise_problems("estimation", [problem_at(("estimate", *row, found[0]), found[1])])
        if self.estimate.control is not None:
            self._require_control(self.estimate.control)
        if isinstance(place, OnFabric) and self.estimate.method == "splitting":
            self._require_splitting(place.scenario)
        if len({asked.metric in FLOWS for asked in self.estimate.each}) > 1:
            text = "metrics of flows and columns of trials need an estimation each"
            raise_problems("estimation", [problem_at(("estimate", "metrics"), text)])
        return self

    def _require_splitting(self, fabric: FabricScenario) -> None:
        keys, text = splitting_problem(fabric)
        found = [problem_at(("fabric", *keys), text)] if text else []
        if engine_of(resolve(self.policy, "fabric").policy, fabric.settings()).tuner is not None:
            found.append(problem_at(("policy",), "splitting has no law to check a tuner by; use model-free"))
        raise_problems("estimation", found)

    def _require_control(self, control: ControlBlock) -> None:
        text = ""
        if not (self.fabric and self.place.whole):
            text = "only where the whole fabric is simulated: `fabric`, without `simulator`"
        elif self.estimate.metric not in OnFabric(self.fabric, control.simulator, self.utility).metrics:
            text = f"{control.simulator} tells of flows only, not {self.estimate.metric}"
        raise_problems("estimation", [problem_at(("estimate", "control"), text)] if text else [])
        assert self.fabric is not None
        require_stand_in(self.policy, self.fabric)

    def read_policy(self) -> Policy:
        """Return the policy; see `Measured.policy`.

        Raises:
            ConfigError: a file cannot be used, or the policy cannot run here.
        """
        with self.about("policy"):
            return self.place.policy(self.policy)

    @property
    def place(self) -> Measured:
        """Where trials take place."""
        if self.fabric:
            simulator = FLUID if is_ideal(self.policy, self.fabric) else self.simulator
            return OnFabric(self.fabric, simulator, self.utility)
        if self.networks:
            return OnNetworks(self.networks, self.utility)
        assert self.network is not None
        return OnLink(self.network, self.duration)


def _not_measured(asked: EstimateBlock, place: Measured) -> tuple[str, str] | None:
    """Return the first key that a place cannot serve, and why."""
    of_flows = asked.metric in FLOWS
    if asked.metric not in place.metrics:
        return "metric", f"'{asked.metric}' is not measured here{did_you_mean(asked.metric, place.metrics)}"
    if asked.flows is not None and not (place.by_size and of_flows):
        return "flows", f"only with a fabric and a metric of flows ({', '.join(FLOWS)})"
    if asked.quantile is not None and not of_flows:
        return "quantile", f"only flows have quantiles here; name a column such as {place.column}"
    return None
