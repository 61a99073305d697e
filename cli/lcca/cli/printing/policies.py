"""The tables of `lcca evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lcca.cli.printing.console import print_table, wide_console
from lcca.evaluation.bounds.ideals import IDEALS
from lcca.evaluation.report.words.results import agreement_table, simulator_label
from lcca.evaluation.report.words.statements import with_error
from lcca.evaluation.report.words.table import Columns, Table
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, Metric, shown


def print_networks(found: Sequence[dict[str, Any]], packet_bytes: int) -> None:
    """Print a table per policy, a row per network."""
    gbps = packet_bytes * 8e-3  # of a packet/µs
    metrics = [
        each.in_gbps(packet_bytes) if each.unit == "packets/µs" else each for each in shown(NETWORK_TRIALS, "evaluate")
    ]
    for policy in dict.fromkeys(row["id"] for row in found):
        rows = [row for row in found if row["id"] == policy]
        bounds = [name for name in IDEALS if any(name in r for r in rows)]
        columns: Columns = {
            "network": lambda r: (
                f"{r['network']}: {r['link_rate'] * gbps:g} Gb/s, rtt {r['rtt']:g} µs, senders: {r['senders']}"
            ),
            **{each.head: partial(_measured, metric=each) for each in metrics},
            **{name.removesuffix("_bits"): (name, 3) for name in bounds},
        }
        print_table(Table.of(f"{policy} (± one standard error over seeds)", rows, columns))
    sizes = f"{gbps:g} Gb/s are 1 packet/µs with packets of {packet_bytes:,} bytes"
    above = (
        "throughput is per time that a sender is on: what arrives later counts too, so it can exceed the link's rate"
    )
    wide_console().print(f"{sizes}; {above}", style="dim")


def _measured(row: dict[str, Any], metric: Metric) -> str:
    value, error = (None if (at := row[f"{metric.name}{end}"]) is None else at / metric.scale for end in ("", "_se"))
    return with_error(value, error)


def print_agreement(found: dict[str, Any]) -> None:
    """Print where both simulators agree, and where they would order policies differently."""
    one, other = map(simulator_label, found["simulators"])
    print_table(
        agreement_table(found["agreement"], found["simulators"]), "intervals by Student's t over blocks of networks"
    )
    for each in found["order_flips"]:
        sure = "settled" if each["settled"] else f"not settled in {other}"
        first = "the engine" if one == "engine" else one
        words = f"order: {first} prefers {each['first_prefers']}, {other} {each['second_prefers']} ({sure})"
        wide_console().print(words, markup=False)
    for error in dict.fromkeys(each["error"] for each in found["failed"]):
        wide_console().print(f"failed in {other}: {error}", markup=False)
