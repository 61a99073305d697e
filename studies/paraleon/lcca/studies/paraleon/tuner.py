"""PARALEON as a tuner of a fabric, `dcqcn@paraleon`: its parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Mapping

from lcca.inputs.errors import InputError
from lcca.remy_plus.switches.control import Samples, Sketch
from lcca.remy_plus.switches.interval_utility import Weights
from lcca.remy_plus.switches.knobs import FLAG, Knob, Limits
from lcca.remy_plus.tuners.kinds import TunerKind
from lcca.studies.paraleon.annealing import Schedule
from lcca.studies.paraleon.paraleon import Paraleon

_SHARE, _TEMPERATURE = Limits(0, 1), Limits(1e-6, 1e6)

_KNOBS = {
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


KIND = TunerKind(
    "PARALEON (ICNP 2025), section III and Table III; ranges and steps of parameters of its public code",
    _KNOBS,
    _paraleon,
)
