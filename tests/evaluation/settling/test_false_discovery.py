"""False-discovery control: by hand, against scipy and the settling rule, and under no effect."""

import math

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.settling.false_discovery import Evidence, controlled_verdicts, q_values, sequential
from lcca.evaluation.settling.judgement import judge
from lcca.evaluation.settling.sequence import half_width, mixture_scale

MARGIN = math.log2(1.03)


def test_q_values_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4/rank: 0.04, 0.04, 0.04, 0.5, from the largest down never rising.
    assert q_values([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.04, 0.04])
    with_hole = q_values([0.01, math.nan, 0.9])
    assert with_hole[[0, 2]] == pytest.approx([0.02, 0.9]) and math.isnan(with_hole[1])
    assert q_values([]).size == 0


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_q_values_are_scipys(n: int) -> None:
    p = np.random.default_rng(n).random(n).round(2)  # with ties
    assert q_values(p).tolist() == stats.false_discovery_control(p).tolist()


def test_verdicts_from_two_families() -> None:
    found = controlled_verdicts(
        [
            Evidence(1, 1e-6, 1),
            Evidence(-1, 1e-6, 1),
            Evidence(0.01, 1e-6, 1e-6),
            Evidence(0, 1, 1e-6),
            Evidence(1, 0.2, 1),
        ]
    )  # fmt: skip
    assert [(v.name, v.direction) for v in found] == [
        ("better", "+"), ("worse", "-"), ("equivalent", "+"), ("equivalent", "0"), ("not settled", "0"),
    ]  # fmt: skip
    # Alone 0.04 would do; among twenty such it does not.
    assert controlled_verdicts([Evidence(1, 0.04, 1)])[0].name == "better"
    crowd = [Evidence(1, 0.04, 1), *[Evidence(1, 0.9, 1)] * 19]
    assert {v.name for v in controlled_verdicts(crowd)} == {"not settled"}


def test_too_little_says_nothing() -> None:
    few = sequential(np.ones(5), MARGIN)
    assert few.low == -math.inf and few.evidence.p_difference == 1
    assert sequential([], MARGIN).n == 0
    assert sequential(np.zeros(6), MARGIN).evidence.p_equivalence == 1
    alike = sequential(np.zeros(100), MARGIN)
    assert (alike.low, alike.high) == (0, 0) and alike.evidence.p_equivalence < 0.05


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.1, -0.1])
def test_sequential_is_the_confidence_sequence(shift: float) -> None:
    rng = np.random.default_rng(2)
    for n in (40, 300, 3000):
        d = rng.normal(shift, 0.2, n)
        found = sequential(d, MARGIN)
        g = mixture_scale(float(d[:6].std(ddof=1)), MARGIN, 0.05)
        width = half_width(n, float(d.std(ddof=1)), g, 0.05)
        assert (found.low, found.high) == (pytest.approx(d.mean() - width), pytest.approx(d.mean() + width))
        verdict = judge(found.low, found.high, MARGIN)
        assert controlled_verdicts([found.evidence])[0].name == verdict.name
        assert (found.evidence.p_difference <= 0.05) == (verdict.direction != "0")


def test_no_effect_gives_few_discoveries_on_networks() -> None:
    rng = np.random.default_rng(8)
    runs, networks, seeds = 300, 100, 10
    false = 0
    for _ in range(runs):
        d = rng.normal(0, 0.1, (networks, seeds)) * rng.uniform(0.2, 3, (networks, 1))
        p = stats.ttest_1samp(d, 0, axis=1).pvalue
        false += bool((q_values(p) <= 0.05).any())
    assert false / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_most_planted_networks_are_found_and_few_others() -> None:
    rng = np.random.default_rng(9)
    shift = np.repeat([0.3, 0.0], 50)
    wrong, right = [], []
    for _ in range(60):
        d = rng.normal(shift[:, None], 0.15, (100, 10))
        p = stats.ttest_1samp(d, 0, axis=1).pvalue
        evidence = [Evidence(mean, each, 1.0) for mean, each in zip(d.mean(axis=1), p, strict=True)]
        found = np.array([v.name == "better" for v in controlled_verdicts(evidence)])
        worse = np.array([v.name == "worse" for v in controlled_verdicts(evidence)])
        wrong.append((found[50:].sum() + worse.sum()) / max(found.sum() + worse.sum(), 1))
        right.append(found[:50].mean())
    assert np.mean(right) > 0.95 and np.mean(wrong) < 0.05


def test_equivalence_at_the_margin_is_rare() -> None:
    rng = np.random.default_rng(10)
    runs, false = 400, 0
    for _ in range(runs):
        evidence = [sequential(rng.normal(MARGIN, 0.1, 150), MARGIN).evidence for _ in range(4)]
        false += any(v.name == "equivalent" for v in controlled_verdicts(evidence))
    assert false / runs <= 0.05
