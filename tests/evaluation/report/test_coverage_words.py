"""How sure a table's intervals are, in words."""

from typing import Any

import pytest

from lcca.evaluation.report.words.statements import coverage, coverages, finding


def records(level: str, *rates: float) -> list[dict[str, Any]]:
    return [{"level": level, "alpha": rate} for rate in rates]


SETS = records("set", *[0.05 / 36] * 36)
POLICIES = records("policy", 0.1, 0.1)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (SETS, "95 % simultaneous"),
        (records("set", 0.01, 0.01), "98 % simultaneous"),
        (records("set", 0.05), "95 %"),
        (POLICIES, "90 % each"),
        (records("policy", 0.05), "95 %"),
        (records("policy", 0.05, 0.01), "95 % each"),
        (records("set", *[0.05 / 28] * 7), "98.7 % simultaneous"),
        (records("set", 0.0004), "99.9 %"),
    ],
)
def test_signal_sets_share_an_error_rate_and_policies_do_not(rows: list[dict[str, Any]], words: str) -> None:
    assert coverage(rows) == words


def test_a_table_of_both_levels_tells_each() -> None:
    assert coverages([*POLICIES, *SETS]) == "signal sets: 95 % simultaneous; policies: 90 % each"
    assert coverages(POLICIES) == "policies: 90 % each"


@pytest.mark.parametrize(
    ("direction", "size", "words"),
    [
        ("+", "larger", "missed this use of the signals"),
        ("+", "open", "missed this use of the signals"),
        ("+", "smaller", "does as well"),
        ("-", "open", "does better"),
        ("-", "smaller", "does as well"),
        ("0", "open", "is not distinguished from it"),
        ("0", "smaller", "does as well"),
    ],
)
def test_what_a_policy_made_by_hand_says_of_the_learner(direction: str, size: str, words: str) -> None:
    """The hand-designed policy is B: a positive difference is the learner's failure."""
    assert finding({"direction": direction, "size": size}) == words
