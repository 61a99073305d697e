"""Running trials: policies × networks, all on the same traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from lcca.evaluation.scoring import trial_rows
from lcca.evaluation.utility import Utility
from lcca.remy_plus.engine import Engine, NetworkList, compile_policy
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies import Policy

SIMULATOR = "engine"


def run_trials(
    engine: Engine,
    policies: Mapping[str, Policy],
    networks: Sequence[Network],
    seeds: Sequence[int],
    utility: Utility,
    *,
    keep_delays: bool = True,
) -> pd.DataFrame:
    """Run every policy on every network with every seed and return the trials table.

    Policies meet the same traffic on the same (network, seed): common random numbers. Rows are ordered by policy,
    network, seed. Columns and units: `docs/formats.md`.
    """
    listed = NetworkList(networks)
    shape = (len(policies), len(listed), len(seeds))
    policy, network, seed = (i.ravel() for i in np.indices(shape))
    seed_values = np.asarray(seeds, dtype=np.uint64)[seed]
    compiled = [compile_policy(p) for p in policies.values()]
    batch = engine.run(compiled, listed, policy, network, seed_values, keep_delays=keep_delays)
    names = np.array(list(policies), dtype=object)
    identity = pd.DataFrame(
        {
            "policy": names[policy],
            "network": np.array([n.id for n in networks], dtype=np.int64)[network],
            "seed": seed_values.astype(np.int64),
            "simulator": SIMULATOR,
            "status": "ok",
            "error": "",
            "utility": utility.name,
            "duration_us": engine.duration,
        }
    )
    return pd.concat([identity, trial_rows(batch, utility)], axis=1)


def network_rows(networks: Sequence[Network]) -> pd.DataFrame:
    """Return the networks table (packets, µs)."""
    rows = pd.DataFrame([asdict(n) for n in networks])
    return rows.rename(columns={"id": "network"}).astype({"network": np.int64})


def aligned_scores(trials: pd.DataFrame, policy: str, metric: str = "score_bits") -> pd.Series:
    """Return one policy's metric by (network, seed), in the order of the table; failed trials are NaN."""
    rows = trials[trials["policy"] == policy]
    values = rows[metric].where(rows["status"] == "ok")
    return pd.Series(values.to_numpy(), index=pd.MultiIndex.from_frame(rows[["network", "seed"]]))
