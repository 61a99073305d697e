"""Laws that choose the way of each packet on a fabric, beside a transport that has the window.

Senders that spray number their packets' ways (entropies). Of each way they average what answers say, and send less by
ways of a higher score (`remy_plus/fabric/spraying/known_ways.hpp`):

    score = bias + 1 / (1 + age / 2^memory) · Σ weight (average of the way − average of all) + silence · (wait − RTT)
    packets a turn: 2^−score, from 1/64 to 1

Ages since a way's last answer, waits for one and the RTT of all ways are in base RTTs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals
from lcca.remy_plus.core.signals import QUANTITIES
from lcca.remy_plus.policies.simple import Simple, check_within, digits

if TYPE_CHECKING:
    from lcca.remy_plus.switches.transports import Transport

TERMS: dict[str, str] = {
    "mark": "weight of the share of marks",
    "loss": "weight of losses: a packet that is trimmed counts 1, one that times out 4",
    "delay": "weight of queueing, in base RTTs, at most 4",
    "silence": "weight of a wait for answers that is longer than those of others, in base RTTs, at most 8",
    "bias": "of a way that is like all others",
    "memory": "age at which half of what is known of a way counts: 2^x base RTTs",
    "gain": "weight of an answer: 2^x",
}
"""What each number of a law is, in the engine's order."""

USUAL: dict[str, float] = {
    "mark": 8.0, "loss": 4.0, "delay": 1.0, "silence": 1.0, "bias": 0.7, "memory": 4.5, "gain": -2.0,
}  # fmt: skip
"""A law by hand."""

MOST_SIGNALS = 8
LARGEST = 64.0
"""Of any number."""

ENGINE = "uet"
"""What the engine calls the transports that a law can be beside."""


@dataclass(frozen=True)
class PathLaw(Simple):
    """A law that chooses ways.

    Attributes:
        over: the transport that has the window or the credit, one of the engine's `ENGINE`.
        terms: a number for each of `TERMS`.
        inputs: a weight for each signal of the network that its header brings, by name, at most 8; of its form, as in
            laws for fabrics: of rates and utilisations the log2 of their share of the sender's line.

    Raises:
        InputError: a transport that chooses its own ways, or numbers that are missing, no numbers or out of range, or
            signals that are unknown.
    """

    kind: ClassVar[str] = "path-law"
    title: ClassVar[str] = "law that chooses ways"
    example: ClassVar[str] = "path-law"

    over: Transport
    terms: tuple[float, ...] = tuple(USUAL.values())
    inputs: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the numbers, and make them floats."""
        text = f"transport: {self.over.name} does not spray by what it hears; {self.beside} do"
        require(self.over.kind.engine == ENGINE, text)
        require(not (self.over.marker or self.over.tuner), "transport: name the marker in the scenario's switch.marker")
        if self.inputs:
            check_signals(tuple(self.inputs), of_hosts=False)
        if len(self.inputs) > MOST_SIGNALS:
            raise InputError(f"inputs: {len(self.inputs)} signals, but a law that chooses ways takes {MOST_SIGNALS}")
        if len(self.terms) != len(TERMS):
            raise InputError(f"terms: {len(TERMS)} are needed: {', '.join(TERMS)}")
        for name, value in zip(TERMS, self.terms, strict=True):
            check_within(f"terms.{name}", value, -LARGEST, LARGEST)
        for name, value in self.inputs.items():
            check_within(f"inputs.{name}", value, -LARGEST, LARGEST)
        object.__setattr__(self, "terms", tuple(map(float, self.terms)))
        object.__setattr__(self, "inputs", {name: float(self.inputs[name]) for name in sorted(self.inputs)})

    @classmethod
    def of(
        cls, over: Transport, terms: Mapping[str, float] | None = None, inputs: Mapping[str, float] | None = None
    ) -> PathLaw:
        """Return a law by the names of its numbers; those that are left out are `USUAL`.

        Raises:
            InputError: as the class, or a name that is unknown.
        """
        for name in terms or {}:
            if name not in TERMS:
                raise InputError(f"terms: unknown name {str(name)[:60]!r}{did_you_mean(str(name), list(TERMS))}")
        return cls(over, tuple((USUAL | dict(terms or {})).values()), dict(inputs or {}))

    @property
    def beside(self) -> str:
        """The names of transports that a law can be beside."""
        from lcca.remy_plus.switches.transports import TRANSPORTS

        return ", ".join(name for name, kind in TRANSPORTS.items() if kind.engine == ENGINE)

    @property
    def signals(self) -> tuple[str, ...]:
        """Signals of the network that it looks at."""
        return tuple(self.inputs)

    @property
    def named_terms(self) -> dict[str, float]:
        """Its terms by name."""
        return dict(zip(TERMS, self.terms, strict=True))

    def content(self) -> dict[str, Any]:
        """Return it as JSON values, for policy files."""
        over = {"transport": self.over.name, "parameters": dict(self.over.parameters)}
        return over | {"terms": self.named_terms, "inputs": dict(self.inputs)}

    def compile(self) -> NoReturn:
        """See `Simple`.

        Raises:
            InputError: always: only a fabric runs it.
        """
        raise InputError(f"{self.kind}: runs on a fabric only, which has several ways between hosts")

    def compile_on_fabric(self) -> _core.Policy:
        """Return the fabric engine's form."""
        weights = list(self.inputs.values())
        return _core.Policy.path_law(self.over.kind.engine, list(self.terms), list(self.inputs), weights)

    def lines(self) -> list[str]:
        """See `Simple`: its score with its numbers, and what each does."""
        p = self.named_terms
        p |= {"memory": min(max(p["memory"], -8), 24), "gain": min(max(p["gain"], -12), 0)}  # as the engine has them
        return [
            f"over {self.over.name}; by the score of a way: 2^−score of a packet at its turn, from 1/64 to 1",
            f"  score = {digits(p['bias'])} + 1/(1 + age/{digits(2 ** p['memory'])} base RTTs) · Σ weight (average of "
            "the way − average of all)",
            f"          + {digits(p['silence'])}·(wait for an answer − RTT of all)",
            "",
            *(f"{name:18} {value:8.3g}  {TERMS[name]}" for name, value in p.items()),
            *(
                f"{name:18} {value:8.3g}  weight of its form ({QUANTITIES[name].label})"
                for name, value in self.inputs.items()
            ),
        ]
