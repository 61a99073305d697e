"""The net benefit of a header: what its signals bring, less what its bytes cost; and which header to take.

- **gross**: the policy that sees the header's signals, its bytes free, against the baseline;
- **cost**: the same policy with the bytes charged on every packet, against itself with them free;
- **net**: the policy with the bytes charged, against the baseline.

All three are paired on the same networks and traffic, so gross + cost = net on every pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lcca.evaluation.comparison.compare import Comparison

Json = dict[str, Any]

CHARGED = "+bytes"
"""Ends the id of a policy whose header's bytes are charged."""


@dataclass(frozen=True)
class NetBenefit:
    """One header under one utility.

    Attributes:
        header: the candidate's name.
        title: how people call it.
        utility: name.
        wire_bytes: on a data packet after one hop.
        reflected_bytes: on its acknowledgement.
        packet_bytes: of the data packet without it.
        gross: signals free; like the others a comparison of selected policies.
        cost: bytes charged against free; None for a header that adds none.
        net: bytes charged.
        gross_set: signals free, over training seeds.
        net_set: bytes charged, over training seeds.
    """

    header: str
    title: str
    utility: str
    wire_bytes: int
    reflected_bytes: int
    packet_bytes: int
    gross: Comparison
    cost: Comparison | None
    net: Comparison
    gross_set: Comparison
    net_set: Comparison

    def to_json(self) -> Json:
        """Return the record as JSON values."""
        parts = ("gross", "cost", "net", "gross_set", "net_set")
        said = {key: value for key, value in vars(self).items() if key not in parts}
        return said | {key: value and value.to_json() for key in parts for value in [getattr(self, key)]}


@dataclass(frozen=True)
class Choice:
    """Which header to take under one utility.

    Attributes:
        utility: name.
        best: the header with the largest net benefit of those settled better than the baseline; None if there are none.
        take: the cheapest one of those not worse than the best by more than the margin; the best itself if none
            is cheaper.
        front: headers that no other beats in both net benefit and bytes, by their estimates, from few bytes to many.
    """

    utility: str
    best: str | None
    take: str | None
    front: tuple[str, ...]


def best_of(rows: Sequence[NetBenefit]) -> NetBenefit | None:
    """Return the header with the largest net benefit of those that are settled better than the baseline."""
    good = [row for row in rows if row.net.verdict.name == "better"]
    return max(good, key=lambda row: (row.net.difference, -row.wire_bytes), default=None)


def choose(utility: str, rows: Sequence[NetBenefit], rivals: Sequence[tuple[NetBenefit, Comparison]]) -> Choice:
    """Return which header to take.

    Args:
        utility: name.
        rows: of this utility.
        rivals: other headers, each with its comparison (B) with the best one (A), bytes charged.
    """
    best = best_of(rows)
    if best is None:
        return Choice(utility, None, None, front(rows))
    cheaper = [(row, found) for row, found in rivals if row.wire_bytes < best.wire_bytes]
    as_good = [row for row, found in cheaper if found.verdict.name in ("equivalent", "better")]
    as_good = [row for row in as_good if row.net.verdict.name == "better"]
    take = min(as_good, key=lambda row: (row.wire_bytes, -row.net.difference), default=best)
    return Choice(utility, best.header, take.header, front(rows))


def front(rows: Sequence[NetBenefit]) -> tuple[str, ...]:
    """Return the headers on the Pareto front of net benefit against bytes; the baseline has 0 of both."""
    found: list[str] = []
    highest = 0.0
    for row in sorted(rows, key=lambda row: (row.wire_bytes, -row.net.difference)):
        if row.net.difference > highest:
            found.append(row.header)
            highest = row.net.difference
    return tuple(found)
