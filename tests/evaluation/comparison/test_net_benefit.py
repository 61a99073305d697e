"""Which header to take: the front and the choice."""

from itertools import count

import numpy as np
import pytest

from lcca.evaluation.comparison.compare import Comparison, compare_policies, compare_sets
from lcca.evaluation.comparison.net_benefit import NetBenefit, best_of, choose, front
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT

RULE = SettlingRule(ceiling=1000)
NUMBERS = count()


def against(a: np.ndarray, b: np.ndarray) -> Comparison:
    return compare_policies("A", f"B{next(NUMBERS)}", a, b, utility=DEFAULT, rule=RULE)


def benefit(header: str, wire_bytes: int, net: float, spread: float = 0.1) -> NetBenefit:
    noise = np.random.default_rng(next(NUMBERS)).normal(0, spread, 1000)
    compared = against(np.zeros(1000), net + noise - noise.mean())
    of_sets = compare_sets("A", "B", {1: [0.0]}, {1: [net]}, utility=DEFAULT, rule=RULE)
    return NetBenefit(header, header, "default", wire_bytes, 0, 1500, compared, None, compared, of_sets, of_sets)


def test_the_front_has_what_none_beats_in_both() -> None:
    rows = [
        benefit("dear", 42, 0.3),
        benefit("cheap", 4, 0.2),
        benefit("dominated", 8, 0.15),
        benefit("useless", 1, -0.1),
    ]
    assert front(rows) == ("cheap", "dear")


def test_of_equal_bytes_the_better_one_is_on_the_front() -> None:
    assert front([benefit("a", 4, 0.2), benefit("b", 4, 0.3)]) == ("b",)


def test_nothing_is_taken_if_nothing_is_settled_better() -> None:
    rows = [benefit("open", 4, 0.2, spread=20.0), benefit("worse", 4, -0.3)]
    assert best_of(rows) is None
    found = choose("default", rows, [])
    assert (found.best, found.take, found.front) == (None, None, ("open",))


@pytest.mark.parametrize(("distance", "taken"), [(0.005, "cheap"), (0.2, "dear")])
def test_the_cheapest_of_those_that_do_as_well_is_taken(distance: float, taken: str) -> None:
    dear, cheap = benefit("dear", 42, 0.5), benefit("cheap", 4, 0.5 - distance)
    noise = np.random.default_rng(1).normal(0, 0.02, 1000)
    rival = against(np.zeros(1000), noise - distance)
    assert choose("default", [dear, cheap], [(cheap, rival)]).take == taken


def test_a_cheaper_one_must_beat_the_baseline_too() -> None:
    best, open_ = benefit("best", 42, 0.5), benefit("open", 4, 0.49, spread=20.0)
    rival = against(np.zeros(1000), np.random.default_rng(1).normal(0, 0.001, 1000))
    assert rival.verdict.name == "equivalent"
    assert choose("default", [best, open_], [(open_, rival)]).take == "best"


def test_an_equal_one_that_costs_as_much_does_not_replace_the_best() -> None:
    best, same = benefit("best", 4, 0.5), benefit("same", 4, 0.499)
    rival = against(np.zeros(1000), np.random.default_rng(1).normal(0, 0.001, 1000))
    assert choose("default", [best, same], [(same, rival)]).take == "best"


def test_a_header_that_does_worse_for_free_is_called_undertrained() -> None:
    from lcca.evaluation.report.sections.which_header import sentence

    row = benefit("rich", 8, -0.4).to_json()
    assert "trained too little" in sentence(row, "e2e", False)
    assert "trained too little" not in sentence(benefit("good", 8, 0.4).to_json(), "e2e", False)


def test_the_title_hedges_until_training_seeds_agree() -> None:
    from lcca.evaluation.report.sections.which_header import title

    row = benefit("good", 8, 0.4)
    said = {
        "baseline": "e2e",
        "rows": [row.to_json()],
        "choices": [{"utility": "default", "best": "good", "take": "good", "front": ["good"]}],
    }
    assert title(said).startswith("Recommended (not settled over trainings): good, 8")
    said["rows"][0]["net_set"]["verdict"] = "better"
    assert title(said).startswith("Recommended: good, 8")
    said["choices"][0]["take"] = None
    assert title(said) == "No header is settled better than e2e with its bytes charged"
