"""What runs in the process of a trial on Linux; it imports nothing that would start threads."""

from __future__ import annotations

from typing import Any


def run_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Run one trial in this process, in a user namespace where it has no rights of its own."""
    from lcca.linux import enter_user_namespace, privileged, run_trial

    if not privileged():
        enter_user_namespace()
    return run_trial(plan)
