"""Hand-designed congestion controls that do as the hops of their path say: RCP, XCP, and an explicit fair rate.

Each brings what its hops do: their gains, and a header that is exact and costs nothing unless the policy file names one
(`rcp-16`, `rcp-32`, `fair-share`, `xcp`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from lcca.inputs.assignments import assignments
from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.policies.simple import Aimd, FixedRate, FixedWindow, Simple, digits
from lcca.remy_plus.policies.tunables import Parameter

if TYPE_CHECKING:
    from lcca.remy_plus.core.stamping import Gains, Stamping

_INITIAL_RATE = Parameter(
    "initial_rate", 0.25, 1e-6, 1e3, unit="packets/µs", meaning="until the network has spoken (our choice)"
)
_ALPHA = "gain of the hop's spare capacity"
_BETA = "gain of the hop's queue"
_INTERVAL = Parameter(
    "interval", 0.0, 0.0, 1e9, unit="µs", meaning="between a hop's updates, at most the mean RTT; 0 for the mean RTT"
)
_RCP, _XCP = _core.RCP_GAINS, _core.XCP_GAINS


@dataclass(frozen=True)
class Explicit(Simple):
    """What the three share: parameters in a table, and the signals that hops send.

    Attributes:
        parameters: what the fields mean, with defaults, ranges, units and sources, in their order.
        signals: that it needs.

    Raises:
        InputError: a parameter that is no number or out of range.
    """

    parameters: ClassVar[tuple[Parameter, ...]]
    signals: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        """Check the parameters."""
        for parameter in self.parameters:
            self.set_float(parameter.name, parameter.low, parameter.high)

    @classmethod
    def named(cls, text: str) -> Self:
        """See `Simple`: parameters as in ``alpha=0.4,beta=1``."""
        given: dict[str, float] = {}
        known = {parameter.name: parameter for parameter in cls.parameters}
        for item, key, value in assignments(text):
            if key not in known or value is None:
                names = ", ".join(known)
                raise InputError(f"{item[:60]!r}: write {cls.example.split()[0]!r}; {cls.kind} has {names}")
            given[key] = float(known[key].parsed(value))
        return cls(**given)

    def equipped(self, header: Stamping) -> Stamping:
        """Return a header whose hops have this policy's gains."""
        fields = tuple(
            replace(field, gains=self.gains) if field.source in self.signals else field for field in header.fields
        )
        return replace(header, fields=fields)

    @property
    @abstractmethod
    def gains(self) -> Gains:
        """Those of the hops."""

    def lines(self) -> list[str]:
        """See `Simple`."""
        width = max(len(parameter.name) for parameter in self.parameters)
        values = asdict(self)
        return [
            f"{p.name:<{width}}  {digits(values[p.name])}{' ' + p.unit if p.unit else ''}  {p.meaning}"
            for p in self.parameters
        ]


@dataclass(frozen=True)
class FairShare(Explicit):
    """Paces at a share of the capacity over the number of flows; nothing but these two numbers is fed back."""

    kind: ClassVar[str] = "fair-rate"
    title: ClassVar[str] = "explicit fair rate: a share of capacity / flows"
    example: ClassVar[str] = "fair-rate:share=0.97 (of the capacity)"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("share", 0.97, 0.01, 2, meaning="of the capacity that all flows together take (our choice)"),
        _INITIAL_RATE,
    )
    signals: ClassVar[tuple[str, ...]] = ("flows", "capacity")

    share: float = parameters[0].default  # type: ignore[assignment]
    initial_rate: float = _INITIAL_RATE.default  # type: ignore[assignment]

    @property
    def gains(self) -> Gains:
        """None: its hops count and tell their rate."""
        return (0.0, 0.0, 0.0, 0.0)

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.explicit_rate("flows", "capacity", 1 / self.share, 1 / self.initial_rate)


@dataclass(frozen=True)
class Rcp(Explicit):
    """RCP (Dukkipati and McKeown, CCR 2006): every flow paces at the smallest fair rate R(t) of its path."""

    kind: ClassVar[str] = "rcp"
    title: ClassVar[str] = "RCP (Dukkipati and McKeown 2006)"
    example: ClassVar[str] = "rcp:alpha=0.4,beta=1"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("alpha", _RCP[0], 0, 100, meaning=f"{_ALPHA} (its ns-2 release)"),
        Parameter("beta", _RCP[1], 0, 100, meaning=f"{_BETA} (its ns-2 release)"),
        Parameter("target", _RCP[2], 0.01, 2, meaning="share of the capacity that hops aim at (its ns-2 release)"),
        _INTERVAL,
        _INITIAL_RATE,
    )
    signals: ClassVar[tuple[str, ...]] = ("fair_rate",)

    alpha: float = _RCP[0]
    beta: float = _RCP[1]
    target: float = _RCP[2]
    interval: float = 0.0
    initial_rate: float = _INITIAL_RATE.default  # type: ignore[assignment]

    @property
    def gains(self) -> Gains:
        """See `Explicit`."""
        return (self.alpha, self.beta, self.target, self.interval)

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.explicit_rate("1", "fair_rate", 1.0, 1 / self.initial_rate)


@dataclass(frozen=True)
class Xcp(Explicit):
    """XCP (Katabi, Handley and Rohrs, SIGCOMM 2002): hops say by how much a window changes with each packet."""

    kind: ClassVar[str] = "xcp"
    title: ClassVar[str] = "XCP (Katabi et al. 2002)"
    example: ClassVar[str] = "xcp:alpha=0.4,beta=0.226"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("alpha", _XCP[0], 0, 100, meaning=f"{_ALPHA} (section 3.5.1)"),
        Parameter("beta", _XCP[1], 0, 100, meaning=f"{_BETA} (section 3.5.1)"),
        Parameter("shuffle", _XCP[2], 0, 1, meaning="share of the traffic given anew, gamma (section 3.5.2)"),
        Parameter("initial_window", 2.0, 1, 1e6, unit="packets", meaning="at a flow's start (our choice)"),
        Parameter("smallest_window", 2.0, 1, 1e6, unit="packets", meaning="with 1, one loss silences a flow"),
    )
    signals: ClassVar[tuple[str, ...]] = ("xcp_feedback",)

    alpha: float = _XCP[0]
    beta: float = _XCP[1]
    shuffle: float = _XCP[2]
    initial_window: float = 2.0
    smallest_window: float = 2.0

    @property
    def gains(self) -> Gains:
        """See `Explicit`."""
        return (self.alpha, self.beta, self.shuffle, 0.0)

    def compile(self) -> _core.Policy:
        """See `Simple`."""
        return _core.Policy.xcp(self.initial_window, self.smallest_window)


SIMPLE: dict[str, type[Simple]] = {each.kind: each for each in (Aimd, FixedWindow, FixedRate, FairShare, Rcp, Xcp)}
"""All that the engine has, by the names of the command line and of policy files."""
