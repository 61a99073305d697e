"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# What passes here passes there: where CI is set, properties are tried on the same examples every time.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of reference data: `LCCA_REFERENCE`, or `shared` beside the checkout; skips without it."""
    named = os.environ.get("LCCA_REFERENCE")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared"
    if not (folder / "data" / "dna").is_dir():
        pytest.skip(f"no reference data in {folder}: set LCCA_REFERENCE to its folder")
    return folder
