"""Bounds of what weighs on who reads the project: `bounds.json` has each as it was released and as it is now."""

import json
from pathlib import Path
from typing import Any

FILE: dict[str, Any] = json.loads(Path(__file__).with_name("bounds.json").read_text(encoding="utf-8"))
RELEASE: str = FILE["release"]
BOUNDS: dict[str, dict[str, Any]] = {name: each for name, each in FILE.items() if name != "release"}


def bound(name: str) -> int:
    """Return what holds now."""
    return int(BOUNDS[name]["now"])
