"""An estimation's configuration: what to estimate, how well and by which method."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from lcca.evaluation.estimation.estimate import EstimateConfig
from lcca.evaluation.estimation.importance.options import ImportanceConfig, ImportanceOptions
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.sizes import PACKET_BYTES, flow_sizes
from lcca.evaluation.trials.layout import MEASURES
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import ESTIMATE
from lcca.inputs.errors import did_you_mean
from lcca.inputs.model import Model
from lcca.inputs.named_files import FileOrName
from lcca.remy_plus.network import Network, open_network
from lcca.remy_plus.record import RTTS
from lcca.remy_plus.workload import OpenFlows

FLOW_METRICS = ("fct_us", "slowdown")
TRIAL_METRICS = (*MEASURES, *RTTS)

EstimateMethod = Literal["model-free", "model-based"]


class ImportanceBlock(ImportanceOptions):
    """How importance sampling is done; see `docs/background/importance.md`.

    Attributes:
        size_model: what flow sizes are drawn from: their table, or CCEval's lognormal fitted to it (§5), which is
            refused where it misses the target quantile by more than 1 %.
    """

    size_model: Literal["table", "lognormal"] = "table"


class EstimateBlock(EstimateConfig):
    """What to estimate, how well and by which method.

    Attributes:
        method: "model-free" adds plain trials until the accuracy is reached (CCEval §4.2). "model-based" does it with
            importance sampling (§4.3), for a pooled quantile of flows, and falls back to model-free where a test
            refuses; `ceiling` is its budget in plain trials.
        importance: options of the model-based method.
    """

    method: EstimateMethod = "model-free"
    importance: ImportanceBlock | None = Field(default=None, validate_default=True)

    @field_validator("method")
    @classmethod
    def _can_be_sampled(cls, method: EstimateMethod, info: ValidationInfo) -> EstimateMethod:
        if method == "model-free":
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
    def _fits_the_method(cls, found: ImportanceBlock | None, info: ValidationInfo) -> ImportanceBlock | None:
        method, ceiling = info.data.get("method"), info.data.get("ceiling")
        if method == "model-free" and found is not None:
            raise ValueError("is for method: model-based")
        if method != "model-based":
            return found
        found = found or ImportanceBlock()
        if ceiling is not None and ceiling <= found.overhead:
            raise ValueError(
                f"search and pilot take {found.overhead} trials (epochs × cycles + pilot), and ceiling is {ceiling}: "
                "raise it, or lower these"
            )
        return found

    def sampling(self) -> ImportanceConfig:
        """Return the options of importance sampling; of the model-based method only."""
        options = (self.importance or ImportanceBlock()).model_dump(exclude={"size_model"})
        asked = {"quantile": self.quantile, "budget": self.ceiling, "confidence": self.confidence}
        return ImportanceConfig.model_validate(options | asked)


class Traffic(Model):
    """Open-loop flows: a load (share of the link), sizes by name or file, and the bytes in a packet."""

    load: Annotated[float, Field(gt=0, lt=1)]
    sizes: FileOrName
    packet_bytes: Annotated[float, Field(gt=0)] = PACKET_BYTES


class OpenLink(Model):
    """One link (packets/µs, µs) with open-loop traffic."""

    link_rate: Annotated[float, Field(gt=0)]
    rtt: Annotated[float, Field(ge=0)]
    traffic: Traffic

    def build(self) -> Network:
        """Return the network."""
        sizes = flow_sizes(self.traffic.sizes, self.traffic.packet_bytes)
        return open_network(0, self.link_rate, self.rtt, OpenFlows(self.traffic.load, sizes))


class EstimationConfig(RunConfig):
    """What to estimate: a metric of a policy on one network with open flows, or over a space of networks.

    A trial is the network with a seed of its own, or a fresh network of the space. Metrics of flows (fct_us, slowdown)
    need `network`; the others are columns of the trials table.
    """

    run_kind = ESTIMATE

    policy: FileOrName
    network: OpenLink | None = None
    networks: NetworkSpace | None = None
    duration: Annotated[float, Field(gt=0)] = 10_000.0
    utility: str = "default"
    estimate: EstimateBlock

    @field_validator("estimate")
    @classmethod
    def _has_flows(cls, found: EstimateBlock, info: ValidationInfo) -> EstimateBlock:
        if found.method == "model-based" and info.data.get("networks") is not None:
            raise ValueError("method: model-based needs network.traffic (one link with open flows), not networks")
        return found

    @model_validator(mode="after")
    def _fits(self) -> EstimationConfig:
        if (self.network is None) == (self.networks is None):
            raise ValueError("give either network (one link with open flows) or networks (a space)")
        known = FLOW_METRICS if self.network is not None else TRIAL_METRICS
        if self.estimate.metric not in known:
            raise ValueError(
                f"estimate.metric: '{self.estimate.metric}' is not measured here"
                f"{did_you_mean(self.estimate.metric, known)}"
            )
        if self.networks is not None and self.estimate.quantile is not None:
            raise ValueError("estimate.quantile: only flows have quantiles here; name a column such as rtt_p99_us")
        utility(self.utility)
        return self

    @property
    def trial_us(self) -> float:
        """Simulated time of a trial, µs."""
        return self.duration if self.networks is None else self.networks.duration
