"""Elementary functions of arrays: right to the last bits."""

import numpy as np
import pytest

from lcca.remy_plus.core.elementary import exp, log, log2, power

DRAWS = np.random.default_rng(1)
POSITIVE = np.concatenate([np.exp(DRAWS.uniform(-700, 700, 5000)), 1 + DRAWS.normal(0, 1e-6, 5000), [5e-324, 1e308]])


@pytest.mark.parametrize(("ours", "theirs"), [(log, np.log), (log2, np.log2)])
def test_logarithms_are_right_to_the_last_bits(ours, theirs) -> None:
    exact = theirs(POSITIVE.astype(np.longdouble))  # 64 bits of mantissa
    error = np.abs(ours(POSITIVE) - exact)
    assert np.all(error <= 4.5e-16 * np.abs(exact))


def test_the_exponential_is_right_to_the_last_bits() -> None:
    x = np.concatenate([DRAWS.uniform(-700, 709, 5000), DRAWS.normal(0, 1e-6, 5000)])
    exact = np.exp(x.astype(np.longdouble))
    assert np.all(np.abs(exp(x) - exact) <= 4.5e-16 * exact)


def test_powers() -> None:
    np.testing.assert_array_equal(power([[0.0, 3.0], [2.0, 10.0]], 2), [[0, 9], [4, 100]])
    np.testing.assert_array_equal(power(3.0, [0.5, -1, 1023]), [3.0**0.5, 1 / 3, np.inf])


def test_ends_and_shapes() -> None:
    np.testing.assert_array_equal(log([0, 1, np.inf, np.nan, -1]), [-np.inf, 0, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(log2([[8.0, 1024.0], [0.25, 1.0]]), [[3, 10], [-2, 0]])
    np.testing.assert_array_equal(exp([0, 800, -800, np.inf, -np.inf, np.nan]), [1, np.inf, 0, np.inf, 0, np.nan])
    assert log(2.0).shape == () and exp(np.zeros((2, 0))).shape == (2, 0)
