"""The tuners of a fabric and their parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from lcca.inputs.errors import InputError
from lcca.inputs.studies import added, attribute
from lcca.remy_plus.switches.control import Change, Given, Seen, Tuner
from lcca.remy_plus.switches.knobs import FLAG, Knob, Limits, values_of
from lcca.remy_plus.switches.markers import Marking, marking
from lcca.remy_plus.tuners.kinds import Learnt, TunerKind


@dataclass(frozen=True)
class Tuning:
    """A tuner with its parameters; `tuning` makes one.

    Attributes:
        kind: its name, of `TUNERS`.
        parameters: all of them.
        model: what it has learnt, if it is learnt.
    """

    kind: str
    parameters: Mapping[str, float] = field(hash=False)
    model: Learnt | None = field(default=None, hash=False)

    @property
    def marks(self) -> bool:
        """Whether it sets the markers of all switches."""
        return self.kind in TUNERS and TUNERS[self.kind].marks

    def build(self) -> Tuner:
        """Return a tuner for one run."""
        return TUNERS[self.kind].make(self.parameters, *([] if self.model is None else [self.model]))

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        found: dict[str, Any] = {"kind": self.kind, "parameters": dict(self.parameters)}
        return found if self.model is None else found | {"model": self.model.model_dump(mode="json")}


@dataclass(frozen=True)
class Static:
    """DCQCN's parameters and perhaps RED's thresholds, set once; thresholds at ports of 100 Gb/s.

    Attributes:
        parameters: of DCQCN that differ from its defaults.
        thresholds: of RED; None leaves the markers as they are.
    """

    parameters: Mapping[str, float]
    thresholds: Mapping[str, float] | None = None
    every_us: float = 1e9
    delay_us: float = 0
    sketch: None = None

    def __post_init__(self) -> None:
        """Check the thresholds.

        Raises:
            InputError: `parameter: …`, with what it must be.
        """
        self._markers()

    def begin(self, given: Given) -> Change:
        """Return what holds from the beginning.

        Raises:
            InputError: the transport is not DCQCN.
        """
        given.require_dcqcn()
        return Change(self.parameters, self._markers())

    def tune(self, seen: Seen) -> Change:
        """Return nothing."""
        return Change()

    def _markers(self) -> dict[int | None, Marking]:
        return {} if self.thresholds is None else {None: marking("red", **self.thresholds)}


_GBPS, _US = Limits(0, 1e6), Limits(1e-3, 1e9)

_DCQCN = {
    "increase_gbps": Knob(0.005, "Gb/s", "additive increase (ai_rate, rpg_ai_rate)", limits=_GBPS),
    "hyper_gbps": Knob(0.05, "Gb/s", "hyper increase (hai_rate, rpg_hai_rate)", limits=_GBPS),
    "decrease_us": Knob(4, "µs", "between decreases (rate_reduce_monitor_period)", limits=_US),
    "notification_gap_us": Knob(
        4, "µs", "between notifications of a receiver (min_time_between_cnps)", limits=Limits(0, 1e9)
    ),
    "min_gbps": Knob(0.001, "Gb/s", "lowest rate (rpg_min_rate)", limits=Limits(1e-6, 1e6)),
    "kmin_bytes": Knob(400e3, "bytes", "none is marked up to it", by_rate=True),
    "kmax_bytes": Knob(1600e3, "bytes", "all are marked beyond it", by_rate=True),
    "pmax": Knob(0.2, "", "probability at kmax_bytes"),
}
_THRESHOLDS = ("kmin_bytes", "kmax_bytes", "pmax")


def _static(values: Mapping[str, float]) -> Static:
    thresholds = {name: values[name] for name in _THRESHOLDS}
    return Static({name: value for name, value in values.items() if name not in thresholds}, thresholds)


_TABLE_1 = {
    "increase_gbps": 0.05,
    "hyper_gbps": 0.15,
    "decrease_us": 80.0,
    "notification_gap_us": 96.0,
    "kmin_bytes": 1600e3,
    "kmax_bytes": 6400e3,
}

_EXPERT = {name: replace(knob, default=_TABLE_1.get(name, knob.default)) for name, knob in _DCQCN.items()}

_DCQCN_PLUS = {
    "notification_gap_us": Knob(
        50, "µs", "between notifications, at least (Zhu et al., SIGCOMM 2015; public code)", limits=_US
    ),
    "gap_per_flow_us": Knob(
        1, "µs", "and so much for each flow of the receiver with marks (public code)", limits=Limits(1e-3, 1000)
    ),
    "marks_within_us": Knob(200, "µs", "for which a flow counts after a mark (public code)", limits=_US),
    "alpha_us": Knob(50, "µs", "between moves of alpha at the least gap: as long (public code)", limits=_US),
    "increase_us": Knob(100, "µs", "between increases at the least gap: twice as long (public code)", limits=_US),
    "clamp_target": Knob(
        1, "", "1: the target falls at every decrease (Zhu et al., Algorithm 1; public code)", limits=FLAG
    ),
    "min_gbps": _DCQCN["min_gbps"],
}


TUNERS: Mapping[str, TunerKind] = MappingProxyType(
    {
        "default": TunerKind("NVIDIA's defaults of DCQCN as PARALEON's public code has them", _DCQCN, _static),
        "expert": TunerKind("PARALEON (ICNP 2025), Table I: set by experts", _EXPERT, _static),
        "dcqcn-plus": TunerKind(
            "DCQCN+ (Gao et al., ICNP 2018) as PARALEON (ICNP 2025, section II) tells it; values of its public code",
            _DCQCN_PLUS,
            Static,
            marks=False,
        ),
        **{name: attribute(study, at) for name, (study, at) in added("tuners").items()},
    }
)
"""By name."""


def tuning(kind: str, /, model: Learnt | None = None, **parameters: float) -> Tuning:
    """Return a tuner with its defaults and changes.

    Args:
        kind: its name.
        model: what it has learnt; intervals and delays are those of the model unless given.
        parameters: that are not the defaults.

    Raises:
        InputError: `kind: …` or `parameter: …`, with what it must be; or a model that it needs or does not take.
    """
    values = values_of(TUNERS, kind, parameters)
    if TUNERS[kind].learnt and model is None:
        raise InputError(f"needs the file of a model that {TUNERS[kind].written_by}, as in dcqcn@{kind}:model.json")
    if model is not None:
        if not TUNERS[kind].learnt:
            raise InputError(f"{kind} has learnt nothing: it takes no file")
        trained = {"interval_us": model.interval_us, "delay_us": model.delay_us}
        values |= {name: value for name, value in trained.items() if name not in parameters}
    found = Tuning(kind, values, model)
    found.build()
    return found
