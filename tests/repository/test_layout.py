"""The folders are the architecture: what each portion must have, and which way imports may go."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PORTIONS = {
    "inputs": "inputs",
    "remy-plus": "remy_plus",
    "signal-sets": "signal_sets",
    "workers": "workers",
    "gym-envs": "gym_envs",
    "evaluation": "evaluation",
    "trainers": "trainers",
    "experiments": "experiments",
    "cli": "cli",
}


@pytest.mark.parametrize("folder", PORTIONS)
def test_lcca_is_a_namespace(folder: str) -> None:
    found = sorted(path.name for path in (ROOT / folder / "lcca").iterdir() if path.name != "__pycache__")
    own = ["api", "experiments"] if folder == "experiments" else [PORTIONS[folder]]
    assert found == own, "an lcca/__init__.py would hide the other portions"


@pytest.mark.parametrize("folder", PORTIONS)
def test_portion_is_typed_and_documented(folder: str) -> None:
    package = ROOT / folder / "lcca" / PORTIONS[folder]
    assert (package / "py.typed").is_file()
    assert (package / "__init__.py").read_text(encoding="utf-8").startswith('"""')


@pytest.mark.skipif(importlib.util.find_spec("importlinter") is None, reason="import-linter is not installed")
def test_a_folder_imports_only_from_folders_below_it() -> None:
    path = os.pathsep.join([*(str(ROOT / folder) for folder in PORTIONS), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as c; c()",
        "--no-cache",
    ]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
