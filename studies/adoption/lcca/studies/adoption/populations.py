"""Two populations in the same trials: those who adopt a policy, and all others, by themselves.

Who is of which follows from a trial and the share alone, so that the same senders are compared whatever they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.fabric.trials import LARGEST, FabricTrial
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import of_network_trials
from lcca.evaluation.trials.outcome import Scored
from lcca.evaluation.trials.running import run_record
from lcca.evaluation.trials.source import NetworkTrials
from lcca.evaluation.trials.utility import Floats
from lcca.inputs.errors import require
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.policies.policy import Mixture
from lcca.remy_plus.record import FLOWS, SENDERS, Record

ADOPTERS, OTHERS, ALL = "adopters", "others", "all"


def rows_by_population(
    place: NetworkTrials | FabricTrials, mixtures: Mapping[str, Mixture], block: Block
) -> pd.DataFrame:
    """Run mixtures of two policies on a stretch of trials, and score both populations of each share.

    Args:
        place: of the trials.
        mixtures: by their names: one in which nobody adopts, and others.
        block: of trials.

    Returns:
        A row per trial, mixture and population: for each share between 0 and 1 of `ADOPTERS` and `OTHERS` in the
        mixture of that share and, as they are without it, where nobody adopts; and of `ALL` in every mixture. The score
        of a population is NaN where one of the two is empty: nobody is beside anybody then. Columns are those of
        `TrialSource.rows`, share (of the populations), mix (the mixture's own share), population, and
        taken: the population's share of what all senders received over its share of their fair share of the link: 1 is
        fair; on a fabric its share of the payload that was delivered over that of what was to be sent;
        jain: Jain's index over its throughputs, on a fabric over 1 / slowdown of its flows.

    Raises:
        InputError: what cannot be run here, or a utility that is not of senders or flows.
    """
    if isinstance(place, NetworkTrials):
        rows = pd.concat(_of_networks(place, mixtures, block), ignore_index=True)
    else:
        rows = pd.concat(_of_fabric(place, mixtures, block), ignore_index=True)
    rows["mix"] = rows["policy"].map({name: each.share for name, each in mixtures.items()})
    own = (rows["mix"] == 0) & (rows["share"] < 1)
    return rows[own | (rows["mix"] == rows["share"])].reset_index(drop=True)


def jain(values: Floats, of: NDArray[np.integer[Any]], groups: int) -> Floats:
    """Return Jain's index of each group of values: (Σ x)² / (n Σ x²), from 1/n to 1; NaN of nothing: (groups,)."""
    count, sums, squares = (np.bincount(of, each, groups) for each in (np.ones_like(values), values, values**2))
    found: Floats = np.divide(sums**2, count * squares, out=np.full(groups, np.nan), where=squares > 0)
    return found


def _shares(mixtures: Mapping[str, Mixture]) -> list[float]:
    return list(dict.fromkeys(each.share for each in mixtures.values()))


def _populations(share: float, adopts: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    return {ADOPTERS: adopts, OTHERS: ~adopts} if 0 < share < 1 else {ALL: np.ones_like(adopts)}


def _of_networks(place: NetworkTrials, mixtures: Mapping[str, Mixture], block: Block) -> Iterator[pd.DataFrame]:
    networks = place.space.draw(place.seed, block.size, first_id=block.first)
    keep = {"keep_flows": "flows" in place.utility.keeps, "keep_delays": "delays" in place.utility.keeps}
    record, identity = run_record(place.simulator, mixtures, networks, place.seeds, **keep)
    trials = list(zip(identity["seed"].tolist(), record.network_index.tolist(), strict=True))
    for share in _shares(mixtures):
        ends = [(seed, networks[at].drawn_by, "adoption", 0, networks[at].senders) for seed, at in trials]
        adopts = np.concatenate([chosen(*each, share) for each in ends])
        found = _populations(share, adopts)
        yield _table(place, record, identity, share, found)
        if len(found) > 1:
            whole = identity["policy"].map({name: each.share for name, each in mixtures.items()}) == share
            yield _table(place, record, identity, share, _populations(1, adopts))[whole.to_numpy()]


def of_senders(record: Record, those: NDArray[np.bool_]) -> Record:
    """Return the record of some senders, (senders,), and their flows alone; trials and links stay as they are."""
    row = record["sender_begin"][:-1]
    found = {
        name: each[those] for name, each in record.columns.items() if name[7:] in SENDERS and name[:7] == "sender_"
    }
    found |= {"sender_begin": _begin(np.bincount(record.sender_trial[those], minlength=record.trials))}
    if "flow_begin" in record.columns:
        trial = np.repeat(np.arange(record.trials), np.diff(record["flow_begin"]))
        flows = those[row[trial] + record["flow_sender"]]
        found |= {name: np.asarray(each)[flows] for name, each in record.columns.items() if name[5:] in FLOWS}
        found |= {"flow_begin": _begin(np.bincount(trial[flows], minlength=record.trials))}
    return replace(record, columns={**record.columns, **found})


def _begin(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _table(
    place: NetworkTrials, record: Record, identity: pd.DataFrame, share: float, found: Mapping[str, NDArray[np.bool_]]
) -> pd.DataFrame:
    tables = []
    parts = {name: of_senders(record, those) for name, those in found.items()}
    beside = (record.errors == "") & np.all([np.diff(own["sender_begin"]) > 0 for own in parts.values()], axis=0)
    for name, own in parts.items():
        scored = Scored(own, place.utility)
        table = identity.assign(share=share, population=name, **of_network_trials(scored), taken=_taken(own, record))
        throughput = own.floats("sender_delivered") / np.maximum(own.floats("sender_share_us"), 1e-9)
        on = own.floats("sender_share_us") > 0
        table["jain"] = jain(throughput[on], own.sender_trial[on], own.trials)
        table["score_bits"] = table["score_bits"].where(beside)
        tables.append(table.assign(status=np.where(record.errors == "", "ok", "failed"), error=record.errors))
    return pd.concat(tables, ignore_index=True)


def _taken(own: Record, record: Record) -> Floats:
    sums = [
        np.bincount(each.sender_trial, each.floats(name), each.trials)
        for name in ("sender_delivered", "sender_share_us")
        for each in (own, record)
    ]
    received, everything, due, time = sums
    whole = everything * due
    fair: Floats = np.divide(received * time, whole, out=np.full(own.trials, np.nan), where=whole > 0)
    return fair


def _of_fabric(place: FabricTrials, mixtures: Mapping[str, Mixture], block: Block) -> Iterator[pd.DataFrame]:
    require(place.utility.of.needs == "flows", f"{place.utility.name}: adoption needs a utility of flows")
    trials = place.trials(mixtures, block)
    order = {name: at for at, name in enumerate(mixtures)}
    for trial in sorted(trials, key=lambda each: order[each.policy]):
        own = mixtures[trial.policy].share
        for share in _shares(mixtures):
            adopts = chosen(trial.seed % LARGEST, 0, "adoption", 0, trial.hosts, share)
            kinds = [_populations(share, adopts), *([_populations(1, adopts)] if share == own else [])]
            yield from (_rows_of_trial(place, trial, share, each) for each in kinds)


def _rows_of_trial(
    place: FabricTrials, trial: FabricTrial, share: float, found: Mapping[str, NDArray[np.bool_]]
) -> pd.DataFrame:
    parts = {name: replace(trial, hosts_of=those) for name, those in found.items()}
    beside = all(len(own.started) for own in parts.values())
    delivered, size = trial.record["flow_delivered_bytes"], trial.flows.size_bytes
    rows = []
    for name, own in parts.items():
        met, sent = (float(each[own.started].sum() / each[trial.started].sum()) for each in (delivered, size))
        row = own.row(place.utility) if beside else {"policy": trial.policy, "seed": trial.seed, "score_bits": np.nan}
        row |= {"network": place.number(trial), "share": share, "population": name}
        telling = own.times.telling
        row |= {"taken": met / sent if sent else np.nan, "jain": jain(1 / telling.slowdown, telling.trial, 1)[0]}
        rows.append(row | {"status": "ok", "error": ""})
    return pd.DataFrame(rows)
