"""Control laws: a window that is a real number, and moves by a few dozen learnt numbers.

A law moves its window at every ACK by ``up − down`` packets and spaces packets by ``gap`` (`remy_plus/policies/law.h`
has it line by line; bits are equal everywhere):

    up   = 2^(increase − increase_window·log2 w + n₀) · (1 + start-up + recovery)
    down = 2^(decrease + decrease_window·log2 w + decrease_young/(1 + age/8) + n₁) · queueing/RTT
    gap  = 2^(pace + n₂) · (1 + 8·pace_queue·queueing/RTT) · RTT/w

n is a linear map of *features*: what the sender measures itself, and signals of the network, each between −2 and 2.
Where hops grant a rate, the window is pulled towards what fits it, and `pace_target` of the pacing rate is that rate
over ``1 + 2^(pace + n₂)·8·pace_queue·queueing/RTT``: exactly the rate where there is no queue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals, formulas, quantity, short_name
from lcca.remy_plus.core.signals import QUANTITIES
from lcca.remy_plus.policies.rules import NAMED, pacing_unit
from lcca.remy_plus.policies.simple import LARGEST_WINDOW, Simple, check_within, digits

TERMS: dict[str, str] = {
    "window": "first window: 2^x packets",
    "gap": "gap between the first packets: 2^x µs",
    "increase": "increase of the window: 2^x packets an ACK",
    "increase_window": "the increase falls with this power of the window",
    "boost": "start-up: a new flow's increase is larger by 2^x",
    "boost_time": "start-up: its half-life is 2^x RTTs",
    "boost_queue": "start-up: queueing of RTT/8 divides it by 1 + 2^x",
    "recovery": "recovery: share added to the increase two RTTs after the last queue",
    "recovery_power": "recovery: it grows with this power of that time less one RTT (at most 16)",
    "decrease": "decrease of the window: 2^x packets an ACK at queueing of an RTT",
    "decrease_window": "the decrease rises with this power of the window",
    "decrease_young": "a new flow's decrease is larger by 2^x, until about 8 RTTs",
    "slow_share": "weight of the mean over 128 ACKs in the queueing that a flow yields to",
    "trend": "decrease per RTT of queueing above its mean over 2 RTTs",
    "pace": "gap between packets over RTT/window: 2^x",
    "pace_queue": "wider gaps: share added at queueing of RTT/8",
    "jump": "once, after the first window's ACKs: the window times 2^x",
    "jump_gap": "once: that exponent, for each doubling of the ACKs' gap over the sends' gap",
    "jump_queue": "once: that exponent, for queueing of RTT/8",
    "pull": "share of the way to the window of the granted rate, at each ACK",
    "target": "the window of the granted rate: 2^x · rate · RTT",
    "pace_target": "share of the granted rate in the pacing rate",
}
"""What each number of a law is, in the engine's order."""

FEATURES: dict[str, str] = {
    "window": "(log2 window − 4)/2",
    "queueing": "log2(1 + queueing/smallest ACK gap)/2 − ½",
    "queueing_2": "the same of queueing over 2 RTTs",
    "queueing_8": "the same of queueing over 8 RTTs",
    "smallest_gap_ratio": "log2(1 + 16·smallest gap/gap between ACKs)/2 − 1½",
    "age_2": "1/(1 + age/2)",
    "age_16": "1/(1 + age/16)",
    "queued_share": "2·share of ACKs that met a queue − 1",
    "since_queue": "log2(1 + time since a queue)/2",
    "gap_ratio": "log2(1 + gap between ACKs over 8/over 64 ACKs) − 1",
    "queueing_trend": "(queueing − over 2 RTTs)/(4·smallest ACK gap)",
}
"""Features that every law may have, in the engine's order; times in smallest RTTs."""

OWN = (
    *("send_ewma", "receive_ewma", "slow_receive_ewma", "rtt_ratio", "rtt_difference", "queueing_delay"),
    *("age", "since_queue", "queued_share", "slow_rtt_difference", "rtt_difference_2", "rtt_difference_8"),
    *("smallest_ack_gap", "smallest_gap_ratio", "gap_ratio"),
)
"""Signals that every law measures itself, in the form of `FEATURES`."""

SHARE = "1/flows"
"""A granted rate that a law makes of the number of flows and the smallest gap between its ACKs."""

OUTPUTS = ("up", "down", "gap")
LARGEST_TERM = 64.0
"""Of either sign: powers of 2 of these stay finite numbers, so that no window is lost."""

