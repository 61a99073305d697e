"""The markers of a fabric's switches (ECN) and their parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.knobs import Knob


@dataclass(frozen=True)
class MarkerKind:
    """A marker.

    Attributes:
        source: where it is from.
        knobs: its parameters.
    """

    source: str
    knobs: Mapping[str, Knob]


@dataclass(frozen=True)
class Marking:
    """A marker with its parameters; `marking` makes one.

    Attributes:
        kind: its name, of `MARKERS`.
        parameters: all of them.
    """

    kind: str
    parameters: Mapping[str, float]


def _bytes(default: float, meaning: str) -> Knob:
    return Knob(default, "bytes", meaning, by_rate=True)


MARKERS: Mapping[str, MarkerKind] = MappingProxyType(
    {
        "step": MarkerKind(
            "Alizadeh et al., SIGCOMM 2010, section 3.1; threshold of HPCC's simulator",
            {"k_bytes": _bytes(300e3, "all packets beyond it are marked (30 kB per 10 Gb/s)")},
        ),
        "red": MarkerKind(
            "Zhu et al., SIGCOMM 2015, Figure 5: RED on the queue as it is; thresholds of HPCC's simulator",
            {
                "kmin_bytes": _bytes(400e3, "none is marked up to it (100 kB per 25 Gb/s)"),
                "kmax_bytes": _bytes(1600e3, "all are marked beyond it (400 kB per 25 Gb/s)"),
                "pmax": Knob(0.2, "", "probability at kmax_bytes; it rises in a line from kmin_bytes"),
            },
        ),
    }
)
"""By name. Queues are those that a packet leaves behind, or with `mark_at: enqueue` finds, at its port."""


def marking(kind: str, **parameters: float) -> Marking:
    """Return a marker with its defaults and changes.

    Raises:
        InputError: `kind: …` or `parameter: …`, with what it must be.
    """
    if kind not in MARKERS:
        raise InputError(f"kind: {kind!r} is not known{did_you_mean(kind, MARKERS)}")
    usual = {name: knob.default for name, knob in MARKERS[kind].knobs.items()}
    unknown = sorted(set(parameters) - set(usual))
    if unknown:
        raise InputError(f"{unknown[0]}: is not a parameter of {kind}{did_you_mean(unknown[0], usual)}")
    values = usual | {name: float(value) for name, value in parameters.items()}
    try:
        _core.require_fabric_marker(kind, values)
    except ValueError as error:
        raise InputError(str(error)) from None
    return Marking(kind, values)


USUAL = marking("red")
"""Where neither the scenario nor the transport says otherwise: DCQCN's thresholds."""
