"""Long flows in ns-3: from a trial to its plan, in worker processes, and back.

A plan's "µs" stands for a millisecond (`time_scale` 1000 of `Ns3Options`): stock congestion controls have their own
constants, and a learnt policy sees a millisecond as the µs that it was trained with. A class in Python is told µs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from lcca.gym_envs.ns3.baselines import control
from lcca.gym_envs.ns3.host import run_long_plan
from lcca.gym_envs.ns3.long_flows import Bottleneck, Driver, LongResult, LongTrial, WindowCounts
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3, installed, run_in_processes
from lcca.gym_envs.processes.plans import network_part
from lcca.inputs.errors import InputError
from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.engine import Model
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import HandDesigned
from lcca.remy_plus.policies.policy import Mixture
from lcca.remy_plus.policies.python_control import in_real_time
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS
from lcca.remy_plus.switches.markers import marking
from lcca.workers.pool import Failure, Pool

_TIME_SCALE = 1000.0
_IN_COMMON = ("time_scale", "min_rto", "initial_window")


def run_long_trials(trials: Sequence[LongTrial], jobs: int) -> list[LongResult]:
    """Run trials and return their results in order.

    Args:
        trials: what to run.
        jobs: worker processes; never changes a result.

    Raises:
        InputError: ns-3 is missing, or a policy that cannot run here.
    """
    results = dict(iterate_long_trials(trials, jobs))
    return [results[at] for at in range(len(trials))]


def iterate_long_trials(
    trials: Sequence[LongTrial], jobs: int, pool: Pool | None = None
) -> Iterator[tuple[int, LongResult]]:
    """Run trials, those that take longest first; yield (index, result) as they come (see `run_long_trials`).

    A pool takes the place of worker processes that end with the trials.

    A trial that makes ns-3 abort has its message in `error`; the others go on.
    """
    plans = [long_plan(trial) for trial in trials]
    order = sorted(range(len(trials)), key=lambda at: -trials[at].link.megabits(0, trials[at].duration_s))
    for turn, found in run_in_processes(run_long_plan, [plans[at] for at in order], jobs, pool):
        yield order[turn], _result(found, trials[order[turn]])


def run_long_trial(trial: LongTrial) -> LongResult:
    """Run one trial in this process, which ns-3 ends if it aborts.

    Raises:
        InputError: ns-3 is missing, or a policy that cannot run here.
    """
    return _result(run_long_plan(long_plan(trial)), trial)


def long_plan(trial: LongTrial) -> dict[str, Any]:
    """Return the plan of a trial as the ns-3 module reads it (see `lcca.gym_envs.ns3.plan`).

    Raises:
        InputError: ns-3 is missing, or a policy that cannot run here.
    """
    installed()
    link = trial.link
    rates = [(at * 1000.0, _packets_per_ms(rate)) for at, rate in link.rates]
    ends = rates[0][1], link.rtt_ms / 2, float(link.buffer_packets), rates[1:]
    policies = [_control(flow.policy, trial) for flow in trial.flows]
    return {
        "network": network_part(_as_network(trial), ("script", [[flow.start_s * 1000.0] for flow in trial.flows])),
        "routers": 2,
        "links": [(0, 1, *ends), (1, 0, *ends)],
        "routes": [([0], [1], True)] * len(trial.flows),
        "policy": policies[0],
        "policies": policies,
        **_options(trial).parts(late_handshakes=True),
        **_marks(link),
        "windows": [(begin * 1000.0, end * 1000.0) for begin, end in trial.windows_s],
        "seed": int(trial.seed),
        "duration": trial.duration_s * 1000.0,
        "model": Model().parts(),
    }


def _marks(link: Bottleneck) -> dict[str, Any]:
    """Return the parts of a plan that say what queues mark, if they do."""
    if link.mark_packets is None:
        return {}
    wanted = (link.mark_packets - 0.5) * PACKET_BYTES  # a step marks what leaves more bytes behind
    gbps = _packets_per_ms(link.rates[0][1]) * PACKET_BYTES * 8 / 1000  # of a plan, whose ms are µs
    step = marking("step", k_bytes=wanted * REFERENCE_GBPS / gbps)
    return {"queue": "marker", "marker": (step.kind, dict(step.parameters))}


def _options(trial: LongTrial) -> Ns3Options:
    return Ns3Options(
        packet_bytes=PACKET_BYTES,
        header_bytes=0,  # packets have 1,500 bytes whatever signals they bring
        host_gbps=1e5,  # stretched as all is, 100 Gb/s
        min_rto=float(trial.min_rto_ms),
        initial_window=int(trial.initial_window),
        time_scale=_TIME_SCALE,
    )


def _control(policy: Driver, trial: LongTrial) -> tuple[Any, ...]:
    compiled = policy if isinstance(policy, tuple) else Ns3(jobs=1).compile(in_real_time(policy, _TIME_SCALE))
    if isinstance(compiled, HandDesigned):
        return "stock", control(_checked(compiled, trial.link), _as_network(trial))
    if isinstance(compiled, Mixture):
        raise InputError("long flows: one sender has one policy; name no mixture")
    if compiled[0] == "with-header":
        raise InputError("long flows: packets have no headers of their own; leave the policy's header out")
    return compiled


def _checked(policy: HandDesigned, link: Bottleneck) -> HandDesigned:
    for name in _IN_COMMON:
        if name in policy.changed:
            raise InputError(f"{policy.name}: {name}: the flows of a trial have it in common; leave it out")
    if not policy.family.markable:
        return policy
    if link.mark_packets is None:
        raise InputError(
            f"{policy.name}: the link is drop-tail and marks nothing; give it mark_packets (`ecn` in a "
            "file of scenarios)"
        )
    if policy.marker is not None or "mark_threshold" in policy.changed:
        raise InputError(f"{policy.name}: the link says from when on it marks; leave the threshold or the marker out")
    return policy


def _as_network(trial: LongTrial) -> Network:
    link = trial.link
    rate = _packets_per_ms(link.rates[0][1])
    return Network(0, rate, link.rtt_ms, len(trial.flows), link.buffer_packets, 1.0, 1.0, link.loss)


def _packets_per_ms(mbps: float) -> float:
    return mbps * 1000.0 / (8 * PACKET_BYTES)


def _result(found: dict[str, Any] | Failure, trial: LongTrial) -> LongResult:
    if isinstance(found, Failure):
        return LongResult((), error=found.reason)
    count = len(trial.windows_s)
    rows = [_counts(row, trial.link.rtt_ms / 2) for row in found["windows"]]
    windows = tuple(tuple(rows[at * count : (at + 1) * count]) for at in range(len(trial.flows)))
    return LongResult(windows, found["sent"], found["events"], found["cpu_s"])


def _counts(row: tuple[Any, ...], one_way_ms: float) -> WindowCounts:
    packets, octets, sent, dropped, first, last, delays, echoes, rtts = row
    delay = delays / packets + one_way_ms if packets else math.nan
    rtt = rtts / echoes if echoes else math.nan
    return WindowCounts(packets, octets, first / 1000, last / 1000, delay, sent, dropped, rtt)
