"""What a confirmation says by budget: the best header within each, or none, and which of them no other one beats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from lcca.studies.design.config import Budget
from lcca.studies.design.listing import Tried

Json = Mapping[str, Any]

BYTES = (1, 2, 4, 8, 16)
"""Budgets on the wire that answers are for, below what a search may take."""

STATES = (64, 256, 1024, 4096, 16384)
"""Bits of state at a port that answers are for, likewise."""

PAYS = "pays"


def budgets(most: Budget, oracles: bool) -> list[tuple[int, int | None]]:
    """Return bytes and bits of state that answers are for, the largest those of the search.

    State without end, None, comes where there are oracles.
    """
    sizes = [*(each for each in BYTES if each < most.bytes), most.bytes]
    states: list[int | None] = [*(each for each in STATES if each < most.state_bits), most.state_bits]
    return list(product(sizes, states + [None] * oracles))


def record(tried: Tried, row: Json) -> dict[str, Any]:
    """Return a confirmed header: what it takes, and its net benefit over training seeds."""
    net = row["net_set"]
    return {
        **{"header": tried.name, "bytes": tried.bytes, "state_bits": tried.state_bits, "operations": tried.operations},
        **{"oracle": tried.oracle, "placebo": tried.placebo, "decision": row["decision"]},
        **{key: net[key] for key in ("difference", "low", "high", "n")},
        "percent": net["throughput_equivalent_percent"]["difference"],
        "says": [_number(number, bits) for number, bits in tried.numbers],
    }


def _number(number: Any, bits: int) -> dict[str, Any]:
    return {"number": number.name, "bits": bits, "source": number.source, "measured": number.window or "as it is"}


def answers(
    confirmed: Sequence[Json], pairs: Sequence[Json], within: Sequence[tuple[int, int | None]]
) -> Iterator[dict[str, Any]]:
    """Yield by budget the header to take: of those that pay the cheapest that is not settled worse than the best.

    Args:
        confirmed: rows of `record`.
        pairs: comparisons of all of them with their bytes charged, intervals together.
        within: the budgets.
    """
    worse = {(row["A"], row["B"]) for row in pairs if row["low"] is not None and row["low"] > 0}
    worse |= {(row["B"], row["A"]) for row in pairs if row["high"] is not None and row["high"] < 0}
    worse = {(one.removesuffix("+bytes"), other.removesuffix("+bytes")) for one, other in worse}
    for size, state in within:
        possible = [row for row in confirmed if row["bytes"] <= size and _fits(row, state)]
        paying = [row for row in possible if row["decision"] == PAYS and not row["placebo"]]
        beaten = {row["header"] for row in paying for other in paying if (row["header"], other["header"]) in worse}
        left = [row for row in paying if row["header"] not in beaten]
        taken = min(left, key=_cost, default=None)
        open_ = [row["header"] for row in possible if row["decision"] == "open" and not row["placebo"]]
        yield {
            **{"bytes": size, "state_bits": state, "take": taken["header"] if taken else None, "open": open_},
            "as_good": [row["header"] for row in left if row is not taken],
        }


def _fits(row: Json, state: int | None) -> bool:
    return state is None or (row["state_bits"] is not None and row["state_bits"] <= state)


def _cost(row: Json) -> tuple[float, ...]:
    state = float("inf") if row["state_bits"] is None else row["state_bits"]
    return row["bytes"], state, row["operations"]
