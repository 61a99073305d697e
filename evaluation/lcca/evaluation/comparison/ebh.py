"""Many comparisons in one campaign: which differences are real, with few false ones among them.

Sharing α among m comparisons (Bonferroni, `Rule.shared_among`) bounds the chance of any false verdict;
that is `adjusted` of a comparison. The e-BH procedure (Wang & Ramdas 2022) bounds the expected part
of false ones among the differences that it names, whatever the dependence between comparisons, and
(for the t-mixture, whose interval is that of its e-values) names all that Bonferroni does, and more. It takes each
comparison's e-value at its last look, never the largest on the way there.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcca.evaluation.comparison.compare import Comparison


def e_bh(e_values: ArrayLike, alpha: float) -> NDArray[np.bool_]:
    """Tell which null hypotheses e-BH rejects at false-discovery rate `alpha`.

    With m e-values, the k largest are rejected for the largest k whose k-th largest is at least m/(α·k).

    Args:
        e_values: (m,) evidence against each hypothesis, >= 0.
        alpha: false-discovery rate, in (0, 1).

    Raises:
        ValueError: if an e-value is negative or NaN, or alpha out of range.
    """
    e = np.asarray(e_values, dtype=np.float64)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be in (0, 1), got {alpha}")
    if not np.all(e >= 0):
        raise ValueError(f"e-values must be >= 0, got {e[~(e >= 0)][0]}")
    falling = np.sort(e)[::-1]
    enough = np.flatnonzero(falling * np.arange(1, e.size + 1) * alpha >= e.size)
    return e >= falling[enough[-1]] if enough.size else np.zeros(e.size, dtype=np.bool_)


def with_discoveries(comparisons: Sequence[Comparison], alpha: float | None = None) -> list[Comparison]:
    """Return the comparisons with `e_bh` set where they are of policies (policy level).

    The hypotheses are "the mean difference is 0". Those without a look yet count too.

    Args:
        comparisons: all of a campaign, made with their number as `comparisons`.
        alpha: false-discovery rate; the largest α of the comparisons unless given.
    """
    tested = [c for c in comparisons if c.level == "policy"]
    if not tested:
        return list(comparisons)
    rate = max(c.alpha for c in tested) if alpha is None else alpha
    evidence = [1.0 if c.adjusted_e_value is None else c.adjusted_e_value for c in tested]
    found = iter(e_bh(evidence, rate).tolist())
    return [replace(c, e_bh=next(found)) if c.level == "policy" else c for c in comparisons]
