"""Where the bits go between policies and the fair share, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lcca.evaluation.bounds.gap import BY, MEASURED, GapGroup
from lcca.evaluation.report.words.statements import with_error
from lcca.evaluation.report.words.table import Columns, Table
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
    heads = ("Below what is possible, bits", "Utilisation", "Unfairness", "Delay")
    columns: Columns = {
        **{"Networks": lambda each: each.words, "Policy": lambda each: call(each.policy)},
        "n": lambda each: f"{each.networks:,}",
        **{head: partial(_with_error, name=name) for head, name in zip(heads, NAMES, strict=True)},
    }
    return Table.of(caption, sorted(groups, key=lambda each: (BY.index(each.by), each.low)), columns, left=2)


def phase_table(phases: Sequence[Mapping[str, Any]], whose: str, call: Callable[[str], str] = str) -> Table:
    """Return a row per phase and policy, policies side by side, of what `gap_phases` has.

    Args:
        phases: of some policies.
        whose: that they are, in words.
        call: returns what a policy is called.
    """
    order = list(PHASES)
    columns: Columns = {
        "Since a flow last started or ended": lambda each: PHASES[each["phase"]],
        **{
            "Policy": lambda each: call(each["policy"]),
            "Share of time": lambda each: f"{100 * each['time_share']:.0f} %",
        },
        **{head: (name, 4) for head, name in zip(("Utilisation, bits", "Delay, bits"), PARTS[1:], strict=True)},
    }
    caption = f"{whose}: the losses to utilisation and delay, by phase"
    return Table.of(caption, sorted(phases, key=lambda each: order.index(each["phase"])), columns, left=2)


NAMES = tuple(each.name for each in MEASURED)


def _with_error(group: GapGroup, name: str) -> str:
    return with_error(group.bits[name], group.bits[f"{name}_se"] if name == NAMES[0] else None)
