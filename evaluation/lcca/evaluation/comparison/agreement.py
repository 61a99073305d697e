"""Do two simulators agree? The same policies on the same networks with the same seeds in both.

The unit is a block of networks, as for every verdict (`lcca.evaluation.settling.units`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcca.evaluation.settling.base import UNFINISHED_PERCENT, Rule
from lcca.evaluation.settling.intervals import UNFINISHED, t_interval
from lcca.evaluation.settling.units import BLOCK, means_of
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE, shown
from lcca.evaluation.trials.utility import unfinished_columns
from lcca.inputs.json_values import finite_values
from lcca.remy_plus.core.elementary import log

Floats = NDArray[np.float64]

MARGIN_BITS = 0.05
"""A mean score that differs by less is agreed on; as a throughput-equivalent 3.5 %."""

FEWEST: int = Rule.model_fields["first_look"].default
"""Blocks with fewer of which nothing is settled."""

KEYS = ["policy", "network", "seed"]


@dataclass(frozen=True)
class Agreement:
    """How far two simulators are apart on one metric of one policy.

    Attributes:
        policy: id.
        topology: kind.
        metric: score_bits, throughput_share or delay_us.
        n: networks.
        blocks: of networks, which the interval rests on.
        first: mean in the first simulator (the fast engine), in the metric's unit.
        second: mean in the second (ns-3).
        difference: mean over blocks of second − first: bits for scores, else per cent (of the ratio's logarithm).
        low: lower end of its 95 % Student's t interval over blocks.
        high: upper end.
        spread: standard deviation of the difference over networks.
        worst: largest absolute difference on a network.
        worst_network: which.
        starved: networks on which only one simulator had a starved sender. Whether a flow's first packets are lost is
            chance, and TCP resends after a timeout where the engine's sender waits for ever; it costs bits.
        without_starved: the difference without those networks.
        margin: within which agreement is asked; None for metrics without one.
        verdict: "agree within …", "differ by more than …", or "not settled", as with fewer than `FEWEST` blocks;
            empty without a margin.
    """

    policy: str
    topology: str
    metric: str
    n: int
    blocks: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    spread: float
    worst: float
    worst_network: int
    starved: int
    without_starved: float
    margin: float | None
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values; what is not finite becomes null."""
        return finite_values(asdict(self))


def agreements(
    first: pd.DataFrame, second: pd.DataFrame, topology: str, margin: float = MARGIN_BITS, block: int = BLOCK
) -> list[Agreement]:
    """Return a row per policy and metric of two trials tables.

    Args:
        first: trials of the fast engine; failed ones and those without a partner are left out.
        second: trials of ns-3.
        topology: what both ran on.
        margin: bits.
        block: networks in a block: that of the network space.
    """
    both = paired(first, second)
    found = []
    for policy, rows in both.groupby("policy", sort=False):
        for metric in shown(NETWORK_TRIALS, "compare"):
            within = margin if metric is SCORE else None
            found.append(_agreement(str(policy), topology, metric.name, rows, within, block))
    return found


def paired(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the trials that both tables have, with columns ``<metric>_1`` and ``<metric>_2``."""
    columns = [*KEYS, *(each.name for each in shown(NETWORK_TRIALS, "compare")), "starved"]
    columns += [each for each in unfinished_columns(SCORE.name)[:2] if each in first and each in second]
    good = [table.loc[table["status"] == "ok", columns] for table in (first, second)]
    return good[0].merge(good[1], on=KEYS, suffixes=("_1", "_2"))


def difference(rows: pd.DataFrame, metric: str) -> Floats:
    """Return what the second has more: in bits for scores, as 100·ln of the ratio for other metrics."""
    a, b = (rows[f"{metric}_{i}"].to_numpy(dtype=np.float64) for i in (1, 2))
    if metric == SCORE.name:
        return np.asarray(b - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 100 * log(b / a)
    return np.asarray(np.where(np.isfinite(ratio), ratio, np.nan), dtype=np.float64)


def _agreement(
    policy: str, topology: str, metric: str, rows: pd.DataFrame, margin: float | None, block: int
) -> Agreement:
    by_network = pd.Series(difference(rows, metric), index=rows["network"]).groupby(level=0).mean().dropna()
    units = means_of(by_network, by_network.index, block)
    mean, low, high = t_interval(units)
    sizes = by_network.abs().to_numpy()
    unlike = rows["network"][(rows["starved_1"] > 0) != (rows["starved_2"] > 0)].unique()
    worst = int(sizes.argmax()) if sizes.size else -1
    return Agreement(
        policy=policy,
        topology=topology,
        metric=metric,
        n=len(by_network),
        blocks=units.size,
        first=float(rows[f"{metric}_1"].mean()),
        second=float(rows[f"{metric}_2"].mean()),
        difference=mean,
        low=low,
        high=high,
        spread=float(by_network.std(ddof=1)) if len(by_network) > 1 else math.nan,
        worst=float(sizes[worst]) if sizes.size else math.nan,
        worst_network=int(by_network.index.to_numpy()[worst]) if sizes.size else -1,
        starved=len(unlike),
        without_starved=float(by_network.drop(unlike, errors="ignore").mean()),
        margin=margin,
        verdict="" if margin is None else UNFINISHED if _bounds(rows) else _verdict(units.size, low, high, margin),
    )


def _bounds(rows: pd.DataFrame) -> bool:
    """Tell whether too much is unfinished in either simulator to know mean scores; nothing is of senders."""
    sides = [[f"{each}_{i}" for each in unfinished_columns(SCORE.name)[:2]] for i in (1, 2)]
    return any(
        of in rows and 100 * (rows[open_] / rows[of].clip(lower=1)).mean() > UNFINISHED_PERCENT for of, open_ in sides
    )


def _verdict(blocks: int, low: float, high: float, margin: float) -> str:
    if blocks < FEWEST:
        return "not settled"
    if -margin <= low and high <= margin:
        return f"agree within {margin:g} bits"
    if low > margin or high < -margin:
        return f"differ by more than {margin:g} bits"
    return "not settled"


@dataclass(frozen=True)
class OrderFlip:
    """Two policies that the simulators rank differently, and whether the second one's difference is told from 0."""

    better_in_first: str
    better_in_second: str
    second_low: float
    second_high: float
    blocks: int

    @property
    def matters(self) -> bool:
        """Whether the second simulator is sure of its order."""
        return self.blocks >= FEWEST and (self.second_low > 0 or self.second_high < 0)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return {
            "first_prefers": self.better_in_first,
            "second_prefers": self.better_in_second,
            "settled": self.matters,
        }


def order_flips(first: pd.DataFrame, second: pd.DataFrame, block: int = BLOCK) -> list[OrderFlip]:
    """Return the pairs of policies whose mean scores are ordered differently in two simulators.

    Policies of whose scores bounds alone are known, in either of them, have no order.
    """
    both = paired(first, second)
    both = pd.concat([both.iloc[:0], *(rows for _, rows in both.groupby("policy") if not _bounds(rows))])
    wide = [both.pivot_table(index="network", columns="policy", values=f"score_bits_{i}").dropna() for i in (1, 2)]
    return [flip for a, b in combinations(list(wide[0].columns), 2) if (flip := _flip(wide, a, b, block))]


def _flip(wide: Sequence[pd.DataFrame], a: str, b: str, block: int) -> OrderFlip | None:
    one, other = (means_of(table[b] - table[a], table.index, block) for table in wide)
    first = float(one.mean())
    second, low, high = t_interval(other)
    if first * second >= 0:
        return None
    better, worse = (b, a) if first > 0 else (a, b)
    return OrderFlip(better, worse, low, high, other.size)
