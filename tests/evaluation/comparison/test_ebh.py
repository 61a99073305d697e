"""Many comparisons: e-BH against its definition, and the false discoveries among those that it names."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.comparison.ebh import e_bh, with_discoveries
from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT

RULE = SettlingRule()


def by_definition(e: list[float], alpha: float) -> list[bool]:
    m, falling = len(e), sorted(e, reverse=True)
    k = max((k for k in range(1, m + 1) if falling[k - 1] >= m / (alpha * k)), default=0)
    return [k > 0 and x >= falling[k - 1] for x in e]


@given(st.lists(st.sampled_from([0.0, 0.3, 1.0, 9.9, 21.0, 30.0, 41.0, 99.0, 400.0, 1e30]), max_size=12))
def test_it_is_its_definition(e: list[float]) -> None:
    assert e_bh(e, 0.05).tolist() == by_definition(e, 0.05)


def test_one_strong_result_helps_the_next() -> None:
    assert e_bh([100, 45, 1, 1], 0.05).tolist() == [True, True, False, False]
    assert e_bh([45, 1, 1, 1], 0.05).tolist() == [False] * 4  # alone it would need 80
    assert e_bh([20], 0.05).tolist() == [True] and e_bh([19.9], 0.05).tolist() == [False]
    assert e_bh([], 0.05).tolist() == []


@pytest.mark.parametrize(("e", "alpha"), [([-1.0], 0.05), ([math.nan], 0.05), ([1.0], 0.0), ([1.0], 1.0)])
def test_input_is_checked(e: list[float], alpha: float) -> None:
    with pytest.raises(ValueError, match=r"e-values must be >= 0|alpha must be in"):
        e_bh(e, alpha)


def compared(effects: np.ndarray, rng: np.random.Generator, n: int = 200) -> list[Comparison]:
    shared = rng.normal(0, 0.05, n)  # the baseline is common to all comparisons
    return [
        compare_policies(
            "a",
            f"b{i}",
            shared,
            effect + rng.normal(0, 0.05, n),
            utility=DEFAULT,
            rule=RULE,
            comparisons=effects.size,
        )
        for i, effect in enumerate(effects)
    ]


def test_false_discoveries_are_few_and_more_is_found_than_by_bonferroni() -> None:
    rng, runs = np.random.default_rng(1), 60
    effects = np.repeat([0.0, 0.012], [12, 8])
    share, found, adjusted = [], 0, 0
    for _ in range(runs):
        marked = with_discoveries(compared(effects, rng, 320))
        named = np.array([bool(c.e_bh) for c in marked])
        share.append(named[:12].sum() / max(named.sum(), 1))
        bonferroni = np.array([c.adjusted.direction != "0" for c in marked])
        assert not np.any(bonferroni & ~named)
        found += int(named[12:].sum())
        adjusted += int(bonferroni[12:].sum())
    assert np.mean(share) <= 0.05
    assert found > adjusted > 0


def test_comparisons_keep_their_order_and_the_rest_is_left() -> None:
    rng = np.random.default_rng(2)
    sets = compare_sets("x", "y", {1: 1.0, 2: 1.1}, {1: 1.2, 2: 1.3}, utility=DEFAULT, rule=RULE)
    some = compared(np.array([0.0, 0.3]), rng)
    early = compare_policies("a", "c", [1.0], [2.0], utility=DEFAULT, rule=RULE)
    marked = with_discoveries([some[0], sets, early, some[1]])
    assert [c.e_bh for c in marked] == [False, None, False, True]
    assert [c.B for c in marked] == ["b0", "y", "c", "b1"]
    assert marked[3].to_json()["e_bh"] is True and sets.to_json()["e_bh"] is None
    json.dumps([c.to_json() for c in marked], allow_nan=False)
    assert with_discoveries([sets]) == [sets] and with_discoveries([]) == []