MOST_INPUTS = 32 - len(FEATURES)
"""`lcca_most_features` of law.h less those of every law."""

NEUTRAL = dict.fromkeys(TERMS, 0.0) | {"window": 3.0, "increase_window": 1.0, "recovery_power": 1.0}

Coefficients = tuple[float, float, float]


@dataclass(frozen=True)
class Law(Simple):
    """A control law.

    Attributes:
        terms: a number for each of `TERMS`.
        features: coefficients in up, down and gap of each of `FEATURES` and then of `inputs`; empty for none.
        inputs: signals, or formulas over them, whose forms are features too.
        rate: what hops grant a flow, as ``fair_rate`` or a ratio such as ``capacity/flows``; ``1/flows`` is the rate of
            the closest ACKs over the number of flows; None for nothing.
        bound: of each sum of features.
        largest_window: packets.
        refresh: RTTs for which what does not depend on the latest ACK is kept, 0 to 1.

    Raises:
        InputError: numbers that are missing, no numbers or out of range, or signals that are unknown.
    """

    kind: ClassVar[str] = "law"
    title: ClassVar[str] = "control law"
    example: ClassVar[str] = "law"

    terms: tuple[float, ...]
    features: tuple[Coefficients, ...] = ()
    inputs: tuple[str, ...] = ()
    rate: str | None = None
    bound: float = 2.0
    largest_window: float = 2000.0
    refresh: float = 0.5

    def __post_init__(self) -> None:
        """Check the numbers, and make them floats."""
        if self.inputs:
            check_signals(self.inputs, with_formulas=True)
        if len(self.inputs) > MOST_INPUTS:
            raise InputError(f"inputs: {len(self.inputs)} signals, but a law takes at most {MOST_INPUTS}")
        if self.rate is not None and (self.rate in NAMED or ("/" not in self.rate and self.rate not in QUANTITIES)):
            raise InputError(f"rate: {self.rate!r:.60} is no signal or ratio of two, as fair_rate or capacity/flows")
        if self.rate is not None:
            pacing_unit(self.rate)
        for name in ("terms", "features"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _check_numbers(self)
        self.set_float("bound", 0, 100)
        self.set_float("largest_window", 1, LARGEST_WINDOW)
        self.set_float("refresh", 0, 1)

    @classmethod
    def of(
        cls,
        terms: Mapping[str, float],
        features: Mapping[str, Sequence[float]] | None = None,
        **others: object,
    ) -> Law:
        """Return a law by the names of its numbers; terms that are left out are neutral, features 0.

        Raises:
            InputError: as the class, or a name that is unknown.
        """
        for key, values, known in (("terms", terms, list(TERMS)), ("features", features or {}, cls._names(others))):
            for name in values:
                if name not in known:
                    raise InputError(f"{key}: unknown name {str(name)[:60]!r}{did_you_mean(str(name), known)}")
        rows = tuple(tuple((features or {}).get(name, (0.0, 0.0, 0.0))) for name in cls._names(others))
        numbers = tuple((NEUTRAL | dict(terms)).values())
        return cls(numbers, rows if features else (), **others)  # type: ignore[arg-type]

    @staticmethod
    def _names(others: Mapping[str, object]) -> list[str]:
        return [*FEATURES, *others.get("inputs", ())]  # type: ignore[misc]

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals beyond what every law measures itself: its inputs, and those of the granted rate."""
        return tuple(dict.fromkeys((*self.inputs, *self._rate_signals)))

    @property
    def _rate_signals(self) -> tuple[str, ...]:
        return () if self.rate is None else tuple(part for part in pacing_unit(self.rate) if part != "1")

    @property
    def named_terms(self) -> dict[str, float]:
        """Its terms by name."""
        return dict(zip(TERMS, self.terms, strict=True))

    @property
    def named_features(self) -> dict[str, Coefficients]:
        """Coefficients of features by name; those of zeros left out."""
        rows = zip([*FEATURES, *self.inputs], self.features, strict=False)
        return {name: row for name, row in rows if any(row)}

    def content(self) -> dict[str, Any]:
        """Return it as JSON values, for policy files."""
        return asdict(self) | {"terms": self.named_terms, "features": self.named_features}

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        columns = [value for output in zip(*self.features, strict=True) for value in output]
        over, under = ("1", "1") if self.rate is None else pacing_unit(self.rate)
        return _core.Policy.law(
            list(self.terms),
            columns,
            list(self.inputs),
            over,
            under,
            self.bound,
            self.largest_window,
            self.refresh,
            own=[each.compiled() for each in formulas(self.inputs)],
        )

    def lines(self) -> list[str]:
        """See `Simple`: its equation with its numbers, what each does, and how it reacts to queueing."""
        p = self.named_terms
        n = [f" + n{i}" if self.features else "" for i in range(3)]
        lines = [
            f"window w = {digits(2 ** p['window'])} packets at first, {digits(2 ** p['gap'])} µs apart; at every ACK",
            f"  w += up − down, at most 1 packet either way; w from 1 to {digits(self.largest_window)} packets",
            f"  up   = 2^({_number(p['increase'])} − {_number(p['increase_window'])}·log2 w{n[0]})"
            " · (1 + start-up + recovery)",
            f"  down = 2^({_number(p['decrease'])} + {_number(p['decrease_window'])}·log2 w + "
            f"{_number(p['decrease_young'])}/(1 + age/8){n[1]}) · yielded/RTT",
            f"  gap  = 2^({_number(p['pace'])}{n[2]}) · (1 + {_number(8 * p['pace_queue'])}·queueing/RTT) · RTT/w",
        ]
        if self.rate is not None:
            lines.append(f"  w += {_number(p['pull'])}·(2^{_number(p['target'])}·({self.rate})·RTT − w)")
            lines.append(
                f"  1/gap = (1 − {_number(p['pace_target'])})/gap + {_number(p['pace_target'])}·({self.rate}) / "
                f"(1 + 2^({_number(p['pace'])}{n[2]})·{_number(8 * p['pace_queue'])}·queueing/RTT)"
            )
        lines += ["", *(f"{name:18} {_number(value):>8}  {TERMS[name]}" for name, value in p.items())]
        if self.features:
            lines += ["", f"n0, n1, n2 within ±{digits(self.bound)}: sums of features (−2 to 2) by"]
            lines += [f"{'':18} {'up':>8} {'down':>8} {'gap':>8}"]
            lines += [
                f"{short_name(name):18} " + " ".join(f"{_number(each):>8}" for each in row) + f"  {self._form(name)}"
                for name, row in self.named_features.items()
            ]
        return [*lines, "", *self._reaction()]

    def _form(self, name: str) -> str:
        return FEATURES.get(name) or f"form of the signal {quantity(name).label}"

    def _reaction(self) -> list[str]:
        """Return a picture: change of the window in an RTT of an old flow against queueing that lasts."""
        p, window, rows = self.named_terms, 32.0, []
        for queue in (0, 0.02, 0.05, 0.1, 0.2, 0.5, 1):
            up = 2 ** (p["increase"] - p["increase_window"] * math.log2(window))
            down = 2 ** (p["decrease"] + p["decrease_window"] * math.log2(window)) * queue
            change = max(-1.0, min(1.0, up - down))
            bar = "█" * round(20 * abs(change)) or "▏"
            side = f"{'':20}{bar}" if change >= 0 else f"{bar:>20}"
            rows.append(f"{100 * queue:6.0f} % {100 * change:+8.1f} %  {side}")
        head = "queueing of an RTT → change of a window of 32 packets in an RTT (old flow, n = 0)"
        return [head, *rows]


def _number(value: float) -> str:
    return f"{value:.3g}"


def _check_numbers(law: Law) -> None:
    if len(law.terms) != len(TERMS):
        raise InputError(f"terms: {len(law.terms)} numbers, but {len(TERMS)} are needed: {', '.join(TERMS)}")
    for name, value in zip(TERMS, law.terms, strict=True):
        check_within(f"terms.{name}", value, -LARGEST_TERM, LARGEST_TERM)
    names = [*FEATURES, *law.inputs]
    if len(law.features) not in (0, len(names)):
        raise InputError(f"features: {len(law.features)} rows, but {len(names)} or none are needed")
    for name, row in zip(names, law.features, strict=False):
        if len(row) != len(OUTPUTS):
            raise InputError(f"features.{name}: a list of {len(OUTPUTS)} numbers is needed, for {', '.join(OUTPUTS)}")
        for value in row:
            check_within(f"features.{name}", value, -LARGEST_TERM, LARGEST_TERM)
    object.__setattr__(law, "terms", tuple(float(each) for each in law.terms))
    object.__setattr__(law, "features", tuple(tuple(float(each) for each in row) for row in law.features))
