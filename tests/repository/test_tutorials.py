"""The tutorials run as they are written: files are written, commands run one after another, their output compared."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..fixtures import RunCommand

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`([\w-]+\.(?:yaml|csv|py))`[^`]*:\n\n$")


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield commands after "", what they print after "text", and files after their names."""
    for block in BLOCK.finditer(text):
        language, content = block.groups()
        if language == "sh":
            yield from (("", line) for line in content.replace("\\\n", "").splitlines())
        elif language == "text":
            yield "text", content
        elif language in ("yaml", "csv", "python"):
            named = FILE.search(text, 0, block.start())
            assert named, f"name the file before {content[:40]!r}"
            yield named[1], content


def says(output: str, stated: str) -> bool:
    """Tell whether an output has these lines one after another; … stands for anything."""
    lines = (".*?".join(map(re.escape, line.split("…"))) for line in stated.splitlines())
    return re.search("^" + r"[ ]*\n".join(lines) + r"[ ]*$", output, re.MULTILINE | re.DOTALL) is not None


def words(command: str) -> list[str]:
    """Return the words of a command, patterns as the files that they match."""
    found = [[str(path) for path in sorted(Path().glob(word))] or [word] for word in shlex.split(command)]
    return [word for several in found for word in several]


@pytest.mark.full  # CI runs them by `make tutorials`
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_runs(page: Path, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    monkeypatch.chdir(tmp_path)
    commands = [content for name, content in steps(page.read_text(encoding="utf-8")) if not name]
    assert len(commands) >= 3 and len(set(commands)) == len(commands)
    printed = ""
    for name, content in steps(page.read_text(encoding="utf-8")):
        if name == "text":
            assert says(printed, content), f"{content}\nis not in\n{printed}"
        elif name:
            Path(name).write_text(content, encoding="utf-8")
        else:
            printed = run(content, lcca)


def run(command: str, lcca: RunCommand) -> str:
    """Run a command that must succeed, and return its output."""
    program, *arguments = words(command)
    if program == "lcca":
        answer = lcca(*arguments)
        assert answer.status == 0, f"{command}\n{answer.err}"
        return answer.out
    assert program == "python", command
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def test_every_tutorial_says_what_it_ends_with_and_writes_its_own_files() -> None:
    texts = {page.stem: page.read_text(encoding="utf-8") for page in TUTORIALS}
    assert all(len(BLOCK.sub("", text).split()) <= 450 for text in texts.values())
    files = [name for text in texts.values() for name, _ in steps(text) if name not in ("", "text")]
    assert len(set(files)) == len(files)
    for text in texts.values():
        assert text.split("\n\n")[1].startswith("At the end you have "), text[:80]


def test_stated_figures_are_compared_to_the_last_digit() -> None:
    output = "a table   \nx  1.234  \ny  0.5\n"
    assert says(output, "x  1.234\ny  0.5\n") and says(output, "a table\nx  1.…\n")
    assert not says(output, "x  1.235\n") and not says(output, "x  1.23\n") and not says(output, "a table\ny  0.5\n")
