"""The packet engine and the evaluation of policies, in C++."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Network:
    """One bottleneck and its workload (packets, µs)."""

    def __init__(self, id: int, link_rate: float, rtt: float, senders: int, buffer: float, mean_on: float, mean_off: float, loss: float, byte_switched: bool, arrival_rate: float = 0.0, size_packets: Sequence[float] = [], size_cumulative: Sequence[float] = []) -> None: ...

    @property
    def id(self) -> int: ...

    @property
    def senders(self) -> int: ...

def signal_names() -> list[str]:
    """Names of the signals in engine order."""

SIGNAL_CEILING: float = 163840.0

def uniforms(seed: int, network: int, component: int, sender: int, flow: int, count: int) -> list[float]:
    """The first draws on (0, 1] of one random stream."""

def portable_log(x: float) -> float:
    """Natural logarithm by basic arithmetic alone, for x in (0, 1]."""

class Policy:
    """A policy compiled for the engine."""

    @staticmethod
    def rule_table(axes: Sequence[str], lower: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], increment: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], multiple: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pacing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], absolute: bool) -> Policy:
        """
        Rules as boxes over the named signals; raises ValueError if they overlap or leak.
        """

    @staticmethod
    def fixed_window(window: float) -> Policy: ...

    @staticmethod
    def fixed_rate(rate: float) -> Policy: ...

    @staticmethod
    def aimd(increase: float, decrease: float, initial: float) -> Policy: ...

    def with_action(self, rule: int, increment: float, multiple: float, pacing: float) -> Policy:
        """
        The same table with another action for one rule; the compiled tree is shared.
        """

    def find(self, signals: Sequence[float]) -> int:
        """Index of the rule that holds these values (one per engine signal)."""

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    @property
    def rules(self) -> int: ...

def run_batch(policies: list, networks: Sequence[Network], policy_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], network_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, duration: float, link_interval: float, rplus_link_window: bool, jobs: int, keep_delays: bool, keep_flows: bool, keep_uses: bool) -> dict:
    """
    Runs one trial per entry of the index arrays on `jobs` threads, without the GIL; returns columns by name.
    """

def census(policy: object, networks: Sequence[Network], network_index: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, duration: float, link_interval: float, rplus_link_window: bool, jobs: int, rule: int, axes: Sequence[str], prefix: Sequence[int]) -> object:
    """
    Counts, per axis, the upper (no prefix) or lower 16 bits of the float32 values met by one rule.
    """

def trace(policy: object, network: Network, seed: int, *, duration: float, link_interval: float, rplus_link_window: bool, script: Sequence[Sequence[float]]) -> dict:
    """
    One trial with a row per feedback. `script`: switch times (on, off, on, …) per sender, or [] for random ones.
    """
