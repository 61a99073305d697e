"""What comparisons take against the normal law with known variances and correlation."""

import numpy as np
import pytest
from scipy import stats

from studies.cceval.paired_metric import paired_metric, variance_left, wrong_signs

S_A, S_B, RHO, GAP = 2.0, 3.0, 0.8, 0.5


def pairs(count: int = 200_000, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    cross = RHO * S_A * S_B
    x = np.random.default_rng(seed).multivariate_normal([10, 10 + GAP], [[S_A**2, cross], [cross, S_B**2]], count)
    return x[:, 0], x[:, 1]


def test_numbers_of_trials_are_those_of_the_variances() -> None:
    a, b = pairs()
    found = paired_metric(a, b, {}, np.random.default_rng(2))
    z, gap = stats.norm.ppf(0.975), b.mean() - a.mean()
    paired = S_A**2 + S_B**2 - 2 * RHO * S_A * S_B
    assert found.saved == pytest.approx((S_A**2 + S_B**2) / paired, rel=0.02)
    wanted = [z**2 * paired, z**2 * (S_A**2 + S_B**2), z**2 * (S_A + S_B) ** 2]
    assert [found.sign_paired, found.sign_independent, found.sign_separate] == pytest.approx(
        [each / gap**2 for each in wanted], rel=0.02
    )
    assert found.percent_a == pytest.approx((z * S_A / 0.1) ** 2, rel=0.02)
    assert found.low < GAP < found.high and found.correlation == pytest.approx(RHO, abs=0.01)
    for share, variance in ((found.wrong_paired, paired), (found.wrong_independent, S_A**2 + S_B**2)):
        assert share == pytest.approx(stats.norm.cdf(-GAP / np.sqrt(variance / 10)), abs=0.012)


def test_ten_of_equal_policies_are_wrong_every_other_time() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 50_000))
    assert wrong_signs(a, b, np.random.default_rng(4)) == pytest.approx([0.5, 0.5], abs=0.02)


def test_what_was_offered_leaves_one_less_the_squared_correlation() -> None:
    rng = np.random.default_rng(5)
    x, noise, other = rng.normal(size=(3, 40))
    assert variance_left(3 * x + noise, {"x": x, "still": np.ones(40)}) == pytest.approx(
        (1 - stats.linregress(x, 3 * x + noise).rvalue ** 2) * 39 / 38
    )
    left = [variance_left(rng.normal(size=30), {"x": rng.normal(size=30)}) for _ in range(400)]
    assert np.mean(left) == pytest.approx(1, abs=0.01)  # corrected: nothing is explained
    assert variance_left(np.ones(5), {"x": x[:5]}) == 1 == variance_left(other[:2], {"x": x[:2]})


def test_two_pairs_are_too_few() -> None:
    with pytest.raises(ValueError, match="at least three pairs"):
        paired_metric(np.ones(2), np.ones(2), {}, np.random.default_rng(1))
