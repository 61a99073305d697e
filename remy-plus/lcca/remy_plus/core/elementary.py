"""Logarithms, exponentials and powers of arrays whose bits do not depend on a processor's vector instructions.

NumPy's own differ in the last bit with the vector instructions that a processor has, and a search that ranks candidates
makes another policy of that. Here all is basic arithmetic, which IEEE 754 fixes (as the engine's own logarithm is), but
for powers, which are the C library's: its bits depend on whether the processor has FMA (most have from 2013 on).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_LN2 = 0.693147180559945309417
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the high part has zeros at its end
_HALF_ROOT = 0.70710678118654752440
_LOG_TERMS = range(23, 1, -2)
_EXP_TERMS = range(14, 0, -1)


def log(x: ArrayLike) -> Floats:
    """Return natural logarithms, relative error below 4e-16; −∞ of 0, NaN below."""
    values = np.asarray(x, dtype=np.float64)
    exponent, inside = _parts(values)
    return _with_ends(values, exponent * _LN2_HIGH + (inside + exponent * _LN2_LOW))


def log2(x: ArrayLike) -> Floats:
    """Return binary logarithms, relative error below 4.5e-16; exact for powers of two."""
    values = np.asarray(x, dtype=np.float64)
    exponent, inside = _parts(values)
    return _with_ends(values, exponent + inside / _LN2)


def exp(x: ArrayLike) -> Floats:
    """Return e to the power of x, relative error below 4e-16; ∞ and 0 where that is what fits."""
    values = np.asarray(x, dtype=np.float64)
    inside = np.clip(np.nan_to_num(values), -760.0, 720.0)
    whole = np.rint(inside / _LN2)
    rest = (inside - whole * _LN2_HIGH) - whole * _LN2_LOW  # |rest| ≤ 0.347
    series = np.ones_like(rest)
    for term in _EXP_TERMS:
        series = 1 + series * rest / term
    with np.errstate(over="ignore", under="ignore"):
        found: Floats = np.ldexp(series, whole.astype(np.int64))
    return np.where(np.isnan(values), np.nan, found)


def power(base: ArrayLike, exponent: ArrayLike) -> Floats:
    """Return powers, one by one; ∞ where that is what fits. Bases must be above 0, or 0 with exponents above 0."""
    bases, exponents = np.broadcast_arrays(np.asarray(base, dtype=np.float64), np.asarray(exponent, dtype=np.float64))
    pairs = zip(bases.ravel().tolist(), exponents.ravel().tolist(), strict=True)
    powers = []
    for pair in pairs:
        try:
            powers.append(math.pow(*pair))
        except OverflowError:
            powers.append(math.inf)
    return np.array(powers, dtype=np.float64).reshape(bases.shape)


def _parts(values: Floats) -> tuple[Floats, Floats]:
    """Return k and ln m, with values of m · 2^k and m from √½ to √2; 0 of what has no logarithm."""
    mantissa, exponent = np.frexp(np.where((values > 0) & (values < np.inf), values, 1.0))
    small = mantissa < _HALF_ROOT
    mantissa = np.where(small, 2 * mantissa, mantissa)
    f = (mantissa - 1) / (mantissa + 1)  # ln m = 2 artanh f
    square = f * f
    series = np.zeros_like(f)
    for k in _LOG_TERMS:
        series = (series + 1.0 / k) * square
    return (exponent - small).astype(np.float64), 2 * f + 2 * f * series


def _with_ends(values: Floats, found: Floats) -> Floats:
    """Return logarithms, with what those of 0, of ∞ and of numbers below 0 are."""
    ends = np.where(values == 0, -np.inf, np.where(values == np.inf, np.inf, np.nan))
    return np.where((values > 0) & (values < np.inf), found, ends)
