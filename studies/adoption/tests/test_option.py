"""`lcca compare --share`: what the core's command has of it, its mistakes, and which runs its code counts in."""

import re
from pathlib import Path

import pytest

from lcca.experiments.runs import code_version
from lcca.experiments.runs.kinds import COMPARE, SWEEP
from lcca.inputs.digests import imports
from lcca.studies.adoption.recipe import ADOPT
from tests.experiments.runs.run_files import SPACE
from tests.fixtures import RunCommand

BOTH = ("compare", "aimd", "fixed-window:20", "--on", "space.yaml", "--trials", "112")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder with a network space."""
    (tmp_path / "space.yaml").write_text(SPACE)
    monkeypatch.chdir(tmp_path)


def test_help_shows_the_option_among_those_of_the_command(lcca: RunCommand) -> None:
    answer = lcca("compare", "--help")
    assert answer.status == 0
    assert re.search(r"^  --share SHARES\s+what these shares of senders", answer.out, re.MULTILINE)


def test_without_shares_two_policies_are_compared(lcca: RunCommand) -> None:
    found = lcca(*BOTH, "--json").json()
    assert [each["n"] for each in found["comparisons"]] == [112] and "adoption" not in found


def test_with_shares_adopters_are(lcca: RunCommand) -> None:
    found = lcca(*BOTH, "--share", "0.25,0.5", "--json").json()
    assert [each["share"] for each in found["adoption"]] == [0.25, 0.5]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        ("half", "--share: half: must be shares such as 0.1,0.5"),
        ("0.1,,0.5", "--share: 0.1,,0.5: must be shares such as 0.1,0.5"),
        ("0,5", "--share: must be between 0 and 1"),
        ("1", "--share: must be between 0 and 1"),
        ("-0.5", "--share: must be between 0 and 1"),
        ("nan", "--share: must be between 0 and 1"),
        ("0.5,0.50", "--share: one is given twice; give each once"),
    ],
)
def test_a_mistake_is_one_line_with_what_to_do(share: str, said: str, lcca: RunCommand) -> None:
    answer = lcca(*BOTH, f"--share={share}")
    assert answer.status == 2 and answer.out == ""
    assert said in answer.err and len(answer.err.splitlines()) == 1


def test_bounds_are_not_of_adopters(lcca: RunCommand) -> None:
    answer = lcca(*BOTH, "--share", "0.5", "--bound")
    assert answer.status == 2 and answer.err == "lcca: --bound: not with --share\n"


@pytest.mark.parametrize(("file", "kinds"), [("recipe", {"adopt"}), ("populations", {"adopt"}), ("command", set())])
def test_its_code_counts_in_its_own_runs_alone(file: str, kinds: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def codes() -> dict[str, str]:
        code_version.code_version.cache_clear()
        return {kind.name: code_version.code_version((kind.recipe,)) for kind in (ADOPT, COMPARE, SWEEP)}

    before, really = codes(), imports.read_limited
    changed = f"studies/adoption/{file}.py"
    monkeypatch.setattr(imports, "read_limited", lambda path: really(path) + b"\n#" * str(path).endswith(changed))
    after = codes()
    code_version.code_version.cache_clear()
    assert {name for name, code in after.items() if code != before[name]} == kinds
