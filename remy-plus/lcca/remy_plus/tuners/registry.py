"""The tuners of a fabric and their parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from lcca.inputs.errors import InputError
from lcca.inputs.studies import added, attribute
from lcca.remy_plus.switches.control import Change, Given, Samples, Seen, Sketch, Tuner
from lcca.remy_plus.switches.knobs import FLAG, Knob, Limits, values_of
from lcca.remy_plus.switches.markers import Marking, marking
from lcca.remy_plus.tuners.annealing import Schedule
from lcca.remy_plus.tuners.kinds import Learnt, TunerKind
from lcca.remy_plus.tuners.paraleon import Paraleon, Weights


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


_SHARE, _TEMPERATURE = Limits(0, 1), Limits(1e-6, 1e6)

_PARALEON = {
    "interval_us": Knob(1000, "µs", "from look to look, λ_MI", limits=Limits(1, 1e9)),
    "delay_us": Knob(
        0,
        "µs",
        "from a look to when devices have what it set, within an interval (ours: the paper's simulation tells none)",
        limits=Limits(0, 1e9),
    ),
    "throughput": Knob(
        Weights.throughput, "", "weight of the throughput in the utility (0.5 for training jobs)", limits=_SHARE
    ),
    "rtt": Knob(Weights.rtt, "", "weight of round trips (0.2 for training jobs)", limits=_SHARE),
    "pfc": Knob(Weights.pfc, "", "weight of pauses; the three add up to 1", limits=_SHARE),
    "elephant_bytes": Knob(
        1e6, "bytes", "a flow is an elephant from here on, τ (section III-B)", limits=Limits(1, 1e15)
    ),
    "window": Knob(
        3,
        "intervals",
        "in a row in which a flow sends that may become one, δ (Figure 4)",
        limits=Limits(1, 1e6, whole=True),
    ),
    "ternary": Knob(
        1, "", "1: three states of flows over intervals; 0: each interval by itself, as a sketch alone", limits=FLAG
    ),
    "sizes": Knob(1, "", "1: the share of elephants guides and heats; 0: it is not known (No FSD)", limits=FLAG),
    "threshold": Knob(
        0.01,
        "nats",
        "divergence of the shares that heats, θ (public code)",
        limits=Limits(0, 1e6),
    ),
    "first_temperature": Knob(90, "", "of a utility in per cent", limits=_TEMPERATURE),
    "last_temperature": Knob(10, "", "of a utility in per cent", limits=_TEMPERATURE),
    "cooling": Knob(0.85, "", "of the temperature", limits=Limits(1e-6, 1 - 1e-6)),
    "trials": Knob(20, "", "at each temperature", limits=Limits(1, 1e6, whole=True)),
    "exploit": Knob(0.8, "", "most likely move towards what the traffic asks for, η", limits=_SHARE),
    "guided": Knob(1, "", "1: moves go with the traffic; 0: either way is as likely (naive annealing)", limits=FLAG),
    "sampling": Knob(
        0,
        "packets",
        "of which switches count one, by chance, in place of sketches (NetFlow: 100); 0: sketches, 1: all packets",
        limits=Limits(0, 1e6, whole=True),
    ),
    "sizes_every": Knob(
        1, "intervals", "from look to look at sizes (NetFlow: a second)", limits=Limits(1, 1e6, whole=True)
    ),
    "buckets": Knob(4096, "", "of a switch's sketch (ours)", limits=Limits(1, 2**20, whole=True)),
    "counters": Knob(16384, "", "of a switch's sketch (ours)", limits=Limits(1, 2**20, whole=True)),
}


def _require_paraleon(values: Mapping[str, float]) -> None:
    """Check what limits of single parameters do not tell.

    Raises:
        InputError: `parameter: …`, with what it must be.
    """
    if values["delay_us"] >= values["interval_us"]:
        raise InputError(
            f"delay_us: must be below interval_us, {values['interval_us']:g}, or a look would judge what does not hold "
            f"yet; got {values['delay_us']:g}"
        )
    if values["last_temperature"] >= values["first_temperature"]:
        raise InputError(
            f"last_temperature: must be below first_temperature, {values['first_temperature']:g}, "
            f"got {values['last_temperature']:g}"
        )
    weights = sum(values[name] for name in ("throughput", "rtt", "pfc"))
    if abs(weights - 1) > 1e-6:
        raise InputError(f"throughput, rtt and pfc: must add up to 1, got {weights:g}")


def _paraleon(values: Mapping[str, float]) -> Paraleon:
    _require_paraleon(values)
    return Paraleon(
        every_us=values["interval_us"],
        delay_us=values["delay_us"],
        weights=Weights(values["throughput"], values["rtt"], values["pfc"]),
        elephant_bytes=values["elephant_bytes"],
        window=round(values["window"]),
        ternary=values["ternary"] != 0,
        sizes=values["sizes"] != 0,
        threshold=values["threshold"],
        schedule=Schedule(
            values["first_temperature"], values["last_temperature"], values["cooling"], round(values["trials"])
        ),
        exploit=values["exploit"],
        guided=values["guided"] != 0,
        sketch=Samples(round(values["sampling"]))
        if values["sampling"]
        else Sketch(round(values["buckets"]), round(values["counters"])),
        sizes_every=round(values["sizes_every"]),
    )


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
        "paraleon": TunerKind(
            "PARALEON (ICNP 2025), section III and Table III; ranges and steps of parameters of its public code",
            _PARALEON,
            _paraleon,
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
