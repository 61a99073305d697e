"""Rule tables from ``.dna`` files of Remy (2013, 2014) and R+.

What a file does not say is assumed, and each assumption is told in the notes that come with the table:

- Whether pacing is an interval (Remy) or a multiple of the receive EWMA (R+) is not marked. R+ always
  stores bounds for nine signals and, with its search settings, a pacing coefficient from 0.1 that starts at
  1.5; Remy does neither.
- A node without a list of axes uses the send EWMA, receive EWMA, RTT ratio and slow receive EWMA. The files
  of 2013 store bounds for the first three only: an axis of these four that no node bounds is left out of
  the table.
- The files of 2013 end at 16384. Where the root's upper bound is below R+'s ceiling of 163840, it is taken as
  "unbounded" and every box that reaches it is widened to the ceiling, so that no signal value is left
  without a rule.
- R+ smooths the queue and link signals; a file cannot say that a table was made for the raw ones.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from google.protobuf.message import DecodeError

from lcca.inputs.errors import InputError, about
from lcca.inputs.files import LARGEST_FILE, read_limited
from lcca.remy_plus.files.dna_tree import R_PLUS_AXES, Leaf, Tree, axes_in_use, leaves, scan, stores, widen
from lcca.remy_plus.policies.rules import Pacing, RuleTable
from lcca.remy_plus.policies.tiling import tiling

IntSignals: TypeAlias = Literal["smoothed", "raw"]

_AXES = range(len(R_PLUS_AXES))
_RAW = {"queue_ewma": "queue", "link_ewma": "link"}
_REMY_AXES = 6  # Remy's files have bounds for the first six signals only
_R_PLUS_PACING = (0.1, 1.5)  # lowest and start of R+'s search


@dataclass(frozen=True)
class Imported:
    """A table that was read, and a sentence for each thing that had to be assumed or changed."""

    table: RuleTable
    notes: tuple[str, ...]


def read(path: str | os.PathLike[str], pacing: Pacing | None = None, int_signals: IntSignals = "smoothed") -> Imported:
    """Read a ``.dna`` file; see `loads`.

    Raises:
        InputError: the file cannot be read or does not hold a rule table; the message begins with its name.
    """
    data = read_limited(path)
    with about(path):
        return loads(data, pacing, int_signals)


def loads(data: bytes, pacing: Pacing | None = None, int_signals: IntSignals = "smoothed") -> Imported:
    """Return the rule table in the bytes of a ``.dna`` file.

    Rules come in the order in which a depth-first walk meets them, each box cut by the boxes of the nodes
    above it.

    Args:
        data: the file's bytes, at most 64 MiB.
        pacing: what the rules' pacing means; None guesses and says so in the notes.
        int_signals: whether axes 7 and 8 are R+'s smoothed signals or the raw ones.

    Raises:
        InputError: damaged, hostile, or boxes that overlap or leave gaps.
    """
    if pacing not in (None, "relative", "absolute"):
        raise InputError(f"pacing: must be 'relative' or 'absolute', got {pacing!r:.60}")
    if int_signals not in ("smoothed", "raw"):
        raise InputError(f"int_signals: must be 'smoothed' or 'raw', got {int_signals!r:.60}")
    root = _parse(data)
    found = leaves(root)
    notes = [] if pacing else [_guess_note(root)]
    notes += widen(root, found)
    table = _table(found, axes_in_use(root), pacing or _guess(root), int_signals)
    tiling(table)
    if not table.live.all():
        notes.append(f"{int((~table.live).sum())} of {len(table)} rules have empty boxes and never act")
    return Imported(table, (*notes, *_int_note(table, int_signals)))


def _parse(data: bytes) -> Any:
    if not data:
        raise InputError("empty; a .dna file holds at least one rule")
    if len(data) > LARGEST_FILE:
        raise InputError(f"larger than {LARGEST_FILE // 1024:,} KiB; is it the right file?")
    scan(data)
    root = Tree()
    try:
        root.ParseFromString(data)
    except DecodeError as error:
        raise InputError("not a .dna file: damaged inside a node") from error
    return root


def _table(found: Sequence[Leaf], axes: list[int], pacing: Pacing, int_signals: IntSignals) -> RuleTable:
    names = [R_PLUS_AXES[axis] for axis in axes]
    if int_signals == "raw":
        names = [_RAW.get(name, name) for name in names]
    return RuleTable(
        tuple(names),
        np.array([leaf.lower for leaf in found])[:, axes],
        np.array([leaf.upper for leaf in found])[:, axes],
        np.array([_action(leaf.rule, "increment", i) for i, leaf in enumerate(found)]),
        np.array([_action(leaf.rule, "multiple", i) for i, leaf in enumerate(found)]),
        np.array([_action(leaf.rule, "pacing", i) for i, leaf in enumerate(found)]),
        pacing,
    )


def _action(rule: Any, name: str, index: int) -> float:
    if not rule.HasField(name):
        raise InputError(f"rules.{index}.{name}: missing")
    return float(getattr(rule, name))


def _guess(root: Any) -> Pacing:
    if root.search.HasField("pacing"):
        settings = root.search.pacing
        near = map(math.isclose, (settings.lowest, settings.start), _R_PLUS_PACING)
        return "relative" if all(near) else "absolute"
    r_plus = any(stores(root.box, axis) for axis in _AXES[_REMY_AXES:])
    return "relative" if r_plus else "absolute"


def _guess_note(root: Any) -> str:
    meaning, maker, other = ("relative to the receive EWMA", "R+", "absolute")
    if _guess(root) == "absolute":
        meaning, maker, other = ("an absolute interval", "Remy", "relative")
    return (
        f"pacing taken as {meaning}, because the file looks like one of {maker}; if not: lcca import --pacing {other}"
    )


def _int_note(table: RuleTable, int_signals: IntSignals) -> list[str]:
    names = [name for pair in _RAW.items() for name in pair if name in table.signals]
    if not names:
        return []
    raw = "; if the table was made for the raw ones: lcca import --int-signals raw"
    other = raw if int_signals == "smoothed" else ""
    return [f"axes 7 and 8 taken as the {int_signals} signals: {', '.join(names)}{other}"]
