"""Results in pipes have no lines, and in narrow terminals no broken words."""

import io

import pytest
from rich.markup import escape
from rich.table import Table

from lcca.cli.printing.console import ResultConsole
from lcca.cli.printing.tables import forecast_words

HEADS = ("policy", "difference (bits) [95 %]", "as throughput", "forecast")
ROWS = (
    ("link+queue.default.s1", "+0.014 [−0.010, +0.038]", "+1.0 %", "about 4 more training seeds"),
    ("[odd]", "–", "", "the next look"),
)


def printed(width: int, terminal: bool) -> str:
    table = Table(title="verdicts: link")
    for head in HEADS:
        table.add_column(head, overflow="fold")
    for row in ROWS:
        table.add_row(*map(escape, row))
    out = io.StringIO()
    ResultConsole(file=out, width=width, force_terminal=terminal, color_system=None, highlight=False).print(table)
    return out.getvalue()


def test_a_pipe_has_columns_without_lines() -> None:
    lines = [line.rstrip() for line in printed(200, terminal=False).splitlines()]
    assert lines == [
        "verdicts: link",
        "policy                 difference (bits) [95 %]  as throughput  forecast",
        "link+queue.default.s1  +0.014 [−0.010, +0.038]   +1.0 %         about 4 more training seeds",
        "[odd]                  –                                        the next look",
    ]


@pytest.mark.parametrize("width", [60, 80, 90, 100, 110, 200])
def test_no_word_is_broken_however_narrow_the_terminal_is(width: int) -> None:
    text = printed(width, terminal=True)
    assert max(map(len, text.splitlines())) <= width
    # A table as lines of its own leaves the first head out.
    said = {word for cell in (*HEADS[1:], *(cell for row in ROWS for cell in row)) for word in cell.split()}
    assert said <= set(text.split())
    assert ("┃" in text) == (width >= 100)


@pytest.mark.parametrize(
    ("n", "likely", "words"),
    [
        (5, (5, 5), "the next look"),
        (5, (9, 9), "about 4 more training seeds"),
        (5, (7, 25), "about 2–20 more training seeds"),
        (5, (7, 447), "unknown, at least 2 more training seeds"),
        (5, (5, 300), "unknown, at least 1 more training seeds"),
        (5, None, ""),
    ],
)
def test_a_forecast_wider_than_ten_times_is_unknown(n: int, likely: tuple[int, int] | None, words: str) -> None:
    assert forecast_words({"level": "set", "n": n, "likely_n": likely}) == words
