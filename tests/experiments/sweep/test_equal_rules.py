"""At which numbers of rules the policies of a training seed are compared."""

from types import SimpleNamespace
from typing import Any

from lcca.experiments.sweep.groups import equal_rules


def chosen(name: str, *rules: int) -> Any:
    learner = SimpleNamespace(signals=SimpleNamespace(name=name), id=f"{name}.default.s1")
    return SimpleNamespace(learner=learner, by_rules=dict.fromkeys(rules))


def test_each_candidate_has_the_sizes_that_it_shares_with_the_baseline() -> None:
    found = equal_rules([chosen("e2e", 1, 4, 16), chosen("link", 4, 16, 32), chosen("loss", 1)], "e2e")
    assert found == {"e2e.default.s1": [1, 4, 16], "link.default.s1": [4, 16], "loss.default.s1": [1]}


def test_a_baseline_alone_is_tested_at_its_own_size() -> None:
    assert equal_rules([chosen("e2e", 1, 4)], "e2e") == {"e2e.default.s1": []}
    assert equal_rules([chosen("e2e", 1, 4), chosen("link", 4)], "e2e")["e2e.default.s1"] == [4]
