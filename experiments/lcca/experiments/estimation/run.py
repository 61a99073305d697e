"""Estimating one metric of one policy to a set accuracy: `lcca estimate`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from lcca.evaluation.estimation.estimate import Estimate, EstimateLook, Estimating
from lcca.evaluation.estimation.tails import TailWarning
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.sizes import PACKET_BYTES, flow_sizes
from lcca.evaluation.trials.running import run_flows, run_trials
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.estimation.config import EstimateBlock
from lcca.experiments.runs.progress import Reporter
from lcca.experiments.runs.remaining import more_trials
from lcca.experiments.runs.seeds import derive
from lcca.experiments.runs.version import version
from lcca.inputs.errors import InputError, did_you_mean
from lcca.inputs.files import write_atomically
from lcca.inputs.model import Model
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network, open_network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.workload import OpenFlows

FLOW_METRICS = ("fct_us", "slowdown")
TRIAL_METRICS = (
    "score_bits",
    "throughput_share",
    "throughput_over_link",
    "delay_us",
    "delay_over_rtt",
    "fairness",
    "loss_fraction",
    "utilisation",
    "queue_mean_packets",
    "rtt_p50_us",
    "rtt_p90_us",
    "rtt_p95_us",
    "rtt_p99_us",
    "rtt_p999_us",
)
BLOCK = 10


class Traffic(Model):
    """Open-loop flows: a load (share of the link), sizes by name or file, and the bytes in a packet."""

    load: Annotated[float, Field(gt=0, lt=1)]
    sizes: str
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


class EstimationConfig(Model):
    """What to estimate: a metric of a policy on one network with open flows, or over a space of networks.

    A trial is the network with a seed of its own, or a fresh network of the space. Metrics of flows (fct_us, slowdown)
    need `network`; the others are columns of the trials table.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
    seed: Annotated[int, Field(ge=0)] = 1
    policy: str
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
    def hash(self) -> str:
        """Twelve hex digits that name this configuration."""
        return hashlib.sha256(json.dumps(self.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:12]


def estimate_policy(
    config: EstimationConfig, folder: Path, engine: Engine, reporter: Reporter
) -> tuple[Estimate, Estimating]:
    """Run trials in blocks until the estimate is accurate enough, keeping each block in the folder.

    Blocks that are there already are not run again, so a stopped estimation goes on where it was.
    """
    policy = policyfile.load(config.policy).policy
    claim(folder, config)
    store, going = TrialStore(folder / "trials"), Estimating(config.estimate)
    with reporter.task(f"estimating {config.estimate.metric} of {config.policy}", config.estimate.ceiling) as task:
        first = 0
        while not going.finished:
            part = f"estimate-{first:06d}"
            if not store.has(part):
                store.add(part, _run_block(config, policy, engine, first))
            going.feed(_trials(config, store.read(part)))
            first += BLOCK
            task.update(first, _standing(going, first), more_trials(going))
    return going.state, going


def claim(folder: Path, config: EstimationConfig) -> None:
    """Make the folder this configuration's, or check that it is."""
    mark = folder / "manifest.json"
    if mark.is_file():
        theirs = json.loads(mark.read_text(encoding="utf-8")).get("config_hash")
        if theirs != config.hash:
            raise InputError(f"{folder}: an estimation of another configuration ({theirs}); choose another --out")
        return
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: there already, and not an estimation; choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(mark, json.dumps({"config_hash": config.hash, "version": version()}).encode())


def _run_block(config: EstimationConfig, policy: Policy, engine: Engine, first: int) -> pd.DataFrame:
    if config.network is not None:
        seeds = [derive(config.seed, "estimate", first + k) for k in range(BLOCK)]
        return run_flows(engine, {"policy": policy}, [config.network.build()], seeds)
    assert config.networks is not None
    seed = derive(config.seed, "estimate")
    networks = config.networks.draw(seed, BLOCK, first_id=first)
    return run_trials(engine, {"policy": policy}, networks, [seed], utility(config.utility))


def _trials(config: EstimationConfig, rows: pd.DataFrame) -> Iterator[NDArray[np.float64]]:
    """Yield what each trial says, in the order in which they were planned; a trial without a value is left out."""
    metric = config.estimate.metric
    if config.networks is not None:
        yield from (np.array([v]) for v in rows[metric].dropna())
        return
    for values in flow_values(rows, metric):
        yield values if config.estimate.quantile is not None else np.array([values.mean()])


def flow_values(rows: pd.DataFrame, metric: str) -> list[NDArray[np.float64]]:
    """Return a metric of the flows of each trial that has any, in the order of the rows.

    Raises:
        InputError: a flow did not complete.
    """
    if rows[metric].isna().any():
        raise InputError("a flow did not complete: the load is too high for this policy and duration")
    return [trial.to_numpy(dtype=np.float64) for _, trial in rows.groupby("seed", sort=False)[metric]]


def _standing(going: Estimating, trials: int) -> str:
    if not going.looks:
        return f"{trials} trials; the first look is at {going.config.floor}"
    look = going.looks[-1]
    return f"{look.n} trials: {look.estimate:.4g} ± {look.half_width:.2g} (wanted ± {look.required:.2g})"


def _look(look: EstimateLook) -> dict[str, Any]:
    numbers = {key: getattr(look, key) for key in ("estimate", "low", "high", "required")}
    return {"n": look.n} | {key: value if math.isfinite(value) else None for key, value in numbers.items()}


class Told(Protocol):
    """What estimate.json tells beside the estimate."""

    @property
    def looks(self) -> list[EstimateLook]:
        """What was seen on the way."""
        ...

    @property
    def accurate(self) -> bool:
        """Whether the accuracy was reached."""
        ...

    @property
    def warning(self) -> TailWarning | None:
        """Set with too few tail flows."""
        ...


def write_result(
    folder: Path, config: EstimationConfig, found: Estimate, going: Told, details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write estimate.json, with further details if there are any, and return its content."""
    content = found.to_json() | {
        "format": 1,
        "name": config.name,
        "config_hash": config.hash,
        "version": version(),
        "policy": config.policy,
        "metric": config.estimate.metric,
        "quantile": config.estimate.quantile,
        "accurate": going.accurate,
        "warning": str(going.warning) if going.warning else "",
        "looks": [_look(each) for each in going.looks],
    }
    content |= details or {}
    text = json.dumps(content, sort_keys=True, indent=1, allow_nan=False) + "\n"
    write_atomically(folder / "estimate.json", text.encode())
    return content
