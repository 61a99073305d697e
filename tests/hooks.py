"""The programs that fill pages, as modules."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

HOOKS = Path(__file__).resolve().parents[1] / "docs" / "hooks"


def hook(file: Path) -> Any:
    """Return a module that fills pages; as for MkDocs, it may import from the folder of hooks."""
    spec = importlib.util.spec_from_file_location(f"{file.stem}_page", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HOOKS)
        spec.loader.exec_module(module)
    return module
