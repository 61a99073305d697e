"""The check of tools that the Makefile makes before it installs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def need(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["sh", str(ROOT / ".ci/need"), *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("version", "compiler", "expected"),
    [
        (None, "c++", "lcca: no './nothing' found; install Python 3.11"),
        ("3.9.2", "c++", "lcca: Python 3.11 or newer is needed, '{python}' is Python 3.9.2"),
        (
            "",
            "no-such-compiler",
            "lcca: no C++ compiler 'no-such-compiler'; on Debian/Ubuntu: apt-get install g++",
        ),
        ("", "false", "lcca: 'false' does not compile C++20; install g++ 11"),
    ],
)
def test_one_line_tells_what_is_missing(tmp_path: Path, version: str | None, compiler: str, expected: str) -> None:
    python = "./nothing" if version is None else sys.executable
    if version:
        python = str(tmp_path / "python")
        Path(python).write_text(f"#!/bin/sh\n[ $1 = -V ] && echo Python {version}\nexit 1\n")
        Path(python).chmod(0o755)
    done = need(python, CXX=compiler)
    assert done.returncode == 1
    assert done.stderr.startswith(expected.format(python=python))
    assert done.stderr.count("\n") == 1
