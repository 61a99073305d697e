"""What an episode is: networks that it plays on, what its steps are worth, and how it ends.

A trainer passes ``space.draw`` of a network space, which draws `count` networks from a seed; a test passes one network.
Rewards are computed in the engine (``reward.hpp``): see `docs/reference/environments.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pkgutil import resolve_name
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network, NetworkList

FLOW_ENDED, TRIAL_ENDED = 1, 2
"""The flow ended (terminated), or the trial did while it was on (truncated)."""

Source: TypeAlias = Network | Sequence[Network] | Callable[[int, int], Sequence[Network]]
NetworkSource: TypeAlias = Source | str
"""One network, a list of them, a function of (seed, count) that draws some, or a file with one space or several."""

_SPACES = "lcca.evaluation.scenarios.spaces:AnySpace"
"""What such a file has: above this portion, and loaded where a file is named."""

DEFAULT_NETWORK = Network(0, 3.0, 25.0, 1, 175, 5000.0, 800.0, 0.001)
"""About the middle of the paper's default space, with one sender."""


def read_source(source: NetworkSource) -> Source:
    """Return what a file draws from; anything else as it is.

    Raises:
        InputError: no such file, or no network space.
    """
    if not isinstance(source, str):
        return source
    draw: Callable[[int, int], Sequence[Network]] = read_config(source, resolve_name(_SPACES)).draw
    return draw


def networks_from(source: NetworkSource, seed: int, count: int) -> list[Network]:
    """Return the listed networks, or `count` that are drawn.

    Raises:
        InputError: there are none.
    """
    read = read_source(source)
    if isinstance(read, Network):
        return [read]
    found = list(read(seed, count) if callable(read) else read)
    if not found:
        raise InputError("networks: at least one is needed")
    return found


def base_delay_us(networks: NetworkList, model: Model) -> NDArray[np.float64]:
    """Return (networks,) µs from sending a packet to its acknowledgement where neither meets a queue."""
    services = np.where(networks.plain, 1.0, networks.hops * (1 + model.ack_size))
    delay: NDArray[np.float64] = networks.rtt + services / networks.link_rate
    return delay


Kind: TypeAlias = Literal["utility", "power", "linear", "gain", "aurora", "orca"]


@dataclass(frozen=True)
class Reward:
    """What a step of a flow is worth.

    T is the throughput in packets per µs of fair share, C the link's rate, D the mean delay of packets and D₀ that of a
    packet that meets no queue (the base delay): networks are comparable, and 0 bits is the best for all flows alike.

    Attributes:
        kind: ``utility``: the utility c_t·log₂(T/C) − c_d·log₂(D/D₀) of an interval, times its length in base delays:
            a time integral, of at least −10 bits over at most 8 base delays at once, since a flow may fall silent for
            good. ``power``: T/C · (D₀/D)^(c_d/c_t), times the interval's length in base delays: it has the same best as
            the utility over long intervals, but chance does not lower it in short ones, as it does the mean of a
            logarithm. ``linear``: the utility's tangent at its best, (c_t + c_d)·T/C − c_d·(sum of D/D₀ over packets,
            per µs of fair share)/C, times the interval's length in base delays: a sum over packets, so it adds up to
            the same over any intervals. ``gain``: by how much the utility of the whole flow so far has risen: the sum
            over a flow is the flow's utility. ``aurora``: 0.001·(10·throughput − 1000·latency − 2000·loss). ``orca``:
            (T − 5·loss rate)/C · min(1, 1.25·D₀/D).
        throughput_weight: c_t, bits per doubling.
        delay_weight: c_d, bits per halving.
        interval: base delays over which throughput and delay are measured, at least: a step that ends earlier has
            reward 0, and the step that completes the interval has the reward of all of it. 0 rewards every step, as
            ``gain`` always does.
        aurora_second: µs that stand for a second of Aurora's, whose links carry 100 to 500 packets per second.

    Raises:
        InputError: an unknown kind or weights below 0.
    """

    kind: Kind = "power"
    throughput_weight: float = 1.0
    delay_weight: float = 1.0
    interval: float = 1.0
    aurora_second: float = 100.0

    def __post_init__(self) -> None:
        """Check everything by compiling it."""
        self.compile()

    def compile(self) -> _core.Reward:
        """Return the engine's form."""
        try:
            return _core.Reward(**asdict(self))
        except (ValueError, TypeError) as error:
            raise InputError(f"reward: {str(error).splitlines()[0]}") from error


Own: TypeAlias = Callable[[NDArray[np.float32], Any, dict[str, Any]], float]
"""A reward of one's own, in environments of one flow: of what the agent sees after a step, its action, and `info`."""


def reward_of(value: object) -> Reward:
    """Return a reward, or that of a kind.

    Raises:
        InputError: it is neither.
    """
    if isinstance(value, Reward):
        return value
    if not isinstance(value, str):
        known = f"a kind ({', '.join(get_args(Kind))}), a Reward, or where one flow learns alone a function"
        raise InputError(f"reward: must be {known} of (seen, action, info), got {value!r:.60}")
    return Reward(cast(Kind, value))


def own_worth(own: Own, seen: NDArray[np.float32], action: Any, info: dict[str, Any]) -> float:
    """Return what a reward of one's own makes of a step.

    Raises:
        InputError: no finite number.
    """
    worth: Any = own(seen.copy(), action, dict(info))
    if not isinstance(worth, int | float | np.number) or not np.isfinite(worth):
        raise InputError(f"reward: the function must return a finite number, got {worth!r:.60}")
    return float(worth)
