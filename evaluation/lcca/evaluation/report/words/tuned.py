"""What a tuning found, as people set it: values with units for every rate of the fabric, and whether it is worth it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcca.evaluation.report.words.headline import margin_percent
from lcca.evaluation.report.words.statements import percent, void
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.inputs.errors import InputError
from lcca.remy_plus.switches.knobs import REFERENCE_GBPS, Knob
from lcca.remy_plus.switches.markers import MARKERS
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

Json = dict[str, Any]

UNKNOWN = Knob(0, "", "")
"""Stands for a parameter of which nothing is said: those of ns-3 and of policies of networks."""


def knobs_of(summary: Json) -> Mapping[str, Knob]:
    """Return what the parameters of a tuning's transport are; nothing of other policies."""
    if summary.get("kind") != "tune" or summary["simulator"] != "fabric":
        return {}
    try:
        policy = resolve(summary["policy"], "fabric").policy
        return policy.with_parameters(_own(summary)[-1]).named_knobs() if isinstance(policy, Transport) else {}
    except InputError:  # an old run of what has other names today
        return {}


def settings(summary: Json) -> Table:
    """Return the tuned values to paste: three digits, kB in place of bytes, a column per rate of the fabric's links.

    Markers' thresholds go with the rate of the port, all ports have the other values of markers, and hosts their own.
    """
    knobs, (own, tuned) = knobs_of(summary), _own(summary)
    met = summary.get("rates_gbps", {"hosts": [REFERENCE_GBPS], "switches": [REFERENCE_GBPS]})  # not of old runs
    rates, rows = sorted({*met["hosts"], *met["switches"]}), []
    for name, value in tuned.items():
        knob, of_switch = knobs.get(name, UNKNOWN), name.partition(".")[0] in MARKERS
        where = met["switches"] if of_switch else met["hosts"]
        shares = {rate: rate / REFERENCE_GBPS if of_switch and knob.by_rate else 1.0 for rate in where}
        cells = {rate: setting(value, knob, share)[0] for rate, share in shares.items()}
        before = " / ".join(dict.fromkeys(setting(own[name], knob, share)[0] for share in shares.values()))
        unit = setting(value, knob)[1]
        meaning = "; ".join(filter(None, (knob.meaning, f"default {before} {unit}".rstrip())))
        rows.append((name, *(cells.get(rate, "") for rate in rates), unit, meaning))
    columns = [f"at {rate:g} Gb/s" for rate in rates] if knobs else ["value"]
    head = ("parameter", *columns, "unit", "what it is")
    return Table("tuned, to paste", head, rows, {"parameter", "unit", "what it is"})


def setting(value: Any, knob: Knob = UNKNOWN, share: float = 1.0, digits: int = 3) -> tuple[str, str]:
    """Return a value as hardware has it, with its unit; `share` is of the rate that it goes with."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value), knob.unit
    scale, unit = (1000, "kB") if knob.unit == "bytes" else (1, knob.unit)
    return f"{float(f'{value * share / scale:.{digits}g}'):.12g}", unit


def named(values: Mapping[str, Any], knobs: Mapping[str, Knob], digits: int = 3) -> str:
    """Return such as "red.kmin_bytes=6.13 kB, red.pmax=0.96"."""
    parts = ((name, *setting(value, knobs.get(name, UNKNOWN), digits=digits)) for name, value in values.items())
    return ", ".join(f"{name}={value} {unit}".rstrip() for name, value, unit in parts)


def advice(comparison: Json) -> str:
    """Return whether to change anything: for less than what a difference must be to matter, nothing."""
    if void(comparison) == UNFINISHED:
        return f"No recommendation: {UNFINISHED}."
    least, settled = percent(margin_percent(comparison), signed=False), comparison["verdict"] in ("equivalent", "worse")
    more = "this is more" if comparison["size"] == "larger" else "whether this is more is open"
    return f"Change nothing below {least} (settle.margin_percent): {'this is less' if settled else more}."


def recommended(summary: Json) -> bool:
    """Tell whether the tuned values may be pasted: not where too much was unfinished to know what they do."""
    return all(void(each) != UNFINISHED for each in (*summary["comparisons"], *summary["policies"]))


def _own(summary: Json) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the policy's own parameters and the tuned ones."""
    first, *_, last = summary["policies"]
    return first["parameters"], last["parameters"]
