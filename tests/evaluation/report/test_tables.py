"""One table, whoever shows it: what its columns write, and what a page and Markdown make of it."""

import pytest

from lcca.cli.printing.console import print_table
from lcca.evaluation.report.words.statements import NO_BREAK
from lcca.evaluation.report.words.table import Table

ROWS = [
    {"name": "a|b", "score": -0.25, "n": 1200, "verdict": "not settled"},
    {"name": "<c>", "score": None, "n": 7, "verdict": "better"},
]
TABLE = Table.of(
    "Scores",
    ROWS,
    {
        **{"Name": "name", "Score": ("score", 3), "n": ("n", 0)},
        "Verdict": lambda row: f"{row['verdict']}: by -1{NO_BREAK}%\nof 2",
    },
    ("Name", "Verdict"),
    "Verdict",
)


def test_columns_write_texts_numbers_and_what_functions_say() -> None:
    assert TABLE.head == ["Name", "Score", "n", "Verdict"]
    assert [row[:3] for row in TABLE.rows] == [("a|b", "−0.250", "1,200"), ("<c>", "–", "7")]
    assert [TABLE.is_left(column) for column in range(4)] == [True, False, False, True]
    assert TABLE.verdicts == ["not settled", "better"]


def test_a_page_has_lines_below_the_first_and_badges() -> None:
    first, second = TABLE.html()
    lines = f'<span class="ends">by −1{NO_BREAK}%</span><span class="ends">of 2</span>'
    assert first == ["a|b", "−0.250", "1,200", f'<span class="badge">not settled</span>{lines}']
    assert second[0] == "&lt;c&gt;"
    (cell,) = next(iter(Table("", ("",), [("a: b",)]).html()))
    assert cell == "a: b"


def test_markdown_has_one_line_a_row() -> None:
    head, rule, first, _ = TABLE.markdown().split("\n")
    assert head == "| Name | Score | n | Verdict |" and rule == "| --- | --- | --- | --- |"
    assert first == f"| a\\|b | −0.250 | 1,200 | not settled: by −1{NO_BREAK}% of 2 |"
    assert Table("", ("a", "b"), []).markdown() == ""


def test_the_terminal_has_numbers_as_other_programs_read_them(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TABLE, "a note")
    title, _, first, _, note = (line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert (title, note) == ("Scores", "a note")
    assert NO_BREAK not in first
    assert first.split() == ["a|b", "-0.250", "1,200", "not", "settled:", "by", "-1", "%", "of", "2"]
