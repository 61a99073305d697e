"""Every settling rule through the conformance suite, and what is each one's own."""

import json
import math

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy import stats
from settling_conformance import MARGIN, NOISE, SettlingConformance, ended

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.cceval import CCEvalRule
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.repeated_t import RepeatedTRule
from lcca.evaluation.settling.rules import BY_KIND, AnyRule
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model


class TestMixture(SettlingConformance):
    rule = SettlingRule()


class TestGroupSequential(SettlingConformance):
    rule = GroupSequentialRule(ceiling=120)


class TestGroupSequentialWithFewLooks(SettlingConformance):
    rule = GroupSequentialRule(looks=3, alpha=0.1, ceiling=120)


class TestCCEval(SettlingConformance):
    rule = CCEvalRule(accuracy_percent=1)


class TestCCEvalAsAccurateAsNeeded(SettlingConformance):
    rule = CCEvalRule(accuracy_percent=1.48)


class TestRepeatedT(SettlingConformance):
    rule = RepeatedTRule()


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
    read: Rule = TypeAdapter(AnyRule).validate_json(json.dumps({"kind": "cceval"}))
    assert read == CCEvalRule()


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


# CCEval


def test_cceval_judges_once_and_only_when_accurate() -> None:
    rule = CCEvalRule(accuracy_percent=1)
    d = np.random.default_rng(4).normal(0.2, NOISE, 4000)
    run = ended(rule, d)
    target = rule.accuracy(MARGIN)
    assert target == pytest.approx(math.log(1.01))
    widths = [(look.high - look.low) / 2 for look in run.looks]
    assert widths[-1] <= target < min(widths[:-1])
    assert run.looks[0].low > MARGIN and not run.looks[0].verdict.settled  # clear long before
    assert ended(SettlingRule(), d).state.n < run.state.n / 10


def test_cceval_must_be_able_to_end_with_a_verdict() -> None:
    with pytest.raises(ValidationError, match=r"at most 1\.488, half of margin_percent \(3\)"):
        CCEvalRule(accuracy_percent=1.5)
    assert CCEvalRule(margin_percent=1, accuracy_percent=0.4).accuracy(1.0) < 0.5


# Repeated t-test


def test_a_repeated_t_test_says_that_it_is_invalid() -> None:
    a = np.zeros(300)
    b = np.random.default_rng(5).normal(0.2, 0.1, 300)
    record = compare_policies("a", "b", a, b, utility=DEFAULT, rule=RepeatedTRule())
    assert "invalid" in record.note and record.to_json()["rule"] == "repeated-t"
    valid = compare_policies("a", "b", a, b, utility=DEFAULT, rule=SettlingRule())
    assert "invalid" not in valid.note and valid.n >= record.n


def test_a_comparison_of_independent_arms() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(3, 0.3, 2000), rng.normal(3.2, 0.3, 2000)
    record = compare_policies("a", "b", a, b, utility=DEFAULT, rule=SettlingRule(arms="independent"))
    assert record.verdict.name == "better" and "independent arms" in record.note
    spreads = (x.reshape(-1, 16).mean(axis=1).std(ddof=1) for x in (a, b))
    assert record.sigma_d == pytest.approx(math.hypot(*spreads))
