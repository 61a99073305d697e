"""Throughput in Gb/s, where packets have a size."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import parse

Json = dict[str, Any]


def packet_bytes_of(config: str) -> int | None:
    """Return the bytes of a packet, from the text of a configuration; None if it has none."""
    try:
        found = parse(config, "configuration")[0]
    except InputError:
        return None
    size = found.get("packet_bytes") if isinstance(found, dict) else None
    return size if isinstance(size, int) else None


def gbps(share: float | None, packet_bytes: int | None) -> float | None:
    """Return packets/µs in Gb/s; None where either is unknown."""
    return None if share is None or packet_bytes is None else share * packet_bytes * 8e-3


def outcome(comparison: Json, side: str, policies: Sequence[Json], packet_bytes: int | None) -> Json:
    """Return throughput (Gb/s) and delay (µs) of one side of a comparison.

    Args:
        comparison: a record.
        side: "A" or "B".
        policies: those of the summary.
        packet_bytes: of a packet.

    Returns:
        `gbps` and `delay_us`: of a selected policy on the test networks of all, of a signal set the mean over its
        trainings; None for what is unknown.
    """
    name, whole = comparison[side], comparison["level"] == "set"
    mine = [p for p in policies if p["utility"] == comparison["utility"] and p["signal_set" if whole else "id"] == name]
    tests = [test for p in mine if (test := p["trained" if whole else "test"])]
    share, delay = (_mean([test.get(key) for test in tests]) for key in ("throughput_share", "delay_us"))
    return {"gbps": gbps(share, packet_bytes), "delay_us": delay}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
