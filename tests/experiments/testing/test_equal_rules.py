"""At which numbers of rules the policies of a training seed are compared."""

from types import SimpleNamespace
from typing import Any

from lcca.evaluation.trials.policy_names import at_rules
from lcca.experiments.testing.groups import equal_rules
from lcca.experiments.testing.summary import capacity_content


def chosen(name: str, *rules: int) -> Any:
    learner = SimpleNamespace(signals=SimpleNamespace(name=name), id=f"{name}.default.s1")
    return SimpleNamespace(learner=learner, by_rules=dict.fromkeys(rules))


def test_each_candidate_has_the_sizes_that_it_shares_with_the_baseline() -> None:
    found = equal_rules([chosen("e2e", 1, 4, 16), chosen("link", 4, 16, 32), chosen("loss", 1)], "e2e")
    assert found == {"e2e.default.s1": [1, 4, 16], "link.default.s1": [4, 16], "loss.default.s1": [1]}


def test_a_baseline_alone_is_tested_at_its_own_size() -> None:
    assert equal_rules([chosen("e2e", 1, 4)], "e2e") == {"e2e.default.s1": []}
    assert equal_rules([chosen("e2e", 1, 4), chosen("link", 4)], "e2e")["e2e.default.s1"] == [4]


class Found:
    """A comparison that tells how many share α."""

    def __init__(self, total: int) -> None:
        self.total = total

    def to_json(self) -> int:
        return self.total


def test_a_size_that_few_trainings_reached_takes_no_error_rate_from_the_others() -> None:
    """Six training seeds: Link has 4 and 16 rules in all of them, loss 4 in five and 16 in one."""
    seeds = {("e2e", 4): 6, ("e2e", 16): 6, ("link", 4): 6, ("link", 16): 6, ("loss", 4): 5, ("loss", 16): 1}
    means = {at_rules(name, rules): dict.fromkeys(range(n), 3.0) for (name, rules), n in seeds.items()}
    group: Any = SimpleNamespace(
        utility=SimpleNamespace(name="default"),
        baseline="e2e",
        trainer="",
        others=["link", "loss"],
        training_seeds=list(range(6)),
        policies=[SimpleNamespace(by_rules=dict.fromkeys((4, 16)))],
        by_seed=lambda name: means.get(name, {}),
        compare_candidates=lambda a, b, total: Found(total),
    )
    rows = capacity_content([group])
    assert {(row["name"], row["rules"]): row["comparison"] for row in rows} == {
        ("e2e", 4): None, ("link", 4): 3, ("loss", 4): 3, ("e2e", 16): None, ("link", 16): 3
    }  # fmt: skip
