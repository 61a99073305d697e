"""The markers of a fabric's switches (ECN) and their parameters, with units and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.switches.knobs import FLAG, Knob, Search, around, values_of

BDPS = "_bdps"
"""How names of thresholds end that may take the place of those in bytes."""


@dataclass(frozen=True)
class MarkerKind:
    """A marker.

    Attributes:
        source: where it is from.
        knobs: its parameters.
        at: where it can be asked: as a packet leaves the queue or as it joins it.
    """

    source: str
    knobs: Mapping[str, Knob]
    at: tuple[str, ...] = ("dequeue", "enqueue")


@dataclass(frozen=True)
class Marking:
    """A marker with its parameters; `marking` makes one.

    Attributes:
        kind: its name, of `MARKERS`.
        parameters: all of them, but thresholds either in bytes or in bandwidth-delay products.
    """

    kind: str
    parameters: Mapping[str, float] = field(hash=False)

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"kind": self.kind, "parameters": {name: float(value) for name, value in self.parameters.items()}}

    @property
    def in_bdps(self) -> bool:
        """Whether its thresholds are in bandwidth-delay products, not in bytes."""
        return any(name.endswith(BDPS) for name in self.parameters)

    @property
    def named_parameters(self) -> dict[str, float]:
        """All parameters, by names such as ``red.kmin_bytes``."""
        return {f"{self.kind}.{name}": value for name, value in self.parameters.items()}

    def named_knobs(self) -> dict[str, Knob]:
        """Return what every one of its `named_parameters` is."""
        return {f"{self.kind}.{name}": MARKERS[self.kind].knobs[name] for name in self.parameters}

    def searches(self) -> dict[str, Search]:
        """Return where a tuner looks, for those of its `named_parameters` that have such a range."""
        knobs = MARKERS[self.kind].knobs
        return {f"{self.kind}.{name}": found for name in self.parameters if (found := knobs[name].search)}


def _bdps(name: str, low: float, high: float) -> Knob:
    meaning = f"in place of {name}_bytes: of the port's rate and the base RTT, whole packets with queue_bdps; 0 is none"
    return Knob(0, "bandwidth-delay products", meaning, search=around(low, high))


def _bytes(default: float, meaning: str, low: float, high: float) -> Knob:
    return Knob(default, "bytes", meaning, by_rate=True, search=around(low, high))


# Thresholds in bytes are searched up to the largest that PARALEON's tuner takes (its public code), those in
# bandwidth-delay products from below a seventh (K > C · RTT / 7: Alizadeh et al., SIGCOMM 2010, section 3.4), the other
# parameters around their defaults, mostly by a factor of ten.
_PRED = {
    "fcs": Knob(
        1, "", "1: the slope goes with the number of flows (Flow Concurrent Stabilizer); 0: it does not", limits=FLAG
    ),
    "qla": Knob(1, "", "1: slope and kmin_bytes are adjusted (Queue Length Adjuster); 0: they stay", limits=FLAG),
    "count_us": Knob(
        100, "µs", "flows are counted for so long: 1.25 RTTs of 80 µs (section IV-C)", search=around(10, 1000)
    ),
    "count_bits": Knob(120, "bits", "of the map that flows are counted by (section V-B)"),
    "adjust_us": Knob(
        400, "µs", "each of four stretches of a trial: 5 RTTs of 80 µs (section IV-C)", search=around(40, 4000)
    ),
    "slope_per_mb": Knob(
        0.1,
        "1/MB",
        "probability per megabyte beyond kmin_bytes and per flow at first (section VI-B)",
        search=around(0.05, 10),
    ),
    "slope_step_per_mb": Knob(0.025, "1/MB", "tried and taken at once (section IV-C)"),
    "least_slope_per_mb": Knob(0.05, "1/MB", "below it kmin_bytes rises instead (section IV-C)"),
    "kmin_bytes": Knob(
        15e3,
        "bytes",
        "none is marked up to it at first: 10 packets of 1500 bytes (section IV-C)",
        search=around(1500, 150e3),
    ),
    "kmin_step_bytes": Knob(7.5e3, "bytes", "tried and taken at once: 5 packets (section IV-C)"),
    "kmax_bytes": Knob(500e3, "bytes", "all are marked beyond it (section IV-C)"),
    "share": Knob(
        0.4, "", "of the throughput in the utility, β (section IV-C); of the queue the rest", search=Search(0.05, 0.95)
    ),
    "good_queue_bytes": Knob(22.5e3, "bytes", "a shorter mean queue is worth no more: 15 packets (section IV-C)"),
    "bad_queue_bytes": Knob(500e3, "bytes", "a longer one nothing, and between them its worth falls in a line (ours)"),
}


MARKERS: Mapping[str, MarkerKind] = MappingProxyType(
    {
        "step": MarkerKind(
            "Alizadeh et al., SIGCOMM 2010, section 3.1; threshold of HPCC's simulator",
            {
                "k_bytes": _bytes(300e3, "all packets beyond it are marked", 10e3, 6400e3),
                "k_bdps": _bdps("k", 0.05, 5),
            },
        ),
        "red": MarkerKind(
            "Zhu et al., SIGCOMM 2015, Figure 5: RED on the queue as it is; thresholds of HPCC's simulator",
            {
                "kmin_bytes": _bytes(400e3, "none is marked up to it", 10e3, 1600e3),
                "kmax_bytes": _bytes(1600e3, "all are marked beyond it", 50e3, 6400e3),
                "pmax": Knob(
                    0.2, "", "probability at kmax_bytes; it rises in a line from kmin_bytes", search=Search(0.01, 1)
                ),
                "kmin_bdps": _bdps("kmin", 0.05, 5),
                "kmax_bdps": _bdps("kmax", 0.1, 20),
            },
        ),
        "ecn-sharp": MarkerKind(
            "Zhang et al., CoNEXT 2019, Algorithm 1; times of PRED's simulations (Li et al., ToN 2025, section VI-C)",
            {
                "instant_us": Knob(80, "µs", "what has waited longer is marked", search=around(5, 500)),
                "target_us": Knob(10, "µs", "a wait that is too long if it lasts", search=around(2, 100)),
                "interval_us": Knob(
                    150, "µs", "how long it must last; then the first distance between marks", search=around(15, 1500)
                ),
            },
            at=("dequeue",),
        ),
        "codel": MarkerKind(
            "RFC 8289, section 5, with marks in place of drops; times of PRED's simulations (Li et al., ToN 2025, "
            "section VI-C)",
            {
                "target_us": Knob(10, "µs", "a wait that is too long if it lasts", search=around(2, 100)),
                "interval_us": Knob(
                    150, "µs", "how long it must last; then the first distance between marks", search=around(15, 1500)
                ),
            },
            at=("dequeue",),
        ),
        "pie": MarkerKind(
            "RFC 8033, sections 4.1 to 4.4, with marks in place of drops; its milliseconds are microseconds here",
            {
                "target_us": Knob(15, "µs", "queueing delay to come to", search=around(2, 100)),
                "update_us": Knob(15, "µs", "between changes of the probability", search=around(5, 500)),
                "burst_us": Knob(150, "µs", "nothing is marked for so long after a time without congestion"),
                "alpha_per_ms": Knob(
                    0.125,
                    "1/ms",
                    "change of the probability per ms beyond the target, per update",
                    search=around(0.0125, 12.5),
                ),
                "beta_per_ms": Knob(
                    1.25,
                    "1/ms",
                    "change of the probability per ms that the delay has grown, per update",
                    search=around(0.125, 125),
                ),
            },
        ),
        "pred": MarkerKind(
            "Li et al., IEEE/ACM Transactions on Networking 2025, sections IV and V; nothing goes with the port's rate",
            _PRED,
        ),
    }
)
"""By name. Queues are those that a packet leaves behind, or with `mark_at: enqueue` finds, at its port."""


def marking(kind: str, /, **parameters: float) -> Marking:
    """Return a marker with its defaults and changes.

    Raises:
        InputError: `kind: …` or `parameter: …`, with what it must be.
    """
    values = values_of(MARKERS, kind, parameters)
    idle = "_bytes" if any(value for name, value in values.items() if name.endswith(BDPS)) else BDPS
    for name in parameters:
        if name.endswith("_bytes") and idle == "_bytes":
            raise InputError(f"{name}: and thresholds in bandwidth-delay products exclude each other; leave one out")
    values = {name: value for name, value in values.items() if not name.endswith(idle)}
    try:
        _core.require_fabric_marker(kind, values)
    except ValueError as error:
        raise InputError(str(error)) from None
    return Marking(kind, values)


def changed_marking(marker: Marking | None, values: Mapping[str, Any]) -> tuple[Marking | None, dict[str, Any]]:
    """Return a marker with those of some values that are named as in its `named_parameters`, and the others.

    Raises:
        InputError: as `marking`.
    """
    if marker is None:
        return None, dict(values)
    begin = f"{marker.kind}."
    own = {name.removeprefix(begin): value for name, value in values.items() if name.startswith(begin)}
    others = {name: value for name, value in values.items() if not name.startswith(begin)}
    return marking(marker.kind, **{**marker.parameters, **own}), others


USUAL = marking("red")
"""Where neither the scenario nor the transport says otherwise: DCQCN's thresholds."""
