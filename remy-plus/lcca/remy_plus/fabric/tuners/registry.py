"""The tuners of a fabric and their parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus.fabric.control import Tuner
from lcca.remy_plus.fabric.knobs import Knob
from lcca.remy_plus.fabric.tuners.static import Static


@dataclass(frozen=True)
class TunerKind:
    """A tuner.

    Attributes:
        source: where it is from.
        knobs: its parameters.
        make: makes one with all of its parameters.
    """

    source: str
    knobs: Mapping[str, Knob]
    make: Callable[[Mapping[str, float]], Tuner]


@dataclass(frozen=True)
class Tuning:
    """A tuner with its parameters; `tuning` makes one.

    Attributes:
        kind: its name, of `TUNERS`.
        parameters: all of them.
    """

    kind: str
    parameters: Mapping[str, float]

    def build(self) -> Tuner:
        """Return a tuner for one run."""
        return TUNERS[self.kind].make(self.parameters)


_DCQCN = {
    "increase_gbps": Knob(0.005, "Gb/s", "additive increase (ai_rate, rpg_ai_rate)"),
    "hyper_gbps": Knob(0.05, "Gb/s", "hyper increase (hai_rate, rpg_hai_rate)"),
    "decrease_us": Knob(4, "µs", "between decreases (rate_reduce_monitor_period)"),
    "notification_gap_us": Knob(4, "µs", "between notifications of a receiver (min_time_between_cnps)"),
    "kmin_bytes": Knob(400e3, "bytes", "none is marked up to it", by_rate=True),
    "kmax_bytes": Knob(1600e3, "bytes", "all are marked beyond it", by_rate=True),
    "pmax": Knob(0.2, "", "probability at kmax_bytes"),
}
_THRESHOLDS = ("kmin_bytes", "kmax_bytes", "pmax")


def _static(values: Mapping[str, float]) -> Static:
    thresholds = {name: values[name] for name in _THRESHOLDS}
    return Static({name: value for name, value in values.items() if name not in thresholds}, thresholds)


def _with(changes: Mapping[str, float]) -> dict[str, Knob]:
    return {
        name: Knob(changes.get(name, knob.default), knob.unit, knob.meaning, knob.by_rate)
        for name, knob in _DCQCN.items()
    }


_EXPERT = {
    "increase_gbps": 0.05,
    "hyper_gbps": 0.15,
    "decrease_us": 80.0,
    "notification_gap_us": 96.0,
    "kmin_bytes": 1600e3,
    "kmax_bytes": 6400e3,
}

TUNERS: Mapping[str, TunerKind] = MappingProxyType(
    {
        "default": TunerKind("NVIDIA's defaults of DCQCN as PARALEON's public code has them", _DCQCN, _static),
        "expert": TunerKind("PARALEON (ICNP 2025), Table I: set by experts", _with(_EXPERT), _static),
    }
)
"""By name."""


def tuning(kind: str, **parameters: float) -> Tuning:
    """Return a tuner with its defaults and changes.

    Raises:
        InputError: `kind: …` or `parameter: …`, with what it must be.
    """
    if kind not in TUNERS:
        raise InputError(f"kind: {kind!r} is not known{did_you_mean(kind, TUNERS)}")
    usual = {name: knob.default for name, knob in TUNERS[kind].knobs.items()}
    unknown = sorted(set(parameters) - set(usual))
    if unknown:
        raise InputError(f"{unknown[0]}: is not a parameter of {kind}{did_you_mean(unknown[0], usual)}")
    return Tuning(kind, usual | {name: float(value) for name, value in parameters.items()})
