"""The tutorials run as they are written: files that they show are written, commands are run, one after another."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..conftest import RunCommand

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w-]+\.yaml)`[^`]*:\n\n$")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command after "", and each file's content after its name, which ends the sentence before it."""
    for block in BLOCK.finditer(text):
        kind, content = block.groups()
        if kind == "sh":
            yield from (("", line) for line in content.splitlines())
        elif kind == "yaml":
            named = FILE.search(text, 0, block.start())
            assert named, f"name the file before {content[:40]!r}"
            yield named[1], content


def words(command: str) -> list[str]:
    """Return the words of a command, patterns as the files that they match."""
    found = [[str(path) for path in sorted(Path().glob(word))] or [word] for word in shlex.split(command)]
    return [word for several in found for word in several]


@pytest.mark.full  # CI runs them by `make tutorials`
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs(page: Path, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    monkeypatch.chdir(tmp_path)
    ran = 0
    for name, content in steps(page.read_text(encoding="utf-8")):
        if name:
            Path(name).write_text(content, encoding="utf-8")
            continue
        program, *arguments = words(content)
        answer = lcca(*arguments)
        assert program == "lcca" and answer.status == 0, f"{content}\n{answer.err}"
        ran += 1
    assert ran >= 3
