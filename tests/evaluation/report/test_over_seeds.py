"""What the report says of signal sets over training seeds under other conditions, beside selected policies."""

from dataclasses import replace
from typing import Any

import pytest

from lcca.evaluation.report.sections.generalisation import generalisation
from lcca.evaluation.report.sections.section import BOTH, SELECTED
from lcca.evaluation.report.sections.seed_shares import shares_over_seeds
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


def test_conditions_speak_of_signal_sets_first(tables: RunTables) -> None:
    comparisons = tables.summary["comparisons"]
    sets = [c for c in comparisons if c["level"] == "set"]
    record = {"condition": "line", "utility": "default", "pairs": 40, "failed": 0}
    both = replace(tables, summary=tables.summary | {"generalisation": [record | {"comparisons": comparisons[::-1]}]})
    found = generalisation(both)
    assert found is not None and found.population == BOTH
    assert found.answer.startswith(f"Of {len(sets)} comparisons over training seeds: ")
    (table,) = found.tables
    assert [row[-1] for row in table.rows[: len(sets)]] == ["6 training seeds"] * len(sets)
    assert all(row[-1].endswith(" pairs") for row in table.rows[len(sets) :])
    policies = [c for c in comparisons if c["level"] == "policy"]
    alone = replace(tables, summary=tables.summary | {"generalisation": [record | {"comparisons": policies}]})
    found = generalisation(alone)
    assert found is not None and found.population == SELECTED
    assert found.answer.startswith(f"Of {len(policies)} comparisons of selected policies: ")


def test_shares_of_networks_stand_beside_luck_in_training(tables: RunTables) -> None:
    rows = [shares("link", "e2e", 6, -2.0), shares("queue", "link", 4, None), shares("e2e", "e2e", 5, None)]
    told = replace(tables, summary=tables.summary | {"per_network": rows})
    (against,), (each_other,) = (shares_over_seeds(told, rivals=rivals) for rivals in (False, True))
    assert against.rows == [
        ("link against e2e", "delay", "12 ± 4", "3", "+10 [-2, +21]", "6"),
        ("e2e against e2e", "delay", "12 ± 4", "3", "–", "5"),
    ]
    assert "luck in training" in against.caption and "luck" not in each_other.caption
    assert each_other.rows == [("queue against link", "delay", "12 ± 4", "3", "+10 [−∞, +∞]", "4")]
    assert not shares_over_seeds(tables, rivals=False)
