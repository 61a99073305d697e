"""Changes of measure for flow sizes: which sizes to draw more often than they come, and by how much.

A tilt draws, for each flow, the chance of a larger flow. Under the true measure that is uniform on (0, 1), whatever
the sizes; so a tilt serves tables and lognormals alike, and its likelihood ratios are exact.

`NormalTilt` moves the normal score of a flow. For lognormal sizes that is CCEval's family, N(μ̃, σ̃) in place of
N(μ, σ) for ln S; for a table it is the same move of its own distribution. `TailBoost` makes the largest flows more
frequent and leaves those below as they are.
"""

import math
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri

from lcca.studies.cceval.importance.flows import Floats

DEFENSIVE = 0.1
"""Share of the true measure that is kept in a fitted tail boost: no flow weighs more than 1/DEFENSIVE."""


class Tilt(Protocol):
    """A change of measure for one flow's size."""

    @property
    def words(self) -> str:
        """What it does, in a few words with its parameters."""
        ...

    @property
    def log_second_moment(self) -> float:
        """Value of ln E[L²] for one flow under the tilt, L being true / tilted density; inf without that moment."""
        ...

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Return (count,) chances of a larger flow."""
        ...

    def log_ratio(self, chance: Floats) -> Floats:
        """Return ln(true density / tilted density) of flows that surpass all but this chance."""
        ...

    def fitted(self, chance: Floats, weight: Floats) -> Self:
        """Return the tilt of the same family with the largest weighted likelihood of these flows."""
        ...

    def part(self, share: float) -> Self:
        """Return the tilt that goes a share of the way from the true measure."""
        ...


@dataclass(frozen=True)
class NormalTilt:
    """Normal scores with another mean and spread than 0 and 1.

    Attributes:
        shift: Δμ/σ.
        scale: σ̃/σ.
    """

    shift: float = 0.0
    scale: float = 1.0

    @property
    def words(self) -> str:
        """What it does."""
        return f"normal tilt, Δμ/σ {self.shift:.3g}, σ̃/σ {self.scale:.3g}"

    @property
    def log_second_moment(self) -> float:
        """Value of ln E[L²] for a flow; (Δμ/σ)² where the spread is kept."""
        left = 2 * self.scale**2 - 1
        if left <= 0:
            return math.inf
        return self.shift**2 / left + 2 * math.log(self.scale) - math.log(left) / 2

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Return chances of a larger flow."""
        score = self.shift + self.scale * rng.standard_normal(count)
        return np.maximum(np.asarray(ndtr(-score), dtype=np.float64), np.finfo(np.float64).tiny)

    def log_ratio(self, chance: Floats) -> Floats:
        """Return log likelihood ratios (the density's 1/x cancels)."""
        score = -ndtri(chance)
        return np.asarray((((score - self.shift) / self.scale) ** 2 - score**2) / 2 + math.log(self.scale))

    def fitted(self, chance: Floats, weight: Floats) -> "NormalTilt":
        """Return CCEval's Eqs. 16 and 17, given each flow's weight in their sums."""
        score, total = -ndtri(chance), float(weight.sum())
        if total <= 0:
            return self
        shift = float(weight @ score) / total
        variance = float(weight @ (score - shift) ** 2) / total
        return NormalTilt(shift, math.sqrt(variance)) if variance > 0 else self

    def part(self, share: float) -> "NormalTilt":
        """Return a part of the tilt."""
        return NormalTilt(share * self.shift, self.scale**share)


@dataclass(frozen=True)
class TailBoost:
    """A density by pieces: the largest flows are drawn more often, never less often than smaller ones.

    Attributes:
        edges: (pieces + 1,) chances of a larger flow, from 0 to 1.
        masses: (pieces,) how often flows of each piece are drawn.
    """

    edges: tuple[float, ...]
    masses: tuple[float, ...]

    @classmethod
    def of(cls, p: float, pieces_beyond: int = 2, step: float = 4.0) -> "TailBoost":
        """Return the true measure, cut so that the tail beyond p and its surroundings can be boosted.

        Args:
            p: the quantile to estimate.
            pieces_beyond: pieces of larger flows than the quantile p of sizes.
            step: by how much the chances of neighbouring pieces differ.
        """
        powers = step ** np.arange(1.0 - pieces_beyond, 64)
        inner = (1 - p) * powers
        edges = (0.0, *inner[inner < 0.7].tolist(), 1.0)
        return cls(edges, tuple(np.diff(edges).tolist()))

    @property
    def words(self) -> str:
        """What it does."""
        ratio = np.array(self.masses) / np.diff(self.edges)
        return f"tail boost, the largest {100 * self.edges[1]:.3g} % of flows ×{ratio[0]:.3g}"

    @property
    def log_second_moment(self) -> float:
        """Value of ln E[L²] for a flow."""
        return math.log(float((np.diff(self.edges) ** 2 / np.array(self.masses)).sum()))

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Return chances of a larger flow."""
        edges = np.array(self.edges)
        piece = np.searchsorted(np.cumsum(self.masses)[:-1], rng.random(count), side="right")
        within = 1 - rng.random(count)  # in (0, 1]
        return edges[piece] + within * np.diff(edges)[piece]

    def log_ratio(self, chance: Floats) -> Floats:
        """Return log likelihood ratios."""
        piece = np.searchsorted(np.array(self.edges)[1:-1], chance, side="left")
        return np.asarray(np.log(np.diff(self.edges) / np.array(self.masses))[piece], dtype=np.float64)

    def fitted(self, chance: Floats, weight: Floats) -> "TailBoost":
        """Return the boost closest in cross-entropy, but monotone and defensive."""
        true, total = np.diff(self.edges), float(weight.sum())
        if total <= 0:
            return self
        piece = np.searchsorted(np.array(self.edges)[1:-1], chance, side="left")
        found = np.bincount(piece, weights=weight, minlength=len(true)) / total
        return self._of(_falling(found / true, true) * true).part(1 - DEFENSIVE)

    def part(self, share: float) -> "TailBoost":
        """Return a mixture with the true measure."""
        return self._of((1 - share) * np.diff(self.edges) + share * np.array(self.masses))

    def _of(self, masses: Floats) -> "TailBoost":
        return TailBoost(self.edges, tuple((masses / masses.sum()).tolist()))


def _falling(ratio: Floats, weight: Floats) -> Floats:
    """Return the closest ratios that do not rise from piece to piece: neighbours that do are pooled."""
    pools: list[tuple[float, float, int]] = []
    for r, w in zip(ratio.tolist(), weight.tolist(), strict=True):
        pools.append((r, w, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (r1, w1, n1), (r2, w2, n2) = pools.pop(-2), pools.pop()
            pools.append(((r1 * w1 + r2 * w2) / (w1 + w2), w1 + w2, n1 + n2))
    return np.concatenate([np.full(n, r) for r, _, n in pools])
