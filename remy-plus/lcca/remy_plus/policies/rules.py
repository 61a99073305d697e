"""Rule tables: boxes in the space of signals, each with the action that a sender takes there.

A rule table is a Remy "whisker tree" with its tree flattened away (R+ keeps the tree; the boxes of its
leaves say the same). Whether the boxes cover the whole domain exactly once is a question of its own:
`lcca.remy_plus.policies.tiling`.

A rule's pacing is a multiple of the receive EWMA (`relative`, R+) or of a µs (`absolute`, Remy), or of a signal, the
inverse of one or the ratio of two: with `1/fair_rate` a factor of 1 sends at the fair rate, with `flows/capacity` at
the link's rate over the number of flows. Where its signals are not known yet, as at a flow's start, packets leave
without a gap.

Whole windows are rounded down at every look-up, as R+ and Remy do it: a rule moves its window by a packet an ACK or
more, or holds it. Real ones are not, so that a rule may add or take a fraction of a packet; they are at least 1.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.inputs.errors import InputError, did_you_mean
from lcca.remy_plus import _core
from lcca.remy_plus.core.formulas import check_signals, formulas, short_name
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS

Pacing: TypeAlias = str
Windows: TypeAlias = Literal["whole", "real"]
Array: TypeAlias = NDArray[np.float64]

MOST_RULES = 100_000
LARGEST_INCREMENT = 1_000_000
"""Packets, of either sign: the largest window of the engine, which refuses more."""
LARGEST_MULTIPLE = 1000.0
"""The engine refuses more."""
NAMED: dict[str, tuple[str, str]] = {"relative": ("receive_ewma", "1"), "absolute": ("1", "1")}
"""Kinds of pacing with names of their own: signal over signal, "1" for none."""
_KINDS = "'relative', 'absolute', a signal, or a ratio such as '1/fair_rate' or 'flows/capacity'"
CUT_STEP = 2.0**-31
"""Cuts are multiples of it, so that values in 32 bits of the paper's header fall on the same side as exact ones."""


