"""Control laws for datacenter fabrics: a window in bandwidth-delay products, moved from a reference once per RTT.

At every ACK (`remy_plus/policies/fabric_law.h` has it line by line; bits are equal everywhere):

    window = min(2^largest, reference · 2^n + 2^(add + add_size·size)),   rate = line rate · min(1, 2^pace · window)

n is a linear map of features, between −3 and 1.5; size is log2(bytes left / BDP)/4. The reference moves to the window
once per RTT, as HPCC's does (Li et al., SIGCOMM 2019, section 3.3). A BDP is that of the sender's line and the
fabric's base RTT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NoReturn

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals
from lcca.remy_plus.core.signals import QUANTITIES
from lcca.remy_plus.policies.simple import Simple, check_within, digits

TERMS: dict[str, str] = {
    "first": "first window: 2^x BDP",
    "first_size": "that exponent, for each unit of size",
    "largest": "largest window: 2^x BDP",
    "add": "added per RTT: 2^x BDP",
    "add_size": "that exponent, for each unit of size",
    "pace": "rate over window per RTT: 2^x, at most the line rate",
    "ahead": "bytes under way over the window: 2^x",
    "loss": "decrease at a loss, at most once per RTT: 2^x",
}
"""What each number of a law is, in the engine's order."""

FEATURES: dict[str, str] = {
    "one": "1",
    "window": "log2 reference",
    "delay": "queueing in RTTs, at most 8",
    "long_delay": "queueing above half an RTT",
    "trend": "queueing less that at the latest reference",
    "delay_window": "queueing, at most 2 RTTs, × log2 reference",
    "size": "size: log2(bytes left / BDP)/4",
    "size_delay": "size × queueing, at most 2 RTTs",
}
"""Features that every law has, in the engine's order."""

OF_SIZE = ("size", "size_delay", "first_size", "add_size")
"""Terms and features of laws whose senders know how many bytes a flow has left."""

OF_SIGNAL = ("of a signal", "above 0", "× size")
"""The three features of each signal: its form, what that has above 0, and size times it."""

MOST_SIGNALS = 8
LARGEST_TERM = 64.0
NEUTRAL = dict.fromkeys(TERMS, 0.0) | {"add": -6.5, "loss": 1.0}


def may_be_negative(signal: str) -> bool:
    """Tell whether a signal's form can be below 0; if not, its coefficient "above 0" adds nothing to the first."""
    return _core.fabric_form(signal) == 1  # logarithms of utilisations and of rates (`lcca_fabric_form`)


