"""What runs trials: the fast engine or ns-3, with the same trial in and the same record out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import ArrayLike

from lcca.remy_plus.engine import Batch, NetworkList
from lcca.remy_plus.policies.policy import Policy


class Simulator(Protocol):
    """Runs batches of trials.

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

    def compile(self, policy: Policy) -> Any:
        """Return what `run` takes for a policy.

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
    ) -> Batch:
        """Run one trial per entry of the index arrays (see `Engine.run`).

        Trials that failed have their reason in the column ``trial_error``.

        Raises:
            InputError: what this simulator cannot simulate.
        """
