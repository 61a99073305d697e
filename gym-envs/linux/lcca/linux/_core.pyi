from typing import Any

def privileged() -> bool:
    """Whether this process may make network namespaces."""

def enter_user_namespace() -> None:
    """Puts this process, which may have no other threads, into a user namespace in which it may."""

def run_trial(plan: dict[str, Any]) -> dict[str, Any]:
    """Runs the trial that a dictionary describes, in real time; returns what was measured. One at a time in a process."""
