"""Agents: how a trained network sees and steers a flow.

An `Agent` is everything that a network has to be run with beside its weights: which signals it sees and with how much
history, when it decides, and what its numbers mean. The maps themselves are the engine's (``agent.hpp``), so that the
environments in which a network is trained and the policy that runs it afterwards cannot disagree. They are written down
in `docs/reference/environments.md`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError, about, did_you_mean, shown
from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import QUANTITIES, SIGNAL_CEILING, Quantity, check_signals

Floats = NDArray[np.float32]

Entry: TypeAlias = tuple[float, float, float]
"""One action of a table, as of a rule: increment (packets), multiple, pacing (× receive EWMA)."""


_WINDOW, _RATE, _TABLE = (_core.steering_defaults(kind) for kind in ("window", "rate", "table"))


@dataclass(frozen=True)
class WindowSteering:
    """Numbers in [-1, 1] that change the window: window ← window · c(a₀, multiple) + increment · a₁.

    c(a, k) is 1 + k·a, or 1 / (1 − k·a) where a is negative. A number that would have no effect is not asked for.

    Attributes:
        multiple: k of the window's factor; 1 doubles at a₀ = 1 and halves at −1.
        increment: packets added at a₁ = 1; 0 for no such number.
        pacing: k of c(a₂, pacing), times the receive EWMA the gap between sends; 0 for no pacing and no such number.
        initial: window of a new flow, packets.
        smallest: least window, packets; with 1, a single loss would silence the flow.
        largest: largest window, packets; what a full buffer drops costs time to simulate all the same.
    """

    kind: ClassVar[str] = "window"
    multiple: float = _WINDOW["multiple"]
    increment: float = _WINDOW["increment"]
    pacing: float = _WINDOW["pacing"]
    initial: float = _WINDOW["initial"]
    smallest: float = _WINDOW["smallest"]
    largest: float = _WINDOW["largest"]


@dataclass(frozen=True)
class RateSteering:
    """One number in [-1, 1] that changes the sending rate, as Aurora does: rate ← rate · c(a, multiple). No window.

    Attributes:
        multiple: k of the factor; Aurora's is 0.025.
        initial: rate of a new flow, packets/µs.
        smallest: least rate, packets/µs.
        largest: largest rate, packets/µs.
    """

    kind: ClassVar[str] = "rate"
    multiple: float = _RATE["multiple"]
    initial: float = _RATE["initial"]
    smallest: float = _RATE["smallest"]
    largest: float = _RATE["largest"]


@dataclass(frozen=True)
class TableSteering:
    """The index of one of a list of actions: window ← ⌊window · multiple + increment⌋, gap ← pacing · receive EWMA.

    These are the actions of rule tables. The default is the list of mvfst-rl: keep, halve, −10, +10, double.

    Attributes:
        actions: (increment, multiple, pacing) each.
        initial: window of a new flow, packets.
        smallest: least window, packets; 0 is allowed, as it is for rule tables.
        largest: largest window, packets; what a full buffer drops costs time to simulate all the same.
    """

    kind: ClassVar[str] = "table"
    actions: tuple[Entry, ...] = _TABLE["actions"]
    initial: float = _TABLE["initial"]
    smallest: float = _TABLE["smallest"]
    largest: float = _TABLE["largest"]

    def __post_init__(self) -> None:
        """Make the list a tuple of tuples."""
        object.__setattr__(self, "actions", tuple(_entry(i, action) for i, action in enumerate(self.actions)))


Steering: TypeAlias = WindowSteering | RateSteering | TableSteering
_STEERINGS: dict[str, type[Any]] = {s.kind: s for s in (WindowSteering, RateSteering, TableSteering)}


@dataclass(frozen=True)
class Decisions:
    """When an agent decides: at the start of a flow, and then at acknowledgements.

    Attributes:
        rtts: at the first acknowledgement that arrives so many round trips or more after the one of the last decision;
            0 at every acknowledgement.
        round_trip: how long a round trip is: the flow's latest, or its smallest so far.
    """

    rtts: float = 1.0
    round_trip: Literal["latest", "smallest"] = "latest"

    def __post_init__(self) -> None:
        """Check the word."""
        if self.round_trip not in ("latest", "smallest"):
            raise InputError(f"round_trip: must be latest or smallest, got {self.round_trip!r:.60}")


EVERY_ACK = Decisions(rtts=0.0)


@dataclass(frozen=True)
class Agent:
    """How a network sees and steers a flow.

    Attributes:
        signals: names of engine signals, in the order of the network's inputs.
        history: decisions whose signals are seen, the present one included; the latest come first, and before a flow's
            first decision there are zeros.
        decisions: when it decides.
        steering: what its numbers mean.

    Raises:
        InputError: unknown signals or impossible numbers.
    """

    signals: tuple[str, ...]
    history: int = 1
    decisions: Decisions = field(default_factory=Decisions)
    steering: Steering = field(default_factory=WindowSteering)

    def __post_init__(self) -> None:
        """Check everything by compiling it."""
        check_signals(list(self.signals))
        object.__setattr__(self, "signals", tuple(self.signals))
        self.compile()

    @property
    def inputs(self) -> int:
        """Length of what it sees: history × signals."""
        return self.history * len(self.signals)

    @property
    def numbers(self) -> int:
        """How many numbers an action has; 1 for a table."""
        return self.compile().numbers

    @property
    def bounds(self) -> Floats:
        """(inputs,) the largest values that it can see; the smallest is 0, and −1 means that no flow is on."""
        highest = [_highest(QUANTITIES[name]) for name in self.signals]
        return np.tile(np.nextafter(np.array(highest, dtype=np.float32), np.float32(np.inf)), self.history)

    def compile(self, late: bool = False) -> _core.Agent:
        """Return the engine's form.

        Args:
            late: decide at late packets of earlier flows too, as rule tables do: for replaying them.
        """
        try:
            return _core.Agent(late=late, **self.parts())
        except (ValueError, TypeError) as error:
            raise InputError(f"agent: {str(error).splitlines()[0]}") from error

    def parts(self) -> dict[str, Any]:
        """Return it as plain values, of which the engine's form is made, here or in another process."""
        chosen = {"multiple": 0.0, "increment": 0.0, "pacing": 0.0, **asdict(self.steering)}
        return {
            "signals": list(self.signals),
            "history": self.history,
            "rtts": float(self.decisions.rtts),
            "smallest_rtt": self.decisions.round_trip == "smallest",
            "steering": self.steering.kind,
            "table": list(chosen.pop("actions", ())),
            **chosen,
        }

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values, for policy files."""
        return {
            "signals": list(self.signals),
            "history": self.history,
            "decisions": asdict(self.decisions),
            "steering": {"kind": self.steering.kind, **_plain(asdict(self.steering))},
        }


def _highest(signal: Quantity) -> float:
    if signal.scale_divisor == 0:
        return 2.0
    return math.log2(1 + SIGNAL_CEILING / signal.scale_unit) / signal.scale_divisor


def agent_from_json(document: Mapping[str, Any]) -> Agent:
    """Return the agent that `Agent.as_json` wrote.

    Raises:
        InputError: unknown or missing keys, or values that are impossible; the message names the key.
    """
    _check_keys(document, ("signals", "history", "decisions", "steering"))
    with about("decisions"):
        decisions = _made(Decisions, document.get("decisions", {}))
    given = dict(_object(document.get("steering", {}), "steering"))
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in _STEERINGS:
        raise InputError(f"steering.kind: unknown kind {shown(kind)}{did_you_mean(kind, _STEERINGS)}")
    with about("steering"):
        steering = _made(_STEERINGS[kind], given)
    history = document.get("history", 1)
    if isinstance(history, bool) or not isinstance(history, int):
        raise InputError(f"history: must be a whole number, got {history!r:.60}")
    return Agent(tuple(document.get("signals", ())), history, decisions, steering)


def _made(kind: type[Any], given: Any) -> Any:
    _check_keys(_object(given, kind.__name__), [f.name for f in fields(kind)])
    return kind(**given)


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what}: must be an object")
    return value


def _check_keys(document: Mapping[str, Any], known: Any) -> None:
    for key in document:
        if key not in known:
            raise InputError(f"unknown key {key!r:.60}{did_you_mean(key, known)}")


def _entry(index: int, action: Any) -> Entry:
    try:
        increment, multiple, pacing = (float(number) for number in action)
    except (TypeError, ValueError) as error:
        raise InputError(f"actions.{index}: must be (increment, multiple, pacing), got {action!r:.60}") from error
    return increment, multiple, pacing


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: [list(v) for v in value] if isinstance(value, tuple) else value for key, value in values.items()}
