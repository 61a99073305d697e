"""Critical values of group-sequential looks against published tables and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lcca.evaluation.settling.spending import FARTHEST, Boundary, last_critical_value, spent


def critical_values(fractions: list[float], alpha: float = 0.05) -> list[float]:
    boundary = Boundary(alpha)
    return [boundary.next(t) for t in fractions]


def test_five_looks_as_published() -> None:
    # Lan & DeMets' O'Brien-Fleming spending, two-sided 5 %, equally spaced (Proschan, Lan & Wittes 2006).
    found = critical_values([0.2, 0.4, 0.6, 0.8, 1.0])
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=5e-4)


def test_ten_looks_end_at_the_value_of_the_specification() -> None:
    assert last_critical_value(10, 0.05) == pytest.approx(2.08, abs=0.005)
    assert last_critical_value(1, 0.05) == pytest.approx(stats.norm.isf(0.025), abs=1e-6)


def test_all_of_alpha_is_spent_at_the_end() -> None:
    for alpha in (0.2, 0.05, 0.0005):
        assert spent(1.0, alpha) == pytest.approx(alpha)
        assert spent(0.01, alpha) < 1e-12


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.sampled_from([0.1, 0.05, 0.005]))
def test_chance_of_crossing_is_what_was_spent(steps: list[int], alpha: float) -> None:
    fractions = np.cumsum(steps) / sum(steps)
    bounds = np.array(critical_values(fractions.tolist(), alpha)) * np.sqrt(fractions)
    rng, runs = np.random.default_rng(1), 40_000
    paths = np.cumsum(rng.standard_normal((runs, fractions.size)) * np.sqrt(np.diff(fractions, prepend=0)), axis=1)
    crossed = int((np.abs(paths) >= bounds).any(axis=1).sum())
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], runs, alpha)
    assert low <= crossed <= high


def test_looks_too_early_to_spend_anything() -> None:
    assert critical_values([1e-4, 1.0])[0] == FARTHEST
    assert critical_values([1e-4, 1.0])[1] == pytest.approx(1.96, abs=1e-3)


@pytest.mark.parametrize("fractions", [[0.0], [1.2], [0.5, 0.5], [0.5, 0.4]])
def test_fractions_must_grow_to_one(fractions: list[float]) -> None:
    with pytest.raises(ValueError, match="fraction must be in"):
        critical_values(fractions)
