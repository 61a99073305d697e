"""Intervals of what is positive."""

import math

import numpy as np
import pytest

from lcca.evaluation.settling.intervals import positive_interval, t_interval


def test_means_of_positive_values_have_positive_ends() -> None:
    for values, least in (([1.3, 9.7], 1.0), ([1.02, 1.1], 1.0), ([0.0, 4.0], 0.0), ([0.1, 40.0, 0.2], 0.0)):
        mean, low, high = positive_interval(values, least=least)
        assert t_interval(values)[1] < least <= low < mean == np.mean(values) < high < math.inf
    assert positive_interval([0.96, 0.98], least=1.0)[1] < 0.97  # a lone flow on links may have such a slowdown
    assert positive_interval([0.0, 0.0]) == (0.0, 0.0, 0.0)
    assert all(math.isnan(end) for end in positive_interval([2.0])[1:])


def test_the_log_scale_covers_and_agrees_with_students_t_on_many_values() -> None:
    rng, hits = np.random.default_rng(1), 0
    for _ in range(2000):
        _, low, high = positive_interval(np.exp(rng.normal(0, 0.5, 20)))
        hits += low < math.exp(0.125) < high
    assert 0.92 < hits / 2000 < 0.97
    many = rng.normal(3, 0.1, 5000)
    assert positive_interval(many) == pytest.approx(t_interval(many), rel=1e-5)
