"""Which header pays, which one to take, and the front."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.comparison.net_benefit import NetBenefit, choose, decision, front, no_choice_yet
from lcca.evaluation.comparison.sets import MOST_SEEDS, SeedInterval, compare_sets
from lcca.evaluation.report.sections.which_header import _statements, sentence, title
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.utilities import DEFAULT

RULE = SettlingRule(ceiling=1000)
REQUIRED = DEFAULT.difference(1.0)
LUCK = np.array([0.004, -0.003, 0.001, -0.004, 0.002])


def over_seeds(a: str, b: str, difference: float, scale: float = 1.0) -> Comparison:
    zeros, own = dict.fromkeys(range(5), 0.0), dict(enumerate(difference + scale * LUCK))
    return compare_sets(a, b, zeros, own, utility=DEFAULT, rule=RULE, margin=REQUIRED)


def benefit(header: str, wire_bytes: int, net: float, scale: float = 1.0) -> NetBenefit:
    found = over_seeds("e2e", header, net, scale)
    selected = compare_policies("A", "B", np.zeros(30), LUCK[0] + np.arange(30) / 1e4, utility=DEFAULT, rule=RULE)
    parts = (selected, None, selected, found, None, found)
    return NetBenefit(header, header, "default", wire_bytes, 0, 1500, 1.0, REQUIRED, *parts)


@pytest.mark.parametrize(
    ("net", "scale", "expected"),
    [
        (0.05, 1.0, "pays"),
        (-0.05, 1.0, "does not pay"),
        (0.0, 1.0, "open"),
        (0.0, 0.1, "does not pay"),
        (0.05, 9, "open"),
    ],
)
def test_a_header_pays_if_it_brings_more_than_it_must(net: float, scale: float, expected: str) -> None:
    assert decision(over_seeds("e2e", "x", net, scale), REQUIRED) == expected


def chosen(net: dict[str, float], wire_bytes: dict[str, int], scale: float = 1.0) -> tuple[str, tuple[str, ...]]:
    names = list(net)
    pairs = [over_seeds(a, b, net[b] - net[a], scale) for i, a in enumerate(names) for b in names[i + 1 :]]
    found = choose("default", "e2e", wire_bytes, net, pairs)
    return found.take, found.answers


def test_what_is_settled_worse_than_another_is_no_answer() -> None:
    net = {"e2e": 0.0, "cheap": 0.02, "dear": 0.3, "useless": -0.1}
    take, answers = chosen(net, {"e2e": 0, "cheap": 4, "dear": 42, "useless": 1})
    assert (take, answers) == ("dear", ("dear",))


def test_the_fewest_bytes_of_what_may_be_best_are_taken() -> None:
    net = {"e2e": 0.0, "cheap": 0.295, "dear": 0.3}
    assert chosen(net, {"e2e": 0, "cheap": 4, "dear": 42}) == ("cheap", ("cheap", "dear"))


def test_with_too_few_seeds_the_baseline_stays() -> None:
    net = {"e2e": 0.0, "ecn": 0.05, "dear": 0.3}
    take, answers = chosen(net, {"e2e": 0, "ecn": 0, "dear": 42}, scale=200)
    assert (take, set(answers)) == ("e2e", set(net))


def test_the_luckiest_of_equal_headers_is_not_recommended() -> None:
    """Twenty headers that are all worth nothing: by the largest settled estimate one is recommended in up to 18 %."""
    rng, taken = np.random.default_rng(0), 0
    for _ in range(60):
        scores = rng.normal(0, 0.03, (8, 9))
        names = ["e2e", *(f"h{i}" for i in range(1, 9))]
        by_seed = {name: dict(enumerate(scores[:, i])) for i, name in enumerate(names[:8])}
        pairs = [
            compare_sets(a, b, by_seed[a], by_seed[b], utility=DEFAULT, rule=RULE, comparisons=28, margin=REQUIRED)
            for i, a in enumerate(names[:8])
            for b in names[i + 1 : 8]
        ]
        net = {name: float(np.mean(list(own.values()))) for name, own in by_seed.items()}
        taken += choose("default", "e2e", {name: 4 * (name != "e2e") for name in by_seed}, net, pairs).take != "e2e"
    assert taken <= 6


@pytest.mark.slow
def test_decisions_on_all_headers_hold_together() -> None:
    """Seven headers that bring exactly what they must: after every seed from 5 to 24, none may pay nor not pay."""
    rng, runs, pairs, wrong = np.random.default_rng(3), 150, 28, 0
    for scores in rng.normal(0, 0.03, (runs, MOST_SEEDS, 8)):
        net = scores[:, 1:] - scores[:, :1] + REQUIRED  # all against the same baseline
        looks = [SeedInterval.of(net[:n, h], RULE.alpha / pairs) for n in range(5, MOST_SEEDS + 1) for h in range(7)]
        wrong += any(look.low > REQUIRED or look.high < REQUIRED for look in looks)
    assert wrong <= stats.binom.ppf(0.999, runs, RULE.alpha)


def test_the_front_has_what_none_beats_in_both() -> None:
    net = {"dear": 0.3, "cheap": 0.2, "dominated": 0.15, "useless": -0.1}
    assert front({"dear": 42, "cheap": 4, "dominated": 8, "useless": 1}, net) == ("cheap", "dear")
    assert front({"a": 4, "b": 4}, {"a": 0.2, "b": 0.3}) == ("b",)


def test_a_header_that_does_worse_for_free_is_called_undertrained() -> None:
    assert "trained too little" in sentence(benefit("rich", 8, -0.4).to_json(), "e2e", False)
    assert "trained too little" not in sentence(benefit("good", 8, 0.4).to_json(), "e2e", False)


def test_the_title_says_what_to_take_and_what_is_open() -> None:
    rows = [benefit("good", 8, 0.4).to_json(), benefit("unclear", 4, 0.0).to_json()]
    seen = {"n": 5, "low": -1.0, "high": 1.0}
    choice = {"utility": "default", "take": "good", "answers": ["good"], "front": ["good"], "pairs": [seen]}
    said = {"baseline": "e2e", "rows": rows, "choices": [choice]}
    assert title(said).startswith("Take good: 8")
    choice["take"] = "e2e"
    assert title(said) == "Keep e2e without a header: 1 of 2 headers are open"
    said["rows"] = [benefit("bad", 8, -0.4).to_json()]
    assert title(said) == "Keep e2e without a header: no header pays"


def test_nothing_is_recommended_before_the_first_look() -> None:
    early, no_interval = {"n": 2, "low": None, "high": None}, {"n": 6, "low": None, "high": None}
    assert no_choice_yet([early]) == "no recommendation yet: 2 of at least 5 training seeds"
    assert no_choice_yet([no_interval]) == "no recommendation yet: 6 training seeds are too few for an interval"
    assert no_choice_yet([no_interval, {"n": 6, "low": -1.0, "high": 1.0}]) == ""
    choice = {"utility": "default", "take": "e2e", "answers": ["e2e"], "front": [], "pairs": [early]}
    said = {"baseline": "e2e", "rows": [benefit("good", 8, 0.4).to_json()], "choices": [choice]}
    assert title(said) == "No recommendation yet: 2 of at least 5 training seeds"
    assert next(_statements(said, {}, {})).text == f"{title(said)}."


def test_beside_a_verdict_it_says_what_the_header_can_be_worth_and_who_pays() -> None:
    row = benefit("good", 8, 0.4).to_json()
    choice = {"utility": "default", "take": "good", "answers": ["good"], "front": ["good"]}
    choices = [choice | {"pairs": [{"n": 5, "low": -1.0, "high": 1.0}]}]
    most = {"utility": "default", "rival": "dctcp", "rival_bits": -1.1, "base_bits": -1.2}
    gaps = [most | {"ideal": "max-min", "worth_bits": 0.001}, most | {"ideal": "srpt", "worth_bits": 1.0}]
    pays = {"utility": "default", "level": "set", "id": row["net_set"]["B"], "merit": {"long_flows_percent": 12.3}}
    said = {"baseline": "e2e", "rows": [row], "choices": choices}
    _, told = _statements(said, {}, {"worth_at_most": gaps, "merit": [pays]})
    share = 100 * (row["net_set"]["difference"] - 0.1)
    assert "is 0.001 bits from dctcp to max-min, less than what it must bring; 1.000 bits" in told.text
    assert f"of which it closes {share:.1f}".rstrip("0").rstrip(".") in told.text
    assert told.text.endswith("Long flows pay: median slowdown from 1 MB +12 %.")


def test_a_header_whose_signals_nothing_was_learnt_from_is_open() -> None:
    zeros = dict.fromkeys(range(12), 0.0)
    same = compare_sets("e2e", "x", zeros, zeros, utility=DEFAULT, rule=RULE, margin=REQUIRED)
    found = replace(benefit("x", 8, -0.4), gross_set=same)
    assert found.decision == "open" and "nothing learnt from the signal" in sentence(found.to_json(), "e2e", False)
