"""Configuration of the trainer of control laws, and where its search begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field as Key

from lcca.inputs.errors import InputError, require
from lcca.inputs.model import Model
from lcca.remy_plus.core.formulas import formulas, short_name
from lcca.remy_plus.policies.fabric_law import may_be_negative
from lcca.remy_plus.policies.law import NEUTRAL, OWN
from lcca.trainers.base import Budget, TrainerConfig

if TYPE_CHECKING:
    from lcca.remy_plus.switches.transports import Transport


class Search(NamedTuple):
    """Where a term begins, and the standard deviation of its first perturbations."""

    start: float
    width: float


PLAIN: dict[str, Search] = {
    "window": Search(3, 0.5),
    "gap": Search(-1, 0.5),
    "increase": Search(-1, 0.5),
    "increase_window": Search(1, 0.15),
    "boost": Search(3, 0.6),
    "boost_time": Search(1.5, 0.4),
    "decrease": Search(0.5, 0.5),
    "decrease_window": Search(0, 0.15),
    "slow_share": Search(0.3, 0.3),
    "pace": Search(-0.15, 0.1),
}
"""Terms of a plain law: additive increase, decrease in proportion to queueing, a faster start."""

RICH: dict[str, Search] = {
    "boost_queue": Search(0, 0.5),
    "recovery": Search(0, 0.3),
    "recovery_power": Search(1, 0.2),
    "decrease_young": Search(0, 0.4),
    "trend": Search(0, 0.4),
    "pace_queue": Search(0, 0.2),
    "jump": Search(0, 0.6),
    "jump_gap": Search(0, 0.4),
    "jump_queue": Search(0, 0.3),
}
"""Terms that a rich law adds."""

GRANTED: dict[str, Search] = {
    "window": PLAIN["window"],
    "gap": PLAIN["gap"],
    "target": Search(0.3, 0.2),
    "pace_queue": Search(0.1, 0.06),
}
"""Terms of a law that sends at the rate that hops grant, less while it meets a queue; features change how much less."""

TOWARDS: dict[str, Search] = {
    "pull": Search(0, 0.3),
    "target": Search(0, 0.2),
    "pace_target": Search(0, 0.3),
}
"""Terms of a law that goes by its window, and by a granted rate as far as that helps."""

AT_RATE = {"pull": 1.0, "pace_target": 1.0, "pace": 0.0, "target": 0.3, "pace_queue": 0.1}
"""Where such a law begins. A first stage with features begins there, or where the stage before ended, whichever is
better on fresh networks."""

AT_SHARE = AT_RATE | {"window": 1.6, "gap": -5.0}
"""The same where the rate is that of the closest ACKs over the number of flows: the first packets go back to back, so
that their ACKs show the bottleneck's rate (packet pairs: Keshav, SIGCOMM 1991)."""

UNUSED = NEUTRAL | {"boost_queue": -20.0}
"""Terms before their stage: start-up does not look at the queue."""

RATES = (("capacity/flows", ("capacity", "flows")), ("1/flows", ("flows",)), ("fair_rate", ("fair_rate",)))
"""Rates that hops grant, and the signals that they need; where none is a better beginning, a law may come to the first
that its set has."""


STEEP = ("queueing", "queueing_2", "queueing_8", "smallest_gap_ratio", "queued_share", "since_queue")
"""Features that make a law yield much more where a flow meets more queues than others."""


FABRIC_TERMS: dict[str, Search] = {
    "first": Search(0, 0.3),
    "first_size": Search(0, 0.3),
    "largest": Search(0, 0.3),
    "add": Search(-6.5, 0.7),
    "add_size": Search(0, 0.6),
    "pace": Search(0, 0.15),
    "ahead": Search(0, 0.15),
    "loss": Search(1, 0.3),
}
"""Terms of a law for fabrics: line rate and one BDP at first, 1 % of a BDP more an RTT."""

FABRIC_FEATURES: dict[str, Search] = {
    "one": Search(0.14, 0.07),
    "window": Search(-0.05, 0.05),
    "delay": Search(-0.58, 0.3),
    "long_delay": Search(0, 0.3),
    "trend": Search(0, 0.15),
    "delay_window": Search(0, 0.05),
    "size": Search(0, 0.15),
    "size_delay": Search(0, 0.2),
}
"""Its coefficients of what its sender measures: e^-0.4 at queueing of an RTT."""


def fabric_signal(name: str) -> tuple[float, float, float]:
    """Return the widths of a signal's three coefficients, in units of the stage's `feature_width`; 0 is not searched.

    A form that is never negative equals its part above 0: one coefficient with the spread of the two takes their place.
    """
    return (1.3, 1.3, 1.0) if may_be_negative(name) else (1.3 * 2**0.5, 0.0, 1.0)


class StageConfig(Model):
    """One stage of a training; it begins where the stage before ended.

    Attributes:
        trials: of the stage.
        terms: that are searched: those of a plain law, or all.
        features: whose coefficients are searched: of "none", of what a law measures itself ("own"), of the set's other
            signals alone, with the terms of a rate that hops grant ("new"), or of all. A set without others searches
            its "own" in a stage of "new".
        width: of the first perturbations, in units of the terms' own.
        feature_width: of those of the map's coefficients.
    """

    trials: Annotated[int, Key(ge=1, le=10**9)]
    terms: Literal["plain", "all"] = "all"
    features: Literal["none", "own", "new", "all"] = "all"
    width: Annotated[float, Key(gt=0, le=10)] = 0.5
    feature_width: Annotated[float, Key(gt=0, le=10)] = 0.15


