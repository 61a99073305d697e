"""What the report says of signal sets over training seeds under other conditions, beside selected policies."""

from dataclasses import replace
from typing import Any

import pytest

from lcca.evaluation.report.sections.differences import generalisation
from lcca.evaluation.report.sections.groups import scores
from lcca.evaluation.report.sections.network_shares import shares_over_seeds
from lcca.evaluation.report.sections.section import BOTH, SELECTED
from lcca.evaluation.report.sections.trainings import ideal
from lcca.evaluation.trials.tables import RunTables


@pytest.fixture(scope="module")
def tables(build_run: Any) -> RunTables:
    return RunTables.load(build_run(seeds=6, count=40))


def shares(b: str, a: str, n: int, low: float | None) -> dict[str, Any]:
    told = {"A": a, "B": b, "utility": "default", "metric": "delay_us", "training_seeds": n, "alpha": 0.05}
    net = None if a == b else {"mean": 9.5, "low": low, "high": None if low is None else 21.0}
    return told | {
        "better_percent": {"mean": 12.5, "sd": 4.0},
        "worse_percent": {"mean": 3, "sd": None},
        "net_percent": net,
    }


@pytest.mark.slow
def test_conditions_speak_of_signal_sets_first(tables: RunTables) -> None:
    comparisons = tables.summary["comparisons"]
    sets = [c for c in comparisons if c["level"] == "set"]
    record = {"condition": "line", "utility": "default", "pairs": 40, "failed": 0}
    both = replace(tables, summary=tables.summary | {"generalisation": [record | {"comparisons": comparisons[::-1]}]})
    found = generalisation(both)
    assert found is not None and found.population == BOTH
    assert found.answer.startswith(f"Of {len(sets)} comparisons over training seeds: ")
    of_sets, of_policies = found.tables
    assert "Training seeds" in of_sets.head and [row[5] for row in of_sets.rows] == ["6"] * len(sets)
    assert "Pairs" in of_policies.head and len(of_policies.rows) == len(comparisons) - len(sets)
    policies = [c for c in comparisons if c["level"] == "policy"]
    alone = replace(tables, summary=tables.summary | {"generalisation": [record | {"comparisons": policies}]})
    found = generalisation(alone)
    assert found is not None and found.population == SELECTED
    assert found.answer.startswith(f"Of {len(policies)} comparisons of selected policies: ")


def test_shares_of_networks_stand_beside_the_variance_between_trainings(tables: RunTables) -> None:
    rows = [shares("link", "e2e", 6, -2.0), shares("queue", "link", 4, None), shares("e2e", "e2e", 5, None)]
    told = replace(tables, summary=tables.summary | {"per_network": rows})
    (table,) = shares_over_seeds(told)
    assert table.rows == [
        ("link against e2e", "mean delay", "12 ± 4", "3", "+10 [-2, +21]", "6"),
        ("queue against link", "mean delay", "12 ± 4", "3", "+10 [–]", "4"),
        ("e2e against e2e", "mean delay", "12 ± 4", "3", "–", "5"),
    ]
    assert "variance between trainings" in table.caption
    assert not shares_over_seeds(tables)


def test_scores_over_seeds_have_the_expected_best_of_five(tables: RunTables) -> None:
    row = {"name": "link", "utility": "default", "training_seeds": [1, 2, 3, 4, 5, 6], "best_of": 5}
    row |= {"score_bits": 3.1, "score_bits_sd": 0.0123, "best_of_score_bits": 3.125}
    row |= {"best_of_difference_bits": -0.004, "best_of_difference_bits_se": 0.01}
    few = row | {"training_seeds": [1, 2], "best_of_score_bits": None, "best_of_difference_bits": None}
    (table,) = scores(replace(tables, summary=tables.summary | {"signal_sets": [row, few]})).tables
    assert table.head[5] == "Expected best of 5"
    assert table.rows[0] == ("link", "default", "6", "3.100", "0.012", "3.125", "−0.004 ± 0.010")
    assert table.rows[1][2:] == ("2", "3.100", "0.012", "–", "–")
    alone = row | {"training_seeds": [1]}
    assert len(scores(replace(tables, summary=tables.summary | {"signal_sets": [alone, few]})).tables[0].rows) == 2
    assert not scores(replace(tables, summary=tables.summary | {"signal_sets": [alone]})).tables


def test_what_is_possible_says_signal_sets_first(tables: RunTables) -> None:
    ideals = dict.fromkeys(("causal_bits", "clairvoyant_bits", "upper_bits")) | {"fair_bits": 3.5}
    found: dict[str, Any] = ideals | {"utility": "default", "networks": 40, "policies": []}
    rows = [{"name": "e2e", "score_bits": 3.3, "below_fair_bits": 0.2, "gap_closed": None}]
    rows += [{"name": "link", "score_bits": 3.4, "below_fair_bits": 0.1, "gap_closed": 0.5}]
    several = [found | {"signal_sets": rows}, found | {"signal_sets": rows, "utility": "2t"}]
    told = ideal(replace(tables, summary=tables.summary | {"ideal": several}))
    assert told is not None and told.population == BOTH and "training seeds" in told.caption
    assert [table.caption.rpartition("utility ")[2].partition(",")[0] for table in told.tables] == ["default", "2t"] * 2
    assert told.tables[0].rows == [("e2e", "3.300", "0.200", ""), ("link", "3.400", "0.100", "50 %")]
    alone = ideal(replace(tables, summary=tables.summary | {"ideal": [found]}))
    assert alone is not None and alone.population == SELECTED and len(alone.tables) == 1
    assert "training seeds" not in alone.caption
