"""The packet engine as a simulator of given flows, and what flows are measured by in it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from lcca.evaluation.estimation.importance.cycles import Bench
from lcca.evaluation.estimation.importance.flows import (
    Floats,
    Flows,
    Metric,
    OpenLoop,
    Simulator,
    TableSizes,
    completion_time,
)
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy, compile_policy

FlowMetric = Literal["fct_us", "slowdown"]


def packet_engine(engine: Engine, policy: Policy, network: Network) -> Simulator:
    """Return the engine as a simulator: flows are senders under the policy, on one network with open flows.

    Sizes are rounded up to whole packets. What it returns (µs) does not depend on the engine's threads.

    Raises:
        InputError: later, if a flow does not complete.
    """
    compiled = compile_policy(policy)

    def simulate(flows: Flows) -> Floats:
        fct = engine.flow_trace(compiled, network, flows.begin, flows.arrival, whole_packets(flows.size))
        if np.isnan(fct).any():
            raise InputError("a flow did not complete: the load is too high for this policy and duration")
        return fct

    return simulate


def packet_bench(engine: Engine, policy: Policy, network: Network, metric: FlowMetric) -> Bench:
    """Return the open flows of a network, for the length of the engine's trials, as a workload with its simulator.

    Args:
        engine: whose duration is that of a trial.
        policy: of every flow.
        network: with open flows.
        metric: "fct_us", or "slowdown" over the flow alone on the link (rtt + size / link rate).

    Raises:
        InputError: a network without open flows.
    """
    flows = network.open_flows
    if flows is None:
        raise InputError(f"network {network.id}: importance sampling needs open flows")
    loop = OpenLoop(flows.arrival_rate(network.link_rate), engine.duration, TableSizes(flows.sizes))
    measured = completion_time if metric == "fct_us" else _slowdown(network)
    return Bench(loop, packet_engine(engine, policy, network), measured)


def whole_packets(size: Floats) -> Floats:
    """Return sizes rounded up to whole packets, at least one."""
    return np.maximum(np.ceil(size), 1.0)


def _slowdown(network: Network) -> Metric:
    def metric(fct: Floats, size: Floats) -> Floats:
        return fct / (network.rtt + whole_packets(size) / network.link_rate)

    return metric
