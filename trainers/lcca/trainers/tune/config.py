"""Configuration of a search for the best parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, field_validator, model_validator

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.inputs.model import Model, keyed_numbers
from lcca.inputs.names import FileOrName
from lcca.remy_plus.policies.hand_designed import RUNS, HandDesigned
from lcca.remy_plus.policies.python_control import PythonControl
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve
from lcca.trainers.tune.space import Axis, Range, Space, ranges_of

TABLE_5: Mapping[str, Mapping[str, Axis]] = {
    "vegas": {
        "alpha": Range(min=0, max=15, step=1),
        "beta": Range(min=1, max=15, step=1),
        "gamma": Range(min=1, max=40, step=2),
    },
    "bbr": {
        "high_gain": Range(min=2.75, max=3.05, step=0.05),
        "bw_window_length": Range(min=4, max=14, step=2),
        "rtt_window_length": Range(min=4000, max=14000, step=2000),
        "probe_rtt_duration": Range(min=100, max=350, step=50),
        "extra_acked_rtt_window_length": Range(min=2, max=8, step=1),
        "ack_epoch_acked_reset_threshold": Range(min=2048, max=8192, step=2048),
    },
    "cubic": {
        "beta": Range(min=0.5, max=0.9, step=0.05),
        "delta": Range(min=6, max=14, step=2),
        "c": Range(min=0.2, max=0.6, step=0.05),
        "counter_clamp": Range(min=10, max=30, step=5),
    },
}
"""The ranges in which the paper tunes hand-designed congestion controls, in the units of our parameters.

The paper maps time to milliseconds (A.3): its seconds and milliseconds are milliseconds and microseconds of the
networks, which `time_scale` 1000 (the default of every control of ns-3) simulates as seconds and milliseconds again.
BBR's threshold goes to 8192 bytes here; the paper's last value, 8142, is no multiple of its granularity.
"""


class Tpe(Model):
    """Optuna's tree-structured Parzen estimator.

    Attributes:
        startup: first candidates, which are drawn at random.
    """

    kind: Literal["tpe"] = "tpe"
    startup: Annotated[int, Field(ge=1)] = 10


class Grid(Model):
    """Every point of the space, in an order drawn at random, so that a part of it is a fair sample."""

    kind: Literal["grid"] = "grid"


class Greedy(Model):
    """The paper's greedy search (A.3): try the neighbours, move to the best, repeat until none is better.

    Attributes:
        reach: levels up and down that each parameter is varied by, the others staying.
    """

    kind: Literal["greedy"] = "greedy"
    reach: Annotated[int, Field(ge=1)] = 1


class RandomDraws(Model):
    """Points drawn at random, to hold the others against."""

    kind: Literal["random"] = "random"


AnySampler = Annotated[Tpe | Grid | Greedy | RandomDraws, Discriminator("kind")]


class Race(Model):
    """When a candidate is stopped: as soon as a confidence sequence says that it is worse than the best so far.

    Attributes:
        alpha: bounds the chance that a candidate which is no worse is ever stopped, for normal differences.
        first_look: networks before the first look.
        every: networks between looks.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    first_look: Annotated[int, Field(ge=4)] = 8
    every: Annotated[int, Field(ge=1)] = 8


