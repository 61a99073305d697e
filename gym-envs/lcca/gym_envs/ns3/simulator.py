"""ns-3 as a simulator of trials: in worker processes, because ns-3 has one simulation per process and may abort."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from lcca.gym_envs.ns3.baselines import with_hand_designed
from lcca.gym_envs.ns3.host import run_plan
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.processes.rows import columns
from lcca.inputs.errors import InputError, about, did_you_mean, require
from lcca.remy_plus.core.formulas import formulas
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.core.stamping import Stamping
from lcca.remy_plus.engine import Model, available_jobs
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.policy import Mixture, Policy, WithHeader, compile_policy
from lcca.remy_plus.record import Record
from lcca.workers.pool import Failure, Outcomes, Pool
from lcca.workers.processes import run_all

MISSING = (
    "ns-3 is not installed: from a checkout, `make ns3`, or "
    "pip install --no-deps ns3==3.44.post0 && pip install ./gym-envs/ns3"
)

Compiled: TypeAlias = tuple[Any, ...] | HandDesigned | Mixture

UNUSED = ("fixed-window", 1.0)  # stands in a plan until a hand-designed control takes its place
MARKS = ("queue", "queue_attributes", "marker")  # what a plan says of the queue that marks


@cache
def installed() -> str:
    """Return ns-3's version.

    Raises:
        InputError: the distribution lcca-ns3 is missing or does not load, with what to do.
    """
    try:
        import lcca.ns3 as module
    except ModuleNotFoundError as error:
        raise InputError(MISSING) from error
    except ImportError as error:
        raise InputError(f"ns-3 does not load ({error}); {MISSING}") from error
    return str(module.NS3_VERSION)


@cache
def libraries() -> str:
    """Return a hash of the libraries of ns-3 that are loaded: builds of one version may differ.

    Raises:
        InputError: ns-3 is not installed, or was while this process ran.
    """
    installed()
    loaded = {line.split(maxsplit=5)[-1].rstrip("\n") for line in Path("/proc/self/maps").open()}
    files = sorted({Path(each) for each in loaded if Path(each).name.startswith("libns3")}, key=lambda file: file.name)
    digest = hashlib.sha256()
    for file in files:
        if not file.is_file():  # "… (deleted)", says the system
            raise InputError("ns-3 was installed anew while this runs: start again")
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def run_in_processes(
    run: Callable[[dict[str, Any]], Any], plans: Sequence[dict[str, Any]], jobs: int, pool: Pool | None
) -> Outcomes:
    """Run plans of trials in processes of this machine, or on a pool's; see `run_all`.

    Raises:
        InputError: another machine has no ns-3, or another build of it.
    """
    away = pool is not None and pool.away
    for at, found in run_all(partial(_run_by, libraries(), run) if away else run, plans, jobs, pool):
        if away and isinstance(found, Failure) and found.kind == "refused":
            raise InputError(found.reason)
        yield at, found


def _run_by(expected: str, run: Callable[[dict[str, Any]], Any], plan: dict[str, Any]) -> Any:
    with about(f"node {os.uname().nodename}"):
        require(libraries() == expected, "it has another build of ns-3: install the same everywhere")
    return run(plan)


def check_registered(policy: HandDesigned) -> None:
    """Check that the installed ns-3 has the class of a congestion control, and its attributes.

    Raises:
        InputError: it has not (with a suggestion).
    """
    from lcca.ns3 import registered_controls

    known, name = registered_controls(), policy.family.type
    if name not in known:
        raise InputError(f"ns-{installed()} has no congestion control {name[:60]!r}{did_you_mean(name, known)}")
    for parameter in policy.family.parameters:
        own = parameter.attribute
        if own and "::" not in own and own not in known[name]:
            raise InputError(f"{name} has no attribute {own[:60]!r}{did_you_mean(own, known[name])}")


@dataclass(frozen=True)
class Ns3:
    """Runs trials in ns-3.

    Attributes:
        duration: µs of a trial.
        model: options that both simulators have.
        jobs: worker processes; never changes a result.
        options: options of ns-3.
        pool: whose workers run them; processes that end with a batch if left out, or if it has threads only.
    """

    duration: float = 10_000.0
    model: Model = field(default_factory=Model)
    jobs: int = field(default_factory=available_jobs)
    options: Ns3Options = field(default_factory=Ns3Options)
    pool: Pool | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check that ns-3 is there."""
        installed()

    @property
    def name(self) -> str:
        """The word in the column ``simulator``."""
        return f"ns-{installed()}"

    def compile(self, policy: Policy) -> Compiled:
        """Return a policy as plain values; the ns-3 module builds the engine's own C++ policy from them.

        Hand-designed congestion controls stay as they are: what ns-3 runs for them depends on the network too; so do
        mixtures. Bytes of headers are charged on packets of ns-3's size, whatever they were for the engine.

        Raises:
            InputError: the options set the bytes of a header that says them itself, ns-3 has no such class or
                attribute, or a signal of the policy is a formula; or a mixture has a header, which all packets here
                would carry.
        """
        if isinstance(policy, Mixture):
            headed = any(isinstance(each, WithHeader) for each in policy.parts)
            require(not headed, "mix: in ns-3 all packets of a trial have the same header: mix policies that have none")
            for each in policy.parts:
                self.compile(each)
            return policy
        if isinstance(policy, WithHeader):
            policy = replace(policy, stamping=self._of_own_packets(policy.stamping))
        if isinstance(policy, HandDesigned):
            check_registered(policy)
            return policy
        inner = policy.policy if isinstance(policy, WithHeader) else policy
        own = ", ".join(each.name for each in formulas(getattr(inner, "signals", ())))
        require(not own, f"signals: {own}: ns-3 has no signals that are formulas; the engine has")
        return tuple(compile_policy(policy).__getstate__())

    def _of_own_packets(self, stamping: Stamping) -> Stamping:
        if self.options.header_bytes:
            raise InputError(f"header_bytes: header {stamping.name} says what it costs; leave it out, or 0 for free")
        own = stamping.on_packets(self.options.packet_bytes)
        return own if self.options.header_bytes is None else replace(own, sent_bytes=(0,), reflected_bytes=(0,))

    def run(
        self,
        policies: Sequence[Compiled],
        networks: NetworkList,
        policy_index: ArrayLike,
        network_index: ArrayLike,
        seed: ArrayLike,
        *,
        keep_delays: bool = False,
        keep_flows: bool = False,
    ) -> Record:
        """Run one trial per entry of the index arrays (see `Engine.run`).

        A trial that makes ns-3 abort is returned as failed with ns-3's message in ``trial_error``; the others go on.

        Raises:
            InputError: a network that ns-3 does not simulate here.
        """
        where = np.ascontiguousarray(network_index, dtype=np.uint32)
        which, seeds = np.asarray(policy_index, dtype=np.int64), np.asarray(seed, dtype=np.uint64)
        plans = [
            self.plan(policies[p], networks.networks[n], int(s), keep_delays)
            for p, n, s in zip(which, where, seeds, strict=True)
        ]
        results: list[Any] = [None] * len(plans)
        for at, result in run_in_processes(run_plan, plans, self.jobs, self.pool):
            results[at] = result
        senders = [networks.networks[n].senders for n in where]
        return Record(
            columns(results, senders, keep_delays, keep_flows), networks, where, self.duration, self.model.ack_size
        )

    def plan(self, policy: Compiled, network: Network, seed: int, delays: bool = False) -> dict[str, Any]:
        """Return the plan of one trial (see `trial_plan`)."""
        if isinstance(policy, Mixture):
            return self._mixed(policy, network, seed, delays)
        plain = UNUSED if isinstance(policy, HandDesigned) else policy
        plan = trial_plan(network, plain, seed, self.duration, self.model, self.options, delays)
        return with_hand_designed(plan, policy, network) if isinstance(policy, HandDesigned) else plan

    def _mixed(self, policy: Mixture, network: Network, seed: int, delays: bool) -> dict[str, Any]:
        """Return the plan of a trial in which each route has its sender's control.

        Options of hand-designed controls hold for all senders, and a queue that marks is there if one of them asks.
        All packets bring signals: flows and capacity without bytes, link and queue with those of the options.
        """
        adopted, other = (self.plan(self.compile(each), network, seed, delays) for each in policy.parts)
        if all(isinstance(each, HandDesigned) for each in policy.parts):
            differ = [name for name, value in adopted["options"].items() if other["options"][name] != value]
            require(not differ, f"mix: in ns-3 both need the same {', '.join(differ)}")
        marks = [[each.get(name) for name in MARKS] for each in (adopted, other) if each["queue"] != self.options.queue]
        require(all(each == marks[0] for each in marks), "mix: in ns-3 both need the same marker")
        options = (adopted if isinstance(policy.adopted, HandDesigned) else other)["options"]
        queue = adopted if adopted["queue"] != self.options.queue else other
        ends = (0, network.senders, len(adopted["routes"]))
        adopts = [each for e in pairwise(ends) for each in chosen(seed, network.drawn_by, "adoption", *e, policy.share)]
        compiled = [each["policy"] for each in (adopted, other)]
        stamped = [each for each in compiled if each[0] == "with-header"]
        alike = all(each[2] == stamped[0][2] for each in stamped)
        require(alike, "mix: in ns-3 both need the same signals of the network, or one of them none")
        own, others = (each[1] if each[0] == "with-header" else each for each in compiled)
        first = stamped[0] if stamped else own
        return queue | {
            "policy": first,
            "policies": [own if each else others for each in adopts],
            "options": options,
        }
