"""The recommendation on the first pages, and what measures say that disagree with the score."""

from typing import Any

import pytest

from lcca.evaluation.report.sections.vendor import recommendation
from lcca.evaluation.report.words.merit import beside_score, disagreements


def net(difference: float, n: int = 9, likely: tuple[int, int] | None = None, half: float = 0.5) -> dict[str, Any]:
    ends = {"difference": difference, "low": difference - half, "high": difference + half}
    return {"n": n, "likely_n": likely, "difference": difference, "low": 0.0, "throughput_equivalent_percent": ends}


def row(header: str, decision: str, likely: tuple[int, int] | None = None, n: int = 9) -> dict[str, Any]:
    value = {"pays": 3.0, "does not pay": -3.0, "open": 0.5}[decision]
    return {
        "header": header,
        "utility": "slowdown",
        "decision": decision,
        "wire_bytes": 4,
        "net_set": net(value, n, likely),
    }


def said(
    rows: list[dict[str, Any]], take: str, answers: list[str] | None = None, pair: dict[str, Any] | None = None
) -> str:
    choice = {"utility": "slowdown", "take": take, "answers": answers or [take], "pairs": [pair or net(1.0)]}
    benefits = {"rows": rows, "choices": [choice], "required_percent": 1}
    return recommendation(benefits, choice).text


@pytest.mark.parametrize(
    ("rows", "take", "words"),
    [
        ([row("a", "pays"), row("b", "does not pay")], "a", "Take a: 4\u00a0bytes on a data packet."),
        ([row("a", "does not pay")], "e2e", "Take no header: with its bytes charged none brings 1 %."),
        (
            [row("a", "open", (10, 14)), row("b", "does not pay")],
            "e2e",
            "No recommendation yet: a is open, and no header pays; "
            "to settle this takes about 1 to 5 more training seeds.",
        ),
        (
            [row("a", "open", (12, 14)), row("b", "open", (10, 30)), row("c", "pays")],
            "a",
            "No recommendation yet: a and b are open; to settle this takes about 3 to 21 more training seeds.",
        ),
    ],
)
def test_the_recommendation_is_a_header_none_or_not_yet(rows: list[dict[str, Any]], take: str, words: str) -> None:
    assert said(rows, take) == words


def test_before_the_first_look_it_says_how_many_seeds_are_missing() -> None:
    few = [row("a", "open", n=3)]
    assert said(few, "e2e", pair=net(1.0, 3)) == (
        "No recommendation yet: 3 of at least 5 training seeds; it takes about 2 more training seeds."
    )
    also = said([row("a", "pays"), row("b", "pays")], "a", ["a", "b"])
    assert also.endswith(" b may be best too.")


def test_a_measure_that_settles_the_opposite_is_said_to_disagree() -> None:
    apart = row("a", "pays") | {"measures": {"merit": row("a", "does not pay"), "short_p99": row("a", "open")}}
    assert disagreements([apart]) == [
        "a: score and figure of merit disagree: pays by the one, does not pay by the other"
    ]
    words = beside_score(apart)
    assert "By the figure of merit does not pay \u22123.00\u00a0% [\u22123.50, \u22122.50\u00a0%]" in words
    assert "p99 slowdown of flows below 100 kB open" in words and "a: score and figure of merit disagree" in words
    for other in ("open", "pays"):
        assert not disagreements([apart | {"measures": {"merit": row("a", other)}}])
    assert beside_score(row("a", "pays")) == ""
