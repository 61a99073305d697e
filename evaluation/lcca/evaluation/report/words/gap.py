"""Where the bits go between policies and the fair share, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lcca.evaluation.bounds.gap import BY, MEASURED, GapGroup
from lcca.evaluation.report.words.statements import number, with_error
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.phases import PARTS
from lcca.remy_plus.record import PHASES

NOTE = (
    "What is possible is an equal part of the link at every instant for every sender that is on, without a queue. The "
    "difference to it is the sum of three losses: utilisation, by what all senders received together; unfairness, "
    "which is below 0 where senders that are on for little of the time get more than their share; and delay."
)


def gap_table(groups: Sequence[GapGroup], caption: str, call: Callable[[str], str] = str) -> Table:
    """Return a row per group of networks and policy, policies side by side.

    Args:
        groups: what some policies have.
        caption: above it.
        call: returns what a policy is called.
    """
    rows = [
        (each.words, call(each.policy), f"{each.networks:,}", *(_with_error(each, name) for name in NAMES))
        for each in sorted(groups, key=lambda each: (BY.index(each.by), each.low))
    ]
    head = ("Networks", "Policy", "n", "Below what is possible, bits", "Utilisation", "Unfairness", "Delay")
    return Table(caption, head, rows, left=2)


def phase_table(phases: Sequence[Mapping[str, Any]], whose: str, call: Callable[[str], str] = str) -> Table:
    """Return a row per phase and policy, policies side by side, of what `gap_phases` has.

    Args:
        phases: of some policies.
        whose: that they are, in words.
        call: returns what a policy is called.
    """
    order = list(PHASES)
    rows = [
        (
            *(PHASES[each["phase"]], call(each["policy"]), f"{100 * each['time_share']:.0f} %"),
            *(number(each[name], 4) for name in PARTS[1:]),
        )
        for each in sorted(phases, key=lambda each: order.index(each["phase"]))
    ]
    head = ("Since a flow last started or ended", "Policy", "Share of time", "Utilisation, bits", "Delay, bits")
    return Table(f"{whose}: the losses to utilisation and delay, by phase", head, rows, left=2)


NAMES = tuple(each.name for each in MEASURED)


def _with_error(group: GapGroup, name: str) -> str:
    return with_error(group.bits[name], group.bits[f"{name}_se"] if name == NAMES[0] else None)