@dataclass(frozen=True)
class FabricLaw(Simple):
    """A control law for fabrics.

    Attributes:
        terms: a number for each of `TERMS`.
        features: a coefficient for each of `FEATURES`.
        inputs: signals of the network or of selective hosts, at most 8, in the order of their names.
        coefficients: three for each of them, `OF_SIGNAL`.

    Raises:
        InputError: numbers that are missing, no numbers or out of range, or signals that are unknown.
    """

    kind: ClassVar[str] = "fabric-law"
    title: ClassVar[str] = "control law for fabrics"
    example: ClassVar[str] = "fabric-law"

    terms: tuple[float, ...]
    features: tuple[float, ...]
    inputs: tuple[str, ...] = ()
    coefficients: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers, and make them floats."""
        if self.inputs:
            check_signals(self.inputs, of_hosts=True)
        if len(self.inputs) > MOST_SIGNALS:
            raise InputError(f"inputs: {len(self.inputs)} signals, but a law for fabrics takes at most {MOST_SIGNALS}")
        needed: dict[str, Sequence[str]] = {
            "terms": list(TERMS),
            "features": list(FEATURES),
            "coefficients": self.inputs,
        }
        for key, names in needed.items():
            if len(getattr(self, key)) != len(names):
                raise InputError(f"{key}: {len(names)} are needed: {', '.join(names) or 'none'}")
        for key in ("terms", "features"):
            values = tuple(getattr(self, key))
            for name, value in zip(needed[key], values, strict=True):
                check_within(f"{key}.{name}", value, -LARGEST_TERM, LARGEST_TERM)
            object.__setattr__(self, key, tuple(map(float, values)))
        for name, row in zip(self.inputs, self.coefficients, strict=True):
            if len(row) != len(OF_SIGNAL):
                raise InputError(f"inputs.{name}: three numbers are needed: {', '.join(OF_SIGNAL)}")
            for value in row:
                check_within(f"inputs.{name}", value, -LARGEST_TERM, LARGEST_TERM)
        rows = {name: tuple(map(float, row)) for name, row in zip(self.inputs, self.coefficients, strict=True)}
        object.__setattr__(self, "inputs", tuple(sorted(rows)))
        object.__setattr__(self, "coefficients", tuple(rows[name] for name in sorted(rows)))

    @classmethod
    def of(
        cls,
        terms: Mapping[str, float],
        features: Mapping[str, float] | None = None,
        inputs: Mapping[str, Sequence[float]] | None = None,
    ) -> FabricLaw:
        """Return a law by the names of its numbers; those that are left out are neutral.

        Raises:
            InputError: as the class, or a name that is unknown.
        """
        for key, values, known in (("terms", terms, TERMS), ("features", features or {}, FEATURES)):
            for name in values:
                if name not in known:
                    raise InputError(f"{key}: unknown name {str(name)[:60]!r}{did_you_mean(str(name), list(known))}")
        zeros = dict.fromkeys(FEATURES, 0.0)
        rows = {} if inputs is None else dict(inputs)
        return cls(
            tuple((NEUTRAL | dict(terms)).values()),
            tuple((zeros | dict(features or {})).values()),
            tuple(rows),
            tuple(tuple(row) for row in rows.values()),  # type: ignore[misc]
        )

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals of the network that it looks at."""
        return self.inputs

    @property
    def named_terms(self) -> dict[str, float]:
        """Its terms by name."""
        return dict(zip(TERMS, self.terms, strict=True))

    @property
    def named_features(self) -> dict[str, float]:
        """Its coefficients of what every law sees, by name."""
        return dict(zip(FEATURES, self.features, strict=True))

    @property
    def named_inputs(self) -> dict[str, tuple[float, float, float]]:
        """Its coefficients of signals, by name."""
        return dict(zip(self.inputs, self.coefficients, strict=True))

    def content(self) -> dict[str, Any]:
        """Return it as JSON values, for policy files."""
        named = {"terms": self.named_terms, "features": self.named_features, "inputs": self.named_inputs}
        return {key: value for key, value in (asdict(self) | named).items() if key != "coefficients"}

    def compile(self) -> NoReturn:
        """See `Simple`.

        Raises:
            InputError: always: only a fabric runs it.
        """
        raise InputError(
            f"{self.kind}: runs on a fabric only, whose senders know line rate, base RTT and bytes left; "
            "for networks use a law"
        )

    def compile_on_fabric(self) -> _core.Policy:
        """Return the fabric engine's form."""
        numbers = [*self.features, *(value for row in self.coefficients for value in row)]
        return _core.Policy.fabric_law(list(self.terms), numbers, list(self.inputs))

    def lines(self) -> list[str]:
        """See `Simple`: its equation with its numbers, what each does, and how it reacts to queueing."""
        p = self.named_terms
        lines = [
            f"window w = {digits(2 ** p['first'])} BDP at first, at line rate; at every ACK",
            f"  w = reference·2^n + {digits(2 ** p['add'])} BDP, at most {digits(2 ** p['largest'])} BDP",
            f"  rate = line rate · min(1, {digits(2 ** p['pace'])}·w), at most {digits(2 ** p['ahead'])}·w under way",
            "  once per RTT the reference moves to w",
            "",
            *(f"{name:14} {value:8.3g}  {TERMS[name]}" for name, value in p.items()),
            "",
            "n, from −3 to 1.5, is the sum of",
            *(f"{name:14} {value:8.3g}  {FEATURES[name]}" for name, value in self.named_features.items() if value),
        ]
        for name, row in self.named_inputs.items():
            numbers = " ".join(f"{value:8.3g}" for value in row)
            lines.append(f"{name:14} {numbers}  form of {QUANTITIES[name].label}, above 0, × size")
        return [*lines, "", *self._reaction()]

    def _reaction(self) -> list[str]:
        """Return a picture: change of a window of half a BDP in an RTT against queueing that lasts, of a BDP left."""
        p, f, rows = self.named_terms, self.named_features, []
        for delay in (0, 0.1, 0.25, 0.5, 1, 2, 4):
            n = f["one"] - f["window"] + f["delay"] * delay + f["long_delay"] * max(0.0, delay - 0.5)
            n -= f["delay_window"] * min(delay, 2)
            change = 2 ** max(-3.0, min(1.5, n)) - 1 + 2 ** (p["add"] + 1)
            bar = "█" * round(20 * min(abs(change), 1)) or "▏"
            side = f"{'':20}{bar}" if change >= 0 else f"{bar:>20}"
            rows.append(f"{100 * delay:6.0f} % {100 * change:+8.1f} %  {side}")
        return ["queueing of an RTT → change of a window of half a BDP in an RTT (a BDP left, no signals)", *rows]
