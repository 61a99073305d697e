"""The packet engine from Python: trials in, columns out.

One trial is one network under one policy with one seed. Its result depends on these, the duration and the model alone:
not on the number of threads, nor on the trials that run beside it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.policy import Policy, compile_policy
from lcca.remy_plus.record import Columns, Record

Floats = NDArray[np.float64]

_MODEL: dict[str, Any] = _core.model_defaults()


@dataclass(frozen=True)
class Model:
    """Options of the network model.

    Attributes:
        link_interval: µs over which the link signal is collected (the paper's default is 10).
        rplus_link_window: divide by the whole interval even where less time was covered, as R+ does.
        ack_size: of an acknowledgement, in packets (54 of 590 bytes by default); on a plain dumbbell they take no time.
        mark_above: packets waiting beyond which a queue marks (a step, as DCTCP's); 0 for DCTCP's rule, 0.17 times the
            link's rate times the network's RTT, at least 1.
    """

    link_interval: float = _MODEL["link_interval"]
    rplus_link_window: bool = _MODEL["rplus_link_window"]
    ack_size: float = _MODEL["ack_size"]
    mark_above: float = _MODEL["mark_above"]

    def parts(self) -> dict[str, Any]:
        """Return it as plain values, all of them, of which simulators make theirs, here or in another process."""
        return asdict(self)


@cache
def build() -> str:
    """Return the version of lcca and a hash of the compiled engine: only results of one build may be put together."""
    engine = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:12]
    return f"lcca {metadata.version('lcca')}, engine {engine}"


def available_jobs() -> int:
    """Return the number of processor cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that a batch of trials depends on, as in `Engine.run`; can be pickled and sent to another process."""

    policies: list[_core.Policy]
    networks: NetworkList
    policy_index: NDArray[np.uint32]
    network_index: NDArray[np.uint32]
    seed: NDArray[np.uint64]
    duration: float
    model: Model
    jobs: int
    keep_delays: bool = False
    keep_flows: bool = False
    keep_rule_hits: bool = False
    keep_links: bool = False
    phase_round_trips: tuple[float, ...] = ()

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.seed)

    def part(self, begin: int, end: int) -> Request:
        """Return the same with some of its trials."""
        cut = slice(begin, end)
        return replace(
            self,
            policy_index=self.policy_index[cut],
            network_index=self.network_index[cut],
            seed=self.seed[cut],
        )


def run_here(request: Request) -> Columns:
    """Run a batch in this process, on its threads.

    Raises:
        InputError: what the engine refuses, such as more packets under way than it can hold, or a congestion control in
            Python that fails.
    """
    with refusals():
        columns: Columns = _core.run_batch(
            request.policies,
            request.networks.compiled(compile_network),
            request.policy_index,
            request.network_index,
            request.seed,
            duration=request.duration,
            model=request.model.parts(),
            jobs=request.jobs,
            keep_delays=request.keep_delays,
            keep_flows=request.keep_flows,
            keep_rule_hits=request.keep_rule_hits,
            keep_links=request.keep_links,
            phase_round_trips=request.phase_round_trips,
        )
    return columns


@contextmanager
def refusals() -> Iterator[None]:
    """Make errors of bad input of what the engine refuses; those of a congestion control in Python are such already."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, RuntimeError) as error:
        raise InputError(f"engine: {error}") from error


Runner: TypeAlias = Callable[[Request], Columns]
"""Runs a batch somewhere. Where must not matter to the result."""


@dataclass(frozen=True)
class Engine:
    """How trials are run: duration in µs, the model, the number of threads, and where (neither changes a result)."""

    duration: float = 10_000.0
    model: Model = field(default_factory=Model)
    jobs: int = field(default_factory=available_jobs)
    runner: Runner = run_here

    @property
    def name(self) -> str:
        """The word in the column ``simulator``."""
        return "engine"

    def compile(self, policy: Policy) -> _core.Policy:
        """Return the engine's form of a policy (see `compile_policy`)."""
        return compile_policy(policy)

    def run(
        self,
        policies: Sequence[_core.Policy],
        networks: NetworkList,
        policy_index: ArrayLike,
        network_index: ArrayLike,
        seed: ArrayLike,
        *,
        keep_delays: bool = False,
        keep_flows: bool = False,
        keep_rule_hits: bool = False,
        keep_links: bool = False,
        keep_phases: bool = False,
    ) -> Record:
        """Run one trial per entry of the three index arrays; see `Simulator.run` for what is not said here.

        Args:
            policies: compiled policies (`compile_policy`).
            networks: the networks that `network_index` points into.
            policy_index: (trials,) index into policies.
            network_index: (trials,) index into networks.
            seed: (trials,) seeds.
            keep_delays: for percentiles.
            keep_flows: for a row per flow.
            keep_rule_hits: return ``trial_rule_hits``, (trials, rules) look-ups; policies must have equally many rules.
            keep_links: return a row per directed link, in the layout's order; a plain dumbbell has one.
            keep_phases: return ``sender_phase_share_us``, ``sender_phase_delay_sum_us`` and ``sender_phase_delivered``,
                (senders, 6): what senders had by round trips since a flow last came or went (`PHASES`); zeros where
                flows do not end by time.

        Raises:
            ValueError: indices out of range, or a duration or model that is impossible.
        """
        request = Request(
            list(policies),
            networks,
            np.ascontiguousarray(policy_index, dtype=np.uint32),
            np.ascontiguousarray(network_index, dtype=np.uint32),
            np.ascontiguousarray(seed, dtype=np.uint64),
            self.duration,
            self.model,
            self.jobs,
            keep_delays,
            keep_flows,
            keep_rule_hits,
            keep_links,
            self._phase_round_trips(networks) if keep_phases else (),
        )
        return Record(self.runner(request), networks, request.network_index, self.duration, self.model.ack_size)

    def _phase_round_trips(self, networks: NetworkList) -> tuple[float, ...]:
        round_trips = networks.round_trips_us(self.model.ack_size).tolist()
        return tuple(each if n.timed else 0.0 for n, each in zip(networks.networks, round_trips, strict=True))

    def cuts(
        self,
        policy: _core.Policy,
        networks: NetworkList,
        network_index: ArrayLike,
        seed: ArrayLike,
        rule: int,
        signals: Sequence[str],
    ) -> Floats:
        """Return where to cut one rule's box so that its look-ups fall into halves: the median of each signal.

        A cut at c parts the values below c from those at c or above. Where many look-ups saw exactly the median (an
        empty queue, an RTT at its minimum), the smallest value seen above it may part them more evenly; then that is
        the cut. NaN where all values are the same, or where the rule was never used. Only look-ups at feedback of the
        current flow count: none at a flow's start, none for late packets of earlier flows. Exact to single
        precision, rounded down, on a multiple of 2^-31; needs two or three runs of the trials, no memory per look-up.

        Args:
            policy: a rule table.
            networks: the networks that `network_index` points into.
            network_index: (trials,) index into networks.
            seed: (trials,) seeds.
            rule: index of the rule.
            signals: the k axes.
        """

        def census(prefix: list[int]) -> NDArray[np.int64]:
            counts = _core.census(
                policy,
                networks.compiled(compile_network),
                np.ascontiguousarray(network_index, dtype=np.uint32),
                np.ascontiguousarray(seed, dtype=np.uint64),
                duration=self.duration,
                model=self.model.parts(),
                jobs=self.jobs,
                rule=rule,
                axes=list(signals),
                prefix=prefix,
            )
            return np.asarray(counts).astype(np.int64)

        upper = census([])
        total = upper.sum(axis=1)
        if total[0] == 0:
            return np.full(len(signals), np.nan)
        median, below, at_most = _value_at((total - 1) // 2, upper, census)
        cuts = np.where(below > 0, median, np.nan)
        skewed = np.abs(2 * at_most - total) < np.abs(2 * below - total)
        if skewed.any():
            above, _, _ = _value_at(np.minimum(at_most, total - 1), upper, census)
            cuts = np.where(skewed, above, cuts)
        return cuts.astype(np.float64)


def _value_at(
    rank: NDArray[np.int64],
    upper: NDArray[np.int64],
    census: Callable[[list[int]], NDArray[np.int64]],
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Per axis: the value of this rank (from 0), how many values are below it, and how many at most as large."""
    prefix, inside = _locate(upper, rank)
    lower = census([int(p) for p in prefix])
    suffix, _ = _locate(lower, inside)
    axes = np.arange(len(rank))
    before = upper.cumsum(axis=1)[axes, prefix] - upper[axes, prefix]
    at_most = before + lower.cumsum(axis=1)[axes, suffix]
    bits = (prefix.astype(np.uint32) << np.uint32(16)) | suffix.astype(np.uint32)
    return bits.view(np.float32), at_most - lower[axes, suffix], at_most


def _locate(counts: NDArray[np.int64], rank: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per axis: the bin that holds the value of this rank, and the value's rank inside the bin."""
    cumulative = counts.cumsum(axis=1)
    bins = np.array([np.searchsorted(c, r, side="right") for c, r in zip(cumulative, rank, strict=True)])
    before = cumulative[np.arange(len(bins)), bins] - counts[np.arange(len(bins)), bins]
    return bins, rank - before


@dataclass(frozen=True, eq=False)
class FlowPlan:
    """Flows of the senders that count, sender by sender, in order: an entry per flow.

    Attributes:
        sender: index of its sender.
        pause_us: time off before it, since the trial began or since the sender's previous flow ended.
        start_us: when it begins, if time ends flows; else the earliest, if its sender had the link to itself.
        end_us: when it ends; infinite if its length ends it.
        length: packets; 0 if its time ends it.
    """

    sender: NDArray[np.int64]
    pause_us: Floats
    start_us: Floats
    end_us: Floats
    length: NDArray[np.int64]


def planned_flows(network: Network, seed: int, duration: float) -> FlowPlan:
    """Return the flows that a trial of this duration (µs) can see begin.

    Raises:
        InputError: the network has open flows, which belong to no sender.
    """
    try:
        return FlowPlan(**_core.planned_flows(compile_network(network), seed, duration))
    except ValueError as error:
        raise InputError(f"network {network.id}: {error}") from None
