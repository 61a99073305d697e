"""What runs trials: the fast engine or ns-3, with the same trial in and the same record out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from lcca.remy_plus.network import NetworkList
    from lcca.remy_plus.record import Record

_told: ContextVar[Callable[[], None] | None] = ContextVar("told", default=None)


class Simulator(Protocol):
    """Runs batches of trials. Each has to pass `tests/evaluation/trials/simulator_conformance.py`.

    A trial is a function of its policy, network, seed and duration and of the simulator's options: not of the number of
    workers, nor of the trials beside it. Senders go on and off, and random loss takes packets, by the same random
    streams in every simulator.
    """

    @property
    def name(self) -> str:
        """The word in the column ``simulator`` of a trials table."""

    @property
    def duration(self) -> float:
        """Length of a trial in µs."""

    def compile(self, policy: Any) -> Any:
        """Return what `run` takes for a `lcca.remy_plus.policies.policy.Policy`, in the simulator's own form.

        Raises:
            InputError: the policy cannot run here.
        """

    def run(
        self,
        policies: Sequence[Any],
        networks: NetworkList,
        policy_index: ArrayLike,
        network_index: ArrayLike,
        seed: ArrayLike,
        *,
        keep_delays: bool = False,
        keep_flows: bool = False,
    ) -> Record:
        """Run one trial per entry of the index arrays; compiles the networks itself (`NetworkList.compiled`).

        Args:
            policies: compiled policies.
            networks: the networks that `network_index` points into.
            policy_index: (trials,) index into policies.
            network_index: (trials,) index into networks.
            seed: (trials,) seeds, 0 <= seed < 2^64.
            keep_delays: keep every packet's delay, for percentiles.
            keep_flows: return a row per flow.

        Returns:
            A record with all columns of `lcca.remy_plus.record.declared`. Trials that failed have their reason in the
            column ``trial_error``.

        Raises:
            InputError: what this simulator cannot simulate.
        """


@contextmanager
def told_of_trials(tell: Callable[[], None]) -> Iterator[None]:
    """Let `tell` know of every trial that ends meanwhile, in the thread that waits for the batch.

    Simulators whose trials end one by one tell: ns-3 and fabrics. The fast engine ends batches only.
    """
    token = _told.set(tell)
    try:
        yield
    finally:
        _told.reset(token)


def trial_completed() -> None:
    """Tell who wants to know that a trial has ended."""
    if tell := _told.get():
        tell()