@dataclass(frozen=True, eq=False)
class RuleTable:
    """R rules over k signals; the first rule with ``lower[i] <= signals < upper[i]`` on every axis acts.

    A box without volume never matches (Remy's splits leave such rules behind); at least one box has volume.
    Two tables are equal when all their content is; the arrays are read-only.

    Attributes:
        signals: names of the k axes, in order, or formulas (`lcca.remy_plus.core.formulas`).
        lower: (R, k) inclusive bounds, in the unit of each signal.
        upper: (R, k) exclusive bounds, at most `SIGNAL_CEILING`.
        increment: (R,) packets added to the window, at most `LARGEST_INCREMENT` of either sign; whole numbers
            where windows are whole.
        multiple: (R,) factor of the window, at most `LARGEST_MULTIPLE`.
        pacing: (R,) pacing gap, a multiple of what `pacing_kind` says.
        pacing_kind: the receive EWMA ("relative", R+), µs ("absolute", Remy), or a ratio of signals.
        windows: "whole" (R+) or "real".

    Raises:
        InputError: shapes that do not fit, numbers that are not finite or out of range, unknown or repeated
            signals.
    """

    signals: tuple[str, ...]
    lower: Array
    upper: Array
    increment: Array
    multiple: Array
    pacing: Array
    pacing_kind: Pacing = "relative"
    windows: Windows = "whole"

    def __post_init__(self) -> None:
        """Freeze the arrays and check everything but the tiling."""
        object.__setattr__(self, "signals", tuple(self.signals))
        for name in ("lower", "upper", "increment", "multiple", "pacing"):
            object.__setattr__(self, name, _frozen(getattr(self, name), name))
        check_signals(self.signals, with_formulas=True)
        _check_shapes(self)
        _check_boxes(self)
        _check_actions(self)

    def __len__(self) -> int:
        """Return the number of rules, dead ones included."""
        return len(self.increment)

    def __eq__(self, other: object) -> bool:
        """Tell whether both tables have the same content."""
        return isinstance(other, RuleTable) and self.digest == other.digest

    def __hash__(self) -> int:
        """Hash the content."""
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content (hex); the same on every machine."""
        real = () if self.windows == "whole" else (self.windows,)
        sha = hashlib.sha256(repr((self.signals, self.pacing_kind, len(self), *real)).encode())
        for array in (self.lower, self.upper, self.increment, self.multiple, self.pacing):
            sha.update(array.astype("<f8").tobytes())
        return sha.hexdigest()

    @property
    def seen(self) -> tuple[str, ...]:
        """The signals that it looks at: its axes, and those of its pacing."""
        return tuple(dict.fromkeys((*self.signals, *pacing_signals(self.pacing_kind))))

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """(R,) true where the box has volume."""
        return np.asarray((self.lower < self.upper).all(axis=1))

    def find(self, values: ArrayLike) -> int:
        """Return the index of the first rule whose box holds the (k,) values.

        Raises:
            InputError: no rule holds them.
        """
        point = np.asarray(values, dtype=np.float64)
        hits = np.flatnonzero(((self.lower <= point) & (point < self.upper)).all(axis=1))
        if not len(hits):
            raise InputError(f"no rule holds {describe_point(self.signals, point)}")
        return int(hits[0])

    def with_action(self, index: int, increment: float, multiple: float, pacing: float) -> RuleTable:
        """Return a copy in which rule ``index`` has another action."""
        self._check_index(index)
        return replace(
            self,
            increment=_put(self.increment, index, increment),
            multiple=_put(self.multiple, index, multiple),
            pacing=_put(self.pacing, index, pacing),
        )

    def compile(self) -> _core.Policy:
        """Return the engine's form.

        Raises:
            InputError: the rules overlap or leave signals to no rule.
        """
        try:
            return _core.Policy.rule_table(
                list(self.signals),
                np.ascontiguousarray(self.lower),
                np.ascontiguousarray(self.upper),
                np.ascontiguousarray(self.increment),
                np.ascontiguousarray(self.multiple),
                np.ascontiguousarray(self.pacing),
                *pacing_unit(self.pacing_kind),
                real=self.windows == "real",
                own=[each.compiled() for each in formulas(self.signals)],
            )
        except ValueError as error:
            raise InputError(f"rule table: {error}") from None

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self):
            raise InputError(f"rule {index}: the table has rules 0 to {len(self) - 1}")


def pacing_unit(kind: object) -> tuple[str, str]:
    """Return the unit of a gap: the names of a signal and of the one that it is divided by, "1" for none.

    Raises:
        InputError: no such kind; the message says what there is.
    """
    if not isinstance(kind, str):
        raise InputError(f"pacing: must be {_KINDS}, got {kind!r:.60}")
    if kind in NAMED:
        return NAMED[kind]
    over, slash, under = kind.partition("/")
    for part in (over, under) if slash else (over,):
        if part not in SIGNALS and not (part == "1" and part is over):
            raise InputError(f"pacing: must be {_KINDS}, got {kind!r:.60}{did_you_mean(part, [*NAMED, *SIGNALS])}")
    found = (over, under or "1")
    if found in NAMED.values():
        raise InputError(f"pacing: {kind} is written {next(name for name, unit in NAMED.items() if unit == found)!r}")
    return found


def pacing_signals(kind: str) -> tuple[str, ...]:
    """Return the signals that a kind of pacing looks at, the receive EWMA of `relative` not counted."""
    return () if kind in NAMED else tuple(name for name in pacing_unit(kind) if name != "1")


def offered_pacing(signals: Sequence[str]) -> Pacing:
    """Return the kind of pacing that suits these signals: a fair rate if they tell one, else `relative`.

    The number of flows alone tells none, and does better beside gaps relative to the receive EWMA: see
    benchmarks/README.md.
    """
    kinds = ("1/fair_rate", "flows/capacity")
    return next((kind for kind in kinds if all(name in signals for name in pacing_signals(kind))), "relative")


FIRST_PACING = {"relative": 1.5, "absolute": 3.0}
"""Where a search starts, R+'s and Remy's; other kinds start at 1 of their unit."""


def one_rule(signals: Sequence[str], pacing_kind: Pacing = "relative", windows: Windows = "whole") -> RuleTable:
    """Return the table that a search starts from: one rule for everything, R+'s or Remy's default action."""
    lower = np.zeros((1, len(signals)))
    one = np.ones(1)
    pacing = one * FIRST_PACING.get(pacing_kind, 1.0)
    return RuleTable(tuple(signals), lower, lower + SIGNAL_CEILING, one, one, pacing, pacing_kind, windows)


def bisect(table: RuleTable, rule_index: int, medians: ArrayLike) -> RuleTable:
    """Cut one rule's box at the medians of what it saw: 2^k children in its place, all with its action.

    An axis whose median is an edge of the box or outside it is cut at the box's midpoint, so no child is empty. An
    axis whose median is NaN (nothing seen, or always the same) or that is too thin to hold a number between its edges
    is not cut. Children are ordered as R+ orders them: lower half first, the last axis changing fastest.

    Args:
        table: the table to refine.
        rule_index: which rule to cut.
        medians: (k,) exact medians, in the unit of each signal.

    Raises:
        InputError: no such rule, a rule without volume, medians of another length, or too many rules.
    """
    table._check_index(rule_index)
    if not table.live[rule_index]:
        raise InputError(f"rule {rule_index} has no volume and cannot be bisected")
    boxes = _children(table.lower[rule_index], table.upper[rule_index], np.asarray(medians, dtype=np.float64))
    repeats = np.ones(len(table), dtype=np.intp)
    repeats[rule_index] = len(boxes)
    lower, upper = np.repeat(table.lower, repeats, axis=0), np.repeat(table.upper, repeats, axis=0)
    place = slice(rule_index, rule_index + len(boxes))
    lower[place], upper[place] = boxes[:, :, 0], boxes[:, :, 1]
    return RuleTable(
        table.signals,
        lower,
        upper,
        np.repeat(table.increment, repeats),
        np.repeat(table.multiple, repeats),
        np.repeat(table.pacing, repeats),
        table.pacing_kind,
        table.windows,
    )


def lifted(table: RuleTable, signals: Sequence[str]) -> RuleTable:
    """Return the same table over more signals, which it does not look at.

    Args:
        table: the rules.
        signals: those of the table and others, in any order.

    Raises:
        InputError: a signal of the table is missing.
    """
    missing = [name for name in table.signals if name not in signals]
    if missing:
        raise InputError(f"signals: {', '.join(missing)} missing, which the table looks at")
    at = [signals.index(name) for name in table.signals]
    lower = np.zeros((len(table), len(signals)))
    upper = np.full((len(table), len(signals)), float(SIGNAL_CEILING))
    lower[:, at], upper[:, at] = table.lower, table.upper
    return replace(table, signals=tuple(signals), lower=lower, upper=upper)


def describe_point(signals: Sequence[str], point: Sequence[float] | Array) -> str:
    """Return ``send_ewma=1.5, rtt_ratio=2`` for error messages."""
    return ", ".join(f"{short_name(name)}={float(value):g}" for name, value in zip(signals, point, strict=True))


def _children(lower: Array, upper: Array, medians: Array) -> Array:
    if medians.shape != lower.shape:
        raise InputError(f"medians: {lower.shape[0]} numbers are needed, got shape {medians.shape}")
    halves = []
    for low, high, median in zip(lower.tolist(), upper.tolist(), medians.tolist(), strict=True):
        cut = median if low < median < high else _middle(low, high)
        parted = low < cut < high and not math.isnan(median)
        halves.append([(low, cut), (cut, high)] if parted else [(low, high)])
    if math.prod(map(len, halves)) > MOST_RULES:
        raise InputError(f"bisecting on {len(halves)} signals at once makes more than {MOST_RULES:,} rules")
    return np.array(list(itertools.product(*halves)))


def _middle(low: float, high: float) -> float:
    """Return the middle, on the grid of all cuts (`CUT_STEP`) unless the box is too thin for it."""
    middle = low + (high - low) / 2
    cut = math.floor(middle / CUT_STEP) * CUT_STEP
    return cut if low < cut < high else middle


def _frozen(values: ArrayLike, name: str) -> Array:
    """Return the values as a read-only array of our own; an array that already is one is shared."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and values.base is None:
        if not values.flags.writeable:
            return values
    try:
        array = np.array(values, dtype=np.float64) + 0.0  # turns -0 into 0: equal content, equal digest
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: must be numbers in a regular array") from error
    array.setflags(write=False)
    return array


