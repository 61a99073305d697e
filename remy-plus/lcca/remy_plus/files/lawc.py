"""Control laws as C: one file for other simulators, or for a NIC."""

from __future__ import annotations

from collections.abc import Sequence

from lcca.inputs.errors import require
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import formulas
from lcca.remy_plus.core.signals import QUANTITIES
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.law import SHARE, Law
from lcca.remy_plus.policies.rules import pacing_unit

FORMS = ("level", "excess", "ratio", "utilisation", "rare", "even")
"""In the order of `Form` in signals.hpp."""

_USE = """
/* Of one flow. */
typedef struct {
  lcca_history history;
  lcca_flow flow; /* flow.window in packets, flow.gap in us to the next packet */
  int acks;
} law_state;

/* Once, before any flow. */
void law_prepare(void) { lcca_prepare(&the_law); }

/* The flow begins. */
void law_start(law_state* state) {
  lcca_begin(&the_law, &state->flow);
  state->acks = 0;
}

/* An ACK of the flow at now_us, of a packet that was sent at sent_us. `signals` holds, of the path: SIGNALS. */
void law_ack(law_state* state, double now_us, double sent_us, const double* signals) {
  double features[lcca_most_features] = {0};
  double rate;
  if (state->acks++ == 0)
    lcca_first_ack(&state->history, now_us, sent_us);
  else
    lcca_next_ack(&state->history, now_us, sent_us);
  if (lcca_due(&state->flow, now_us)) {
FORMED  }
  rate = RATE;
  lcca_ack(&the_law, &state->flow, &state->history, features, rate, now_us);
}
"""


_USE_FABRIC = """
/* Of one flow; flow.window in BDP. */
typedef struct { lcca_fabric_flow flow; } law_state;

/* The flow begins, at line rate. Times are in base RTTs of the fabric, bytes in BDP of the line's rate in one. */
void law_start(law_state* state, double bdps_left) { lcca_fabric_begin(&the_law, &state->flow, bdps_left); }

/* An ACK: RTT less that of the way without queues; `moves`: it is the first after a window's worth of ACKs. `signals`
 * holds, of the path: SIGNALS. */
void law_ack(law_state* state, double delay, double bdps_left, const double* signals, int moves) {
  double forms[lcca_fabric_most_signals] = {0};
FORMED  lcca_fabric_ack(&the_law, &state->flow, delay, bdps_left, forms, moves);
}

/* Packets were lost; at most once a window. */
void law_lost(law_state* state) { lcca_fabric_lost(&the_law, &state->flow); }

/* Over the line's rate, and bytes that may be under way, in BDP. */
double law_rate(const law_state* state) { return lcca_fabric_rate(&the_law, &state->flow); }
double law_under_way(const law_state* state) { return lcca_fabric_under_way(&the_law, &state->flow); }
"""


def c_source(law: Law | FabricLaw) -> str:
    """Return a law as the text of a C file (C99): the engine's own code, its numbers, and a few functions.

    Compile it without contraction of products and sums (``-ffp-contract=off``) for the engine's bits.

    Raises:
        InputError: a law with formulas.
    """
    if isinstance(law, FabricLaw):
        return _fabric_source(law)
    own = ", ".join(each.name for each in formulas(law.inputs))
    require(not own, f"inputs: {own}: a law in C has no signals that are formulas")
    head = "/* A control law of lcca. Times in us, windows in packets. Compile with -ffp-contract=off. */\n"
    known = {"rate": _rate(law), "signals": ", ".join(_named(law)) or "nothing", "formed": _formed(law)}
    use = _USE.replace("SIGNALS", known["signals"]).replace("RATE", known["rate"]).replace("FORMED", known["formed"])
    return head + _core.LAW_SOURCE + _numbers(law) + use


def _fabric_source(law: FabricLaw) -> str:
    """Return a law for fabrics; signals come in RTTs, BDP and line rates where they have units of time or packets."""
    head = "/* A control law of lcca for fabrics. Compile with -ffp-contract=off. */\n"
    numbers = _row([*law.features, *(value for row in law.coefficients for value in row)])
    the_law = f"\nstatic const lcca_fabric_law the_law = {{{_row(law.terms)}, {numbers}, {len(law.inputs)}}};\n"
    forms = map(_core.fabric_form, law.inputs)
    formed = [f"  forms[{i}] = lcca_fabric_form({form}, signals[{i}]);\n" for i, form in enumerate(forms)]
    named = ", ".join(f"[{i}] {name}" for i, name in enumerate(law.inputs)) or "nothing"
    use = _USE_FABRIC.replace("SIGNALS", named).replace("FORMED", "".join(formed) or "  (void)signals;\n")
    return head + _core.LAW_SOURCE + _core.FABRIC_LAW_SOURCE + the_law + use


def _numbers(law: Law) -> str:
    columns = [_row(output) for output in zip(*law.features, strict=True)] or ["{0}"] * 3
    numbers = ", ".join(columns)
    return (
        f"\nstatic lcca_law the_law = {{{_row(law.terms)}, {{{numbers}}}, {len(law.features)}, "
        f"{law.bound!r}, {law.largest_window!r}, {law.refresh!r}, 0, 0, 0, 0, 0, {{{{0}}}}}};\n"
    )


def _row(values: Sequence[float]) -> str:
    return "{" + ", ".join(map(repr, values)) + "}"


def _named(law: Law) -> list[str]:
    units = {name: QUANTITIES[name].unit for name in law.signals}
    return [f"[{i}] {name}" + (f" ({unit})" if unit else "") for i, (name, unit) in enumerate(units.items())]


def _formed(law: Law) -> str:
    lines = ["    (void)signals; /* unless they are used below */\n"]
    for i, name in enumerate(law.inputs):
        found = QUANTITIES[name]
        numbers = f"{FORMS.index(found.form)}, {found.scale_unit!r}, {found.scale_divisor!r}"
        lines.append(f"    features[{i}] = lcca_form({numbers}, signals[{law.signals.index(name)}]);\n")
    return "".join(lines if law.features else lines[:1])


def _rate(law: Law) -> str:
    if law.rate is None:
        return "0"
    if law.rate == SHARE:
        flows, gap = f"signals[{law.signals.index('flows')}]", "state->history.smallest_gap"
        return f"{flows} > 0 && {gap} > 0 ? 1 / {flows} / {gap} : 0"
    over, under = (part if part == "1" else f"signals[{law.signals.index(part)}]" for part in pacing_unit(law.rate))
    return over if under == "1" else f"{under} > 0 ? lcca_min({over} / {under}, 1e9) : 0"
