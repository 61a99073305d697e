"""A bound may be lowered freely; one above that of the last release has a line in the changelog that says why."""

import re
import tomllib
from pathlib import Path

import pytest

from .bounds import BOUNDS, RELEASE

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
UNRELEASED = CHANGELOG.partition("## Unreleased")[2].partition("\n## ")[0]


def raised(bounds: dict[str, dict[str, int]], changes: str) -> list[str]:
    """Return the bounds that are above the last release's without a line of their own: `name` and what it is now."""
    entries = re.findall(r"^- .*(?:\n  .*)*", changes, re.MULTILINE)
    return [
        name
        for name, each in bounds.items()
        if each["now"] > each["at_release"]
        and not any(f"`{name}`" in entry and f"{each['now']:,}" in entry for entry in entries)
    ]


def test_raised_bounds_are_in_the_changelog() -> None:
    assert raised(BOUNDS, UNRELEASED) == []


@pytest.mark.parametrize(("changes", "found"), [("- Bound `a` is 1,200, for tables.\n", []), ("- more\n", ["a"])])
def test_a_raise_without_a_line_is_found(changes: str, found: list[str]) -> None:
    assert raised({"a": {"at_release": 1000, "now": 1200}, "b": {"at_release": 5, "now": 4}}, changes) == found


def test_they_are_of_the_last_release() -> None:
    """A release takes its own bounds as `at_release`."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"] == RELEASE
