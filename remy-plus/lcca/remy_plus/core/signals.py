"""What people call the engine's signals: name, label and unit, in the engine's index order.

All of it is the engine's own table (``signals.hpp``). What a signal means and where it comes from is told by the
registry in ``lcca.signal_sets``.
"""

from __future__ import annotations

from typing import NamedTuple

from lcca.remy_plus import _core

SIGNAL_CEILING: float = _core.SIGNAL_CEILING
"""Every signal lives in [0, SIGNAL_CEILING): the domain of R+'s rule trees."""


class Quantity(NamedTuple):
    """What the engine's table has of a signal.

    Attributes:
        label: in a sentence.
        unit: after the number; empty for ratios.
        smoothing: in words.
        largest: value that it can have, 1 for shares.
        scale_unit: an agent sees log2(1 + value / scale_unit) / scale_divisor.
        scale_divisor: 0 for shares, which agents see as they are.
        form: how a law sees it: "level", "excess", "ratio", "utilisation", "rare" or "even" (`lcca_form` in law.h).
        carried: the signal that a header has to carry for it; None for end-to-end ones.
        field: what a header calls that.
        of_hosts: whether only selective hosts of a fabric know it.
    """

    label: str
    unit: str
    smoothing: str
    largest: float
    scale_unit: float
    scale_divisor: float
    form: str
    of_hosts: bool
    carried: str | None
    field: str | None


QUANTITIES: dict[str, Quantity] = {row.pop("name"): Quantity(**row) for row in _core.signal_table()}

SIGNALS: tuple[str, ...] = tuple(name for name, found in QUANTITIES.items() if not found.of_hosts)
"""Names of the engine's signals; a signal's position is its index in the engine. The first nine are R+'s."""

OF_HOSTS: tuple[str, ...] = tuple(QUANTITIES)[len(SIGNALS) :]
"""What follows them: signals that hosts of a fabric know without a header, for laws for fabrics alone."""

OF_SELECTIVE_HOSTS = ("trims", "marked_ways", "credit")
"""Those that hosts with selective retransmission alone know."""

CARRIED: dict[str, str] = {name: found.carried for name, found in QUANTITIES.items() if found.carried is not None}
"""In-network signals, and the one that a header has to carry for each."""
