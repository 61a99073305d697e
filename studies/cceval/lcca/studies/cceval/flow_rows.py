"""Rows of flows: policies × networks with sizes of flows, all on the same traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lcca.evaluation.trials.metrics import of_flows
from lcca.evaluation.trials.outcome import flow_times
from lcca.evaluation.trials.running import run_record
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import Simulator


def run_flows(
    engine: Simulator, policies: Mapping[str, Policy], networks: Sequence[Network], seeds: Sequence[int]
) -> pd.DataFrame:
    """Run every policy on every network with every seed and return a row per flow.

    For networks with open flows, or byte-switched ones. Columns: policy, network, seed, flow (number within the
    trial), start_us, size_packets, ideal_fct_us (alone on the link: rtt + size / link_rate, and the service at further
    hops), completed, and what flows are measured by (`lcca.evaluation.trials.metrics.FLOWS`): fct_us from the start to
    the last packet's arrival, slowdown, their ratio. All policies meet the same flows.
    """
    record, identity = run_record(engine, policies, networks, seeds, keep_flows=True)
    times = flow_times(record)
    flows = identity.iloc[times.trial].reset_index(drop=True)
    return flows.assign(
        flow=np.arange(len(times.trial)) - np.asarray(record["flow_begin"])[times.trial],
        start_us=record.floats("flow_start_us"),
        size_packets=record.floats("flow_length"),
        ideal_fct_us=times.ideal,
        completed=times.finished,
        **of_flows(times),
    )
