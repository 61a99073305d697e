"""Trained networks as policies, and how they see and steer a flow.

An `MlpPolicy` is what deep reinforcement learning brings forth (`lcca.trainers.drl`). The engine runs it as the
environments did in which it was trained (``mlp.hpp``): same observations, decisions and actions; it says the network's
output without noise.

An `Agent` is everything that a network has to be run with beside its weights: which signals it sees and with how much
history, when it decides, and what its numbers mean. The maps themselves are the engine's (``agent.hpp``), so that the
environments in which a network is trained and the policy that runs it afterwards cannot disagree. They are written down
in `docs/reference/environments.md`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from lcca.inputs.errors import InputError, about, did_you_mean, shown
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals, formulas
from lcca.remy_plus.core.signals import QUANTITIES, SIGNAL_CEILING
from lcca.remy_plus.policies.layers import Floats, Layer, Lstm

if TYPE_CHECKING:
    from lcca.remy_plus.policies.law import Law

Entry: TypeAlias = tuple[float, float, float]
"""One action of a table, as of a rule: increment (packets), multiple, pacing (× receive EWMA)."""


_WINDOW, _RATE, _TABLE, _LAW = (_core.steering_defaults(kind) for kind in ("window", "rate", "table", "law"))


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


@dataclass(frozen=True)
class LawSteering:
    """Three numbers in [-1, 1], added to the sums of features of a control law: ``n ← n + scale · a``.

    The law moves window and gap at every acknowledgement, as if it were the policy, and takes the numbers in as it
    refreshes its sums; zeros are the law, to the bit. The agent sees the features of every law (`law.FEATURES`), then
    its signals in the forms of features, from −2 to 2; zeros before a flow's first acknowledgement.

    Attributes:
        law: which.
        scale: what is added at 1; outside of the law's own bound.
    """

    kind: ClassVar[str] = "law"
    law: Law
    scale: float = _LAW["multiple"]


Steering: TypeAlias = WindowSteering | RateSteering | TableSteering | LawSteering
_STEERINGS: dict[str, type[Any]] = {s.kind: s for s in (WindowSteering, RateSteering, TableSteering, LawSteering)}


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
        if isinstance(self.steering, LawSteering) and formulas(self.steering.law.inputs):
            raise InputError("steering.law: a law that agents steer has no signals that are formulas")
        object.__setattr__(self, "signals", tuple(self.signals))
        self.compile()

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The signals that it sees, or its law does."""
        own = self.steering.law.signals if isinstance(self.steering, LawSteering) else ()
        return tuple(dict.fromkeys((*self.signals, *own)))

    @property
    def inputs(self) -> int:
        """Length of what it sees: history × signals, with a law the features of every law too."""
        if isinstance(self.steering, LawSteering):
            return self.compile().inputs
        return self.history * len(self.signals)

    @property
    def numbers(self) -> int:
        """How many numbers an action has; 1 for a table."""
        return self.compile().numbers

    @property
    def bounds(self) -> Floats:
        """(inputs,) the largest values that it can see; the smallest is 0, and −1 means that no flow is on.

        With a law, the smallest is −2.
        """
        if isinstance(self.steering, LawSteering):
            return np.full(self.inputs, 2, dtype=np.float32)
        seen = [QUANTITIES[name] for name in self.signals]
        highest = [
            math.log2(1 + SIGNAL_CEILING / each.scale_unit) / each.scale_divisor if each.scale_divisor else 2.0
            for each in seen
        ]
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
        chosen: dict[str, Any] = {"multiple": 0.0, "increment": 0.0, "pacing": 0.0, "law": None}
        if isinstance(self.steering, LawSteering):
            law = self.steering.law.compile().__getstate__()
            chosen |= _LAW | {"actions": (), "law": law, "multiple": self.steering.scale}
        else:
            chosen |= asdict(self.steering)
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
            "steering": {"kind": self.steering.kind, **self._steering_json()},
        }

    def _steering_json(self) -> dict[str, Any]:
        if isinstance(self.steering, LawSteering):
            return {"law": self.steering.law.content(), "scale": self.steering.scale}
        values = asdict(self.steering).items()
        return {key: [list(each) for each in value] if isinstance(value, tuple) else value for key, value in values}