class TuneConfig(Model):
    """What to tune, where its best parameters may lie, and how to look for them.

    Attributes:
        policy: what is tuned, by its name or file; its parameters are where the search begins and what the result is
            held against.
        space: "table-5" for the paper's ranges, "usual" for those of a fabric's transport (`lcca show transports`) or
            of the marker that is named with DCTCP in ns-3 (`lcca show markers`), or ranges and choices by parameter.
        sampler: proposes candidates.
        trials: most candidates; null for as many as the sampler has (grid and greedy alone run out of them).
        batch: candidates that are proposed at a time, knowing the results of the batches before. It changes what is
            proposed; how many processes work on a batch does not.
        networks: networks that all candidates meet, the same for all, each with its own seed.
        race: when a candidate is stopped for being worse than the best of the batches before, on the networks that
            both have met; null lets every candidate meet all networks.
    """

    policy: FileOrName
    space: Annotated[Literal["table-5", "usual"] | dict[str, Axis], BeforeValidator(keyed_numbers)] = "table-5"
    sampler: AnySampler = Tpe()
    trials: Annotated[int, Field(ge=1)] | None = 100
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 8
    networks: Annotated[int, Field(ge=2, le=1_000_000)] = 50
    race: Race | None = Race()

    @field_validator("policy")
    @classmethod
    def _can_be_tuned(cls, name: str) -> str:
        found = resolve(name, "ns3")
        if isinstance(found.file.policy, PythonControl):
            raise InputError(f"{name}: {RUNS}")
        if found.header is not None:
            raise InputError(f"{name}: a policy with a header has no parameters to tune; name it without")
        return name

    @model_validator(mode="after")
    def _fits(self) -> TuneConfig:
        if self.trials is None and self.sampler.kind not in ("grid", "greedy"):
            raise ValueError(f"trials must be a number: {self.sampler.kind} never runs out of candidates")
        if self.race and self.race.first_look >= self.networks:
            raise ValueError(
                f"race.first_look must be below networks ({self.networks}), or nothing is ever stopped; "
                f"--set tuner.race.first_look={max(1, self.networks // 2)} is"
            )
        self._check_space(self.build_space())
        return self

    def _check_space(self, space: Space) -> None:
        levels = {name: space.levels(name) for name in space.axes}
        endless = [name for name, values in levels.items() if values is None]
        if self.sampler.kind in ("grid", "greedy") and endless:
            raise ValueError(f"space: {endless[0]}: needs a step, since {self.sampler.kind} goes level by level")

    @property
    def libraries(self) -> dict[str, str]:
        """Modules that it needs, and the packages that have them."""
        return {"optuna": "optuna"}

    def build_space(self) -> Space:
        """Return the search space.

        Raises:
            InputError: it does not fit the policy.
        """
        policy = resolve(self.policy, "ns3").policy
        if isinstance(policy, HandDesigned):
            if policy.marker is not None and self.space == "usual":
                return Space(policy, ranges_of(policy.marker.searches()))
            return Space(policy, self._axes(policy.name))
        return Space(policy, self._axes(self.policy))

    def _axes(self, name: str) -> Mapping[str, Axis]:
        """Return the ranges of the space for a policy of this name."""
        if self.space == "usual":
            raise InputError("usual: only transports of a fabric and markers have usual ranges; write the space out")
        return table_5(name) if self.space == "table-5" else self.space


class TransportTuneConfig(TuneConfig):
    """What to tune of a transport; without a space in the usual ranges of its parameters.

    Attributes:
        host_gbps: rate of the fabric's slowest hosts, which defaults and ranges go with.
        lossy: whether switches drop packets anywhere, so that reactions to losses are among the usual ranges.
    """

    host_gbps: float = REFERENCE_GBPS
    lossy: bool = Field(default=False, exclude=True)
    space: Annotated[Literal["table-5", "usual"] | dict[str, Axis], BeforeValidator(keyed_numbers)] = "usual"

    @field_validator("policy")
    @classmethod
    def _can_be_tuned(cls, name: str) -> str:
        if tuner := _transport(name).tuner:
            raise ValueError(f"{name[:60]!r}: {tuner.kind} sets parameters itself; tune the transport without it")
        return name

    def build_space(self) -> Space:
        """Return the search space.

        Raises:
            InputError: it does not fit the transport.
        """
        transport = _transport(self.policy)
        axes = self._axes(transport.name)
        usual = transport.kind.parameters(self.host_gbps, transport.parameters)
        known = usual | transport.named_parameters
        with about("space"):
            for name in axes:
                if name not in known:
                    raise InputError(f"no parameter {name[:60]!r}{did_you_mean(name, known)}")
        own = {name: usual[name] for name in (*transport.parameters, *axes) if name in usual}
        return Space(replace(transport, parameters=own), axes)

    def _axes(self, name: str) -> Mapping[str, Axis]:
        if self.space != "usual":
            return super()._axes(name)
        found = _transport(self.policy).searches(self.host_gbps, self.lossy)
        if not found:
            raise InputError(f"space: {name} has no usual ranges; write the space out")
        return ranges_of(found)


def _transport(name: str) -> Transport:
    found = resolve(name, "fabric").policy
    if not isinstance(found, Transport):
        raise InputError(f"{name[:60]!r}: only transports can be tuned on a fabric")
    return found


def table_5(name: str) -> Mapping[str, Axis]:
    """Return the paper's ranges for a congestion control; those of BBR for BBR′ too, which has the same parameters.

    Raises:
        InputError: the paper tunes none of that name.
    """
    name = "bbr" if name == "bbr-prime" else name
    if name not in TABLE_5:
        raise InputError(
            f"table-5 has no ranges for {name[:60]!r}{did_you_mean(name, TABLE_5)}; write the space out, "
            "as in `space: {window: {min: 1, max: 64, step: 1}}`"
        )
    return TABLE_5[name]
