"""The committed type stub says what the C++ module offers."""

import difflib
import subprocess
import sys
from pathlib import Path

import pytest

STUB = Path(__file__).resolve().parents[2] / "remy-plus/lcca/remy_plus/_core.pyi"


def test_stub_is_up_to_date(tmp_path: Path) -> None:
    pytest.importorskip("nanobind", reason="nanobind is not installed (make setup)")
    fresh = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "lcca.remy_plus._core", "-o", str(fresh)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    old, new = (path.read_text(encoding="utf-8").splitlines() for path in (STUB, fresh))
    changes = "\n".join(difflib.unified_diff(old, new, "committed", "generated", lineterm=""))
    assert not changes, f"run `make stub` and commit:\n{changes}"
