"""What is reported of a fabric trial: slowdowns and completion times of flows, all and by size; queues and pauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.trials.outcome import FlowTimes
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.flows import FabricFlows

if TYPE_CHECKING:
    from lcca.remy_plus.fabric.engine import Record

SIZE_CLASSES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Bytes at which a new class of sizes begins."""

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


FLOW_COLUMNS = (
    *("flows", "flows_finished"),
    *(pattern.format(name) for pattern in ("slowdown_{}", "fct_{}_us") for name in ("mean", *QUANTILES)),
    "goodput_gbps",
)
PORT_COLUMNS = (
    *(
        "queue_max_bytes",
        "queue_mean_bytes",
        "queue_p99_bytes",
        "ecn_marks",
        "pfc_pauses",
        "paused_us",
        "drops",
        "retransmissions",
    ),
    *("packets", "end_us"),
)
ROUND_COLUMNS = ("rounds_finished", "round_mean_us", "round_max_us")
"""What is reported of a trial; the last ones where flows belong to rounds."""


def times_of(
    flows: FabricFlows, fct_ns: ArrayLike, ideal_ns: ArrayLike, end_ns: float, start_ns: ArrayLike | None = None
) -> FlowTimes:
    """Return what became of a trial's flows, in ns; those that did not start are left out.

    Args:
        flows: that were given.
        fct_ns: (flows,) completion times, NaN where a flow did not finish.
        ideal_ns: (flows,) completion times alone.
        end_ns: when the trial ended.
        start_ns: (flows,) when they started, NaN where a flow did not; as they are given if left out.

    Raises:
        InputError: arrays that do not belong to these flows.
    """
    fct, ideal = np.asarray(fct_ns, dtype=np.float64), np.asarray(ideal_ns, dtype=np.float64)
    if {len(fct), len(ideal)} != {len(flows)}:
        raise InputError(f"{len(flows)} flows have {len(fct)} completion times and {len(ideal)} ideal ones")
    start = flows.start_ns if start_ns is None else np.asarray(start_ns, dtype=np.float64)
    trial = np.zeros(len(flows), dtype=np.int64)
    found = FlowTimes(flows.size_bytes.astype(np.float64), fct, ideal, end_ns - start, trial)
    return found.where(start <= end_ns)


def flow_metrics(times: FlowTimes) -> dict[str, float | int]:
    """Return the metrics of one trial's flows, whose times are in ns.

    Slowdowns and completion times of flows that did not finish are lower bounds, and so are the means and quantiles
    with them; `flows` less `flows_finished` says how many they are. Quantiles are linear between flows. The goodput
    is the payload of the finished flows over the time from the first start to the last completion or, with flows that
    did not finish, the end of the trial.
    """
    fct = times.at_least / 1000
    found: dict[str, float | int] = {"flows": len(fct), "flows_finished": int(times.finished.sum())}
    found |= _spread("slowdown_{}", times.slowdown) | _spread("fct_{}_us", fct)
    return found | {"goodput_gbps": _goodput(times)}


def round_metrics(
    rounds: NDArray[np.integer[Any]], start_ns: NDArray[np.float64], times: FlowTimes
) -> dict[str, float | int]:
    """Return the metrics of one trial's rounds; nothing where no flow belongs to one. See `round_times`."""
    found = round_times(rounds, start_ns, times)
    if found.empty:
        return {}
    values = (int(found["finished"].sum()), float(found["took_us"].mean()), float(found["took_us"].max()))
    return dict(zip(ROUND_COLUMNS, values, strict=True))


def round_times(rounds: NDArray[np.integer[Any]], start_ns: NDArray[np.float64], times: FlowTimes) -> pd.DataFrame:
    """Return a row per round, in their order: took_us and finished.

    A round takes from its start to the end of its last flow. Of one that did not finish it is a lower bound, as of its
    flows.

    Args:
        rounds: (flows,) of the flows that started; −1 is none.
        start_ns: (flows,) when they did.
        times: of these flows, in ns.
    """
    table = pd.DataFrame({"start": start_ns, "end": start_ns + times.at_least, "finished": times.finished})
    found = table[rounds >= 0].groupby(rounds[rounds >= 0]).agg({"start": "min", "end": "max", "finished": "all"})
    return found.assign(took_us=(found["end"] - found["start"]) / 1000)[["took_us", "finished"]]


def port_metrics(record: Record, hosts: int) -> dict[str, float | int]:
    """Return the metrics of one trial's ports.

    Queues are those of the fullest port of a switch: the largest over ports of what waited there at most, of the mean
    and of the p99 over the time of the trial. Marks, pauses (frames), the time that ports stood paused, drops and
    retransmissions (packets) are sums over all ports; `packets` counts data packets that hosts received. There are
    none where a simulator tells of flows only.
    """
    if "port_node" not in record:
        return {}
    at_switch = record["port_node"] >= hosts
    return {
        "queue_max_bytes": float(np.max(record["port_most_queued_bytes"], where=at_switch, initial=0)),
        "queue_mean_bytes": float(np.max(record["port_mean_queued_bytes"], where=at_switch, initial=0)),
        "queue_p99_bytes": float(np.max(record["port_p99_queued_bytes"], where=at_switch, initial=0)),
        "ecn_marks": int(record["port_marked_packets"].sum()),
        "pfc_pauses": int(record["port_pauses_sent"].sum()),
        "paused_us": float(record["port_paused_ns"].sum()) / 1000,
        "drops": int(record["port_drops"].sum()),
        "retransmissions": int(record["retransmitted_packets"]),
        "packets": packets_of(record, hosts),
        "end_us": float(record["end_ns"]) / 1000,
    }


def packets_of(record: Record, hosts: int) -> int:
    """Return how many data packets hosts received in a trial."""
    return int(record["port_data_packets"][record["port_peer"] < hosts].sum())


def by_size(times: FlowTimes, boundaries: Sequence[float] = SIZE_CLASSES) -> pd.DataFrame:
    """Return a row per class of sizes: the columns of `flow_metrics`, size_from and size_to (bytes, exclusive).

    Args:
        times: of the flows, in ns.
        boundaries: bytes at which a new class begins, rising.
    """
    if any(a >= b for a, b in zip((0, *boundaries), boundaries, strict=False)):
        raise InputError(f"boundaries of sizes must rise from more than 0, got {list(boundaries)}")
    edges = (0.0, *boundaries, np.inf)
    kind: NDArray[np.int64] = np.searchsorted(np.array(boundaries), times.size_bytes, side="right")
    rows = [
        {"size_from": edges[i], "size_to": edges[i + 1]} | flow_metrics(times.where(kind == i))
        for i in range(len(edges) - 1)
    ]
    return pd.DataFrame(rows)


def _spread(name: str, values: NDArray[np.float64]) -> dict[str, float | int]:
    """Return mean and quantiles under names made of a pattern; NaN without values."""
    if not len(values):
        return {name.format(each): np.nan for each in ("mean", *QUANTILES)}
    quantiles = np.quantile(values, list(QUANTILES.values())).tolist()
    return {name.format("mean"): float(values.mean())} | dict(
        zip([name.format(each) for each in QUANTILES], quantiles, strict=True)
    )


def _goodput(times: FlowTimes) -> float:
    """Return Gb/s, which is bits per ns."""
    if not len(times.size_bytes):
        return np.nan
    until_end = times.so_far - np.where(times.finished, times.taken, times.so_far)
    span = times.so_far.max() - until_end.min()
    return float(times.size_bytes[times.finished].sum() * 8 / span) if span > 0 else np.nan
