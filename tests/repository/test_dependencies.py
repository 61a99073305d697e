"""Each dependency says which portions need it, and is right about that."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(TEXT)["project"]
LINE = re.compile(r'^\s*"(?P<name>[A-Za-z0-9._-]+)[^"]*",\s*(?:#\s*(?P<comment>.*))?$', re.MULTILINE)
COMMENTS = {found["name"]: found["comment"] for found in LINE.finditer(TEXT)}
IMPORTS = {"ruamel.yaml": "ruamel", "protobuf": "google.protobuf"}


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement)[0]


def all_requirements() -> list[str]:
    extras = PROJECT["optional-dependencies"].values()
    return [name_of(r) for r in [*PROJECT["dependencies"], *(r for extra in extras for r in extra)]]


@pytest.mark.parametrize("name", all_requirements())
def test_has_a_comment(name: str) -> None:
    assert COMMENTS.get(name), f"pyproject.toml: say beside {name} what needs it"


def portions_of(name: str) -> list[str]:
    return re.findall(r"lcca\.(\w+)", COMMENTS[name].partition(":")[0])


def sources(portion: str) -> list[Path]:
    return sorted((ROOT / portion.replace("_", "-") / "lcca" / portion).rglob("*.py"))


def imported_by(name: str, portion: str) -> bool:
    module = re.escape(IMPORTS.get(name, name))
    through = r"|\.(to|read)_parquet\(" if name == "pyarrow" else ""  # pandas imports it
    pattern = re.compile(rf"^\s*(import|from) {module}\b{through}", re.MULTILINE)
    return any(pattern.search(path.read_text(encoding="utf-8")) for path in sources(portion))


@pytest.mark.parametrize("name", [name_of(r) for r in PROJECT["dependencies"]])
def test_comment_is_right(name: str) -> None:
    named = portions_of(name)
    assert named, "name the portions, such as `lcca.evaluation: tables`"
    assert [portion for portion in named if not imported_by(name, portion)] == []


def test_one_place_reads_and_writes_yaml() -> None:
    """Every file that a user names meets the same limits and the same errors."""
    portions = [each.name for each in (ROOT / ".").glob("*/lcca/*") if each.name != "inputs"]
    assert len(portions) == 9 and not any(imported_by("ruamel.yaml", portion) for portion in portions)
