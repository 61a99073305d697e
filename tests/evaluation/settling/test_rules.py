"""Every settling rule through the conformance suite, and what is each one's own."""

import math

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats
from settling_conformance import MARGIN, SettlingConformance

from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.rules import BY_KIND, AnyRule, SettlingRule
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model


class TestMixture(SettlingConformance):
    rule = SettlingRule()


class TestGroupSequential(SettlingConformance):
    rule = GroupSequentialRule(ceiling=120)


class TestGroupSequentialWithFewLooks(SettlingConformance):
    rule = GroupSequentialRule(looks=3, alpha=0.1, ceiling=120)


def test_every_rule_is_in_the_suite() -> None:
    suites = SettlingConformance.__subclasses__()
    assert {type(suite.rule) for suite in suites} == set(BY_KIND.values())


class Campaign(Model):
    settle: AnyRule = SettlingRule()


def test_a_file_without_a_kind_means_the_mixture() -> None:
    assert Campaign().settle == SettlingRule()
    assert Campaign.model_validate({"settle": {"alpha": 0.1}}).settle == SettlingRule(alpha=0.1)
    found = Campaign.model_validate({"settle": {"kind": "group-sequential", "looks": 5}}).settle
    assert found == GroupSequentialRule(looks=5)
    with pytest.raises(ValidationError, match="group-sequential"):
        Campaign.model_validate({"settle": {"kind": "sequential"}})


@pytest.mark.parametrize("kind", ["cceval", "repeated-t"])
def test_rules_that_are_no_longer_offered_are_refused_by_name(kind: str) -> None:
    with pytest.raises(ValidationError, match=f"'{kind}' found using 'kind' does not match any of the expected tags"):
        Campaign.model_validate({"settle": {"kind": kind}})


# Group-sequential


def test_a_budget_must_be_fixed() -> None:
    with pytest.raises(InputError, match="needs a ceiling"):
        GroupSequentialRule().start(MARGIN)


def test_a_fixed_budget_is_looked_at_in_equal_parts() -> None:
    run = GroupSequentialRule(ceiling=45).start(1e-3)
    run.feed(np.random.default_rng(2).normal(0, 1, 500).tolist())
    assert [look.n for look in run.looks] == [9, 14, 18, 23, 27, 32, 36, 41, 45]  # 4.5 is before the first look
    assert run.finished
    last = run.looks[-1]
    critical = stats.t.ppf(stats.norm.cdf(2.08), 44)
    assert (last.high - last.low) / 2 == pytest.approx(critical * last.spread / math.sqrt(45), rel=0.03)


def test_a_fixed_budget_spends_all_of_alpha() -> None:
    rng, crossed, runs = np.random.default_rng(3), 0, 400
    for _ in range(runs):
        run = GroupSequentialRule(ceiling=200).start(1e-3)
        run.feed(rng.normal(0, 1, 200).tolist())
        crossed += any(look.verdict.settled for look in run.looks)
    assert 0.015 < crossed / runs < 0.09  # 5 % with odds of 1,000 to 1 on either side
