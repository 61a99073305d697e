# SPDX-License-Identifier: GPL-2.0-only
from typing import Any

NS3_VERSION: str

def run_trial(plan: dict[str, Any]) -> dict[str, Any]:
    """Runs the trial that a dictionary describes; returns what was measured. One at a time in a process."""
