"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of reference data: `LCCA_REFERENCE`, or `shared` beside the checkout; skips without it."""
    named = os.environ.get("LCCA_REFERENCE")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared"
    if not (folder / "data" / "dna").is_dir():
        pytest.skip(f"no reference data in {folder}: set LCCA_REFERENCE to its folder")
    return folder
