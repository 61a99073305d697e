"""What runs in the process of a trial on Linux."""

from __future__ import annotations

import os
import pickle
from typing import Any


def run_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Run one trial in this process, or in a child of it in a user namespace where this one has no rights of its own.

    Raises:
        RuntimeError: what the system does not allow.
    """
    from lcca.linux import privileged, run_trial

    return run_trial(plan) if privileged() else _run_in_child(plan)


def _run_in_child(plan: dict[str, Any]) -> dict[str, Any]:
    """Run a trial in a child: only a process with one thread may enter a user namespace, which a fork is."""
    from lcca.linux import enter_user_namespace, run_trial

    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            enter_user_namespace()
            answer: Any = run_trial(plan)
        except Exception as error:
            answer = str(error)
        with os.fdopen(theirs, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as found:
        content = found.read()
    os.waitpid(child, 0)
    answer = pickle.loads(content) if content else "the trial's process died"
    if isinstance(answer, str):
        raise RuntimeError(answer)
    return dict(answer)