def _put(array: Array, index: int, value: float) -> Array:
    changed = array.copy()
    changed[index] = value
    return changed


def _check_shapes(table: RuleTable) -> None:
    rules, k = table.increment.size, len(table.signals)
    if not 1 <= rules <= MOST_RULES:
        raise InputError(f"rules: between 1 and {MOST_RULES:,} are needed, got {rules:,}")
    for name in ("lower", "upper"):
        shape = getattr(table, name).shape
        if shape != (rules, k):
            raise InputError(f"{name}: shape {shape}, but {rules} rules over {k} signals need ({rules}, {k})")
    for name in ("increment", "multiple", "pacing"):
        shape = getattr(table, name).shape
        if shape != (rules,):
            raise InputError(f"{name}: shape {shape}, but {rules} rules need ({rules},)")
    pacing_unit(table.pacing_kind)


def _check_boxes(table: RuleTable) -> None:
    inside = (table.lower >= 0) & (table.lower <= table.upper) & (table.upper <= SIGNAL_CEILING)
    if not inside.all():
        i, j = np.argwhere(~inside)[0].tolist()
        raise InputError(
            f"rules.{i}: {table.signals[j]} from {table.lower[i, j]:g} to {table.upper[i, j]:g}, "
            f"but 0 <= lower <= upper <= {SIGNAL_CEILING:g} is needed"
        )
    if not table.live.any():
        raise InputError("rules: every box is empty; at least one must have volume")


def _check_actions(table: RuleTable) -> None:
    if table.windows not in ("whole", "real"):
        raise InputError(f"windows: must be 'whole' or 'real', got {table.windows!r:.60}")
    steps, noun = np.abs(table.increment) <= LARGEST_INCREMENT, "number"
    if table.windows == "whole":
        steps, noun = steps & (table.increment == np.trunc(table.increment)), "whole number"
    _check_each(steps, table.increment, "increment", f"a {noun} of packets up to ±{LARGEST_INCREMENT:,}")
    fits = (table.multiple >= 0) & (table.multiple <= LARGEST_MULTIPLE)
    _check_each(fits, table.multiple, "multiple", f"between 0 and {LARGEST_MULTIPLE:g}")
    gaps = (table.pacing >= 0) & np.isfinite(table.pacing)
    _check_each(gaps, table.pacing, "pacing", "finite and not negative")


def _check_each(good: NDArray[np.bool_], values: Array, name: str, need: str) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise InputError(f"rules.{i}.{name}: must be {need}, got {values[i]:g}")