@dataclass(frozen=True, eq=False)
class MlpPolicy:
    """A trained network that sees and steers a flow as its agent says.

    Two policies are equal when all their content is; the arrays are read-only, in single precision.

    Attributes:
        agent: what it sees, when it decides, and what its outputs mean. Where it picks from a table, there is an output
            for each action, and the largest counts.
        layers: from the agent's inputs (or from the memory) to the outputs.
        memory: a long short-term memory before the layers.

    Raises:
        InputError: layers that do not fit each other or the agent.
    """

    agent: Agent
    layers: tuple[Layer, ...]
    memory: Lstm | None = None

    def __post_init__(self) -> None:
        """Check that everything fits by compiling it."""
        object.__setattr__(self, "layers", tuple(self.layers))
        self.compile()

    @property
    def signals(self) -> tuple[str, ...]:
        """The signals that it sees."""
        return self.agent.signals

    @property
    def parameters(self) -> int:
        """How many numbers were trained."""
        return sum(array.size for array in self.arrays())

    def arrays(self) -> Iterator[Floats]:
        """Yield all arrays, the memory's first."""
        if self.memory is not None:
            yield from (self.memory.from_input, self.memory.from_hidden, self.memory.biases)
        for layer in self.layers:
            yield from (layer.weights, layer.biases)

    def __eq__(self, other: object) -> bool:
        """Tell whether both policies have the same content."""
        return isinstance(other, MlpPolicy) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash the content."""
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content (hex); the same on every machine."""
        shapes = [array.shape for array in self.arrays()]
        kinds = [layer.activation for layer in self.layers]
        sha = hashlib.sha256(repr((self.agent, kinds, self.memory is None, shapes)).encode())
        for array in self.arrays():
            sha.update(array.astype("<f4").tobytes())
        return sha.hexdigest()

    def compile(self) -> _core.Policy:
        """Return the engine's form.

        Raises:
            InputError: layers that do not fit each other or the agent.
        """
        memory = self.memory
        try:
            return _core.Policy.mlp(
                self.agent.compile(),
                [(_by_input(x.weights), x.biases, x.activation) for x in self.layers],
                None
                if memory is None
                else (_by_input(memory.from_input), _by_input(memory.from_hidden), memory.biases),
            )
        except ValueError as error:
            raise InputError(f"network: {error}") from None

    def outputs(self, views: ArrayLike, states: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Return what the network says, computed by the engine.

        Args:
            views: (n, inputs) what it sees, each row on its own.
            states: (n, 2 · cells) of the memory, hidden first; zeros if left out.

        Returns:
            (n, outputs), and the states afterwards.
        """
        seen = np.ascontiguousarray(views, dtype=np.float32)
        size = 0 if self.memory is None else 2 * self.memory.cells
        before = np.zeros((len(seen), size), np.float32) if states is None else states
        with about("network"):
            try:
                said, after = self.compile().outputs(seen, np.ascontiguousarray(before, dtype=np.float32))
            except (ValueError, TypeError) as error:
                raise InputError(str(error).splitlines()[0]) from None
        return np.asarray(said), np.asarray(after)

    def actions(self, outputs: Floats) -> Floats:
        """Return (n, numbers) what outputs mean to agents: the numbers themselves, or the index of the largest."""
        if isinstance(self.agent.steering, TableSteering):
            return np.asarray(outputs.argmax(axis=1, keepdims=True), dtype=np.float32)
        return outputs


def _by_input(matrix: Floats) -> Floats:
    return np.ascontiguousarray(matrix.T)


def agent_from_json(document: Mapping[str, Any]) -> Agent:
    """Return the agent that `Agent.as_json` wrote, a law in its steering read already.

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
        if kind == "law" and "law" not in given:
            raise InputError("law: a law is needed")
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
