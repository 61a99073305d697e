"""Who is on when in a trial, and ways to share out the time of one link among them: µs of the link per sender."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcca.remy_plus.engine import FlowPlan

Floats = NDArray[np.float64]

MOST_ROUNDS = 10_000
GAP = 1e-7  # nats per sender


@dataclass(frozen=True, eq=False)
class Activity:
    """Pieces of time, in order, in each of which the same senders are on.

    Attributes:
        length_us: (pieces,) each above 0.
        on: (pieces, senders) who is.
    """

    length_us: Floats
    on: NDArray[np.bool_]

    @property
    def share_us(self) -> Floats:
        """(senders,) µs of fair share: the integral of dt / (senders that are on) while on."""
        each = self.length_us / np.maximum(self.on.sum(axis=1), 1)
        return np.asarray((each[:, None] * self.on).sum(axis=0), dtype=np.float64)

    def only(self, senders: NDArray[np.bool_]) -> Activity:
        """Return the same of some senders alone."""
        return Activity(self.length_us, self.on[:, senders])


def activity(plan: FlowPlan, senders: int, duration: float, late_us: Floats | float = 0.0) -> Activity:
    """Return who is on within a trial, `late_us` (one number, or one per sender) later than flows begin and end."""
    late = np.broadcast_to(late_us, senders)[plan.sender]
    start = np.minimum(plan.start_us + late, duration)
    end = np.minimum(plan.end_us + late, duration)
    times = np.unique(np.concatenate([[0.0, duration], start, end]))
    change = np.zeros((len(times), senders), dtype=np.int64)
    np.add.at(change, (np.searchsorted(times, start), plan.sender), 1)
    np.add.at(change, (np.searchsorted(times, end), plan.sender), -1)
    return Activity(np.diff(times), np.cumsum(change, axis=0)[:-1] > 0)


def least_served_first(activity: Activity) -> Floats:
    """Return what each sender gets if the least served of those that are on comes first: no future is known."""
    got = np.zeros(activity.on.shape[1])
    for time, on in zip(activity.length_us, activity.on, strict=True):
        if on.any():
            got[on] = _filled(got[on], float(time))
    return got


def _filled(levels: Floats, volume: float) -> Floats:
    """Return levels raised by a volume: the lowest rise, together, as far as it goes."""
    ordered = np.sort(levels)
    before = np.cumsum(ordered)
    counts = np.arange(1, len(levels) + 1)
    raised = int(np.searchsorted(counts * ordered - before, volume, side="right"))
    level = (volume + float(before[raised - 1])) / raised
    return np.asarray(np.maximum(levels, level), dtype=np.float64)


def most_even(activity: Activity) -> tuple[Floats, float]:
    """Return the allocation that maximises Σ log of what senders get, all times being known, and its duality gap.

    What senders can get together is the base of a polymatroid (the rank of a set is the time in which one of it is on),
    where the maximum of Σ log is the point of least norm (Fujishige, Math. Oper. Res. 5(2), 1980, Theorem 4.4). Wolfe's
    algorithm finds it (Math. Programming 11, 1976), each step asking for the best corner: give each piece of time to
    the least served. Its prices, max 1/x over those that are on, are a solution of the dual of this Eisenberg–Gale
    program and certify the gap.

    Args:
        activity: everyone in it must be on for some time.

    Returns:
        (senders,) µs, and by how many nats Σ log is below its maximum at most.
    """
    pieces = Activity(*_merged(activity))
    corners = _corner(pieces, np.arange(pieces.on.shape[1], dtype=np.float64))[None]
    weights, at = np.ones(1), corners[0]
    for _ in range(MOST_ROUNDS):
        corner = _corner(pieces, at)
        gap = float(corner @ (1 / at)) - len(at) if (at > 0).all() else math.inf
        known = (np.abs(corners - corner).max(axis=1) <= 1e-12 * corner.sum()).any()
        if gap <= GAP * len(at) or known:
            break
        corners, weights = _nearest(np.vstack([corners, corner]), np.append(weights, 0.0))
        at = weights @ corners
    return at, max(gap, 0.0)


def _merged(activity: Activity) -> tuple[Floats, NDArray[np.bool_]]:
    """Return pieces with the same senders as one, none without any."""
    sets, index = np.unique(np.packbits(activity.on, axis=1), axis=0, return_inverse=True)
    length = np.bincount(index.ravel(), weights=activity.length_us, minlength=len(sets))
    on = np.unpackbits(sets, axis=1, count=activity.on.shape[1]).astype(bool)
    busy = on.any(axis=1)
    return np.asarray(length[busy], dtype=np.float64), on[busy]


def _corner(pieces: Activity, got: Floats) -> Floats:
    """Return what senders get if each piece of time goes to the one of its senders that has the least in `got`."""
    served = np.where(pieces.on, got, np.inf).argmin(axis=1)
    time = np.bincount(served, weights=pieces.length_us, minlength=len(got))
    return np.asarray(time, dtype=np.float64)


def _nearest(corners: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the corners whose convex hull has its point nearest to 0 inside, and that point's weights.

    Wolfe's minor cycle: go to the nearest point of the affine hull; where that leaves the convex hull, stop at its
    border and drop the corner there.
    """
    while True:
        affine = _affine(corners)
        falling = affine < 1e-12
        if not falling.any():
            return corners, affine
        drop = weights - affine
        step = float(np.min(weights[falling] / np.maximum(drop[falling], 1e-300)))
        weights = weights - min(step, 1.0) * drop
        kept = weights > 1e-12
        kept &= ~(falling & (weights <= weights[falling].min()))
        corners, weights = corners[kept], weights[kept] / weights[kept].sum()


def _affine(corners: Floats) -> Floats:
    """Return the weights, with sum 1, of the point of the corners' affine hull that is nearest to 0."""
    scaled = corners / corners.sum(axis=1).max()
    solved, *_ = np.linalg.lstsq(1 + scaled @ scaled.T, np.ones(len(corners)), rcond=None)
    return np.asarray(solved / solved.sum())
