"""What studies have for the tests that ask all of a kind: the names in `studies/*/tests/cases.py`."""

from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def of_studies(name: str) -> dict[str, Any]:
    """Return the cases of all studies under a name."""
    files = sorted(ROOT.glob("studies/*/tests/cases.py"))
    modules = [import_module(f"studies.{file.parts[-3]}.tests.cases") for file in files]
    return {key: case for module in modules for key, case in getattr(module, name, {}).items()}
