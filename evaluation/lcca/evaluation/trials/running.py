"""Running trials: policies × networks, all on the same traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.trials.layout import NETWORK_COLUMNS
from lcca.evaluation.trials.metrics import of_network_trials
from lcca.evaluation.trials.outcome import Scored
from lcca.evaluation.trials.phases import columns_by_phase
from lcca.evaluation.trials.utility import Utility, unfinished_columns
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.record import REAL_TIME, Record
from lcca.remy_plus.simulator import Simulator


def run_trials(
    engine: Simulator,
    policies: Mapping[str, Policy],
    networks: Sequence[Network],
    seeds: Sequence[int],
    utility: Utility,
    *,
    keep_delays: bool = True,
    keep_phases: bool = False,
) -> pd.DataFrame:
    """Run every policy on every network with every seed and return the trials table.

    Policies meet the same traffic on the same (network, seed): common random numbers. Rows are ordered by policy,
    network, seed, and hold the network's parameters. Columns and units: `docs/reference/formats.md`; percentiles of
    delays that are not kept are NaN. With `keep_phases`, which the fast engine alone has, there are columns of
    `lcca.evaluation.trials.phases` too; of trials in real time there are also those of `REAL_TIME`.
    """
    delays, flows = keep_delays or "delays" in utility.keeps, "flows" in utility.keeps
    keep = {"keep_delays": delays, "keep_flows": flows} | ({"keep_phases": True} if keep_phases else {})
    record, identity = run_record(engine, policies, networks, seeds, **keep)
    errors = record.errors
    identity = identity.assign(
        simulator=engine.name,
        status=np.where(errors == "", "ok", "failed"),
        error=errors.astype(str),
        utility=utility.name,
        duration_us=engine.duration,
    )
    scored = Scored(record, utility)
    if "flows" in utility.keeps:
        of, unfinished, lacking = unfinished_columns("score_bits")
        identity[of], identity[unfinished] = scored.scores.senders_counted, scored.scores.starved
        identity[lacking] = np.nan
    real = {name: record.floats(f"trial_{name}") for name in REAL_TIME if f"trial_{name}" in record.columns}
    measured = pd.DataFrame(of_network_trials(scored) | (columns_by_phase(scored) if keep_phases else {}) | real)
    measured.loc[errors != "", measured.select_dtypes("float").columns] = np.nan
    rows = [{name: getattr(n, name) for name in NETWORK_COLUMNS} | {"topology": str(n.topology)} for n in networks]
    drawn: pd.DataFrame = pd.DataFrame(rows, columns=NETWORK_COLUMNS).iloc[record.network_index].reset_index(drop=True)
    return pd.concat([identity, measured, drawn], axis=1)


def run_record(
    engine: Simulator, policies: Mapping[str, Policy], networks: Sequence[Network], seeds: Sequence[int], **keep: bool
) -> tuple[Record, pd.DataFrame]:
    """Run every policy on every network with every seed; return the record, and what each trial is, (trials,) rows.

    Columns of the latter: policy, network, seed; policy by policy.
    """
    listed = NetworkList(networks)
    policy, network, seed = (i.ravel() for i in np.indices((len(policies), len(listed), len(seeds))))
    seed_values = np.asarray(seeds, dtype=np.uint64)[seed]
    record = engine.run([engine.compile(p) for p in policies.values()], listed, policy, network, seed_values, **keep)
    identity = {
        "policy": np.array(list(policies), dtype=object)[policy],
        "network": np.array([n.id for n in networks], dtype=np.int64)[network],
        "seed": seed_values.astype(np.int64),
    }
    return record, pd.DataFrame(identity)


def common_scores(trials: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return each policy's score per network, in the order of their numbers: its mean over the seeds.

    It is NaN for all policies where a trial of any of them failed or had no sender to score.
    """
    rows = trials.assign(score=trials["score_bits"].where(trials["status"] == "ok"))
    wide = rows.pivot(index=["network", "seed"], columns="policy", values="score")
    means = wide.where(wide.notna().all(axis=1)).groupby(level="network").mean()
    lost = wide.isna().any(axis=1).groupby(level="network").any()
    return {str(name): means[name].mask(lost).to_numpy(dtype=np.float64) for name in means}


def mean_scores(trials: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return each policy's score per network: the mean over its seeds, NaN where a trial failed."""
    rows = trials.assign(score_bits=trials["score_bits"].where(trials["status"] == "ok"))
    failed = rows["status"].ne("ok").groupby([rows["policy"], rows["network"]]).any()
    mean = rows.groupby(["policy", "network"])["score_bits"].mean().mask(failed)
    return {str(name): mean.loc[name].to_numpy(dtype=np.float64) for name in dict.fromkeys(rows["policy"])}
