"""This machine's own network stack as a simulator: hosts in network namespaces, an emulated link, real time.

No two trials of a seed have the same bits: what a machine does besides is in them. A trial that the link was late in is
no trial, and says so.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from lcca.gym_envs.linux.host import run_plan
from lcca.gym_envs.linux.kernel.registered import registered
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.processes.plans import network_part
from lcca.gym_envs.processes.rows import columns
from lcca.inputs.errors import InputError, did_you_mean, require
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.core.signals import CARRIED
from lcca.remy_plus.core.stamping import PLAIN, Stamping, raw_stamping
from lcca.remy_plus.network import Network, NetworkList, compile_workload
from lcca.remy_plus.policies.families import OF_KERNEL
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.law import Law
from lcca.remy_plus.policies.policy import FixedWindow, Mixture, Policy, WithHeader, compile_policy, seen
from lcca.remy_plus.record import REAL_TIME, Record
from lcca.workers.pool import Failure
from lcca.workers.processes import run_all

MISSING = "lcca-linux is not installed: from a checkout, `make linux`, or pip install ./gym-envs/linux"

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

_ALIKE = "cubic bbr vegas bic htcp illinois westwood yeah veno hybla highspeed scalable lp".split()
KERNEL_NAMES = {"newreno": "reno"} | {name: name for name in _ALIKE}
"""What a hand-designed congestion control is called by Linux."""

Compiled: TypeAlias = tuple[Any, ...] | Mixture


@cache
def installed() -> str:
    """Return the kernel's release.

    Raises:
        InputError: the distribution lcca-linux is missing or does not load, with what to do.
    """
    try:
        import lcca.linux  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(MISSING) from error
    except ImportError as error:
        raise InputError(f"lcca-linux does not load ({error}); {MISSING}") from error
    return os.uname().release


@dataclass(frozen=True)
class Linux:
    """Runs trials on this machine, one at a time: several at once would be late.

    Attributes:
        duration: µs of a trial, in which it lasts that long.
        options: beside the network.
    """

    duration: float = 5e6
    options: LinuxOptions = field(default_factory=LinuxOptions)

    def __post_init__(self) -> None:
        """Check that it can run here."""
        installed()

    @property
    def name(self) -> str:
        """The word in the column ``simulator``."""
        return f"linux-{installed().partition('-')[0]}"

    @property
    def packet_bytes(self) -> int:
        """Of a full IP packet without a header."""
        return self.options.packet_bytes or PACKET_BYTES

    def compile(self, policy: Policy) -> Compiled:
        """Return a policy as plain values: the kernel's name of a congestion control, or the engine's own policy.

        Raises:
            InputError: the kernel has no such congestion control or no such parameters, or the policy needs signals of
                the network.
        """
        if isinstance(policy, Mixture):
            for each in policy.parts:
                self.compile(each)
            return policy
        if isinstance(policy, HandDesigned):
            return "kernel", _kernel_name(policy)
        if self.options.kernel_laws and isinstance(policy, Law):
            return "kernel", registered(policy, self.options.time_scale)
        in_header = isinstance(policy, WithHeader) and isinstance(policy.policy, Law)
        require(
            not (self.options.kernel_laws and in_header),
            "linux options: kernel_laws: a law in the kernel reads no headers: leave it out, for UDP",
        )
        stamping = policy.stamping if isinstance(policy, WithHeader) else raw_stamping(seen(policy))
        plain = [name for name in seen(policy) if CARRIED.get(name) in PLAIN and (stamping is None or stamping.plain)]
        require(not plain, f"policy: {', '.join(plain)}: on Linux a header brings them: name one that does")
        state = compile_policy(policy).__getstate__()
        return "policy", state[1] if state[0] == "with-header" else state, stamping and self._header(stamping)

    def _header(self, stamping: Stamping) -> dict[str, Any]:
        """Return the parts of a plan that say what the header is, and where its fields are on the wire."""
        asking = ("fair_rate", "xcp_feedback", "senders")
        said = [f"{each.name} ({each.source})" for each in stamping.fields if each.source in asking]
        require(not said, f"header {stamping.name}: {', '.join(said)}: on Linux senders tell hops nothing yet")
        require(not stamping.stamp_loss, f"header {stamping.name}: stamp_loss: on Linux every hop writes")
        at = [64 * i if each.begins < 0 else each.begins for i, each in enumerate(stamping.fields)]
        own = stamping.on_packets(self.packet_bytes)
        return {
            "header": own.content(),
            "positions": [(begins, each.coding.bits) for begins, each in zip(at, stamping.fields, strict=True)],
            "header_bytes": (*stamping.sent_bytes, stamping.sent_bytes[-1])[1],  # after its one hop
        }

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
        """Run one trial per entry of the index arrays, one after another (see `Engine.run`).

        Trials that were late, and those that agree to the byte with another one of its policy and network, which are
        one sample, are returned as failed with the reason in ``trial_error``.

        Raises:
            InputError: a network that this machine cannot be, or rates that it does not carry.
        """
        where = np.ascontiguousarray(network_index, dtype=np.uint32)
        which, seeds = np.asarray(policy_index, dtype=np.int64), np.asarray(seed, dtype=np.uint64)
        for index in sorted(set(where.tolist())):
            self._check(networks.networks[index])
        if self.options.probe and len(where):
            fastest = max((networks.networks[n] for n in set(where.tolist())), key=lambda each: each.link_rate)
            _probe(replace(self, options=replace(self.options, probe=False)), fastest.link_rate, fastest.rtt)
        plans = [
            self.plan(policies[p], networks.networks[n], int(s), keep_delays)
            for p, n, s in zip(which, where, seeds, strict=True)
        ]
        results: list[Any] = [None] * len(plans)
        met: set[Any] = set()
        for at, result in run_all(run_plan, plans, 1):
            if not isinstance(result, Failure):
                result |= {"error": self._fault(result, plans[at], met, (int(which[at]), int(where[at])))}
            results[at] = result
        senders = [networks.networks[n].senders for n in where]
        found = dict(columns(results, senders, keep_delays, keep_flows))
        for name in REAL_TIME:
            found[f"trial_{name}"] = np.array([_number(name, each) for each in results])
        return Record(found, networks, where, self.duration, 52 / self.packet_bytes)

    def plan(self, policy: Compiled, network: Network, seed: int, delays: bool = False) -> dict[str, Any]:
        """Return the plan of one trial as `lcca.linux.run_trial` reads it."""
        parts: list[Any] = [policy]
        if isinstance(policy, Mixture):
            adopted, other = both = [cast("tuple[Any, ...]", self.compile(each)) for each in policy.parts]
            headers = [each[2] for each in both if each[0] == "policy"]
            require(all(each == headers[0] for each in headers), "mix: on Linux both need the same header, or none")
            adopts = chosen(seed, network.drawn_by, "adoption", 0, network.senders, policy.share)
            parts = [adopted if each else other for each in adopts]
        of_trials = ("single_segments", "quick_acks", "real_time", "time_scale")
        options = {name: getattr(self.options, name) for name in of_trials} | {"packet_bytes": self.packet_bytes}
        header = next((each[2] for each in parts if each[0] == "policy"), None)
        return {
            "network": network_part(network, compile_workload(network)),
            "policies": [each[1] if each[0] == "policy" else each for each in parts],
            **(header or {"header": None}),
            "seed": seed,
            "duration": float(self.duration),
            "options": options | {"keep_delays": delays, "start_spread": float(network.rtt)},
        }

    def _check(self, network: Network) -> None:
        mbps = self._mbps(network.link_rate)
        what = f"network {network.id}: on Linux"
        require(network.open_flows is None, f"{what} flows are those of senders: open flows run in the engine only")
        require(network.jitter == 0, f"{what} hosts have a jitter of their own: leave it out")
        require(network.topology.plain, f"{what} there is one bottleneck: leave topology out")
        require(
            mbps <= self.options.most_mbps,
            f"{what} link_rate is {mbps:.4g} Mbit/s, and at most {self.options.most_mbps:g} are kept in time: lower it "
            "or raise most_mbps, or have --simulator linux:time_scale=1000 take ms for µs",
        )
        rtt = network.rtt * self.options.time_scale
        require(rtt >= 1000, f"{what} rtt is {rtt:g} µs: hosts need 1 ms at the least, better 10 (see time_scale)")

    def _mbps(self, link_rate: float) -> float:
        return link_rate * self.packet_bytes * 8 / self.options.time_scale

    def _fault(self, result: dict[str, Any], plan: dict[str, Any], met: set[Any], of: tuple[int, int]) -> str:
        """Return why a trial does not count; empty if it does."""
        rtt = plan["network"]["rtt"] * self.options.time_scale
        late, allowed = result["late_us"][1], rtt * self.options.late_percent / 100
        if late > allowed:
            return f"the link was {late:.0f} µs late (p99; at most {allowed:.0f}): this machine had other work"
        if result["missed"]:
            return f"the link missed {result['missed']:,} packets: this machine had other work"
        trace = (*of, *map(tuple, (result["flows"][name] for name in ("sent", "delivered", "dropped"))))
        if trace in met and result["sent"] > 0:
            return "agrees to the byte with another trial here: they are one sample"
        met.add(trace)
        return ""


def _number(name: str, result: Any) -> float:
    if isinstance(result, Failure):
        return float("nan")
    value = result[name]
    return float(value[1] if isinstance(value, tuple) else value)


def _kernel_name(policy: HandDesigned) -> str:
    name = policy.name.removeprefix(OF_KERNEL)
    if not policy.name.startswith(OF_KERNEL):
        require(
            policy.name in KERNEL_NAMES, f"{policy.name}: Linux has it not{did_you_mean(policy.name, KERNEL_NAMES)}"
        )
        name = KERNEL_NAMES[policy.name]
    changed = ", ".join(policy.changed)
    require(not changed, f"{policy.name}: {changed}: the kernel's congestion controls have no parameters")
    require(policy.marker is None, f"{policy.name}: the emulated link marks nothing yet: leave out the marker")
    known = AVAILABLE.read_text().split() if AVAILABLE.is_file() else [name]
    require(name in known, f"{policy.name}: this kernel has {', '.join(known)}; try `modprobe tcp_{name}` as root")
    return name


@cache
def _probe(linux: Linux, link_rate: float, rtt: float) -> None:
    """Check that this machine can be a link of a rate.

    Raises:
        InputError: it is late even for one second without anything to compute.
    """
    network = Network(0, link_rate, rtt, 1, 1e3, 1e9, 1.0, 0.0)
    lone = replace(linux, duration=1e6 / linux.options.time_scale)
    window = lone.compile(FixedWindow(max(2, math.ceil(1.1 * link_rate * rtt))))
    record = lone.run([window], NetworkList([network]), [0], [0], [1])
    if reason := str(record.errors[0]):
        mbps = linux._mbps(link_rate)
        raise InputError(
            f"this machine is no link of {mbps:.4g} Mbit/s now ({reason}): end what runs besides, run as root for "
            "priority over it, or take lower rates and longer RTTs"
        )