STAGES = (
    StageConfig(trials=10_000, terms="plain", features="none", width=1),
    StageConfig(trials=20_000, features="own"),
    StageConfig(trials=24_000, width=0.25, feature_width=0.1),
)


class StagedConfig(TrainerConfig):
    """A search by SNES, mirrored, in stages (`LawTrainer`).

    Stages before the first one of a set's other signals are the same for all signal sets: sets share them and differ by
    what they make of their signals afterwards. So a set with more signals goes on from what a smaller one has come to.
    Headers take no bytes before their stage.

    Attributes:
        stages: one after another; each leaves a policy for validation to pick from.
        networks: fresh networks of a generation, which all its candidates meet.
        population: candidates of a generation, mirrored; by default as many as is usual for the numbers searched.
        check_networks: fresh networks on which two beginnings of a stage are compared, where hops grant a rate.
        averaged: share of a stage, its last part, whose means are averaged into its result.
        seed: of the perturbations, which can so be varied apart from the networks.
    """

    trainer: ClassVar[str] = "lcca.trainers.law.trainer:LawTrainer"
    warm_starts: ClassVar[bool] = True
    headers: ClassVar[bool] = True
    begins_without_header: ClassVar[bool] = True

    stages: Annotated[tuple[StageConfig, ...], Key(min_length=1)] = STAGES
    networks: Annotated[int, Key(ge=1, le=100_000)] = 16
    population: Annotated[int, Key(ge=4, le=10_000, multiple_of=2)] | None = None
    check_networks: Annotated[int, Key(ge=1, le=100_000)] = 160
    averaged: Annotated[float, Key(gt=0, le=1)] = 0.5
    seed: Annotated[int, Key(ge=0)] = 0

    @property
    def over(self) -> Transport | None:
        """The transport whose ways are learnt; None where the window is."""
        return None

    @property
    def policies(self) -> int:
        """One for each stage."""
        return len(self.stages)

    @property
    def budget(self) -> Budget:
        """Trials of all stages."""
        trials = [stage.trials for stage in self.stages]
        return Budget(sum(trials), "trials", "stages", sum(trials[: self.alike]))

    @property
    def alike(self) -> int:
        """How many stages there are before the first one of a set's signals: the same for all sets."""
        others = (at for at, stage in enumerate(self.stages) if stage.features in ("new", "all"))
        return next(others, len(self.stages))


class LawConfig(StagedConfig):
    """Learning of a control law (`kind: law`): the law's numbers by SNES, mirrored, in stages.

    On a fabric it is a law for fabrics: windows in BDP, from one BDP at line rate.

    Attributes:
        inputs: signals of the set that become features; by default all that a law does not measure itself.
        hops: "one" searches all features; "several" leaves out coefficients of queueing and of a flow's share in `up`
            and `down` (`STEEP`): they are worth 0.008 bits where all flows meet one queue, and starve flows that meet
            more of them than others.
        bytes_left: whether a law for fabrics knows how many bytes a flow has left, as senders of RDMA do.
        bound: of each sum of features.
        refresh: RTTs for which what does not depend on the latest ACK is kept.
    """

    formulas: ClassVar[bool] = True
    of_hosts: ClassVar[bool] = True

    kind: Literal["law"] = "law"
    inputs: tuple[str, ...] | None = None
    hops: Literal["one", "several"] = "one"
    bytes_left: bool = True
    bound: Annotated[float, Key(ge=0, le=100)] = 2.0
    refresh: Annotated[float, Key(ge=0, le=1)] = 0.5

    def inputs_of(self, signals: Sequence[str]) -> tuple[str, ...]:
        """Return the signals of a set whose forms are features."""
        others = tuple(name for name in signals if name not in OWN)
        return others if self.inputs is None else tuple(name for name in others if short_name(name) in self.inputs)

    @staticmethod
    def rates_of(signals: Sequence[str]) -> tuple[str, ...]:
        """Return what hops grant a flow by these signals, as `Law.rate`; none by a part of what another one needs."""
        known = {rate: set(needed) for rate, needed in RATES if set(needed) <= set(signals)}
        return tuple(rate for rate, needed in known.items() if not any(needed < other for other in known.values()))

    def require(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`: a law measures RTTs and gaps between ACKs."""
        if "receive_ewma" not in signals or not {"rtt_ratio", "rtt_difference"} & set(signals):
            raise InputError(
                "trainer.kind: a law measures RTTs and gaps between ACKs; for sets without rtt_ratio and receive_ewma "
                "use rplus"
            )
        if self.inputs_of(signals) and self.alike == len(self.stages):
            raise InputError(
                "trainer.stages: none has features: all or new, so that no signal of the network is ever looked at"
            )

    def require_fabric(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`: laws for fabrics are learnt there, which have no formulas."""
        own = ", ".join(each.name for each in formulas(signals))
        require(not own, f"trainer.kind: laws for fabrics have no signals that are formulas ({own}); use rplus")

    @property
    def rules(self) -> int:
        """A law takes about as long as a table of so many (`benchmarks/README.md`, Laws)."""
        return 32
