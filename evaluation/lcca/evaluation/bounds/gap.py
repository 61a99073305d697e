"""Where the bits between a policy and the fair share go: by number of senders, bandwidth-delay product, and phase."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.settling.quantiles import quantile
from lcca.evaluation.trials.metrics import BELOW_FAIR, GAP_PARTS, means
from lcca.evaluation.trials.phases import PARTS
from lcca.inputs.json_values import finite_values
from lcca.remy_plus.record import PHASES

SENDERS = (2, 3, 5, 9, 13, 17, 25, 33, 49, 65, 97, 129)
"""Where groups of numbers of senders begin: each has at most about half as many again."""

BY = ("", "senders", "bdp_packets")
"""What networks of a group have in common, in the order of tables; nothing for all networks."""

MEASURED = (BELOW_FAIR, *GAP_PARTS)


@dataclass(frozen=True)
class GapGroup:
    """What some networks have of the gap of a policy.

    Attributes:
        policy: whose.
        by: what the networks have in common, of `BY`.
        low: the least of that.
        below: that they are below; infinite for the last group.
        networks: how many there are.
        bits: means over networks of the gap and its parts, each with its standard error (`…_se`).
    """

    policy: str
    by: str
    low: float
    below: float
    networks: int
    bits: dict[str, float | None]

    @property
    def words(self) -> str:
        """Which networks these are."""
        if self.by == "senders":
            return _from_to(self.low, self.below - 1, "senders").replace("1 senders", "1 sender")
        if self.by == "bdp_packets":
            return f"BDP {_from_to(self.low, self.below, 'packets')}"
        return "all networks"

    def to_json(self) -> dict[str, object]:
        """Return it as JSON values; the ends of `by` are null for all networks, and the last group has no upper one."""
        ends = {"low": self.low, "below": self.below if math.isfinite(self.below) else None}
        named = {"policy": self.policy, "by": self.by or None} | (ends if self.by else {"low": None, "below": None})
        return named | {"networks": self.networks} | finite_values(self.bits)


def _from_to(low: float, high: float, unit: str) -> str:
    if math.isinf(high):
        return f"{low:g} {unit} or more"
    if low == 0:
        return f"below {high:g} {unit}"
    return f"{low:g} {unit}" if low == high else f"{low:g} to {high:g} {unit}"


def gap_groups(trials: pd.DataFrame) -> list[GapGroup]:
    """Return how the gap of every policy divides, over all networks and in groups of them.

    Groups by bandwidth-delay product are quarters of the networks. A network counts once however many trials it has;
    one where a trial failed or has no gap does not count.

    Args:
        trials: with what networks are, as `lcca.evaluation.trials.running.run_trials` returns them.

    Returns:
        Groups of the first policy, of the next, and so on; none where no trial tells of a fair share.
    """
    if BELOW_FAIR.name not in trials:
        return []
    known = _known(trials, ["senders", "link_rate", "rtt", *(each.name for each in MEASURED)])
    known = known.assign(bdp_packets=known["link_rate"] * known["rtt"])
    edges = {"senders": SENDERS, "bdp_packets": _quarters(known.drop_duplicates("network")["bdp_packets"])}
    return [
        group
        for policy, own in known.groupby("policy", sort=False)
        for group in (_group(str(policy), "", 0, math.inf, own), *_grouped(str(policy), own, edges))
    ]


def _known(trials: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return means of columns, a row per policy and network all of whose trials tell of a fair share."""
    lost = trials[BELOW_FAIR.name].isna() | (trials["status"] != "ok")
    out = lost.groupby([trials["policy"], trials["network"]]).transform("any")
    return trials[~out].groupby(["policy", "network"], sort=False)[list(names)].mean().reset_index()


def gap_content(trials: pd.DataFrame) -> dict[str, Any]:
    """Return `gap`, and `gap_by_phase` if trials tell of phases, as JSON values."""
    phases = {"gap_by_phase": found} if (found := gap_phases(trials)) else {}
    return {"gap": [each.to_json() for each in gap_groups(trials)], **phases}


def gap_phases(trials: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a record per policy and phase, in time order: `policy`, `phase`, and means of `PARTS` over its networks.

    None where trials do not tell of phases. Over all phases the bits add up to what is lost to utilisation and delay.
    """
    columns = {phase: {part: f"phase_{phase}_{part}" for part in PARTS} for phase in PHASES}
    names = [name for each in columns.values() for name in each.values()]
    if not set(names) <= set(trials):
        return []
    means_of = _known(trials, names).groupby("policy", sort=False)[names].mean()
    return [
        {"policy": str(policy), "phase": phase} | {part: float(own[name]) for part, name in each.items()}
        for policy, own in means_of.iterrows()
        for phase, each in columns.items()
    ]


def _quarters(bdp: pd.Series[float]) -> tuple[float, ...]:
    """Return where the second, third and last quarter of bandwidth-delay products begin, in round numbers."""
    if bdp.empty:
        return ()
    return tuple(dict.fromkeys(float(f"{quantile(bdp, p):.2g}") for p in (0.25, 0.5, 0.75)))


def _grouped(policy: str, own: pd.DataFrame, edges: dict[str, tuple[float, ...]]) -> Iterator[GapGroup]:
    """Yield the groups of a policy that have networks, where there is more than one."""
    for by, begins in edges.items():
        least = 1.0 if by == "senders" else 0.0
        at = np.searchsorted(begins, own[by], side="right")
        for i in np.unique(at) if len(np.unique(at)) > 1 else ():
            low, below = (least, *begins)[i], (*begins, math.inf)[i]
            yield _group(policy, by, low, below, own[at == i])


def _group(policy: str, by: str, low: float, below: float, networks: pd.DataFrame) -> GapGroup:
    return GapGroup(policy, by, low, below, len(networks), means(networks, MEASURED))
