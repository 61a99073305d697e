"""Where the trials of an estimation take place: on one link with open flows, on a space of networks, or on a fabric.

Each place says what is measured in its trials and by which policies, and runs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
import pandas as pd
from pydantic import Field

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import require_told
from lcca.evaluation.scenarios.networks import DrawnNetworks
from lcca.evaluation.scenarios.sizes import NamedSizes, flow_sizes
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, NETWORK_TRIALS, SCORE
from lcca.evaluation.trials.place import Execution
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError, require
from lcca.inputs.model import Model
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.fluid import require_fluid
from lcca.remy_plus.fabric.settings import FABRIC
from lcca.remy_plus.network import Network, open_network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.workload import OpenFlows
from lcca.signal_sets.load import resolve
from lcca.studies.cceval.flow_rows import run_flows
from lcca.studies.cceval.splitting import split_trial
from lcca.workers.pool import Pool

QUEUE_ABOVE = "queue_above"

Rows: TypeAlias = Callable[[Block], pd.DataFrame]
"""Runs a block of trials; returns a row per flow where flows are measured, else one per trial."""


class Traffic(Model):
    """Open-loop flows.

    Attributes:
        load: share of the link.
        sizes: of flows, by name or file.
        packet_bytes: of a packet.
    """

    load: Annotated[float, Field(gt=0, lt=1)]
    sizes: NamedSizes
    packet_bytes: Annotated[float, Field(gt=0)] = PACKET_BYTES


class OpenLink(Model):
    """One link with open-loop traffic.

    Attributes:
        traffic: its flows.
        link_rate: packets/µs, of the traffic's `packet_bytes`.
        rtt: µs.
    """

    units: ClassVar[Mapping[str, str]] = {"link_rate": "packets/us", "rtt": "us"}

    traffic: Traffic
    link_rate: Annotated[float, Field(gt=0)]
    rtt: Annotated[float, Field(ge=0)]

    @classmethod
    def packet_size(cls, data: Mapping[str, Any]) -> float | None:
        """Return the bytes of a packet, as the traffic tells them."""
        traffic = data.get("traffic")
        return traffic.packet_bytes if isinstance(traffic, Traffic) else None

    def build(self) -> Network:
        """Return the network."""
        sizes = flow_sizes(self.traffic.sizes, self.traffic.packet_bytes)
        flows = OpenFlows(self.traffic.load, sizes)
        return open_network(0, self.link_rate, self.rtt, flows, self.traffic.packet_bytes)


class SplittingBlock(Model):
    """How runs are split; see `studies/cceval/page.md`.

    Attributes:
        levels: stages, whose levels rise in equal steps to `above_bytes`.
        runs: of each stage.
    """

    levels: int = Field(default=8, ge=1, le=1000)
    runs: int = Field(default=40, ge=2, le=100_000)


def require_stand_in(policy: str, scenario: FabricScenario) -> None:
    """Check that fluids can stand in for the whole fabric.

    Raises:
        InputError: they cannot; or the policy cannot be.
    """
    engine = engine_of(resolve(policy, "fabric").policy, scenario.settings())
    require_fluid(engine, scenario.has_rounds, scenario.switch.classes > 1, bool(scenario.events))


def is_ideal(policy: str, scenario: FabricScenario) -> bool:
    """Tell whether a policy is an ideal, which needs no simulator of the whole fabric."""
    return engine_of(resolve(policy, "fabric").policy, scenario.settings()).ideal


class Wanted(Protocol):
    """What trials are run for (see `lcca.studies.cceval.config.EstimateBlock`)."""

    @property
    def method(self) -> str:
        """How it is estimated."""

    @property
    def above_bytes(self) -> float | None:
        """A queue, where the metric is how often there is a longer one."""

    @property
    def splitting(self) -> SplittingBlock | None:
        """Options of splitting."""

    @property
    def each(self) -> Sequence[Any]:
        """All that is estimated."""


class Measured(ABC):
    """Where trials take place.

    Attributes:
        metrics: what can be estimated.
        duration_us: simulated time of a trial; None where its flows end it.
        form: in which policies run there (see `resolve`).
        column: of a trial that says something of its tail, for advice.
        by_size: whether flows can be chosen by their size.
        whole: whether a whole fabric is simulated.
        named: what results say of the place.
        few: trials that are run, and kept, at a time where durations are tried; those of the estimate if None.
    """

    metrics: Sequence[str]
    duration_us: float | None
    form: Literal["engine", "fabric"] = "engine"
    column: str = "rtt_p99_us"
    by_size: bool = False
    whole: bool = False
    named: Mapping[str, str] = MappingProxyType({})
    few: int | None = 50

    def policy(self, name: str) -> Policy:
        """Read the policy and all that the place names, before a folder is claimed.

        Raises:
            InputError: a file cannot be used, or the policy cannot run here.
        """
        return resolve(name, self.form).policy

    def lasting(self, duration_us: float) -> Measured:
        """Return the same with trials of another duration.

        Raises:
            InputError: that cannot be.
        """
        raise InputError("--durations: needs one quantile of flows: give network or fabric (not networks)")

    @abstractmethod
    def rows(self, asked: Wanted, policy: Policy, seed: int, words: Sequence[str], workers: Pool) -> Rows:
        """Return what runs a stretch of trials.

        Args:
            asked: what is estimated.
            policy: that runs.
            seed: of the estimation.
            words: what the trials are for: those for something else have other seeds.
            workers: run them; results never depend on who does.
        """


class OnLink(Measured):
    """One link with open flows, measured flow by flow."""

    duration_us: float

    def __init__(self, link: OpenLink, duration_us: float) -> None:
        self.link, self.duration_us, self.metrics = link, duration_us, tuple(FLOWS)

    def policy(self, name: str) -> Policy:
        """See `Measured.policy`."""
        self.link.build()
        return super().policy(name)

    def lasting(self, duration_us: float) -> OnLink:
        """See `Measured.lasting`."""
        return OnLink(self.link, duration_us)

    def rows(self, asked: Wanted, policy: Policy, seed: int, words: Sequence[str], workers: Pool) -> Rows:
        """See `Measured.rows`."""
        engine, network = Execution.on(workers).engine(self.duration_us), self.link.build()

        def run(block: Block) -> pd.DataFrame:
            seeds = [derive(seed, *words, k) for k in range(block.first, block.end)]
            return run_flows(engine, {"policy": policy}, [network], seeds)

        return run


class OnNetworks(Measured):
    """A space of networks; a trial is a fresh one."""

    def __init__(self, space: DrawnNetworks, utility: str) -> None:
        self.space, self.utility, self.duration_us = space, space.utility(utility), space.duration
        self.metrics = tuple(each.name for each in NETWORK_TRIALS.values() if each.together == "mean")

    def rows(self, asked: Wanted, policy: Policy, seed: int, words: Sequence[str], workers: Pool) -> Rows:
        """See `Measured.rows`."""
        source = self.space.trials(derive(seed, *words), self.utility, Execution.on(workers), keep_delays=True)
        return lambda block: source.rows({"policy": policy}, block)


class OnFabric(Measured):
    """A fabric scenario; what stands in for the whole fabric tells of flows only."""

    form = "fabric"
    column = "slowdown_p99"
    by_size = True
    few = None

    def __init__(self, scenario: FabricScenario, simulator: str, utility: str) -> None:
        self.scenario, self.simulator, self.duration_us = scenario, simulator, scenario.duration_us
        self.space, self.whole = FabricSpace(fabric=scenario), simulator == FABRIC
        self.named, self.utility = {"scenario": scenario.name}, self.space.utility(utility)
        require_told(simulator, self.utility)
        known = {"flows", *(("rounds",) if scenario.has_rounds else ()), *(("ports",) if self.whole else ())}
        known |= {"events"} if scenario.events else set()
        names = [each.name for each in FABRIC_TRIALS.values() if each.needs in known]
        self.metrics = (*FLOWS, SCORE.name, *names, *((QUEUE_ABOVE,) if self.whole else ()))

    def policy(self, name: str) -> Policy:
        """See `Measured.policy`."""
        found = super().policy(name)
        engine_of(found, self.scenario.settings())
        return found

    def lasting(self, duration_us: float) -> OnFabric:
        """See `Measured.lasting`."""
        require(self.duration_us is not None, "--durations: the flows of this fabric end by themselves")
        require(duration_us > self.scenario.warmup_us, "--durations: must be longer than warmup_us")
        longer = self.scenario.model_copy(update={"duration_us": duration_us})
        return OnFabric(longer, self.simulator, self.utility.name)

    def rows(self, asked: Wanted, policy: Policy, seed: int, words: Sequence[str], workers: Pool) -> Rows:
        """See `Measured.rows`."""
        first, policies = derive(seed, *words), {"policy": policy}
        if asked.method == "splitting":
            return self._splitting(asked, policy, first, workers)
        source = self.space.trials(first, self.utility, Execution.on(workers, self.simulator))
        if (above := asked.above_bytes) is not None:
            return lambda block: source.rows(policies, block).assign(
                queue_above=lambda rows: (rows["queue_max_bytes"] > above).astype(float)
            )
        run = source.flow_rows if asked.each[0].metric in FLOWS else source.rows
        return lambda block: run(policies, block)

    def _splitting(self, asked: Wanted, policy: Policy, seed: int, workers: Pool) -> Rows:
        """Return what runs trials each of which splits its runs; a row per trial."""
        scenario, options = self.scenario, asked.splitting or SplittingBlock()
        engine = engine_of(policy, scenario.settings())
        scenario.require_fits(engine, "policy")
        levels = np.linspace(0, asked.above_bytes or 0.0, options.levels + 1)[1:].tolist()

        def rows(block: Block) -> pd.DataFrame:
            drawn = self.space.draw(seed, block.size, block.first)
            calls = (partial(split_trial, scenario, engine, each.seed, levels, options.runs) for each in drawn)
            found = zip(drawn, workers.calls(calls), strict=True)
            return pd.DataFrame(
                {
                    "policy": "policy",
                    "network": trial.number,
                    "seed": trial.seed,
                    "queue_above": split.probability,
                    "runs": split.runs,
                    "packets": split.packets,
                }
                for trial, split in found
            )

        return rows
